"""The Lua scripts that ship in this package, run by their digest."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files

from breaker.store.call import Call, Word


class Script:
    """A script of this package, made of one or more files; the server keeps its text after the first call, until it
    restarts.
    """

    def __init__(self, *names: str) -> None:
        folder = files("breaker.store")
        self._text = "\n".join(folder.joinpath(f"{name}.lua").read_text(encoding="utf-8") for name in names)
        # The protocol's own name for a script, not a matter of security.
        self._digest = hashlib.sha1(self._text.encode(), usedforsecurity=False).hexdigest()

    def call(self, keys: Sequence[str], args: Sequence[Word]) -> Call:
        """One run of it; all keys share one hash tag."""
        rest = (len(keys), *keys, *args)
        return Call(key=keys[0], words=("EVALSHA", self._digest, *rest), text=("EVAL", self._text, *rest))


RECORD = Script("circuit", "history", "joined", "record")
PAST = Script("joined", "past")
APPLY = Script("circuit", "apply")
CLAIM = Script("claim")
TAKE = Script("take")
UNCLAIM = Script("unclaim")
SPEND = Script("spend")
FILE = Script("file")
ADD = Script("add")
RUN = Script("run")
CONCLUDE = Script("conclude")
NOTE = Script("note")
