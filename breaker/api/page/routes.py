"""Draws a route: its targets in order, the one in use, and why those before it are skipped."""

from html import escape

from breaker.api import marks, sentences
from breaker.api.headline import of_decision
from breaker.api.page import parts
from breaker.api.page.view import View
from breaker.api.spans import roughly
from breaker.circuit import State
from breaker.route import Decision, Role
from breaker.switchboard import Standing

_ROLES = {Role.PRIMARY: "on its primary", Role.BACKUP: "on a backup", Role.LAST_RESORT: "last resort"}


def card(decision: Decision, view: View) -> str:
    """A route as a card."""
    chosen = view.standing(decision.target)
    role = f"{decision.role.value}{parts.unknown(chosen, view.now)}"
    steps = "\n".join(_step(view.standing(t), view.now, chosen=t == decision.target) for t in decision.route.targets)
    return (
        f'<article class="route"><header><h3>{escape(decision.route.name)}</h3>'
        f'<span class="role {role}">{_ROLES[decision.role]}</span></header>\n'
        f"<ol>\n{steps}\n</ol>\n"
        f"<footer><p>{escape(of_decision(decision, view.by_name, view.now))}</p>"
        f'<p class="left">{_left(decision, view)}</p></footer></article>'
    )


def _left(decision: Decision, view: View) -> str:
    """How many targets it could go to."""
    able = sum(view.standing(target).state.passes for target in decision.route.targets)
    return f"{able} of {parts.count(len(decision.route.targets), 'target')} working"


def _step(standing: Standing, now: float, *, chosen: bool) -> str:
    """A target in a route's order of preference."""
    classes = f"step{' chosen' if chosen else ''}{parts.unknown(standing, now)}"
    return (
        f'<li class="{classes}">{marks.of_state(standing.state)}<span class="who">{parts.name(standing.target)}</span>'
        f'<span class="word">{escape(_word(standing, now, chosen=chosen))}</span></li>'
    )


def _word(standing: Standing, now: float, *, chosen: bool) -> str:
    """Why it is in use or isn't; nothing is said twice."""
    said = [] if standing.state is State.CLOSED else [parts.state(standing.state)]
    if not standing.state.passes:
        said = [sentences.circuit(standing)]
        if standing.until is not None:
            said.append(f"{roughly(standing.until - now)} left")
    if chosen:
        return ", ".join([*said, "in use"])
    return ", ".join(said or ["ready"])
