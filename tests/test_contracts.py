"""What CONTRIBUTING.md says of the rooms and of what is pure, beside the contracts that hold the imports to it."""

import re
import tomllib
from typing import Any

from tests.processes import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {one["name"]: one for one in PROJECT["tool"]["importlinter"]["contracts"]}
PURE = CONTRACTS["deciding does no input or output"]["source_modules"]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TOP = {f"breaker.{path.stem}" for path in (ROOT / "breaker").glob("*.py")} - {"breaker.__init__"}
# Under which name a package is imported, where that is another than its own.
IMPORTED = {"prometheus-client": "prometheus_client", "pyyaml": "yaml"}


def folders(place: str) -> set[str]:
    return {path.parent.name for path in (ROOT / place).glob("*/__init__.py")}


def required(extra: str) -> set[str]:
    """The names by which the packages of an extra are imported."""
    words: list[Any] = PROJECT["project"]["optional-dependencies"][extra]
    names = {re.split(r"[^a-z0-9-]", word)[0] for word in words}
    return {IMPORTED.get(name, name) for name in names}


def test_all_that_is_called_pure_is_kept_from_input_and_output() -> None:
    (told,) = re.findall(r"^The top-level files of `breaker/` are pure, and so are ([^:]+):", GUIDE, re.MULTILINE)
    places = {word.rstrip("/").removesuffix(".py").replace("/", ".") for word in re.findall(r"`([^`]+)`", told)}

    assert set(PURE) == TOP | {f"breaker.{place}" for place in places}


def test_all_that_is_called_pure_is_covered_to_the_last_branch() -> None:
    (told,) = re.findall(r"^pure := --include='(.+)'$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    first, *others = told.split(",")

    assert first == "breaker/*.py"
    assert {name.removesuffix("/*").removesuffix(".py").replace("/", ".") for name in others} == set(PURE) - TOP


def test_the_client_is_kept_from_every_package_of_the_service() -> None:
    contract = CONTRACTS["an agent's client needs no server packages"]

    assert required("service") | required("plot") <= set(contract["forbidden_modules"])


def test_the_guide_has_a_room_for_every_folder() -> None:
    named = set(
        re.findall(r"`(?:\w+/)*(\w+)/`", "".join(line for line in GUIDE.splitlines() if line.startswith("| `")))
    )

    assert named == folders("breaker") | folders("monitor") | {"dashboards", "deploy", "examples", "benchmarks"}
