"""Items of a list, remembered so that an unchanged one is neither serialised nor parsed again.

What is remembered is bytes and recipes, never a live object: a caller may change what it put or got as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import ormsgpack
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

_MESSAGES: frozenset[type] = frozenset(
    {AIMessage, AIMessageChunk, ChatMessage, FunctionMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage}
)
"""Their whole state is `__dict__` and `__pydantic_extra__`; a subclass may keep more elsewhere."""
_SCALARS: frozenset[type] = frozenset({int, float, bool, complex, type(None)})
_EXACTLY = (
    ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
"""Refuse every type that msgpack would write like another one, so that equal bytes mean equal values."""


class Loads(Protocol):
    """Parses serialised values."""

    def __call__(self, typed: bytes, /) -> Any:
        """The value."""
        ...


def worth_itemising(value: object) -> bool:
    """Whether a value is kept item by item: a plain list that holds no numbers.

    Numbers are smaller than the name of an item, and a vector of them would cost a call each.
    """
    if type(value) is not list or not value:
        return False
    return _SCALARS.isdisjoint(map(type, cast("list[object]", value)))


class Fingerprint:
    """The exact content of a run of items as bytes, to be compared with later runs."""

    __slots__ = ("_head", "_kinds", "_packed")

    def __init__(self, kinds: list[type], packed: bytes) -> None:
        self._kinds = kinds
        self._packed = packed
        # How msgpack begins an array of this length; behind it a longer list begins with the bytes of a shorter one.
        self._head = 1 if len(kinds) < 16 else 3 if len(kinds) < 65_536 else 5

    def __len__(self) -> int:
        return len(self._packed)

    def begins(self, other: Fingerprint) -> bool:
        """Whether the other run begins with these items, of the same types, down to the last byte."""
        same_kinds = other._kinds[: len(self._kinds)] == self._kinds
        return same_kinds and other._packed.startswith(self._packed[self._head :], other._head)


def fingerprint(items: Sequence[Any]) -> Fingerprint | None:
    """The fingerprint of items; None when one of them is of a type whose state cannot be read exactly."""
    kinds = list(map(type, items))
    try:
        if _MESSAGES.issuperset(kinds) and not any([item.__pydantic_extra__ for item in items]):  # noqa: C419 — a list is faster here
            return Fingerprint(kinds, ormsgpack.packb([item.__dict__ for item in items], option=_EXACTLY))
        return Fingerprint(kinds, ormsgpack.packb([_state(item) for item in items], option=_EXACTLY))
    except (ormsgpack.MsgpackEncodeError, TypeError):
        return None


def _state(item: Any) -> Any:
    """What msgpack can write of an item."""
    if type(item) in _MESSAGES:
        return [item.__dict__, item.__pydantic_extra__]
    return item


class Recipe:
    """Makes one item anew, as often as asked; each time an object that shares nothing that can change with another.

    The first time it is parsed. A message is then remembered as its fields, and a plain value as bytes.
    """

    __slots__ = ("_loads", "_make", "_typed")

    def __init__(self, typed: bytes, loads: Loads) -> None:
        self._typed = typed
        self._loads = loads
        self._make: Callable[[], Any] | None = None

    def __call__(self) -> Any:
        """The item."""
        if self._make is None:
            item = self._loads(self._typed)
            self._make = (_message_maker(item) if type(item) in _MESSAGES else None) or self._parse
            return item
        return self._make()

    def _parse(self) -> Any:
        return self._loads(self._typed)


def _message_maker(message: BaseMessage | AnyMessage) -> Callable[[], Any] | None:
    """A maker of equal messages, some ten times faster than parsing; None when the message holds what marshal cannot write."""
    kind = type(message)
    fields = dict(message.__dict__)
    fresh = _fresh(fields)
    extra = message.__pydantic_extra__
    if fresh is None or extra or message.__pydantic_private__ is not None:
        return None
    known = frozenset(message.__pydantic_fields_set__)
    new, put = object.__new__, object.__setattr__

    def make() -> Any:
        # The steps of pydantic's own `__setstate__`, without its lookups: this runs once a message a read.
        copy: Any = new(kind)
        values = copy.__dict__
        values.update(fields)
        for name, build in fresh:
            values[name] = build()
        put(copy, "__pydantic_fields_set__", set(known))
        put(copy, "__pydantic_extra__", None if extra is None else {})
        put(copy, "__pydantic_private__", None)
        return copy

    return make


def _fresh(fields: dict[str, Any]) -> list[tuple[str, Callable[[], Any]]] | None:
    """The fields that can change in place, each with what builds it anew; None when one cannot be built exactly."""
    fresh: list[tuple[str, Callable[[], Any]]] = []
    for name, value in fields.items():
        if type(value) in {dict, list}:
            build = _builder(value)
            if build is None:
                return None
            fresh.append((name, build))
        elif type(value) not in {str, bytes, int, float, bool, type(None)}:
            return None
    return fresh


def _builder(value: Any) -> Callable[[], Any] | None:
    if not value:
        return dict if type(value) is dict else list
    try:
        packed = ormsgpack.packb(value, option=_EXACTLY)
    except (ormsgpack.MsgpackEncodeError, TypeError):
        return None
    return lambda: ormsgpack.unpackb(packed)
