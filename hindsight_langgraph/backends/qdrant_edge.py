"""The embedded long-term store: units and vectors in Qdrant Edge, in this process, one directory for one process."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any, TypeVar

from hindsight_langgraph.backends.edge_shard import EdgeShard
from hindsight_langgraph.backends.engine import (
    EngineOp,
    ListPlaces,
    OpenPlace,
    Overwrite,
    Place,
    Remove,
    SetDense,
    Upsert,
    parse_place,
)
from hindsight_langgraph.backends.flusher import Flusher
from hindsight_langgraph.backends.long_term import LongTermPlans
from hindsight_langgraph.backends.spaces import StalePlace
from hindsight_langgraph.errors import EmbeddingMismatch, StoreClosed, StoreLocked, StoreRejected
from hindsight_langgraph.ops import LongTermOp
from hindsight_langgraph.plan import Op, drive
from hindsight_langgraph.records import EmbeddingSpace

Reply = TypeVar("Reply")


class EdgeLongTermStore:
    """A `LongTermStore` in a directory.

    * The directory is opened by the first request, so that a process may fork before it; a child that inherits an open store is told
      so, where the engine would hang.
    * One lock lets one request through at a time. Nothing is lost by that: every call of the engine holds the GIL (1, 2 and 4
      threads were measured at the same rate). What is gained: compare-and-set and every request of several steps is atomic.
    * What was acknowledged survives the death of the process (it is in the engine's log); it survives a loss of power once it is
      flushed: a second later, after 500 writes, or at once with `durable=True` (3.5 ms a write and more on a slow disk).
    """

    def __init__(self, path: Path | str, space: EmbeddingSpace, *, durable: bool = False, flush_after_s: float = 1.0) -> None:
        """A store under `path`, opened by the first request.

        Raises:
            ConfigError: the model's name cannot name a directory.
        """
        self._root = Path(path)
        self._space = space
        self._durable = durable
        self._plans = LongTermPlans(space)
        self._lock = threading.RLock()
        self._shards: dict[Place, EdgeShard] = {}
        self._pid: int | None = None
        self._closed = False
        self._flusher = Flusher(self._flush_shards, after_s=flush_after_s, after_writes=500)

    @property
    def space(self) -> EmbeddingSpace:
        """The model and dimension that vectors written here come from."""
        return self._space

    @property
    def stale_spaces(self) -> tuple[StalePlace, ...]:
        """Older embedding spaces that still held units when the store was opened or last re-embedded."""
        return self._plans.stale_places

    @property
    def mismatch(self) -> EmbeddingMismatch | None:
        """The error to log when units of another embedding model are in the store; known from the first request on."""
        return self._plans.mismatch

    def run(self, op: LongTermOp[Reply]) -> Reply:
        """Answer one request.

        Raises:
            StoreClosed: the store was closed.
            StoreError: see `errors.py`; nothing was written.
        """
        self._check_process()
        with self._lock:
            self._check_open()
            self._pid = os.getpid()
            written: set[Place] = set()
            try:
                reply: Reply = drive(self._plans.answer(op), lambda request: self._answer(request, written))
            finally:
                self._settle(written)
            return reply

    async def arun(self, op: LongTermOp[Reply]) -> Reply:
        """Answer one request on the running loop.

        Inline: a request takes about a millisecond and holds the GIL for all of it, so that a thread would add a hand-over and free
        nobody. Only what also waits goes to a thread: opening the directory (replaying its log may take seconds), and
        flushing at each write.
        """
        if self._durable or not self._plans.is_open(op):
            return await asyncio.to_thread(self.run, op)
        return self.run(op)

    def close(self) -> None:
        """Flush, compact what has many deleted points, and let go of the directory. Again: nothing happens."""
        if self._pid not in {None, os.getpid()}:
            return  # a forked child: the files are its parent's, and a lock may be held by a thread that only the parent has
        self._flusher.stop()
        with self._lock:
            self._closed = True
            shards, self._shards = self._shards, {}
            for shard in shards.values():
                shard.compact()
                shard.close()

    async def aclose(self) -> None:
        """As `close`, on a thread: flushing may take a tenth of a second and compacting seconds."""
        await asyncio.to_thread(self.close)

    def compact(self) -> bool:
        """Rewrite what has more than a fifth of its points deleted, as closing does. Every other thread waits meanwhile.

        Returns:
            Whether anything was rewritten.

        Raises:
            StoreClosed: the store was closed.
        """
        self._check_process()
        with self._lock:
            self._check_open()
            rewritten = [shard.compact() for shard in self._shards.values()]
            return any(rewritten)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the long-term store in {self._root} was closed; open it again")

    def _check_process(self) -> None:
        if self._pid not in {None, os.getpid()}:
            raise StoreLocked(
                f"the long-term store in {self._root} was opened by process {self._pid} before this one was forked from it; "
                "open it after the fork, or use a Qdrant server (HINDSIGHT_QDRANT_URL) for several processes"
            )

    def _answer(self, op: Op[Any], written: set[Place]) -> Any:
        match op:
            case ListPlaces():
                return self._list_places()
            case OpenPlace():
                if op.place not in self._shards:
                    self._shards[op.place] = EdgeShard(self._root, op.place)
                return None
            case Upsert() | SetDense() | Overwrite() | Remove():
                written.add(op.place)
                return self._shards[op.place].answer(op)
            case EngineOp():
                return self._shards[op.place].answer(op)  # type: ignore[attr-defined]  # every other request names its place
            case _:
                raise StoreRejected(f"{type(op).__name__} is not a request to an engine")

    def _list_places(self) -> list[Place]:
        if not self._root.is_dir():
            return []
        return [place for entry in self._root.iterdir() if entry.is_dir() and (place := parse_place(entry.name)) is not None]

    def _settle(self, written: set[Place]) -> None:
        if not written:
            return
        if self._durable:
            for place in written:
                self._shards[place].flush()
        else:
            self._flusher.note_write()

    def _flush_shards(self) -> None:
        with self._lock:
            for shard in self._shards.values():
                shard.flush()
