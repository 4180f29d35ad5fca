"""Whether skips are caught where CI=true."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = {
    "mark": "import pytest\n@pytest.mark.skip(reason='no redis')\ndef test(): pass\n",
    "call": "import pytest\ndef test(): pytest.skip('no redis')\n",
    "fixture": "import pytest\n@pytest.fixture\ndef redis(): pytest.skip('no redis')\ndef test(redis): pass\n",
    "file": "import pytest\npytest.skip('no redis', allow_module_level=True)\n",
}


@pytest.mark.parametrize("skip", SKIPS.values(), ids=SKIPS.keys())
def test_a_skip_fails_where_ci_is_true(skip: str, tmp_path: Path) -> None:
    """CI may not pass because a tool that a test wants was missing."""
    result = _run_pytest(skip, tmp_path, ci="true")

    assert result.returncode != 0, result.stdout
    assert "nothing may be skipped where CI=true, but: Skipped: no redis" in result.stdout


def test_a_skip_is_a_skip_elsewhere(tmp_path: Path) -> None:
    result = _run_pytest(SKIPS["mark"], tmp_path, ci="")

    assert result.returncode == 0, result.stdout
    assert "1 skipped" in result.stdout


def test_an_expected_failure_is_no_skip(tmp_path: Path) -> None:
    expected = "import pytest\n@pytest.mark.xfail\ndef test(): assert False\n"

    result = _run_pytest(expected, tmp_path, ci="true")

    assert result.returncode == 0, result.stdout
    assert "1 xfailed" in result.stdout


def _run_pytest(text: str, folder: Path, *, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", str(folder)]
    environment = {**os.environ, "CI": ci, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=Path(__file__).parents[1]
    )
