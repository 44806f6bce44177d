"""The one memory of this project, opened when it is first needed; `HINDSIGHT_*` variables say where."""

from __future__ import annotations

from functools import cache
from threading import Lock

from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.checkpointers import create_checkpointer

__all__ = ["create_checkpointer", "open_memory"]

_OPENING = Lock()


def open_memory() -> HindsightMemory:
    """The memory, the same one at every call and on every thread."""
    with _OPENING:
        return _memory()


@cache
def _memory() -> HindsightMemory:
    return HindsightMemory.from_env()
