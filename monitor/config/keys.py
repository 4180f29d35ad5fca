"""All keys of a configuration: name, kind, default and a line of explanation each; checks and docs follow it."""

from dataclasses import Field, fields, replace
from typing import Any

from breaker.policy import Policy
from breaker.route import Route
from breaker.target import MODEL_NAME, PROVIDER_NAME, Ability
from breaker.wire import READERS
from monitor.config.addresses import base_url, control, host
from monitor.config.faults import Unfit, shown
from monitor.config.kinds import FLAG, Kind, number, one_of, text
from monitor.config.phrases import MAX_TAIL, TAIL, phrase
from monitor.config.shapes import Either, Key, Listing, Named, Section
from monitor.config.stores import open_store_url, server, service, store_url, user
from monitor.config.variables import variable
from monitor.settings import AuditPlan, Door, Form, LogForm, LogLevel, Logs, ProbeShape, Told


def _target(name: str) -> str | Unfit:
    provider, slash, model = name.partition("/")
    if slash and PROVIDER_NAME.fullmatch(provider) and MODEL_NAME.fullmatch(model):
        return name
    return Unfit(f"is {shown(name)}, not written as provider/model", "write both, such as zai/glm-5.3-flash")


VARIABLE = text("the name of an environment variable", variable)
_HOST = text("a host", host)
_PORT = number(1, 65_535, whole=True)
# The policy itself knows which numbers work, alone and together: `breaker.policy.flaws`.
_BY_END = {
    "_s": number(unit="seconds"),
    "_row": number(whole=True, unit="answers"),
    "_intervals": number(unit="intervals"),
    "_answers": number(whole=True, unit="answers"),
    "_share": number(),
    "_factor": number(unit="times"),
    "_growth": number(unit="times"),
    "slump": FLAG,
    "probing": FLAG,
}


def _policy_key(field: Field[Any], line: str) -> Key:
    kind = next(kind for end, kind in _BY_END.items() if field.name.endswith(end))
    return Key(name=field.name, holds=kind, line=line, default=_written(field.default))


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else f"{value}"


def _default(owner: type[Any], name: str) -> str:
    return next(_written(field.default) for field in fields(owner) if field.name == name)


_POLICY_LINES = {
    "slow_s": "a first byte later than this is slow; it counts when this much silence is over, not when the byte comes",
    "slow_row": "this many slow first bytes in a row open the circuit",
    "errors_row": "this many failed answers in a row open the circuit; slow and failed ones count in one row",
    "hold_s": "an open circuit stays open for this long, exactly",
    "recover_row": "this many good, quick probes in a row close it again",
    "interval_s": "between two probes of a target",
    "jitter_s": "each probe starts later by a random part of this",
    "confirm_s": "a bad answer is confirmed by a probe after this long",
    "half_open_s": "between two probes once the hold is over and recovery isn't proven",
    "silence_s": "an answer that says nothing for this long is given up; one that flows is never cut",
    "row_gap_intervals": "from the end of one to the begin of the next in a row it is at most so many probe intervals",
    "fresh_intervals": "a good probe older than this many probe intervals proves no recovery",
    "silent_intervals": "with no telling probe for so many intervals and silence_s, a hold's end closes unverified",
    "wary_s": "for this long after an unverified close, one bad answer opens the circuit again",
    "rate_share": "this share of bad answers opens the circuit, of `rate_answers` at least",
    "rate_answers": "of the last so many probes, or of all answers within `rate_window_s` where there are so many",
    "rate_window_s": "how far back all answers are counted",
    "slump": "whether a target that stays much slower than its own usual speed is left",
    "slump_factor": "so many times later than usual is much slower",
    "throttled_row": "this many probes in a row of which too much was asked (429 without Retry-After) open the circuit",
    "retry_after_min_s": "a shorter Retry-After is taken for this long, a longer one than `hold_s` for `hold_s`",
    "hold_growth": "a circuit that opens again soon is held so many times longer than before; 1 means always `hold_s`",
    "hold_max_s": "the longest that a hold grows to",
    "hold_forget_s": "once closed for this long, a circuit is held for `hold_s` again",
    "probing": "whether probes are sent at all; without them, only agents' reports count",
}

POLICY = Section(name="policy", keys=tuple(_policy_key(field, _POLICY_LINES[field.name]) for field in fields(Policy)))


def _probe_key(name: str, kind: Kind, line: str) -> Key:
    return Key(name=name, holds=kind, line=line, default=_default(ProbeShape, name))


PROBE = Section(
    name="probe",
    keys=(
        _probe_key(
            "prompt_tokens",
            number(100, 1_000_000, whole=True, unit="tokens"),
            "how long a probe's prompt is, tool schemas included; make it as long as your agents' own",
        ),
        _probe_key(
            "max_tokens",
            number(16, 100_000, whole=True, unit="tokens"),
            "how long its answer may be; a model that thinks before it answers needs more",
        ),
        _probe_key("stable_prefix", FLAG, "begin each prompt alike, as agents do whose prefix the provider caches"),
        _probe_key("skip_when_fresh", FLAG, "send no probe where agents' reports have just said the same for free"),
        _probe_key("fresh_connection", FLAG, "open a connection for each probe"),
    ),
)

_DOLLARS = number(0, 100_000, unit="US dollars")

PRICE = Section(
    name="price",
    keys=(
        Key(name="input_usd", holds=_DOLLARS, line="US dollars for a million tokens of prompt", required=True),
        Key(name="output_usd", holds=_DOLLARS, line="US dollars for a million tokens of answer", required=True),
    ),
)

BUDGET = Section(
    name="budget",
    keys=(
        Key(
            name="tokens_per_day",
            holds=number(1, 1_000_000_000_000, whole=True, unit="tokens"),
            line="what probes of this provider may use in a day (UTC), prompts and answers together",
            default="no limit",
        ),
        Key(
            name="usd_per_day",
            holds=number(0.000_001, 1_000_000, unit="US dollars"),
            line="what probes of this provider may cost in a day (UTC); every model of it then needs a `price`",
            default="no limit",
        ),
    ),
)

DOOR = Section(
    name="door",
    keys=(
        Key(
            name="host",
            holds=_HOST,
            line="where the service listens; anywhere else than loopback, both tokens are needed",
            default=_default(Door, "host"),
        ),
        Key(name="port", holds=_PORT, line="the port it listens on", default=_default(Door, "port")),
        Key(
            name="agent_token_env",
            holds=VARIABLE,
            line="the variable that holds the token with which agents report",
            default="no token is asked for",
        ),
        Key(
            name="admin_token_env",
            holds=VARIABLE,
            line="the variable that holds the token with which people also move circuits",
            default="no token is asked for",
        ),
    ),
)

LOG_FORM = one_of("a form", tuple(LogForm))

LOG = Section(
    name="log",
    keys=(
        Key(
            name="form",
            holds=LOG_FORM,
            line="`text` for people, `logfmt` or `json` for programs: one line an event",
            default=_default(Logs, "form"),
        ),
        Key(
            name="level",
            holds=one_of("a level", tuple(LogLevel)),
            line="`debug` tells of each probe too, `warning` only of what is wrong",
            default=_default(Logs, "level"),
        ),
    ),
)

AUDIT = Section(
    name="audit",
    keys=(
        Key(
            name="to",
            holds=text("`stdout`, or a file's path", str),
            line="where one line of JSON a decision and an operation goes: `stdout`, or a file that grows",
            default="nowhere",
        ),
        Key(
            name="share",
            holds=number(0, 1),
            line="of this share of tasks every line; of the others what failed, what nobody knows and what wasn't done",
            default=_default(AuditPlan, "share"),
        ),
    ),
)

NOTIFY = Section(
    name="notify",
    keys=(
        Key(
            name="form",
            holds=one_of("a form", tuple(Form)),
            line=f"how it wants a message: {', '.join(f'`{form}`' for form in Form)}",
            required=True,
        ),
        Key(name="url_env", holds=VARIABLE, line="the variable that holds the webhook's address", required=True),
        Key(
            name="events",
            holds=Listing(holds=one_of("an event", tuple(Told))),
            line="`moves` of circuits, and `no_target`: a route has none left that agents may be sent to",
            default="both",
        ),
    ),
)

_OWN_POLICY = "numbers that differ here; the nearest wins"

_ABILITIES = ", ".join(f"`{ability}`" for ability in Ability)

MODEL = Section(
    name="model",
    keys=(
        Key(name="price", holds=PRICE, line="what its tokens cost", default="not known"),
        Key(
            name="can",
            holds=Listing(holds=one_of("an ability", tuple(Ability)), or_none=True),
            line=f"what steps may need of it: {_ABILITIES}; `[]` for none of these",
            default="not known: it gets any step",
        ),
        Key(
            name="max_input_tokens",
            holds=number(1, 1_000_000_000, whole=True, unit="tokens"),
            line="the longest prompt that it takes",
            default="not known: it gets any step",
        ),
        Key(name="policy", holds=POLICY, line=_OWN_POLICY),
        Key(name="probe", holds=PROBE, line=_OWN_POLICY),
    ),
)

PROVIDER = Section(
    name="provider",
    keys=(
        Key(
            name="base_url",
            holds=text("an address", base_url),
            line="the API's address, up to where the wire's own path begins: `https://api.example.com/v1`",
            required=True,
        ),
        Key(
            name="wire",
            holds=one_of("a wire", tuple(READERS)),
            line=f"the format that it speaks: {', '.join(f'`{name}`' for name in READERS)}",
            required=True,
        ),
        Key(
            name="api_key_env",
            holds=VARIABLE,
            line="the variable that holds its key; agents are told this name, never the key",
            default="no key is sent",
        ),
        Key(name="budget", holds=BUDGET, line="what probing it may cost in a day", default="no limit"),
        Key(name="policy", holds=POLICY, line=_OWN_POLICY),
        Key(name="probe", holds=PROBE, line=_OWN_POLICY),
        Key(
            name="models",
            holds=Named(name="model", pattern=MODEL_NAME, holds=MODEL),
            line="its models by the names that it gives them; a name alone is enough",
            required=True,
        ),
    ),
)

_PHRASE = text("a phrase", phrase)

PHRASE = Section(
    name="phrase",
    keys=(
        Key(
            name="text",
            holds=_PHRASE,
            line="how the gateway's text, or its last paragraph, begins; large and small letters are the same",
            required=True,
        ),
        Key(
            name="tail",
            holds=number(0, MAX_TAIL, whole=True, unit="characters"),
            line="how many more characters may follow it; a longer text is an answer that quotes it",
            default=str(TAIL),
        ),
    ),
)

_TARGETS = Listing(holds=text("a target", _target))

ROUTE = Section(
    name="route",
    keys=(
        Key(
            name="targets",
            holds=_TARGETS,
            line="its targets in order of preference; the first is the primary",
            required=True,
        ),
        Key(
            name="max_open_share",
            holds=number(0.01, 1),
            line="at most this share of them stays out at a time; of the others the least bad are used although out",
            default=_default(Route, "max_open_share"),
        ),
    ),
)

_SERVERS = Listing(holds=text("an address", server))

STORE = Section(
    name="store",
    keys=(
        Key(name="sentinels", holds=_SERVERS, line="the sentinels that watch the server, each as `host:26379`"),
        Key(name="service", holds=text("a service", service), line="the name under which they know the master"),
        Key(name="cluster", holds=_SERVERS, line="instead: some nodes of a cluster, each as `host:6379`"),
        Key(name="database", holds=number(0, 1_000_000, whole=True), line="the number of its database", default="0"),
        Key(name="tls", holds=FLAG, line="whether all of them are reached over TLS", default="false"),
        Key(name="username", holds=text("a name", user), line="the servers' user"),
        Key(name="password_env", holds=VARIABLE, line="the variable that holds the user's password"),
        Key(name="sentinel_username", holds=text("a name", user), line="the sentinels' own user"),
        Key(name="sentinel_password_env", holds=VARIABLE, line="the variable that holds that user's password"),
    ),
)

ROOT = Section(
    name="file",
    notes=True,
    keys=(
        Key(
            name="store",
            holds=Either(holds=text("a store's address", open_store_url), or_keys=STORE),
            line="Redis or Valkey, without a password: `redis://`, `rediss://`, `unix://`, `redis+sentinel://`,"
            " `redis+cluster://`",
            default="an embedded store, for one machine",
        ),
        Key(
            name="store_env",
            holds=VARIABLE,
            line="instead of `store`: the variable that holds the address, where a password is in it",
        ),
        Key(name="door", holds=DOOR, line="where the service listens and who may tell it something"),
        Key(name="log", holds=LOG, line="how the service's log is written"),
        Key(name="audit", holds=AUDIT, line="where is written what became of agents' tasks"),
        Key(
            name="notify",
            holds=Named(name="receiver", pattern=PROVIDER_NAME, holds=NOTIFY),
            line="webhooks that are told of moves, under names that you choose",
            default="nobody is told",
        ),
        Key(name="policy", holds=POLICY, line="when circuits open and close"),
        Key(name="probe", holds=PROBE, line="what probes ask"),
        Key(
            name="providers",
            holds=Named(name="provider", pattern=PROVIDER_NAME, holds=PROVIDER),
            line="the accounts there are, under names that you choose",
            required=True,
        ),
        Key(
            name="routes",
            holds=Named(name="route", pattern=PROVIDER_NAME, holds=replace(_TARGETS, or_all_keys=ROUTE)),
            line="names that agents ask for, each with its targets (`provider/model`) in order of preference",
            required=True,
        ),
        Key(
            name="control",
            holds=Listing(holds=Kind(words="an address", read=lambda scalar: control(scalar.text))),
            line="`host:port` or `https://host`: while none can be reached, our own network is at fault, not a target",
            default="the other providers are tried",
        ),
        Key(
            name="phrases",
            holds=Listing(holds=_PHRASE, or_keys=PHRASE),
            line="what gateways of your own say instead of an answer, beyond what Firstbyte knows of others",
        ),
    ),
)

ENVIRONMENT = Section(
    name="environment",
    keys=(
        Key(
            name="FIRSTBYTE_CONFIG",
            holds=text("a path", str),
            line="the configuration's path; `--config` stands above it",
            default="`firstbyte.yaml` in the working folder",
        ),
        Key(name="FIRSTBYTE_HOST", holds=_HOST, line="stands above `door: host`"),
        Key(name="FIRSTBYTE_PORT", holds=_PORT, line="stands above `door: port`"),
        Key(
            name="FIRSTBYTE_STORE",
            holds=text("a store's address", store_url),
            line="stands above `store` and `store_env`; a password may be in it",
        ),
        Key(name="FIRSTBYTE_LOG", holds=LOG_FORM, line="stands above `log: form`"),
        Key(
            name="FIRSTBYTE_DATA",
            holds=text("a folder", str),
            line="where the embedded store keeps its data",
            default="`firstbyte` in `$XDG_STATE_HOME` or `~/.local/state`; on macOS in `~/Library/Application Support`",
        ),
    ),
)
