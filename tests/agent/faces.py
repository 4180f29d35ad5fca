"""The real SDKs as agents use them: blocking and awaiting, streamed and plain, each behind the transport."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anthropic
import httpx2
import openai

from tests.cases.wires import CHAT, MESSAGES, RESPONSES


def message(text: str) -> Any:
    """What a user says, as the SDKs of both wires take it."""
    return {"role": "user", "content": text}


HELLO: list[Any] = [message("Hello")]
# Nothing answers there: whatever comes was sent by the transport to where its guide said.
NOWHERE = "http://nowhere.invalid/v1"
LIMIT_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Came:
    """What an SDK returned: text, word for its end, model, headers; or the error that it raised."""

    text: str = ""
    finish: str | None = None
    model: str | None = None
    headers: Mapping[str, str] | None = None
    error: Exception | None = None

    @property
    def done(self) -> Mapping[str, str]:
        """What the transport says it did."""
        headers = self.headers or getattr(getattr(self.error, "response", None), "headers", {})
        prefix = "x-firstbyte-"
        return {name.removeprefix(prefix): value for name, value in headers.items() if name.startswith(prefix)}

    @property
    def causes(self) -> list[BaseException]:
        """The error and those behind it."""
        found: list[BaseException] = []
        error: BaseException | None = self.error
        while error is not None:
            found.append(error)
            error = error.__cause__
        return found


@dataclass(frozen=True)
class Face:
    """One SDK in one of its ways."""

    wire: str
    awaits: bool
    streamed: bool

    def __str__(self) -> str:
        sdk = {CHAT: "openai", RESPONSES: "openai-responses", MESSAGES: "anthropic"}[self.wire]
        return f"{sdk}-{'async' if self.awaits else 'sync'}-{'stream' if self.streamed else 'plain'}"

    async def ask(self, transport: Any, *, base_url: str = NOWHERE, **question: Any) -> Came:
        """Ask through a transport, which is closed afterwards."""
        async with asyncio.timeout(LIMIT_S):
            if self.awaits:
                return await self._await(transport, base_url, question)
            return await asyncio.to_thread(self._block, transport, base_url, question)

    def _block(self, transport: Any, base_url: str, question: dict[str, Any]) -> Came:
        with httpx2.Client(transport=transport) as client:
            return self.block(client, base_url, question)

    def block(self, client: httpx2.Client, base_url: str = NOWHERE, question: Mapping[str, Any] | None = None) -> Came:
        """Ask through a client that blocks."""
        heard = _Heard()
        try:
            raw = self._create(self._sync_sdk(client, base_url), question or {})
            heard.headers = raw.headers
            said = raw.parse()
            if self.streamed:
                for event in said:
                    heard.add(self.wire, event)
            else:
                heard.whole(self.wire, said)
        except Exception as error:  # noqa: BLE001 # whatever is raised is what came
            return heard.came(error)
        return heard.came()

    async def _await(self, transport: Any, base_url: str, question: dict[str, Any]) -> Came:
        async with httpx2.AsyncClient(transport=transport) as client:
            return await self.wait(client, base_url, question)

    async def wait(
        self, client: httpx2.AsyncClient, base_url: str = NOWHERE, question: Mapping[str, Any] | None = None
    ) -> Came:
        """Ask through a client that is awaited."""
        heard = _Heard()
        try:
            raw = await self._create(self._async_sdk(client, base_url), question or {})
            heard.headers = raw.headers
            said = await raw.parse() if self.wire == MESSAGES else raw.parse()
            if self.streamed:
                async for event in said:
                    heard.add(self.wire, event)
            else:
                heard.whole(self.wire, said)
        except Exception as error:  # noqa: BLE001 # whatever is raised is what came
            return heard.came(error)
        return heard.came()

    def _sync_sdk(self, client: Any, base_url: str) -> Any:
        if self.wire == MESSAGES:
            return anthropic.Anthropic(api_key="own", base_url=base_url.removesuffix("/v1"), http_client=client)
        return openai.OpenAI(api_key="own", base_url=base_url, http_client=client)

    def _async_sdk(self, client: Any, base_url: str) -> Any:
        if self.wire == MESSAGES:
            return anthropic.AsyncAnthropic(api_key="own", base_url=base_url.removesuffix("/v1"), http_client=client)
        return openai.AsyncOpenAI(api_key="own", base_url=base_url, http_client=client)

    def _create(self, sdk: Any, question: Mapping[str, Any]) -> Any:
        asked = {"model": "any", "stream": self.streamed}
        if self.wire == RESPONSES:
            return sdk.responses.with_raw_response.create(**{"input": "Hello", **asked, **question})
        if self.wire == MESSAGES:
            given = {"messages": HELLO, "max_tokens": 4096, **asked, **question}
            return sdk.messages.with_raw_response.create(**given)
        return sdk.chat.completions.with_raw_response.create(**{"messages": HELLO, **asked, **question})


class _Heard:
    """What has come so far."""

    def __init__(self) -> None:
        self.headers: Mapping[str, str] | None = None
        self._text = ""
        self._finish: str | None = None
        self._model: str | None = None

    def add(self, wire: str, event: Any) -> None:
        holder = {CHAT: event, RESPONSES: getattr(event, "response", None), MESSAGES: getattr(event, "message", None)}
        self._model = getattr(holder[wire], "model", None) or self._model
        if wire == CHAT:
            for choice in event.choices or []:
                self._text += choice.delta.content or ""
                self._finish = choice.finish_reason or self._finish
        elif wire == RESPONSES:
            self._text += event.delta if event.type == "response.output_text.delta" else ""
            self._finish = event.response.status if event.type == "response.completed" else self._finish
        else:
            self._text += getattr(getattr(event, "delta", None), "text", None) or ""
            self._finish = getattr(getattr(event, "delta", None), "stop_reason", None) or self._finish

    def whole(self, wire: str, said: Any) -> None:
        self._model = said.model
        if wire == CHAT:
            self._text, self._finish = said.choices[0].message.content, said.choices[0].finish_reason
        elif wire == RESPONSES:
            self._text, self._finish = said.output_text, said.status
        else:
            self._text, self._finish = "".join(block.text for block in said.content), said.stop_reason

    def came(self, error: Exception | None = None) -> Came:
        return Came(text=self._text, finish=self._finish, model=self._model, headers=self.headers, error=error)


FACES = [
    Face(wire, awaits, streamed) for wire in (CHAT, MESSAGES) for awaits in (False, True) for streamed in (True, False)
]
STREAMS = [face for face in FACES if face.streamed]
PLAIN = [face for face in FACES if not face.streamed]
OTHERS = [Face(RESPONSES, awaits, streamed) for awaits in (False, True) for streamed in (True, False)]
