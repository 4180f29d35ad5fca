"""The errors that Firstbyte raises itself.

FirstbyteError
├── BadFactError          a reported fact has the wrong name, type or range
├── BadExchangeError      a recorded exchange isn't written as the format wants it
├── UnknownNameError      a route or target that the configuration doesn't have
├── StoreError            the store could not do what was asked
│   ├── StoreGoneError        no answer within the limit, no connection, or it is only loading or read-only
│   ├── DamagedStoreError     a key of ours holds something else than we keep there
│   ├── CertificatesError     the certificates for the way to it can't be used
│   └── EmbeddedStoreError    no server could be started on this machine
├── NotStartedError       an operation of a run isn't begun, since that may do harm
├── AnswerError           an answer failed after part of it had been shown
└── DoorError             the service could not be asked, or refused
    ├── DoorAddressError      the address, or the token for it, can't be used
    ├── DoorGoneError         nothing answers at the address
    └── DoorRefusedError      it answered with a problem

A provider's failure is never an exception: it is an answer with a verdict. Only where an agent has seen part of
such an answer already does its transport have to say so by an AnswerError.
"""

from collections.abc import Iterable


class FirstbyteError(Exception):
    """Anything that Firstbyte itself has to say."""


class BadFactError(FirstbyteError):
    """A reported fact has the wrong name, type or range; the message names fact and remedy, and quotes no text.

    `field` is the fact's name; None where it is no fact's, or it concerns no single one.
    """

    def __init__(self, message: str, field: str | None = None) -> None:
        self.field = field
        super().__init__(message)


class BadExchangeError(FirstbyteError):
    """A recorded exchange isn't in its format; the message names thing and remedy, and quotes no text."""


class UnknownNameError(FirstbyteError):
    """A route or target that isn't configured.

    `kind` is "route" or "target", `name` what was asked for (None: none was named, and it is needed), `known` the
    names there are.
    """

    def __init__(self, kind: str, name: str | None, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        wrong = f"name a {kind}" if name is None else f"there is no {kind} {name!r}"
        super().__init__(f"{wrong}; there are: {', '.join(self.known) or 'none'}")


class StoreError(FirstbyteError):
    """The store could not do what was asked."""


class StoreGoneError(StoreError):
    """The store gave no answer within its limit, can't be reached, or takes no writes just now.

    `trouble` says what is wrong with it, and unlike the message not where it is: "can't be reached".
    """

    def __init__(self, message: str, trouble: str = "doesn't answer") -> None:
        self.trouble = trouble
        super().__init__(message)


class DamagedStoreError(StoreError):
    """Keys of ours hold something else than we keep there; `keys` are those, none where it isn't known which.

    Nothing is written over them: a person deletes them, and what is known here is put back.
    """

    def __init__(self, place: str, keys: Iterable[str] = ()) -> None:
        self.keys = tuple(keys)
        which = f"what is kept at {', '.join(self.keys)}" if self.keys else "a key of ours"
        super().__init__(f"the store at {place} holds something else than {which}; delete that")


class CertificatesError(StoreError):
    """The certificates that a store's URL names can't be used; `why` is what the system said of them."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"the store's certificates can't be used: {why}")


class EmbeddedStoreError(StoreError):
    """No server of our own could be started; the message says what is missing and where it was looked for."""


class NotStartedError(FirstbyteError):
    """An operation of a run isn't begun: what it needs hasn't succeeded, or it may have happened already.

    The message may be handed to the model. `why` is `needs`, `nobody_knows` or `not_again`.
    """

    def __init__(self, message: str, why: str) -> None:
        self.why = why
        super().__init__(message)


class AnswerError(FirstbyteError):
    """An answer failed after part of it had been shown; `verdict` is what it was, `target` whose it was.

    Where a transport raises it, it is besides an error of the httpx family in use: a `ReadTimeout` for silence, else
    a `RemoteProtocolError`. The message quotes nothing of the answer.
    """

    verdict: str = ""
    target: str = ""
    shown_chars: int = 0


class DoorError(FirstbyteError):
    """The service could not be asked, or refused."""


class DoorAddressError(DoorError):
    """The service's address, the token for it or the proxy before it is written in a way that can't be used."""


class DoorGoneError(DoorError):
    """Nothing answers at the service's address within the limit."""


class DoorRefusedError(DoorError):
    """The service answered with a problem; `status` is the HTTP status, the message its words."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)
