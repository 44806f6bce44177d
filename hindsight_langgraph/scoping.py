"""Reads a scope from the settings of a run (SPEC A10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from hindsight_langgraph.errors import CallError, MissingUser
from hindsight_langgraph.records import Scope

_FIELDS = ("user_id", "task_id", "agent_id", "domain", "timezone")


def scope_from(find: Callable[[str], Any]) -> Scope:
    """The scope that a run's settings describe.

    Args:
        find: a setting by name, None where there is none: `user_id`, `thread_id` (the session), `task_id`, `agent_id`, `domain`,
            `timezone`, `shared_scopes`.

    Raises:
        MissingUser: no user is named.
        CallError: a value has the wrong type.
    """
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


def scope_from_settings(settings: Mapping[str, Any]) -> Scope | None:
    """The scope of a run by its `configurable`, or None where it names no user."""
    try:
        return scope_from(settings.get)
    except MissingUser:
        return None
