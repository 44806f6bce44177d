"""The stores that the contract suites run on, each asked by `run` and by `arun`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest
import redis

from hindsight_langgraph.backends.redis_store import RedisWorkingStore
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.ports import WorkingStore
from tests.clock import FakeClock
from tests.contracts.long_term import BACKENDS, Asker, Bench, bench_of
from tests.contracts.working_driver import Driver

WORKING_BACKENDS = ("sqlite", "valkey", "redis8", "cluster")
TIMEOUT_S = 60.0
"""Generous: the machine that runs the tests may be busy."""
TTL_S = 600

OpenStore = Callable[[], WorkingStore]


@pytest.fixture(params=WORKING_BACKENDS)
def working_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def working_prefix() -> str:
    """Of the keys of this test."""
    return f"test-{uuid4().hex}"


@pytest.fixture
def open_working(
    working_backend: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock, working_prefix: str
) -> Iterator[OpenStore]:
    """Opens stores that share what they hold, as processes of one deployment do."""
    opened: list[WorkingStore] = []

    def open_store() -> WorkingStore:
        if working_backend == "sqlite":
            opened.append(SqliteWorkingStore(tmp_path / "memory" / "working.sqlite", timeout_s=TIMEOUT_S, clock=clock))
        else:
            url, cluster = server_of(working_backend, request)
            opened.append(RedisWorkingStore(url, prefix=working_prefix, timeout_s=TIMEOUT_S, cluster=cluster))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def working(open_working: OpenStore) -> WorkingStore:
    return open_working()


@pytest.fixture(params=("sync", "async"))
def driver(
    request: pytest.FixtureRequest, working: WorkingStore, working_backend: str, clock: FakeClock, working_prefix: str
) -> Iterator[Driver]:
    if working_backend == "sqlite":
        expire: Callable[[], object] = partial(clock.advance, seconds=TTL_S)
    else:
        expire = partial(let_pass, *server_of(working_backend, request), working_prefix)
    with asyncio.Runner() as runner:
        yield Driver(store=working, mode=request.param, runner=runner, ttl_s=TTL_S, expire=expire)
        runner.run(working.aclose())


def server_of(backend: str, request: pytest.FixtureRequest) -> tuple[str, bool]:
    """The address of a server, and whether it is a cluster."""
    cluster = backend == "cluster"
    return request.getfixturevalue("redis_cluster" if cluster else backend).url, cluster


def let_pass(url: str, cluster: bool, prefix: str) -> None:
    """Take `TTL_S` from the life of each key. A server has no clock to move, and a test that sleeps fails on a machine that is slow."""
    kind: type[redis.Redis | redis.RedisCluster] = redis.RedisCluster if cluster else redis.Redis
    with kind.from_url(url) as client:
        for key in list(client.scan_iter(match=f"{prefix}:*")):
            if (left_ms := client.pttl(key)) >= 0:
                client.pexpire(key, max(0, left_ms - TTL_S * 1_000))


@pytest.fixture
def fast_path(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory where the system has one: making an embedded store costs some twenty fsyncs."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    with TemporaryDirectory(prefix="hindsight-test-", dir=memory) as made:
        yield Path(made)


@pytest.fixture(params=["sync", "async"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=BACKENDS)
async def bench(request: pytest.FixtureRequest, fast_path: Path, mode: str) -> AsyncIterator[Bench]:
    with bench_of(request.param, fast_path / "store", mode) as opened:
        yield opened
        await opened.close()


@pytest.fixture
def ask(bench: Bench) -> Asker:
    return bench.open()
