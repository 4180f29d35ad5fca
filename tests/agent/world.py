"""A guide that knows the simulator's targets, and transports that ask it."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import httpx2

from breaker.answer import Answer, Part
from breaker.client import Decision
from breaker.client.transport import AsyncTransport, Limits, Restart, Transport
from breaker.verdict import judge
from tests.agent.faces import Came, Face
from tests.cases.wires import CHAT

# All times of the product divided by forty, so that a test lasts no longer than a few of them.
QUICK = Limits(first_byte_s=1.0, silence_s=3.0, grace_s=0.2, pause_s=0.05)
# So that only what is tested comes to its limit, however busy the machine is.
PATIENT = Limits(first_byte_s=30.0, silence_s=60.0, grace_s=0.2, pause_s=0.05)
FINE = "healthy,first_byte_s=0.02,spread=0,tokens_per_s=2000,answer_tokens=80"


class Providers(Protocol):
    """Where the targets are."""

    @property
    def targets(self) -> tuple[str, ...]:
        """Their names, in order of preference."""
        ...

    def base_url(self, provider: str) -> str:
        """Where one answers."""
        ...


class World:
    """Where steps go: the targets of one route in order of preference, and what was reported of them.

    It is the guide of a transport, from memory and without a service.
    """

    def __init__(
        self,
        simulator: Providers,
        targets: Sequence[str] | None = None,
        *,
        wire: str = CHAT,
        key_env: str | None = None,
    ) -> None:
        self.reports: list[Answer] = []
        self._simulator = simulator
        self.targets = list(targets or simulator.targets)
        self._wire = wire
        self._key_env = key_env

    def route(self, name: str | None = None) -> Decision:
        """The first target."""
        return self._decision(self.targets[0])

    def besides(self, tried: Collection[str], name: str | None = None) -> Decision | None:
        """The first that wasn't tried."""
        return next((self._decision(one) for one in self.targets if one not in tried), None)

    def report(self, answer: Answer) -> None:
        """Keep it."""
        self.reports.append(answer)

    @property
    def verdicts(self) -> list[str]:
        """What was reported, in its order."""
        return [judge(answer).verdict.value for answer in self.reports]

    @property
    def finals(self) -> list[Answer]:
        """The reports without those of late parts."""
        return [answer for answer in self.reports if answer.part is Part.FINAL]

    def _decision(self, target: str) -> Decision:
        provider, _, model = target.partition("/")
        primary = self.targets[0]
        return Decision(
            route="coder",
            target=target,
            provider=provider,
            model=model,
            base_url=self._simulator.base_url(provider),
            wire=self._wire,
            api_key_env=self._key_env,
            role="primary" if target == primary else "backup",
            primary=primary,
            reason="healthy",
            since_s=None,
            until_s=None,
            generation=0,
            valid_for_s=5.0,
            stale=False,
        )


async def ask(
    face: Face,
    world: World,
    limits: Limits = PATIENT,
    *,
    hedge_s: float | None = None,
    restart: Callable[[Restart], object] | None = None,
    **question: Any,
) -> Came:
    """Ask through an SDK with the transport in it."""
    transport = made(face, world, limits, hedge_s=hedge_s, restart=restart)
    return await face.ask(transport, **question)


def made(face: Face, world: World, limits: Limits = PATIENT, **wishes: Any) -> Transport | AsyncTransport:
    """The transport for a face."""
    return awaiting(world, limits, **wishes) if face.awaits else blocking(world, limits, **wishes)


def blocking(world: World, limits: Limits = PATIENT, **wishes: Any) -> Transport:
    """A transport whose inner one looks at no certificates, which would take a tenth of a second to prepare."""
    return Transport(httpx2.HTTPTransport(verify=False), guide=world, limits=limits, **wishes)


def awaiting(world: World, limits: Limits = PATIENT, **wishes: Any) -> AsyncTransport:
    """The same for callers that await."""
    return AsyncTransport(httpx2.AsyncHTTPTransport(verify=False), guide=world, limits=limits, **wishes)
