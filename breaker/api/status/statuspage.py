"""Says how things stand in the shape of Atlassian's Statuspage, which many readers know."""

import hashlib

from breaker.api import sentences, shaping
from breaker.api.headline import Mood, headline, of_decision
from breaker.api.page import View
from breaker.api.status.shapes import ComponentShape, IndicatedShape, SummaryShape
from breaker.circuit import State
from breaker.route import Decision, Role
from breaker.switchboard import Standing

_PAGE = "firstbyte"
# There is no word for what isn't known; "none" would be green.
_INDICATORS = {Mood.WELL: "none", Mood.BACKUP: "minor", Mood.UNKNOWN: "minor", Mood.SELF_SUSPECT: "major"}
_ROLES = {Role.PRIMARY: "operational", Role.BACKUP: "degraded_performance", Role.LAST_RESORT: "major_outage"}
_STATES = {
    State.CLOSED: "operational",
    State.OPEN: "major_outage",
    State.HALF_OPEN: "partial_outage",
    State.HELD_OPEN: "under_maintenance",
    State.HELD_CLOSED: "operational",
}


def indicated(view: View) -> IndicatedShape:
    """How bad it is."""
    told = headline(view.decisions, view.standings, view.now, known=view.known)
    lost = [decision.role is Role.LAST_RESORT for decision in view.decisions]
    severe = "critical" if all(lost) else "major"
    at = shaping.clock(view.now)
    return {
        "page": {"id": _PAGE, "name": "Firstbyte", "url": "/", "time_zone": "Etc/UTC", "updated_at": at},
        "status": {"indicator": _INDICATORS.get(told.mood, severe), "description": told.text},
    }


def summary(view: View) -> SummaryShape:
    """How bad it is, and how each route and target stands."""
    at = shaping.clock(view.now)
    found = [
        *((f"route {d.route.name}", *_of_route(d, view)) for d in view.decisions),
        *((f"target {s.target.name}", *_of_target(s, view)) for s in view.standings),
    ]
    components = [_component(place, name, status, said, at) for place, (name, status, said) in enumerate(found, 1)]
    return {**indicated(view), "components": components, "incidents": [], "scheduled_maintenances": []}


def _of_route(decision: Decision, view: View) -> tuple[str, str]:
    """A route's status, and why."""
    unknown = decision.stale or sentences.unknown(view.standing(decision.target), view.now)
    status = "degraded_performance" if unknown and decision.role is Role.PRIMARY else _ROLES[decision.role]
    return status, of_decision(decision, view.by_name, view.now)


def _of_target(standing: Standing, view: View) -> tuple[str, str]:
    """A target's status, and why."""
    unknown = sentences.unknown(standing, view.now)
    status = "degraded_performance" if unknown and standing.state.passes else _STATES[standing.state]
    nothing_new = "; nothing new is known of it" if unknown else ""
    return status, sentences.circuit(standing) + nothing_new


def _component(place: int, name: str, status: str, description: str, at: str) -> ComponentShape:
    return {
        "id": hashlib.sha256(name.encode()).hexdigest()[:12],
        "name": name.partition(" ")[2],
        "status": status,
        "description": description,
        "position": place,
        "page_id": _PAGE,
        "group": False,
        "group_id": None,
        "showcase": True,
        "only_show_if_degraded": False,
        "created_at": at,
        "updated_at": at,
    }
