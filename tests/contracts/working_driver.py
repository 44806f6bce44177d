"""One way to ask a working store, blocking or on a loop, so that each contract test is written once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from hindsight_langgraph.ops import WorkingOp
from hindsight_langgraph.ports import WorkingStore

Reply = TypeVar("Reply")
Mode = Literal["sync", "async"]


@dataclass(frozen=True, kw_only=True)
class Driver:
    """A store with one of its two doors."""

    store: WorkingStore
    mode: Mode
    backend: str
    wait: Callable[[float], None]
    """Let so many seconds pass for the store's expiry: a fake clock where it takes one, else real sleep."""

    def ask(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request through this door; the async door uses a loop of its own each time."""
        if self.mode == "sync":
            return self.store.run(op)
        return asyncio.run(cast("Awaitable[Reply]", self.store.arun(op)))  # type: ignore[arg-type]

    def ask_together(self, requests: list[WorkingOp[Reply]]) -> list[Reply]:
        """Answer requests at the same time: on threads, or on one loop."""
        if self.mode == "async":

            async def gather() -> list[Reply]:
                return await asyncio.gather(*(self.store.arun(op) for op in requests))

            return asyncio.run(gather())
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(requests)) as pool:
            return list(pool.map(self.store.run, requests))
