"""Several workers, started once and told what to do."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from threading import Timer
from typing import Any

from tests.processes import ROOT

Words = dict[str, Any]

_PATIENT_S = 240.0


class Worker:
    """A worker's process. What is told while another call is under way goes on beside it."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.machine.worker", url],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.owes = 0  # how many calls it hasn't answered

    def tell(self, do: str, **words: object) -> None:
        """Say what to do; `hear` gives what came of it."""
        assert self._process.stdin is not None
        self.owes += 1
        self._process.stdin.write(json.dumps({"do": do, **words}) + "\n")
        self._process.stdin.flush()

    def hear(self) -> Words:
        """The next line; a worker that says nothing for minutes is ended."""
        assert self._process.stdout is not None
        guard = Timer(_PATIENT_S, self._process.kill)
        guard.start()
        line = self._process.stdout.readline()
        guard.cancel()
        assert line, "the worker has died, or was ended"
        said: Words = json.loads(line)
        self.owes -= not said.keys() & {"ready", "gate"}
        return said

    def ask(self, do: str, **words: object) -> Words:
        """Say what to do, and wait until it is done."""
        self.tell(do, **words)
        return self.hear()

    @property
    def dead(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        """Send a signal; whoever is stopped hears what was told as soon as it goes on."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once, whatever it is doing."""
        self._process.kill()
        with self._process:
            pass


class Crew:
    """Workers on one store."""

    def __init__(self, url: str, count: int) -> None:
        self._url = url
        self.workers = [Worker(url) for _ in range(count)]
        for worker in self.workers:
            assert worker.hear() == {"ready": True}

    def afresh(self) -> None:
        """Put new workers in the place of those that still owe an answer, since what they do would be another's."""
        for worker in self.workers:
            if worker.owes and not worker.dead:
                worker.kill()
        self.mend()

    def mend(self) -> None:
        """Put a new worker in the place of each that was ended."""
        for i, worker in enumerate(self.workers):
            if worker.dead:
                self.workers[i] = Worker(self._url)
                assert self.workers[i].hear() == {"ready": True}

    def all(self, do: str, **words: object) -> list[Words]:
        """Tell all the same."""
        return self.at_once([(i, do, words) for i in range(len(self.workers))])

    def at_once(self, calls: Sequence[tuple[int, str, Words]]) -> list[Words]:
        """Tell each worker its part at one time; the replies, worker by worker in the order in which they came."""
        for i, do, words in calls:
            self.workers[i].tell(do, **words)
        return [worker.hear() for i, worker in enumerate(self.workers) for call in calls if call[0] == i]

    def end(self) -> None:
        """End all."""
        for worker in self.workers:
            if not worker.dead:
                worker.kill()
