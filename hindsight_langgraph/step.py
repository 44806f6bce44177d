"""Memory around a plain function or a functional-API task: `@memory.step`."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import wraps
from typing import Any, Final, TypeVar, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from hindsight_langgraph.annotation.trajectory import timed
from hindsight_langgraph.errors import CallError
from hindsight_langgraph.injected import stripped
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import read_turns
from hindsight_langgraph.nodes.annotate import latest_exchange
from hindsight_langgraph.nodes.recall import query_of
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import Role, Scope, Turn
from hindsight_langgraph.scoping import as_scope, read_key, scope_of

F = TypeVar("F", bound=Callable[..., Any])
KEPT: Final = 256
"""Conversations whose last recollection a step keeps, so that a loop recalls once a message (SPEC D13)."""


def remembering(memory: HindsightMemory, function: F, *, scope: Scope | str | None, messages_key: str) -> F:
    """The function with memory; see `HindsightMemory.step`."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function) or not inspect.isroutine(function):
        raise CallError(f"@memory.step takes a function that returns its answer, not {function!r}")
    step = _Step(memory, function, scope=scope, messages_key=messages_key)
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaiting(given: Any, /, *args: Any, **kwargs: Any) -> Any:
            return await step.arun(cast("Callable[..., Awaitable[Any]]", function), given, args, kwargs)

        return cast("F", step.signed(awaiting))

    @wraps(function)
    def blocking(given: Any, /, *args: Any, **kwargs: Any) -> Any:
        return step.run(function, given, args, kwargs)

    return cast("F", step.signed(blocking))


class _Step:
    """Recall, call, take in; the blocking and the awaiting run share every decision."""

    def __init__(
        self, memory: HindsightMemory, function: Callable[..., Any], *, scope: Scope | str | None, messages_key: str
    ) -> None:
        self.memory = memory
        self.name = function.__name__
        self.key = messages_key
        self.fixed = None if scope is None else as_scope(scope)
        signature = inspect.signature(function)
        self.wants_recollection = "recollection" in signature.parameters
        self.signature = signature.replace(parameters=[p for p in signature.parameters.values() if p.name != "recollection"])
        self._lock = threading.Lock()
        self._last: OrderedDict[tuple[str, str, str], tuple[str, Recollection]] = OrderedDict()

    def signed(self, wrapper: Any) -> Any:
        """The wrapper with the signature that callers see: without `recollection`, which the step passes itself."""
        wrapper.__signature__ = self.signature
        wrapper.__annotations__ = {name: hint for name, hint in wrapper.__annotations__.items() if name != "recollection"}
        return wrapper

    def run(self, function: Callable[..., Any], given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        scope, messages = self._scope(kwargs), _messages(given, self.key)
        turns = read_turns(messages)
        query, found = self._due(turns, scope)
        if query is not None:
            found = self.memory.recall(query, scope=scope, visible=[turn.id for turn in turns])
            self.memory.touch(scope=scope)
        self._keep(turns, found, scope)
        shown, more = self._shown(given, found)
        began = self.memory.clock.now()
        try:
            answer = stripped(function(shown, *args, **kwargs, **more), self.key)
        except GraphBubbleUp:  # an interrupt is no failure
            raise
        except Exception as error:
            self.memory.annotate(self._exchange(messages, [self._failure(error)], began), scope=scope, recollection=found)
            raise
        self.memory.annotate(self._exchange(messages, _answered(answer, self.key), began), scope=scope, recollection=found)
        return answer

    async def arun(
        self, function: Callable[..., Awaitable[Any]], given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        scope, messages = self._scope(kwargs), _messages(given, self.key)
        turns = read_turns(messages)
        query, found = self._due(turns, scope)
        if query is not None:
            found = await self.memory.arecall(query, scope=scope, visible=[turn.id for turn in turns])
            await self.memory.atouch(scope=scope)
        self._keep(turns, found, scope)
        shown, more = self._shown(given, found)
        began = self.memory.clock.now()
        try:
            answer = stripped(await function(shown, *args, **kwargs, **more), self.key)
        except GraphBubbleUp:
            raise
        except (Exception, asyncio.CancelledError) as error:
            await self.memory.aannotate(self._exchange(messages, [self._failure(error)], began), scope=scope, recollection=found)
            raise
        await self.memory.aannotate(self._exchange(messages, _answered(answer, self.key), began), scope=scope, recollection=found)
        return answer

    def _scope(self, kwargs: Mapping[str, Any]) -> Scope:
        return self.fixed or scope_of(kwargs.get("config"))

    def _due(self, turns: list[Turn], scope: Scope) -> tuple[Query | None, Recollection | None]:
        """What to recall, else what was recalled for the same message before."""
        with self._lock:
            asked, found = self._last.get(_conversation(scope), ("", None))
        same = found is not None and asked == _asked(turns)
        found = found if same else None
        return query_of(self.memory, turns, before=found), found

    def _keep(self, turns: list[Turn], found: Recollection | None, scope: Scope) -> None:
        if found is None:
            return
        with self._lock:
            self._last[_conversation(scope)] = (_asked(turns), found)
            self._last.move_to_end(_conversation(scope))
            if len(self._last) > KEPT:
                self._last.popitem(last=False)

    def _shown(self, given: Any, found: Recollection | None) -> tuple[Any, dict[str, Any]]:
        """The argument as the function sees it, and what it is given besides."""
        if self.wants_recollection:
            return given, {"recollection": found}
        text = found.text if found else ""
        if isinstance(given, str):
            return (f"{text}\n\n{given}" if text else given), {}
        shown = self.memory.prompt(_messages(given, self.key), found)
        return _with_messages(given, shown, self.key), {}

    def _failure(self, error: BaseException) -> Turn:
        now = self.memory.clock.now()
        why = "cancelled before it answered" if isinstance(error, asyncio.CancelledError) else str(error)
        text = f"{type(error).__name__}: {why}"
        return Turn(id=f"error:{self.name}:{now.isoformat()}", role=Role.TOOL, text=text, at=now, tool=self.name, error=True)

    def _exchange(self, messages: Sequence[Any], answers: Sequence[Any], began: datetime) -> list[Turn]:
        """The exchange with what the step answered, and how long that took."""
        known, now = {id(message) for message in messages}, self.memory.clock.now()
        fresh = [answer for answer in answers if id(answer) not in known]
        turns = read_turns([*messages, *fresh], at=now)
        before = {turn.id for turn in read_turns(messages, at=now)}
        said, new = [turn for turn in turns if turn.id in before], [turn for turn in turns if turn.id not in before]
        turns = [*said, *timed(new, (now - began).total_seconds())]
        return latest_exchange(list({turn.id: turn for turn in turns}.values()))


def _messages(given: Any, key: str) -> list[Any]:
    """The conversation in a step's first argument."""
    if isinstance(given, str):
        return [HumanMessage(given)]
    if isinstance(given, BaseMessage):
        return [given]
    if isinstance(given, list | tuple):
        return list(cast("Sequence[Any]", given))
    found = read_key(given, key)
    if found is None:
        raise CallError(
            f"@memory.step: the first argument is a {type(given).__name__} without {key!r}; pass the user's words, a list of messages, "
            f"or a state that has them under messages_key"
        )
    return list(found)


def _with_messages(given: Any, shown: list[Any], key: str) -> Any:
    if isinstance(given, list | tuple | BaseMessage):
        return shown
    if isinstance(given, Mapping):
        return {**cast("Mapping[str, Any]", given), key: shown}
    if hasattr(given, "model_copy"):
        return given.model_copy(update={key: shown})
    changed: object = copy(given)
    object.__setattr__(changed, key, shown)  # a frozen state too; the caller keeps its own
    return changed


def _answered(answer: Any, key: str) -> list[Any]:
    """The messages in what a step returned; none where it returned something else."""
    if isinstance(answer, Command):
        return _answered(cast("Any", answer).update, key)
    if isinstance(answer, str):
        return [AIMessage(answer)] if answer.strip() else []
    if isinstance(answer, BaseMessage):
        return [answer]
    if isinstance(answer, list | tuple):
        return [part for part in cast("Sequence[Any]", answer) if isinstance(part, BaseMessage | Mapping)]
    found = None if answer is None else read_key(answer, key)
    return _answered(found, key) if found is not None else []


def _asked(turns: list[Turn]) -> str:
    return next((turn.id for turn in reversed(turns) if turn.role is Role.USER), "")


def _conversation(scope: Scope) -> tuple[str, str, str]:
    return scope.owner, scope.session_id, scope.task
