"""What `firstbyte check` says of a configuration that has no faults: what there is, and what probing it costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from breaker.store.behind import place_at
from breaker.target import Target
from monitor.budget import Estimate, estimate, estimates
from monitor.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Reckoning:
    """Routes, targets and the cost of a day's probes."""

    settings: Settings

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "file": str(self.settings.source),
            "store": self._store(),
            "routes": {route.name: [target.name for target in route.targets] for route in self.settings.routes},
            "targets": [_as_json(estimate(plan)) | _abilities(plan.target) for plan in self.settings.targets],
            "notify": {
                receiver.name: {"form": receiver.form.value, "events": [event.value for event in receiver.events]}
                for receiver in self.settings.receivers
            },
            "providers": [_as_json(each) for each in estimates(self.settings.targets)],
        }

    def as_text(self) -> str:
        """For people."""
        routes, targets = self.settings.routes, self.settings.targets
        lines = [f"{self.settings.source} is good: {_many(len(routes), 'route')}, {_many(len(targets), 'target')}"]
        for route in routes:
            first, *rest = (target.name for target in route.targets)
            after = f", then {', '.join(rest)}" if rest else "; it has no backup"
            at_once = (
                f"; no more than {route.most_out} stay out at a time" if route.most_out < len(route.targets) else ""
            )
            lines.append(f"  {route.name}: {first}{after}{at_once}")
        lines += [f"  {plan.name} takes {told}" for plan in targets if (told := _takes(plan.target))]
        lines.append(f"Store: {self._store() or f'a server of its own, with its data in {self.settings.data}'}")
        lines += [
            f"Notifications: {receiver.name} ({receiver.form}) is told of {', '.join(receiver.events)}"
            for receiver in self.settings.receivers
        ]
        lines.append("Probes of a day, at most:")
        each_day = [estimate(plan) for plan in targets]
        lines += [f"  {_told(each)}" for each in each_day]
        lines += [f"  {_together(each_day)}"] if len(each_day) > 1 else []
        lines += [
            f"  {each.name} would spend {each.share:.0%} of its budget: probing slows down when it is spent"
            for each in estimates(targets)
            if each.share is not None and each.share > 1.0
        ]
        return "\n".join(lines)

    def _store(self) -> str | None:
        """Where the store is, without secrets; None for the embedded one."""
        return place_at(self.settings.store_url) if self.settings.store_url else None


def _abilities(target: Target) -> dict[str, Any]:
    return {"can": None if target.can is None else list(target.can), "max_input_tokens": target.max_input_tokens}


def _takes(target: Target) -> str:
    """What is declared of a target; empty where nothing is."""
    can = [] if target.can is None else [", ".join(target.can) or "text alone"]
    most = [] if target.max_input_tokens is None else [f"at most {target.max_input_tokens:,} tokens"]
    return "; ".join([*can, *most])


def _as_json(each: Estimate) -> dict[str, Any]:
    return {
        "name": each.name,
        "probes_per_day": round(each.probes_per_day, 1),
        "tokens_per_day": each.tokens_per_day,
        "usd_per_day": None if each.usd_per_day is None else round(each.usd_per_day, 4),
        "budget_share": None if each.share is None else round(each.share, 4),
    }


def _told(each: Estimate) -> str:
    if not each.probes_per_day:
        return f"{each.name}: not probed"
    money = "no price is given" if each.usd_per_day is None else f"{each.usd_per_day:.2f} USD"
    return f"{each.name}: {each.probes_per_day:,.0f} probes, {each.tokens_per_day:,} tokens, {money}"


def _together(all_days: Sequence[Estimate]) -> str:
    probes, tokens = sum(each.probes_per_day for each in all_days), sum(each.tokens_per_day for each in all_days)
    known = [each.usd_per_day for each in all_days if each.usd_per_day is not None]
    unknown = any(each.usd_per_day is None and each.probes_per_day for each in all_days)
    money = [f"{sum(known):.2f} USD{' and what has no price' if unknown else ''}"] if known else []
    return ", ".join([f"together: {probes:,.0f} probes", f"{tokens:,} tokens", *money])


def _many(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
