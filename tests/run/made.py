"""Facts of runs for tests."""

from typing import Any

from breaker.answer import Ended, Finish
from breaker.run import Check, Effect, Outcome, Says, Stage, State, Step
from breaker.verdict import Blame, Verdict

TARGET = "zai/glm"


def answer(seq: int, *, calls: str | None = None, **facts: Any) -> Step:  # Any: whatever a step holds
    """A good answer: with a tool call if `calls` says which, else a final one."""
    found: dict[str, Any] = {
        "id": f"s{seq}",
        "seq": seq,
        "target": TARGET,
        "ended": Ended.COMPLETE,
        "verdict": Verdict.TOOL_CALL if calls else Verdict.OK,
        "blame": Blame.OK,
        "why": "a complete answer",
        "status": 200,
        "finish": Finish.TOOL_CALLS if calls else Finish.STOP,
        "end_mark": True,
        "tools": True,
        "tool_calls": 1 if calls else 0,
        "calls": calls,
    }
    return Step(**{**found, **facts})


def bad(seq: int, verdict: Verdict, blame: Blame = Blame.PROVIDER_FAILURE, **facts: Any) -> Step:  # Any: as above
    """An answer that was none."""
    return answer(seq, verdict=verdict, blame=blame, why="a test", **facts)


def said(seq: int, says: Says, **facts: Any) -> Step:  # Any: as above
    """A final answer that sounds like something."""
    return answer(seq, says=says, **facts)


def wrote(name: str, seq: int, state: State = State.SUCCEEDED, **facts: Any) -> Stage:  # Any: as above
    """A stage of an operation that writes, named like its tool."""
    return Stage(**{"id": name, "tool": name, "seq": seq, "state": state, "effect": Effect.WRITE, **facts})


def read(name: str, seq: int, state: State = State.SUCCEEDED, **facts: Any) -> Stage:  # Any: as above
    """A stage of an operation that reads."""
    return Stage(**{"id": name, "tool": name, "seq": seq, "state": state, **facts})


def check(seq: int, outcome: Outcome, name: str = "tests") -> Check:
    """What a check said."""
    return Check(id=f"c{seq}", seq=seq, name=name, outcome=outcome)
