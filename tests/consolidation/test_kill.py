"""A run that dies at any step is finished by the next one, as if it had never died (SPEC F9; CASES O21)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.qdrant_stand_in import standing_in
from tests.servers import Server

ROOT = Path(__file__).parents[2]
FEWEST_POINTS = 25
"""A full run has at least so many steps and writes to die after."""


@pytest.fixture(params=["embedded", "redis", "qdrant"])
def memories(request: pytest.FixtureRequest, tmp_path: Path) -> list[dict[str, Any]]:
    """What the memory holds after a run that nobody killed, then after runs that were killed after each write in turn."""
    if request.param == "qdrant":
        with standing_in() as server:
            return killed_runs(tmp_path, "--qdrant", server.url)
    redis: Server | None = request.getfixturevalue("redis8") if request.param == "redis" else None
    return killed_runs(tmp_path, *(["--redis", redis.url] if redis is not None else []))


def killed_runs(directory: Path, *servers: str) -> list[dict[str, Any]]:
    """The lines that the worker prints, in a process that dies with the test."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.consolidation.kill_worker", str(directory), *servers],
        cwd=directory, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=1_800, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return [json.loads(line) for line in made.stdout.splitlines()]


@pytest.mark.slow
def test_a_run_killed_after_any_write_ends_as_one_that_was_never_killed(memories: list[dict[str, Any]]):
    unkilled, *killed = memories
    assert len(killed) >= FEWEST_POINTS
    assert [unit["content"] for unit in unkilled["units"] if "summary" in unit["tags"]], "the run did nothing worth killing"
    for run in killed:
        assert run["units"] == unkilled["units"], f"killed after write {run['point']}"
        assert run["threads"] == 0
