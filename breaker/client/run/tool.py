"""A tool of a run: each call of it is an attempt at an operation, which is told as it goes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from breaker.client.run.call import KEY, MISFIT, Call, Key, Terms
from breaker.errors import NotStartedError
from breaker.run import Effect, Operation, Run, State, Why, digests, hindrance, reading
from breaker.run.results import Rule

if TYPE_CHECKING:
    from breaker.client.run.journal import Journal

# An operation's id begins with its tool's name, where that isn't longer.
_MOST_SHORT = 40


class Tool:
    """What is known of a tool, and what its calls come to.

    `about` are the parameters that name what it is done to: a later call about the same makes an earlier failure good.
    """

    def __init__(
        self,
        journal: Journal,
        function: Callable[..., object],
        *,
        name: str | None,
        effect: Effect,
        needs: Collection[str],
        required: bool | None,
        about: Collection[str],
        rules: Collection[Rule],
    ) -> None:
        name = name or str(getattr(function, "__name__", ""))
        if not reading.NAME.fullmatch(name):
            raise ValueError("a tool's name has 1 to 64 letters, digits or any of _ . : / -; give one as `name`")
        # Names that are alike at their begin are others.
        self._short = name if len(name) <= _MOST_SHORT else digests.digest(journal.id, name)
        self.journal = journal
        self.terms = Terms(name, effect, required, rules)
        self.needs = tuple(needs)
        self._about = tuple(about)
        self._signature = inspect.signature(function)
        key = self._signature.parameters.get(KEY)
        self._keyed = key is not None and key.kind in (key.POSITIONAL_OR_KEYWORD, key.KEYWORD_ONLY)

    def begin(self, args: Sequence[object], given: Mapping[str, object]) -> Call:
        """A call that may be made now. Raises NotStartedError where it may not."""
        with self.journal.beginning:  # else two threads could begin the same
            return self._begin(args, given)

    def fits(self, args: Sequence[object], given: Mapping[str, object]) -> bool:
        """Whether it can be called with these."""
        try:
            self._signature.bind(*args, **given)
        except TypeError:
            return False
        return True

    def _begin(self, args: Sequence[object], given: Mapping[str, object]) -> Call:
        run, bound = self.journal.known(), self._bound(args, given)
        arguments = self._arguments(bound, args, given)
        found, name = self._find(run, arguments)
        last = {need: self.journal.last_of(need) for need in self.needs}
        needs = tuple(dict.fromkeys(one.id for one in last.values() if one is not None))
        replaces = self._replaces(run, name, self._about_of(bound))
        call = Call(self.journal, self.terms, name, found, arguments, needs, replaces, self._key(bound, given))
        if found is not None:
            same = found.idempotency_key if found.idempotency_key == call.key else None
            found = found._replace(needs=needs, idempotency_key=same)
        hindered = hindrance(run, found, needs)
        if None in last.values() or hindered is not None:
            why = Why.NEEDS if hindered is None else hindered.why
            if found is None:
                call.tell(State.PLANNED)
            raise NotStartedError(_said(self, why), why.value)
        call.tell(State.EXECUTING)
        return call

    def _arguments(
        self, bound: inspect.BoundArguments | None, args: Sequence[object], given: Mapping[str, object]
    ) -> str:
        """A digest of what it is called with, however that is passed; without its key, which makes no other call."""
        if bound is None:
            said: object = [list(args), {name: value for name, value in given.items() if name != KEY}]
        else:
            whole = inspect.BoundArguments(self._signature, bound.arguments.copy())
            whole.apply_defaults()
            said = {name: value for name, value in whole.arguments.items() if name != KEY}
        return digests.digest(self.journal.id, digests.text_of(said))

    def _key(self, bound: inspect.BoundArguments | None, given: Mapping[str, object]) -> Key | None:
        """The key of a call; None where it has none: an empty one tells nobody anything."""
        if not self._keyed or bound is None:
            return None
        own = bound.arguments.get(KEY)
        if own is not None and str(own):
            return Key(str(own))
        return Key(None) if KEY in given or KEY not in bound.arguments else None

    def _find(self, run: Run, arguments: str) -> tuple[Operation | None, str]:
        """The operation that a call with these arguments is an attempt at, and its id; one that succeeded is over."""
        number = 0
        while True:
            number += 1
            name = f"{self._short}-{arguments[:12]}-{number}"
            found = run.operation(name)
            if found is None or found.state is not State.SUCCEEDED:
                return found, name

    def _replaces(self, run: Run, name: str, about: str | None) -> tuple[str, ...]:
        """What a call makes good: failures about the same thing, and calls with arguments that were none of its."""
        misfits = (one.id for one in run.operations if one.tool == self.terms.name and one.error == MISFIT)
        found = (*self.journal.failed_about(about, name), *(one for one in misfits if one != name))
        return tuple(dict.fromkeys(found))[-reading.MAX_NAMED :]

    def _bound(self, args: Sequence[object], given: Mapping[str, object]) -> inspect.BoundArguments | None:
        """The arguments by their parameters' names; None where they don't fit, which the tool itself says better."""
        try:
            return self._signature.bind_partial(*args, **given)
        except TypeError:
            return None

    def _about_of(self, bound: inspect.BoundArguments | None) -> str | None:
        """A digest of what a call is about; None where nothing says so."""
        if not self._about:
            return None
        named = {} if bound is None else bound.arguments
        return digests.digest(
            self.journal.id, digests.text_of([self.terms.name, *(named.get(name) for name in self._about)])
        )


def _said(tool: Tool, why: Why) -> str:
    match why:
        case Why.NEEDS:
            return f"{tool.terms.name} was not started: it needs {', '.join(tool.needs)}, which hasn't succeeded"
        case Why.NOT_AGAIN:
            known = "it failed with these arguments, and nothing says that nothing happened"
        case _:
            known = "nobody knows whether it happened"
    return f"{tool.terms.name} was not started again: {known}; look, then say so with run.found()"
