"""Reads a scope from the settings of a run, never from what a model says (SPEC A10).

`config["configurable"]` comes first, then the run's context (`graph.invoke(..., context=...)`). A run without a user id is an error,
never a shared bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import get_runtime
from pydantic import ValidationError

from hindsight_langgraph.errors import CallError, MissingUser
from hindsight_langgraph.records import Scope

_FIELDS = ("user_id", "task_id", "agent_id", "domain", "timezone")


def as_scope(scope: Scope | str) -> Scope:
    """A scope as it is, a user id as the scope of that user's default session."""
    return scope if isinstance(scope, Scope) else Scope(user_id=scope)


def scope_from(find: Callable[[str], Any]) -> Scope:
    """The scope that a run's settings describe.

    Args:
        find: a setting by name, None where there is none: `user_id`, `thread_id` (the session), `task_id`, `agent_id`, `domain`,
            `timezone`, `more_domains`, `shared_scopes`.

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
    try:
        return Scope(**found, shared=_names(find("shared_scopes")), more_domains=_names(find("more_domains")))
    except (ValidationError, TypeError) as error:
        raise CallError(f"the run's scope is not usable: {error}") from error


def _names(value: Any) -> tuple[str, ...]:
    """One name, or several."""
    return (value,) if isinstance(value, str) else tuple(value or ())


def scope_from_settings(settings: Mapping[str, Any]) -> Scope | None:
    """The scope of a run by its `configurable`, or None where it names no user."""
    try:
        return scope_from(settings.get)
    except MissingUser:
        return None


def scope_of(config: RunnableConfig | None = None) -> Scope:
    """The scope of the present run; without a `config`, of the run that this is called in. Raises as `scope_from`."""
    configurable: Mapping[str, Any] = (config or _config()).get("configurable", {})
    context = _context()

    def find(name: str) -> Any:
        value = configurable.get(name)
        if value is None:
            value = read_key(context, name)
        return value

    return scope_from(find)


def scope_of_run() -> Scope | None:
    """The scope of the run that this is called in; None outside a run, or in one that names no user."""
    try:
        return scope_of()
    except MissingUser:
        return None


def read_key(state: Any, key: str) -> Any:
    """A value of a graph's state or context, whether it is a dict, a dataclass or a model; None where there is none."""
    return cast("Mapping[str, Any]", state).get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def _config() -> RunnableConfig:
    try:
        return get_config()
    except RuntimeError:  # not inside a run
        return {}


def _context() -> Any:
    """The run's context, or an empty one outside a graph."""
    try:
        context: Any = get_runtime().context  # None where the graph has no context, whatever its type says
    except (RuntimeError, KeyError, AttributeError):  # not inside a node; versions differ in how they say so
        return {}
    return {} if context is None else context
