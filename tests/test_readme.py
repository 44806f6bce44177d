"""The README's code runs, and is the example's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(code: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=directory, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_python_block_of_the_readme_runs_offline(number: int, tmp_path: Path):
    done = run(BLOCKS[number], tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_quickstart_of_the_readme_is_the_example_and_fits_in_25_lines():
    example = (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8")
    assert example.split('"""\n\n', 1)[1] in README
    assert len(example.splitlines()) <= 25


def test_the_quickstart_remembers_across_threads(tmp_path: Path):
    done = run((ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "peanuts" in done.stdout.split("--- friday")[1]


def test_the_readme_names_both_commands_and_the_unrelated_package():
    for text in ("make demo", "make test", "unrelated", "hindsight doctor"):
        assert text in README
