"""Measures one round after another in the environment that `benchmarks.reading` made; prints JSON."""

import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from breaker.answer import Ended, Source
from breaker.verdict import judge
from breaker.wire.reading import Reading

Task = Callable[[], object]


def main() -> None:
    """Time each task once a round, so that whatever slows the machine slows all of them."""
    ask = json.load(sys.stdin)
    tasks = {name: task for made in map(_tasks, ask["answers"]) for name, task in made.items()}
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        _seconds(task, 3)
    for _ in range(ask["rounds"]):
        for name, task in tasks.items():
            seconds[name].append(_seconds(task, ask["times"]))
    json.dump({"openai": openai.__version__, "seconds": seconds}, sys.stdout)


def _seconds(task: Task, times: int) -> float:
    """Seconds of the processor that the task took, in the mean of so many times."""
    gc.collect()
    began = time.process_time()
    for _ in range(times):
        task()
    return (time.process_time() - began) / times


def _tasks(answer: dict[str, Any]) -> dict[str, Task]:
    name, wire, reads = answer["name"], answer["wire"], [read.encode() for read in answer["reads"]]
    chunks = [line[6:] for read in answer["reads"] for line in read.splitlines() if line.startswith("data: {")]
    tasks: dict[str, Task] = {
        f"{name}/json": lambda: [json.loads(chunk) for chunk in chunks],
        f"{name}/ours": lambda: _judge(wire, reads),
    }
    if wire == "openai-chat":
        client = openai.OpenAI(api_key="none", base_url="http://localhost")
        tasks[f"{name}/openai"] = lambda: _parse(client, reads)
    return tasks


def _judge(wire: str, reads: Sequence[bytes]) -> None:
    reading = Reading(wire, streamed=True, prompt_bytes=36_000, max_tokens=4_000)
    reading.headers(200, {"content-type": "text/event-stream"}, 0.1)
    for place, read in enumerate(reads):
        reading.feed(read, 0.2 + place / 100)
    judgement = judge(reading.end(Ended.COMPLETE, 9.0, target="here/model", id="a", source=Source.PROBE))
    assert judgement.verdict == "ok", judgement


class _Reads(httpx2.SyncByteStream):
    def __init__(self, reads: Sequence[bytes]) -> None:
        self._reads = reads

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._reads)


def _parse(client: Any, reads: Sequence[bytes]) -> None:
    """The package's own reader of streams, without asking for one."""
    request = httpx2.Request("POST", "http://localhost/chat/completions")
    response = httpx2.Response(200, request=request, stream=_Reads(reads))
    last = None
    for chunk in openai.Stream(cast_to=ChatCompletionChunk, response=response, client=client):
        last = chunk
    assert last is not None


if __name__ == "__main__":
    main()
