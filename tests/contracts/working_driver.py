"""One way to ask a working store, blocking or on a loop, so that each contract test is written once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

from hindsight_langgraph.ops import WorkingOp
from hindsight_langgraph.ports import WorkingStore

Reply = TypeVar("Reply")
Mode = Literal["sync", "async"]


@dataclass(frozen=True, kw_only=True)
class Driver:
    """A store behind one of its two doors."""

    store: WorkingStore
    mode: Mode
    runner: asyncio.Runner
    ttl_s: float
    """A time to live for tests of expiry."""
    expire: Callable[[], object]
    """Let `ttl_s` pass for the store."""

    def ask(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request."""
        if self.mode == "sync":
            return self.store.run(op)
        return self.runner.run(self._one(op))

    def ask_together(self, requests: Iterable[WorkingOp[Reply]]) -> list[Reply]:
        """Answer requests at the same time: on threads, or on one loop."""
        if self.mode == "async":
            return self.runner.run(self._all(list(requests)))
        with ThreadPoolExecutor(16) as pool:
            return list(pool.map(self.store.run, requests))

    async def _one(self, op: WorkingOp[Reply]) -> Reply:
        return await self.store.arun(op)

    async def _all(self, requests: list[WorkingOp[Reply]]) -> list[Reply]:
        return await asyncio.gather(*(self.store.arun(op) for op in requests))
