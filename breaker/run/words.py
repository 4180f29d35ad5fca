"""The words in which a run is told: what a tool does, how far an operation is, what a check said."""

from enum import StrEnum


class Effect(StrEnum):
    """What a tool does to the world."""

    READ = "read"  # nothing: it may be called again
    WRITE = "write"  # it changes something: a second time may be once too often


class State(StrEnum):
    """How far an operation is. A call of a tool is only an attempt at it."""

    PLANNED = "planned"  # it is to happen, and hasn't begun
    EXECUTING = "executing"  # it has begun
    UNKNOWN = "unknown"  # nobody knows whether it happened: nothing came back after it was sent
    FAILED = "failed"
    SUCCEEDED = "succeeded"


class Outcome(StrEnum):
    """What a task's own check said of it."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"  # it couldn't be made


class Says(StrEnum):
    """What the end of an answer's text sounds like."""

    DONE = "done"  # it claims that the task is complete
    ACTED = "acted"  # it claims to have changed something outside of the answer: sent, booked, deleted, …
    NEXT = "next"  # it announces what comes next
