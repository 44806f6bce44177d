"""What hindsight costs on the answer's path: appending one step to a task's trajectory.

    python -m benchmarks.appending [--steps 1000]

Prints one JSON object: `sqlite` and `redis` with `median_ms`, `p95_ms` and `p99_ms`. Redis is the server that the tests start.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.options import parser, tell
from hindsight_langgraph.annotation.trajectory import Step, StepKind, record_steps
from hindsight_langgraph.backends.redis_store import RedisWorkingStore
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.clock import SystemClock
from hindsight_langgraph.plan import drive
from hindsight_langgraph.ports import WorkingStore
from hindsight_langgraph.records import Scope
from tests.servers import redis_binary, running

START = datetime(2025, 6, 1, tzinfo=UTC)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--steps", type=int, default=1_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = {}
        for name, opened in (("sqlite", sqlite(Path(folder))), ("redis", redis(Path(folder)))):
            with opened as store:
                report[name] = measure(store, given.steps)
    tell(report, as_json=given.json)


def measure(store: WorkingStore, steps: int) -> dict[str, float]:
    """Milliseconds of each append."""
    scope = Scope(user_id="bench", session_id="s")
    took: list[float] = []
    run: Callable[[Any], Any] = store.run
    for i in range(steps):
        step = Step(
            id=str(i), kind=StepKind.TOOL, at=START + timedelta(seconds=i), content="x" * 400, tool="t", arguments='{"a": 1}'
        )
        began = time.perf_counter()
        drive(record_steps(scope, [step]), run)
        took.append((time.perf_counter() - began) * 1_000)
    cuts = statistics.quantiles(took, n=100)
    return {"median_ms": round(cuts[49], 3), "p95_ms": round(cuts[94], 3), "p99_ms": round(cuts[98], 3)}


@contextmanager
def sqlite(folder: Path) -> Iterator[WorkingStore]:
    store = SqliteWorkingStore(folder / "working.sqlite", timeout_s=1.0, clock=SystemClock())
    yield store
    store.close()


@contextmanager
def redis(folder: Path) -> Iterator[WorkingStore]:
    with running(redis_binary(), folder / "redis") as server:
        store = RedisWorkingStore(server.url, prefix="bench", timeout_s=1.0)
        yield store
        store.close()


if __name__ == "__main__":
    main()
