"""Posts one message to one receiver. Nothing that goes wrong shows the receiver's address."""

import asyncio
from collections.abc import Mapping

import httpx

from breaker.wire.retry import retry_after_s
from monitor.notify.forms import body_of
from monitor.notify.message import Message
from monitor.settings import Receiver

# A receiver gets this long to take a message, connecting included.
LIMIT_S = 10.0
# A Retry-After is taken within these.
LEAST_S, MOST_S = 1.0, 300.0
# Statuses of the 4xx that say "later", not "never".
_LATER = {408, 425, 429}


class Refused(Exception):  # noqa: N818 # it is no fault of ours
    """A receiver took no message: `cause` is a word for why; `for_good` where another try would get the same.

    `after_s` is for how long it wants to be left alone, None where it doesn't say.
    """

    def __init__(self, cause: str, *, for_good: bool = False, after_s: float | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.for_good = for_good
        self.after_s = after_s


def client() -> httpx.AsyncClient:
    """What messages are sent by, through the environment's proxy where there is one.

    Raises Refused where that is of a kind that can't be used here, such as SOCKS without the package for it.
    """
    try:
        return httpx.AsyncClient(timeout=LIMIT_S)
    except (ImportError, ValueError, httpx.InvalidURL):
        raise Refused("proxy of a kind that can't be used") from None


async def send(client: httpx.AsyncClient, receiver: Receiver, message: Message) -> None:
    """Post it, and follow no redirect. Raises Refused."""
    body = body_of(message, receiver.form)
    try:
        async with asyncio.timeout(LIMIT_S):
            asked = client.build_request("POST", receiver.url, headers=body.headers, content=body.content)
            answer = await client.send(asked, stream=True, follow_redirects=False)
            await answer.aclose()  # whatever it says, it isn't read
    except TimeoutError:
        raise Refused("timeout") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise Refused(type(error).__name__) from None
    _check(answer)


def _check(answer: httpx.Response) -> None:
    status = answer.status_code
    if answer.is_success:
        return
    later = status >= 500 or status in _LATER
    raise Refused(f"status {status}", for_good=not later, after_s=_after(answer.headers))


def _after(headers: Mapping[str, str]) -> float | None:
    found = retry_after_s(headers)
    return None if found is None else min(max(found, LEAST_S), MOST_S)
