"""Items of a list, remembered so that an unchanged one is neither serialised nor parsed again.

What is remembered is bytes and unchangeable values, never a live object: a caller may change what it put or got as it likes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import ormsgpack
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
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
_UNCHANGEABLE: frozenset[type] = frozenset({str, bytes, int, float, bool, type(None), dict, list})
"""Types of field values that may be shared, and those that are made anew."""
_SCALARS: frozenset[type] = frozenset({int, float, bool, complex, type(None)})
_extra_of = operator.attrgetter("__pydantic_extra__")
_CHUNK = 64
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
    """The exact content of a run of items as bytes, to be compared with later runs.

    Kept in chunks: small enough that the allocator reuses their memory, and shared by the versions of a list that agree on them.
    """

    __slots__ = ("_chunks", "_kinds")

    def __init__(self, kinds: list[type], chunks: list[bytes]) -> None:
        self._kinds = kinds
        self._chunks = chunks

    def __len__(self) -> int:
        return sum(map(len, self._chunks))

    def begins(self, other: Fingerprint) -> bool:
        """Whether the other run begins with these items, of the same types, down to the last byte."""
        length = len(self._kinds)
        if other._kinds[:length] != self._kinds:
            return False
        whole, rest = divmod(length, _CHUNK)
        if other._chunks[:whole] != self._chunks[:whole]:
            return False
        other._chunks[:whole] = self._chunks[:whole]
        if not rest:
            return True
        # Behind what msgpack writes of its length, a longer array begins with the bytes of a shorter one.
        return other._chunks[whole].startswith(
            self._chunks[whole][_head(rest) :], _head(min(len(other._kinds) - length + rest, _CHUNK))
        )


def _head(length: int) -> int:
    return 1 if length < 16 else 3


def fingerprint(items: Sequence[Any]) -> Fingerprint | None:
    """The fingerprint of items; None when one of them is of a type whose state cannot be read exactly."""
    kinds = list(map(type, items))
    if _MESSAGES.issuperset(set(kinds)) and not any(map(_extra_of, items)):
        states = [item.__dict__ for item in items]
    else:
        states = [_state(item) for item in items]
    try:
        chunks = [ormsgpack.packb(states[at : at + _CHUNK], option=_EXACTLY) for at in range(0, len(states), _CHUNK)]
    except (ormsgpack.MsgpackEncodeError, TypeError):
        return None
    return Fingerprint(kinds, chunks)


def _state(item: Any) -> Any:
    """What msgpack can write of an item."""
    if type(item) in _MESSAGES:
        return [item.__dict__, item.__pydantic_extra__]
    return item


class Recipe:
    """How to make one item anew, each time an object that shares nothing that can change with another.

    The first time it is parsed. A message is then remembered by its fields, which makes it some ten times faster than parsing.
    """

    __slots__ = ("_loads", "fields", "typed")

    def __init__(self, typed: bytes, loads: Loads) -> None:
        self.typed = typed
        self._loads = loads
        self.fields: MessageFields | None = None

    def parse(self) -> Any:
        """The item, from its bytes."""
        item = self._loads(self.typed)
        if type(item) in _MESSAGES:
            self.fields = _fields_of(item)
        return item


MessageFields = tuple[
    type,
    dict[str, Any],
    tuple[str, ...],
    tuple[str, ...],
    tuple[tuple[str, Callable[[], Any]], ...],
    frozenset[str],
    bool,
]
"""Class, values, names of empty dicts, of empty lists, what builds other changeable values, fields set, has extra fields."""


def make_all(recipes: Sequence[Recipe]) -> list[Any]:
    """The items of recipes, made anew."""
    made: list[Any] = []
    add, new, put = made.append, object.__new__, object.__setattr__
    for recipe in recipes:
        if recipe.fields is None:
            add(recipe.parse())
            continue
        # The steps of pydantic's own `__setstate__` without its lookups: this runs once a message a read.
        kind, fields, dicts, lists, others, known, extra = recipe.fields
        item = cast("Any", new(kind))
        values = item.__dict__
        values.update(fields)
        for name in dicts:
            values[name] = {}
        for name in lists:
            values[name] = []
        for name, build in others:
            values[name] = build()
        put(item, "__pydantic_fields_set__", set(known))
        put(item, "__pydantic_extra__", {} if extra else None)
        put(item, "__pydantic_private__", None)
        add(item)
    return made


def _fields_of(message: BaseMessage) -> MessageFields | None:
    """What makes equal messages; None when the message holds what cannot be rebuilt exactly."""
    extra = message.__pydantic_extra__
    if extra or message.__pydantic_private__ is not None:
        return None
    values = dict(message.__dict__)
    dicts = tuple(name for name, value in values.items() if type(value) is dict and not value)
    lists = tuple(name for name, value in values.items() if type(value) is list and not value)
    others: list[tuple[str, Callable[[], Any]]] = []
    for name, value in values.items():
        if type(value) in {dict, list} and value:
            try:
                packed = ormsgpack.packb(value, option=_EXACTLY)
            except (ormsgpack.MsgpackEncodeError, TypeError):
                return None
            others.append((name, functools.partial(ormsgpack.unpackb, packed)))
        elif type(value) not in _UNCHANGEABLE:
            return None
    known = frozenset(message.__pydantic_fields_set__)
    return type(message), values, dicts, lists, tuple(others), known, extra is not None
