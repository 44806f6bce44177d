"""Fixtures that every test may use: real servers, a clock that stands still, a guard against leftover files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.clock import FakeClock
from tests.servers import Cluster, Server, redis_binary, running, running_cluster, valkey_binary

_ROOT = Path(__file__).parent.parent
os.environ["COLUMNS"] = "200"  # tables of commands are not wrapped, whatever terminal runs the tests
# A machine that is busy with other tests is no outage: a test of one says itself how long it waits.
os.environ["HINDSIGHT_TIMEOUT_S"] = "60"
# What is due is run by the test that made it due, not by a thread beside it.
os.environ["HINDSIGHT_CONSOLIDATION__TICK_S"] = "3600"
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
_MADE_BY_TOOLS = {
    ".git", ".venv", ".idea", ".vscode", "__pycache__", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", ".cache",
    ".import_linter_cache", "dist", "htmlcov",
}  # fmt: skip


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="session")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(valkey_binary(), tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture(scope="session")
def redis8(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(redis_binary(), tmp_path_factory.mktemp("redis8")) as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def stoppable_redis(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own to stop, kill, freeze and start again; what it acknowledged is on disk."""
    with running(redis_binary(), tmp_path / "redis", "--appendonly", "yes", "--appendfsync", "always") as server:
        yield server


@pytest.fixture(scope="session", autouse=True)
def no_leftover_files() -> Iterator[None]:
    before = _files()
    yield
    left = sorted(str(path.relative_to(_ROOT)) for path in _files() - before)
    assert not left, f"the tests left files in the source tree: {left}"


def _files() -> set[Path]:
    found: set[Path] = set()
    for directory, folders, names in os.walk(_ROOT):
        folders[:] = [name for name in folders if name not in _MADE_BY_TOOLS]
        found |= {Path(directory) / name for name in names if not name.startswith(".coverage")}
    return found
