"""What is asked of a model, before a wire gives it its own form."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

# Rules and indents cost a tokenizer next to nothing however long they are; squeezed to four, no measured text has
# more than 9.4 bytes a token, unsqueezed up to 571 (eight tokenizers, 25 kinds of text).
_RUN = re.compile(r"([\x00-/:-@\[-`{-\x7f])\1{4,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool that the model may call; `schema` is the JSON schema of its arguments, an object."""

    name: str
    description: str
    schema: Mapping[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One turn: a system text ("" for none), the user's prompt, the tools there are, the most tokens to answer with."""

    system: str
    prompt: str
    tools: tuple[Tool, ...] = ()
    max_tokens: int

    @property
    def prompt_bytes(self) -> int:
        """How much text this sends, as `Answer.prompt_bytes` wants it."""
        tools = [{"name": t.name, "description": t.description, "schema": dict(t.schema)} for t in self.tools]
        return prompt_bytes(self.system, self.prompt, *(json.dumps(tool, ensure_ascii=False) for tool in tools))


class Request(NamedTuple):
    """An HTTP POST: `path` continues the `base_url`, `headers` lack the key, `body` is to be sent as JSON."""

    path: str
    headers: dict[str, str]
    body: dict[str, object]


def prompt_bytes(*texts: str) -> int:
    """The UTF-8 bytes of all text sent (system, messages, tool definitions; no images or files).

    A run of more than four equal signs that are neither letters nor digits counts as four.
    """
    return sum(len(_RUN.sub(r"\1\1\1\1", text).encode(errors="replace")) for text in texts)
