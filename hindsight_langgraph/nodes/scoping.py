"""Whose memory a run is about: read from the run, never from what a model says (SPEC A10).

`config["configurable"]` comes first, then the run's context (`graph.invoke(..., context=...)`). A run without a user id is an error,
never a shared bucket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime
from pydantic import ValidationError

from hindsight_langgraph.errors import CallError, MissingUser
from hindsight_langgraph.records import Scope

_FIELDS = ("user_id", "task_id", "agent_id", "domain", "timezone")


def scope_of(config: RunnableConfig | None) -> Scope:
    """The scope of the present run.

    Read from the names `user_id`, `thread_id` (the session), `task_id`, `agent_id`, `domain`, `timezone`, `shared_scopes`.

    Raises:
        MissingUser: neither the config nor the context names a user.
        CallError: a value has the wrong type.
    """
    configurable: Mapping[str, Any] = (config or {}).get("configurable") or {}
    context = _context()

    def find(name: str) -> Any:
        value = configurable.get(name)
        if value is None:
            value = context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
        return value

    found = {name: str(value) for name in _FIELDS if (value := find(name)) is not None}
    if not found.get("user_id", "").strip():
        raise MissingUser(
            'no user id: pass {"configurable": {"user_id": "alice", "thread_id": "t1"}} as config, or a context with a user_id'
        )
    if (thread := find("thread_id")) is not None:
        found["session_id"] = str(thread)
    shared = find("shared_scopes") or ()
    try:
        return Scope(**found, shared=(shared,) if isinstance(shared, str) else tuple(shared))
    except (ValidationError, TypeError) as error:
        raise CallError(f"the run's scope is not usable: {error}") from error


def _context() -> Any:
    """The run's context, or an empty one outside a graph."""
    try:
        return get_runtime().context or {}
    except (RuntimeError, KeyError, AttributeError):  # not inside a node; versions differ in how they say so
        return {}
