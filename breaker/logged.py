"""The events of the service's log: each has a name, a meaning, and the keys that it may carry besides its sentence."""

from dataclasses import dataclass

Value = str | int | float | None

# Every key there is. Values come from the configuration, from closed lists or from clocks and counters.
KEYS = {
    "target": "the target, written provider/model",
    "provider": "the provider's name",
    "probe_id": "the probe's id, as `GET /moves` and exemplars name it",
    "verdict": "what an answer was judged to be",
    "before": "the circuit's state before",
    "after": "the circuit's state after",
    "cause": "why: of a closed list",
    "first_byte_s": "seconds until the first byte; left out where none came",
    "headers_s": "seconds until the headers; left out where none came",
    "seconds": "how long it took or lasted, in seconds",
    "count": "how many",
    "targets": "how many targets there are",
    "routes": "how many routes there are",
    "place": "where the store is, without user and password",
    "url": "where this process listens",
    "receiver": "the receiver's name",
    "form": "the receiver's form",
    "version": "this process's version",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that the log tells of. Calling it gives what a line is to carry: `_log.info("…", extra=MOVED(…))`.

    Values that are None are left out. A key that isn't among `keys` is a fault of ours and raises KeyError.
    """

    name: str
    meaning: str
    keys: tuple[str, ...] = ()

    def __call__(self, **values: Value) -> dict[str, object]:
        """What a line of this event carries."""
        for key in values:
            if key not in self.keys:
                raise KeyError(f"{self.name} carries no {key}")
        return {"event": self, "values": {key: value for key, value in values.items() if value is not None}}


# The process
STARTED = Event("started", "the service is up", ("version", "url", "targets", "routes"))
LANE_MISSING = Event("lane_missing", "`GET /route` is answered more slowly, since httptools isn't installed")
FAULT = Event("fault", "a fault of our own; the service goes on", ("count",))
LOG_LOST = Event("log_lost", "lines of the log weren't written, since nobody took them", ("count",))
STREAM_BROKEN = Event("stream_broken", "the local door's provider broke off an answer")
RELOADED = Event("reloaded", "the configuration was read anew and is in use", ("targets", "routes"))
RELOAD_REFUSED = Event(
    "reload_refused", "the configuration was changed and isn't used; the one before goes on", ("count",)
)
# Circuits
MOVED = Event("circuit_moved", "this process moved a circuit", ("target", "before", "after", "cause"))
MOVE_UNTOLD = Event("move_untold", "a move is told later or not at all, since the ledger can't be read", ("target",))
# The store
STORE_GONE = Event("store_gone", "the store doesn't answer; what was last known is shown")
STORE_TROUBLE = Event("store_trouble", "something in the store can't be read or written", ("target", "count"))
STORE_FOUND = Event("store_found", "which servers of several are asked from now on", ("place",))
STORE_CLOCK = Event("store_clock", "clocks of the store's servers are apart, or the store's was set", ("seconds",))
STORE_SERVER = Event("store_server", "the embedded server was ended, or starts empty")
ANSWERS_WAIT = Event("answers_wait", "answers wait for the store")
ANSWERS_LOST = Event("answers_lost", "answers never came into the store", ("count",))
# Agents' tasks
AUDIT_LOST = Event("audit_lost", "lines of the audit of agents' tasks can't be written, or weren't", ("count",))
# Probes
PROBE_ENDED = Event(
    "probe_ended",
    "a probe came to its end",
    ("target", "probe_id", "verdict", "first_byte_s", "headers_s", "seconds"),
)
PROBE_BROKEN = Event("probe_broken", "the exchange of a probe broke", ("target", "cause"))
PROBE_UNFIT = Event("probe_unfit", "a probe can't be sent, or counts for nothing by our own fault", ("target",))
TURNS_MISSED = Event("turns_missed", "this process is too busy to probe in time", ("cause",))
CLAIMS_MISSING = Event("claims_missing", "probes aren't shared with other processes, since the store gives no claims")
BUDGET = Event("budget", "a provider's budget of the day is nearly or fully spent", ("provider",))
# Our own network
NETWORK_DOWN = Event("network_down", "our own network seems to be down; no circuit moves by itself")
NETWORK_BACK = Event("network_back", "our own network is back", ("seconds",))
CONTROL_SILENT = Event("control_silent", "no control address answers")
# Notifications
NOTICE_FAILED = Event(
    "notification_failed", "a receiver took no message; it is tried again", ("receiver", "form", "cause")
)
NOTICE_DROPPED = Event("notification_dropped", "a message is given up", ("receiver", "form", "cause"))
# Whatever has no event of its own: other packages' lines.
MESSAGE = Event("message", "a line of another package")

EVENTS = tuple(value for value in list(globals().values()) if isinstance(value, Event))
