"""Items of a list, remembered so that an unchanged one is neither serialised nor parsed again.

What is remembered is bytes and recipes, never a live object: a caller may change what it put or got as it likes.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from typing import Any, Protocol

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
_MARSHAL_VERSION = 2
"""The newest without back references: equal values give equal bytes, and a longer list begins with the bytes of a shorter one."""
_LIST_HEAD = 5


class Loads(Protocol):
    """Parses serialised values."""

    def __call__(self, typed: bytes, /) -> Any:
        """The value."""
        ...


def worth_itemising(value: object) -> bool:
    """Whether a value is kept item by item: a plain list that holds no numbers.

    Numbers are smaller than the name of an item, and a vector of them would cost a call each.
    """
    return type(value) is list and bool(value) and _SCALARS.isdisjoint(map(type, value))


class Fingerprint:
    """The exact content of a run of items as bytes, to be compared with later runs."""

    __slots__ = ("content", "kinds")

    def __init__(self, items: Sequence[Any], content: bytes) -> None:
        self.kinds = list(map(type, items))
        self.content = content

    def begins(self, other: Fingerprint) -> bool:
        """Whether the other run begins with these items, of the same types, down to the last byte."""
        return other.content.startswith(self.content) and other.kinds[: len(self.kinds)] == self.kinds


def fingerprint(items: Sequence[Any]) -> Fingerprint | None:
    """The fingerprint of items; None when one of them is of a type whose state cannot be read exactly."""
    try:
        content = marshal.dumps([_state(item) for item in items], _MARSHAL_VERSION)
    except ValueError:
        return None
    return Fingerprint(items, content[_LIST_HEAD:])


def _state(item: Any) -> Any:
    """What marshal can write of an item; marshal refuses every type that is not exactly one of Python's own."""
    if type(item) in _MESSAGES:
        return (item.__dict__, item.__pydantic_extra__) if item.__pydantic_extra__ else item.__dict__
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
    fixed, fresh = _split(fields)
    if fresh is None:
        return None
    extra = dict(message.__pydantic_extra__) if message.__pydantic_extra__ is not None else None
    if message.__pydantic_private__ is not None or extra:
        return None
    known = frozenset(message.__pydantic_fields_set__)
    new, put = object.__new__, object.__setattr__

    def make() -> Any:
        # The steps of pydantic's own `__setstate__`, without its lookups: this runs once a message a read.
        copy = new(kind)
        values = fixed.copy()
        for name, build in fresh:
            values[name] = build()
        put(copy, "__dict__", values)
        put(copy, "__pydantic_fields_set__", set(known))
        put(copy, "__pydantic_extra__", None if extra is None else {})
        put(copy, "__pydantic_private__", None)
        return copy

    return make


def _split(fields: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, Callable[[], Any]]] | None]:
    """Fields with the changeable ones left empty, and how to build each of those; None when one cannot be built exactly."""
    fresh: list[tuple[str, Callable[[], Any]]] = []
    for name, value in fields.items():
        if type(value) in {dict, list}:
            build = _builder(value)
            if build is None:
                return fields, None
            fresh.append((name, build))
        elif type(value) not in {str, bytes, int, float, bool, type(None)}:
            return fields, None
    return fields, fresh


def _builder(value: Any) -> Callable[[], Any] | None:
    if not value:
        return type(value)
    try:
        content = marshal.dumps(value, _MARSHAL_VERSION)
    except ValueError:
        return None
    return lambda: marshal.loads(content)  # noqa: S302 — bytes that this process wrote a moment ago
