"""What the pages name is there: links lead to files, paths to places in the code, and the list of decisions to all."""

import re
from pathlib import Path

import pytest

from tests.processes import ROOT

PAGES = sorted(
    path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md"))
)
DECISIONS = sorted(path.stem for path in (ROOT / "docs" / "decisions").glob("*.md") if path.stem != "README")
FOLDERS = ("breaker", "monitor", "tests", "benchmarks", "dashboards", "deploy", "docs", "examples", ".ci")
PLACES = [
    f"/{path.relative_to(ROOT).as_posix()}"
    for folder in FOLDERS
    for path in (ROOT / folder, *(ROOT / folder).rglob("*"))
    if "__pycache__" not in path.parts
]


def is_path(word: str) -> bool:
    """Whether a word in backticks names a file or a folder of ours, whole or as seen from inside a package."""
    return word.endswith((".py", ".lua", ".js")) or word.startswith(tuple(f"{folder}/" for folder in FOLDERS))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    paths = sorted(filter(is_path, set(re.findall(r"`([\w./-]+)`", text))))
    assert [path for path in paths if not any(place.endswith(f"/{path.rstrip('/')}") for place in PLACES)] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL))

    assert [link for link in links if "://" not in link and not ((ROOT / page).parent / link).exists()] == []


def headings(page: Path) -> set[str]:
    """The places of a page that can be linked to, by the names that GitHub gives them."""
    found: list[str] = []
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line).lower()).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return set(found)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_into_a_page_leads_to_a_heading(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text) if "://" not in link[0]]

    aims = [((ROOT / page).parent / file if file else ROOT / page, place) for file, place in links]
    assert [(aim.name, place) for aim, place in aims if place not in headings(aim)] == []


def test_the_list_of_decisions_names_every_page_in_the_order_of_the_alphabet() -> None:
    page = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| \[([a-z-]+)\]\(\1\.md\) \|", page, re.MULTILINE) == DECISIONS
