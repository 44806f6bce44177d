"""Consolidates in processes that die by SIGKILL after a given write, and prints what the store holds after the rerun.

Usage: `python -m tests.consolidation.kill_worker DIRECTORY [--redis URL] [--qdrant URL]`. Each line of output is one JSON object: after
which write the process died (0: it did not), and the memory after the rerun. Processes are forked before any store is opened.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from hindsight_langgraph import keys
from hindsight_langgraph.checkpoint_ops import PutCheckpoint
from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import DeleteKeys, DeleteUnits, PutUnits, ReviseUnits
from hindsight_langgraph.records import Scope
from tests.clock import FakeClock
from tests.consolidation.scene import busy_life, content_of, later, store
from tests.memory.opening import open_memory


def main(directory: Path, servers: _Servers) -> None:
    """Kill after every write of a run, one process each, until a run ends before its time comes."""
    servers.warm()
    point = 0
    while True:
        place = directory / str(point)
        options = servers.options(place.name)
        servers.begin(directory, place, options)
        code = _in_child(partial(_consolidate, place, options, die_after=point))
        if code == 0 and point:
            return
        _in_child(partial(_finish, place, options, point))
        point += 1


class _Servers:
    """The servers that a run uses under a prefix of its own: Redis for working memory and checkpoints, Qdrant for the units.

    Without them both are embedded in a directory.
    """

    def __init__(self, *, redis: str | None, qdrant: str | None) -> None:
        self.redis = redis
        self.qdrant = qdrant

    def options(self, name: str) -> dict[str, Any]:
        urls = {"redis_url": self.redis, "qdrant_url": self.qdrant}
        return {key: url for key, url in urls.items() if url is not None} | {"prefix": f"kill-{name}"}

    def warm(self) -> None:
        """Import the client once, for all the processes to come: it takes seconds."""
        if self.qdrant is not None:
            import_module("qdrant_client")

    def begin(self, directory: Path, place: Path, options: dict[str, Any]) -> None:
        """The same memory for each run: copied where it is embedded, else stored anew."""
        start = directory / "start"
        if self.qdrant is not None:
            _in_child(partial(_prepare, place, options))
            return
        if not start.exists():
            _in_child(partial(_prepare, start, options))
        os.spawnlp(os.P_WAIT, "cp", "cp", "-r", "--sparse=always", str(start), str(place))


def _open(place: Path, options: dict[str, Any], *, minutes: float) -> HindsightMemory:
    consolidation = ConsolidationConfig(in_process=False)
    return open_memory(
        place, clock=FakeClock(later(20) + timedelta(minutes=minutes)), consolidation=consolidation, timeout_s=20.0, **options
    )


def _prepare(place: Path, options: dict[str, Any]) -> None:
    with _open(place, options, minutes=0) as memory:
        store(memory, *busy_life())


def _consolidate(place: Path, options: dict[str, Any], *, die_after: int) -> None:
    with _open(place, options, minutes=0) as memory:
        _die_after(die_after, memory)
        memory.consolidate(scope="u1")


def _die_after(writes: int, memory: HindsightMemory) -> None:
    """Have the process killed right after its nth write: to the long-term store, or of a checkpoint."""
    left = [writes]

    def counted(call: Callable[[Any], Any], is_write: Callable[[Any], bool]) -> Callable[[Any], Any]:
        def answer(op: Any) -> Any:
            reply = call(op)
            if is_write(op):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return reply

        return answer

    long_term: Any = memory._runtime.long_term
    long_term.run = counted(long_term.run, lambda op: isinstance(op, PutUnits | ReviseUnits | DeleteUnits))
    checkpoints: Any = memory.checkpointer()._store
    checkpoints.run = counted(checkpoints.run, lambda op: isinstance(op, PutCheckpoint))


def _finish(place: Path, options: dict[str, Any], point: int) -> None:
    with _open(place, options, minutes=10) as memory:
        if point:
            scope = Scope(user_id="u1")
            memory._runtime.answer(DeleteKeys(owner=scope.owner, keys=(keys.consolidating(scope),)))  # the dead run's lease ends
            memory.consolidate(scope=scope)
        threads = len(list(memory.checkpointer().list(None)))
        sys.stdout.write(json.dumps({"point": point, "threads": threads, "units": content_of(memory)}) + "\n")
        sys.stdout.flush()


def _in_child(work: Callable[[], None]) -> int:
    """Run in a process of its own; 0 when it ended by itself, its signal when it was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a child failed; its traceback is above")
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--redis")
    parser.add_argument("--qdrant")
    given = parser.parse_args()
    main(given.directory, _Servers(redis=given.redis, qdrant=given.qdrant))
