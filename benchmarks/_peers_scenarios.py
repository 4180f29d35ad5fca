"""The scenarios as the tests tell them: their ids, what happens in each, and whether ours went right."""

import ast
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("tests", "scenarios")
TEST_S = 120


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """`story` is what happens, `test` is `file::name`, and its name is what holds."""

    id: str
    story: str
    test: str

    @property
    def group(self) -> str:
        """What the scenarios of a file have in common."""
        return self.id.partition("-")[0]

    @property
    def number(self) -> int:
        """Its place in its group."""
        return int(self.id.partition("-")[2])

    @property
    def fact(self) -> str:
        """What holds, in plain words."""
        return self.test.partition("::test_")[2].replace("_", " ")


def scenarios(root: Path) -> list[Scenario]:
    """All scenarios, by group and number."""
    order = {group: place for place, group in enumerate(("late", "herd", "stuck", "count", "judge", "store", "both"))}
    found = [one for path in sorted((root / FOLDER).glob("test_*.py")) for one in _told(path)]
    return sorted(found, key=lambda one: (order[one.group], one.number))


def verdicts(root: Path) -> Mapping[str, bool]:
    """Run the tests; whether each of them held, with all its parameters."""
    with tempfile.TemporaryDirectory(prefix="firstbyte-") as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", str(FOLDER)]
        subprocess.run(command, cwd=root, capture_output=True, timeout=TEST_S, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))  # pytest wrote it a moment ago
    held: dict[str, bool] = {}
    for case in cases:
        file = case.get("classname", "").rpartition(".")[2]
        name = f"{file}.py::{case.get('name', '').partition('[')[0]}"
        held[name] = held.get(name, True) and not any(child.tag in ("failure", "error", "skipped") for child in case)
    return held


def _told(path: Path) -> Iterator[Scenario]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (name := _id(node)) is not None:
            yield Scenario(id=name, story=(ast.get_docstring(node) or "").strip(), test=f"{path.name}::{node.name}")


def _id(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.scenario":
            return str(ast.literal_eval(mark.args[0]))
    return None
