"""Items of a list, remembered so that an unchanged one is neither serialised nor parsed again.

What is remembered is bytes, never a live object: a caller may change what it put or got as it likes.
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
_OWN: frozenset[type] = frozenset({str, bytes, dict, list})
"""Types of other items that are their own state."""
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

    def states(self) -> list[Any]:
        """The states of the items, made anew."""
        states: list[Any] = []
        for chunk in self._chunks:
            states += ormsgpack.unpackb(chunk)
        return states

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
    """A serialised item with what is needed, beside its fingerprint, to make it anew."""

    __slots__ = ("_loads", "shape", "typed")

    def __init__(self, typed: bytes, loads: Loads) -> None:
        self.typed = typed
        self._loads = loads
        self.shape: Shape | None = None
        """Known once it was parsed; None also for an item that a fingerprint does not describe in full."""

    def parse(self) -> Any:
        """The item, from its bytes."""
        item = self._loads(self.typed)
        self.shape = _shape_of(item)
        return item


Shape = tuple[type | None, frozenset[str], bool]
"""Class of a message (None: an item of Python's own types), names of the fields that were set, whether it may have others."""


def same_state(item: Any, parsed: Any) -> bool:
    """Whether an item that was put and what its bytes were parsed to have the same fingerprint."""
    mine, theirs = fingerprint([item]), fingerprint([parsed])
    return mine is not None and theirs is not None and mine.begins(theirs)


def rebuild(content: Fingerprint, recipes: Sequence[Recipe]) -> list[Any]:
    """Items made anew from their fingerprint, sharing nothing that can change: some ten times faster than parsing.

    Args:
        content: The fingerprint of the parsed items.
        recipes: Theirs, each with a shape.
    """
    made: list[Any] = []
    add, put = made.append, object.__setattr__
    new: Callable[[type], Any] = object.__new__
    for state, recipe in zip(content.states(), recipes, strict=True):
        kind, known, extra = recipe.shape or _PLAIN
        if kind is None:
            add(state)
            continue
        # The steps of pydantic's own `__setstate__` without its lookups: this runs once a message a read.
        item = new(kind)
        put(item, "__dict__", state)
        put(item, "__pydantic_fields_set__", set(known))
        put(item, "__pydantic_extra__", {} if extra else None)
        put(item, "__pydantic_private__", None)
        add(item)
    return made


def _shape_of(item: Any) -> Shape | None:
    if type(item) in _MESSAGES:
        message = cast("BaseMessage", item)
        extra = message.__pydantic_extra__
        if extra or message.__pydantic_private__ is not None:
            return None
        shape: Shape = (type(message), frozenset(message.__pydantic_fields_set__), extra is not None)
        return _shared(shape)
    return _PLAIN if type(item) in _OWN else None


@functools.lru_cache(maxsize=1024)
def _shared(shape: Shape) -> Shape:
    """One object for equal shapes: a conversation has a handful, and hundreds of messages."""
    return shape


_PLAIN: Shape = (None, frozenset(), False)
