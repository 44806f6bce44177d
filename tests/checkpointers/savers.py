"""Savers for tests: every kind of store, and adapters that show one half of a saver as the other."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

_METHODS = (
    "get_tuple", "put", "put_writes", "delete_thread", "delete_for_runs", "copy_thread", "prune", "get_delta_channel_history",
)  # fmt: skip


def sync_as_async(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """A saver whose awaiting methods call the blocking ones of another, and that has only those which the other overrides."""

    def overrides(name: str) -> bool:
        return getattr(type(saver), name) is not getattr(BaseCheckpointSaver, name)

    def awaiting(name: str) -> Any:
        async def method(self: Any, *args: Any, **named: Any) -> Any:
            return await asyncio.to_thread(getattr(saver, name), *args, **named)

        return method

    members: dict[str, Any] = {f"a{name}": awaiting(name) for name in _METHODS if overrides(name)}
    if overrides("list"):

        async def alist(self: Any, *args: Any, **named: Any) -> Any:
            for found in await asyncio.to_thread(lambda: list(saver.list(*args, **named))):
                yield found

        members["alist"] = alist
    members["get_next_version"] = lambda self, current, channel: saver.get_next_version(current, channel)
    kind: type[BaseCheckpointSaver[Any]] = type(f"Blocking{type(saver).__name__}", (BaseCheckpointSaver,), members)
    return kind(serde=saver.serde)
