"""Whose memory a run is about: read from the run, never from what a model says (SPEC A10).

`config["configurable"]` comes first, then the run's context (`graph.invoke(..., context=...)`). A run without a user id is an error,
never a shared bucket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime

from hindsight_langgraph.nodes.base import read_key
from hindsight_langgraph.records import Scope
from hindsight_langgraph.scoping import scope_from


def scope_of(config: RunnableConfig | None) -> Scope:
    """The scope of the present run; raises as `scope_from`."""
    configurable: Mapping[str, Any] = (config or {}).get("configurable", {})
    context = _context()

    def find(name: str) -> Any:
        value = configurable.get(name)
        if value is None:
            value = read_key(context, name)
        return value

    return scope_from(find)


def _context() -> Any:
    """The run's context, or an empty one outside a graph."""
    try:
        context: Any = get_runtime().context  # None where the graph has no context, whatever its type says
    except (RuntimeError, KeyError, AttributeError):  # not inside a node; versions differ in how they say so
        return {}
    return {} if context is None else context
