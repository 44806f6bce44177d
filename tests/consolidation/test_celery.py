"""Two Celery workers on a real Redis share what is due."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from hindsight_langgraph.config import ConsolidationConfig, HindsightConfig
from hindsight_langgraph.consolidation.activity import IDLE_QUEUE
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import PeekDue, SetDue
from hindsight_langgraph.records import Scope
from hindsight_langgraph.workers import celery_app
from tests.consolidation.scene import store, unit
from tests.qdrant_stand_in import standing_in
from tests.servers import comes_true, redis_binary, running

SCOPES = 200
LEASE_S, LONG_LEASE_S = "20", "600"
"""What a killed worker had claimed is due again after the first; a worker that is only slow keeps its claim for the second."""


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True], ids=["both live", "one is killed"])
def test_two_workers_consolidate_each_due_user_exactly_once(tmp_path: Path, killed: bool):
    with standing_in() as qdrant, running(redis_binary(), tmp_path / "redis") as server, ExitStack() as stack:
        settings = {
            "HINDSIGHT_REDIS_URL": server.url, "HINDSIGHT_QDRANT_URL": qdrant.url, "HINDSIGHT_EMBEDDINGS": "hash",
            "HINDSIGHT_CONSOLIDATION__TICK_S": "1", "HINDSIGHT_CONSOLIDATION__LEASE_S": LEASE_S if killed else LONG_LEASE_S,
        }  # fmt: skip
        config = HindsightConfig(
            redis_url=server.url, qdrant_url=qdrant.url, embeddings="hash", path=tmp_path,
            consolidation=ConsolidationConfig(in_process=False),
        )  # fmt: skip
        memory = stack.enter_context(HindsightMemory.open(config=config))
        _make_due(memory)
        workers = [stack.enter_context(_worker(settings, tmp_path, number)) for number in range(2)]
        client = stack.enter_context(server.client())
        if killed:
            assert comes_true(lambda: client.llen("consolidated") >= 20)
            workers[0].send_signal(signal.SIGKILL)
        # One that died between the end of its work and its word of it has told nobody.
        for told in range(SCOPES - killed + 1):  # as long as it goes on it is waited for, however slowly
            assert comes_true(partial(_tells, client, told))
        assert comes_true(lambda: not memory._run(_peek()))
        done = Counter(owner.decode() for owner in client.lrange("consolidated", 0, -1))
        assert set(done.values()) == {1}
        users = [f"u{number}" for number in range(SCOPES)]
        assert set(done) <= {Scope(user_id=user).owner for user in users}
        for user in [*users[::40], *(user for user in users if Scope(user_id=user).owner not in done)]:
            assert (len(memory.units(scope=user)), len(memory.archived(scope=user))) == (0, 2)  # said long ago


def test_workers_without_a_redis_say_what_to_set():
    with pytest.raises(ConfigError, match="HINDSIGHT_REDIS_URL"):
        celery_app(HindsightConfig(redis_url=None))


def _make_due(memory: HindsightMemory) -> None:
    past = memory.clock.now() - timedelta(minutes=1)
    for number in range(SCOPES):
        scope = Scope(user_id=f"u{number}")
        store(
            memory,
            unit("I live in Tartu", user=scope.user_id, day=1, triple=("user", "lives_in", "Tartu")),
            unit("I live in Riga", user=scope.user_id, day=2, triple=("user", "lives_in", "Riga")),
        )
        memory._runtime.answer(SetDue(queue=IDLE_QUEUE, item=scope.owner, due=past, body=scope.model_dump_json().encode()))


def _tells(client: Redis, told: int) -> bool:
    return client.llen("consolidated") >= told


def _peek() -> Any:
    return (yield PeekDue(queue=IDLE_QUEUE, limit=SCOPES))


@contextmanager
def _worker(settings: dict[str, str], directory: Path, number: int) -> Iterator[subprocess.Popen[bytes]]:
    beat = ["--beat", "--schedule", str(directory / "beat")] if number == 1 else []
    command = [
        sys.executable, "-m", "celery", "-A", "tests.consolidation.celery_app", "worker", "--pool", "solo", "-n", f"w{number}@test", "-l", "WARNING",
        "--without-gossip", "--without-mingle", *beat,
    ]  # fmt: skip
    root = Path(__file__).parents[2]
    with (directory / f"worker{number}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **settings, "PYTHONPATH": str(root)}, cwd=directory, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # the beat is a process of its own
            process.wait()
