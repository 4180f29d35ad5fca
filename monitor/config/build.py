"""Makes settings of checked values, and finds what is wrong between values that are fine alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from breaker.policy import Policy
from breaker.target import Ability, Provider, Target
from monitor.config.addresses import is_loopback, webhook
from monitor.config.check import Branch, Leaf
from monitor.config.environment import Overrides
from monitor.config.faults import Faults, Unfit
from monitor.config.layers import check_policy, layered
from monitor.config.phrases import known_phrases
from monitor.config.routes import routes
from monitor.config.stores import composed, store_url
from monitor.config.variables import secret
from monitor.settings import (
    Address,
    AuditPlan,
    Budget,
    Door,
    Form,
    LogForm,
    LogLevel,
    Logs,
    Price,
    ProbeShape,
    Receiver,
    Settings,
    TargetPlan,
    Told,
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What building stands on besides the file."""

    environ: Mapping[str, str]
    overrides: Overrides
    faults: Faults


def build(root: Branch, ground: Ground, *, data: Path, source: Path) -> Settings:
    """The settings. They are worth something only if no fault was added to the ground's."""
    phrases = known_phrases(root, ground.faults)
    plans = [replace(plan, phrases=phrases) for plan in _plans(root, ground)]
    return Settings(
        targets=tuple(plans),
        routes=routes(root, plans, ground.faults),
        door=_door(root.branch("door"), ground),
        store_url=_store_url(root, ground),
        data=data,
        phrases=phrases,
        control=_control(root),
        logs=_logs(root.branch("log"), ground),
        receivers=tuple(_receivers(root, ground)),
        audit=_audit(root.branch("audit")),
        source=source,
    )


def _text(section: Branch, name: str) -> str | None:
    leaf = section.leaf(name)
    return str(leaf.value) if leaf else None


def _secret(leaf: Leaf | None, ground: Ground) -> str | None:
    """What the variable holds that a value names."""
    value = secret(leaf.value, ground.environ) if leaf else None
    if leaf and isinstance(value, Unfit):
        ground.faults.add(leaf.place, value.wrong, value.hint)
        return None
    return value if isinstance(value, str) else None


# Where to listen, and the store


def _door(section: Branch, ground: Ground) -> Door:
    host, port = ground.overrides.host or section.leaf("host"), ground.overrides.port or section.leaf("port")
    door = Door(
        host=host.value if host else Door().host,
        port=port.value if port else Door().port,
        agent_token=_secret(section.leaf("agent_token_env"), ground),
        admin_token=_secret(section.leaf("admin_token_env"), ground),
    )
    missing = [name for name in ("agent_token_env", "admin_token_env") if name not in section.places]
    if host and missing and not is_loopback(door.host):
        wrong = (
            f"door: host is {door.host}, which others may reach, and without {' and '.join(missing)} anyone may post"
        )
        ground.faults.add(host.place, wrong, "name both variables below door:, or listen on 127.0.0.1")
    admin = section.leaf("admin_token_env")
    if admin and door.admin_token is not None and door.admin_token == door.agent_token:
        wrong = "door: both tokens are the same, so whoever may report may move circuits too (values not shown)"
        ground.faults.add(admin.place, wrong, "make a token of its own for admin_token_env")
    return door


def _control(root: Branch) -> tuple[Address, ...]:
    return tuple(leaf.value for name, row in root.rows() if name == "control" for leaf in row.leaves)


def _logs(section: Branch, ground: Ground) -> Logs:
    form, level = ground.overrides.log or section.leaf("form"), section.leaf("level")
    return Logs(
        form=LogForm(form.value) if form else Logs().form, level=LogLevel(level.value) if level else Logs().level
    )


def _audit(section: Branch) -> AuditPlan:
    share = section.leaf("share")
    return AuditPlan(to=_text(section, "to"), share=float(share.value) if share else AuditPlan().share)


def _receivers(root: Branch, ground: Ground) -> Iterator[Receiver]:
    for name, section in root.branch("notify").branches():
        form, named, events = section.leaf("form"), section.leaf("url_env"), section.row("events")
        url = _secret(named, ground)
        if form is None or named is None or url is None:
            continue
        if isinstance(flaw := webhook(url), Unfit):
            ground.faults.add(named.place, f"the environment variable {named.value} {flaw.wrong}", flaw.hint)
            continue
        told = tuple(Told) if events is None else tuple(Told(leaf.value) for leaf in events.leaves)
        yield Receiver(name=name, form=Form(form.value), url=url, events=tuple(dict.fromkeys(told)))


def _store_url(root: Branch, ground: Ground) -> str | None:
    if "store" in root.places and "store_env" in root.places:
        ground.faults.add(root.places["store_env"], "store and store_env are both given", "remove one of them")
    if ground.overrides.store:
        return str(ground.overrides.store.value)
    if isinstance(keys := root.held.get("store"), Branch):
        return composed(keys, lambda leaf: _secret(leaf, ground), ground.faults)
    named = root.leaf("store_env")
    held = _secret(named, ground)
    if named is None or held is None:
        return _text(root, "store")
    url = store_url(held)
    if isinstance(url, Unfit):
        wrong = f"the environment variable {named.value} {url.wrong}"
        ground.faults.add(named.place, wrong, url.hint)
        return None
    return url


# Providers and their models


def _plans(root: Branch, ground: Ground) -> Iterator[TargetPlan]:
    for name, section in root.branch("providers").branches():
        provider = Provider(
            name=name,
            base_url=_text(section, "base_url") or "",
            wire=_text(section, "wire") or "",
            api_key_env=_text(section, "api_key_env"),
        )
        _secret(section.leaf("api_key_env"), ground)
        plans = [_plan(provider, model, (root, section, held), ground) for model, held in _models(section)]
        _check_budget(section.branch("budget"), plans, ground.faults)
        yield from plans


def _models(section: Branch) -> Iterator[tuple[str, Branch]]:
    yield from section.branch("models").branches()


def _plan(provider: Provider, model: str, levels: tuple[Branch, Branch, Branch], ground: Ground) -> TargetPlan:
    policy = layered(Policy(), [level.branch("policy") for level in levels])
    check_policy(policy, levels[-1], ground.faults)
    plan = TargetPlan(
        target=_target(provider, model, levels[-1]),
        policy=policy.value,
        probe=layered(ProbeShape(), [level.branch("probe") for level in levels]).value,
        price=_price(levels[-1].branch("price")),
        budget=_budget(levels[1].branch("budget")),
    )
    _check_prompt(levels[-1], plan, ground.faults)
    return plan


def _target(provider: Provider, model: str, held: Branch) -> Target:
    named, most = held.row("can"), held.leaf("max_input_tokens")
    can = None if named is None else {leaf.value for leaf in named.leaves}
    return Target(
        provider=provider,
        model=model,
        can=None if can is None else tuple(ability for ability in Ability if ability in can),
        max_input_tokens=most.value if most else None,
    )


def _check_prompt(held: Branch, plan: TargetPlan, faults: Faults) -> None:
    """A probe that the target itself says is too long would find out nothing."""
    most, need = held.leaf("max_input_tokens"), plan.probe.prompt_tokens
    if most and plan.policy.probing and most.value < need:
        wrong = f"{held.label}: max_input_tokens is {most.value}, and its probes are longer ({need} tokens)"
        faults.add(most.place, wrong, "give it shorter ones, probe: {prompt_tokens: …}, or a larger limit")


def _price(section: Branch) -> Price | None:
    paid = section.leaf("input_usd"), section.leaf("output_usd")
    return Price(input_usd=paid[0].value, output_usd=paid[1].value) if paid[0] and paid[1] else None


def _budget(section: Branch) -> Budget:
    tokens, usd = section.leaf("tokens_per_day"), section.leaf("usd_per_day")
    return Budget(tokens_per_day=tokens.value if tokens else None, usd_per_day=usd.value if usd else None)


def _check_budget(section: Branch, plans: list[TargetPlan], faults: Faults) -> None:
    """Budgets that can't be kept, or allow no probe at all."""
    tokens, usd = section.leaf("tokens_per_day"), section.leaf("usd_per_day")
    for plan in plans:
        need = plan.probe.prompt_tokens + plan.probe.max_tokens
        if tokens and tokens.value < need:
            wrong = (
                f"{section.label}: tokens_per_day is {tokens.value}, less than one probe of {plan.name} ({need} tokens)"
            )
            faults.add(tokens.place, wrong, f"allow at least {need}, or leave the limit out")
        if usd and plan.price is None:
            wrong = f"{section.label}: usd_per_day is {usd.value:g}, but what {plan.name} costs isn't known"
            hint = (
                "give the model a price: {input_usd: …, output_usd: …} (zeros for a free one), or leave the limit out"
            )
            faults.add(usd.place, wrong, hint)
