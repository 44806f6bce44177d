"""The one memory of this project, opened when it is first needed; `HINDSIGHT_*` variables say where."""

from __future__ import annotations

from functools import cache

from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.checkpointers import create_checkpointer

__all__ = ["create_checkpointer", "open_memory"]


@cache
def open_memory() -> HindsightMemory:
    """The memory, the same one at every call."""
    return HindsightMemory.from_env()
