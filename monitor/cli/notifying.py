"""`firstbyte notify`: sends each receiver a message to try it out."""

import time
from collections.abc import Sequence

from monitor.cli.exits import BAD, GOOD
from monitor.cli.saying import say
from monitor.notify.message import Message
from monitor.notify.sending import Refused, client, send
from monitor.settings import Receiver, Told


async def try_out(receivers: Sequence[Receiver]) -> int:
    """Send each a message and say whether it was taken; bad where one wasn't."""
    taken = True
    for receiver in receivers:
        try:
            async with client() as way:
                await send(way, receiver, _message())
        except Refused as refused:
            taken = False
            say(f"{receiver.name} ({receiver.form}): not taken, {refused.cause}")
        else:
            say(f"{receiver.name} ({receiver.form}): taken")
    return GOOD if taken else BAD


def _message() -> Message:
    return Message(
        id="test",
        event=Told.MOVES,
        at=time.time(),
        target="example/model",
        before="closed",
        after="closed",
        cause="manual",
        why="a test by `firstbyte notify`; nothing has moved",
        good=True,
    )
