"""Times and lengths of time as the command line says them: in the reader's own zone, which is named once."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.cli.exits import UsageError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


@dataclass(frozen=True, slots=True)
class Clock:
    """Says moments in the zone of `now`; `now` is the store's time, with the reader's zone."""

    now: datetime

    @classmethod
    def of(cls, at: str | None, ago_s: float) -> "Clock":
        """The clock by which `at` (RFC 3339) was so long ago; without it, this machine's. Raises ValueError."""
        then = datetime.now().astimezone() if at is None else datetime.fromisoformat(at).astimezone()
        return cls(then + timedelta(seconds=0.0 if at is None else ago_s))

    @property
    def zone(self) -> str:
        """Its zone: UTC, or such as CET (UTC+01:00)."""
        name, offset = self.now.strftime("%Z"), self.now.strftime("%z")
        return name if name == "UTC" else f"{name} (UTC{offset[:3]}:{offset[3:5]})"

    def at(self, moment: str) -> str:
        """A moment (RFC 3339) to the second, with its day where that isn't today. Raises ValueError."""
        return self._said(datetime.fromisoformat(moment))

    def ahead(self, seconds: float) -> str:
        """The moment that comes so many seconds after now."""
        return self._said(self.now + timedelta(seconds=seconds))

    def _said(self, moment: datetime) -> str:
        here = moment.astimezone(self.now.tzinfo)
        return f"{here:%H:%M:%S}" if here.date() == self.now.date() else f"{here:%d %b %H:%M:%S}"


def span(seconds: float) -> str:
    """A length of time: 0.42 s, 1.4 s, 43.1 s, 388 s, 2 h 5 min, 3 d 4 h."""
    if seconds < 0.95:
        return f"{seconds:.2f} s"
    if seconds < 100:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    if seconds < 3600:
        return f"{seconds:.0f} s"
    large, small, units = (86_400, 3600, "d h") if seconds >= 86_400 else (3600, 60, "h min")
    whole, rest = divmod(round(seconds / small), large // small)
    first, second = units.split()
    return f"{whole} {first}" + (f" {rest} {second}" if rest else "")


def whole(seconds: float) -> str:
    """A length of time to the second, and from an hour on as `span` says it: 0 s, 388 s, 2 h 5 min."""
    return f"{seconds:.0f} s" if seconds < 3600 else span(seconds)


def seconds(text: str) -> float:
    """The seconds in `90`, `90s`, `10m`, `2h` or `3d`. Raises UsageError for anything else."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)([smhd]?)", text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no length of time; write 90, 10m, 2h or 3d")
    return float(match[1]) * _UNITS[match[2]]
