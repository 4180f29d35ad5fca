"""Which targets there are, in which routes, and by which policies; replaced as a whole while everything runs."""

from collections.abc import Mapping, Sequence

from breaker.policy import Policy
from breaker.route import Route
from breaker.target import Target


class Roster:
    """The routes by name, the targets that they name, and the policies of these.

    None of the mappings ever changes: whoever holds one, in another thread too, has a whole one. `policies` goes on
    knowing targets that have gone, since answers of theirs may be on their way.
    """

    def __init__(self, routes: Sequence[Route], policies: Mapping[str, Policy]) -> None:
        self.routes: Mapping[str, Route] = {}
        self.targets: Mapping[str, Target] = {}
        self.policies: Mapping[str, Policy] = {}
        self.renew(routes, policies)

    def renew(self, routes: Sequence[Route], policies: Mapping[str, Policy]) -> None:
        """Take others."""
        self.routes = {route.name: route for route in routes}
        self.targets = {target.name: target for route in routes for target in route.targets}
        self.policies = {**self.policies, **policies}
