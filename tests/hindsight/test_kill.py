"""A process that dies between an outcome and its annotation, or in the middle of it, loses nothing and doubles nothing (SPEC E4)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Server

ROOT = Path(__file__).parents[2]
FEWEST_POINTS = 4
"""So many writes at least, from the outcome to the end of its annotation, are died after."""


@pytest.fixture(params=["sqlite", "redis"])
def left(request: pytest.FixtureRequest, tmp_path: Path) -> list[dict[str, Any]]:
    """What hindsight left without a kill, then after a kill behind each write in turn."""
    command = [sys.executable, "-m", "tests.hindsight.kill_annotator", str(tmp_path)]
    if request.param == "redis":
        server: Server = request.getfixturevalue("valkey")
        command.append(server.url)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1_800, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_wherever_a_process_is_killed_the_outcome_is_judged_once(left: list[dict[str, Any]]):
    unharmed, _before_the_outcome, *killed = left
    assert (unharmed["judged"], unharmed["moves"], unharmed["episodes"], unharmed["left"]) == (1, 1, 1, 0)
    assert unharmed["importance"] < 0.7
    assert len(killed) >= FEWEST_POINTS
    for told in killed:
        assert told | {"point": 0} == unharmed, f"killed after write {told['point']}"
