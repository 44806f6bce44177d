"""Serialised items of a list: which lists have them, and what is known of each item beside its bytes."""

from __future__ import annotations

from itertools import islice
from typing import Any, Protocol, cast

from hindsight_langgraph.checkpointers.cache import Cache
from hindsight_langgraph.checkpointers.snapshots import Shape, Snapshot, shape_of

_SCALARS: frozenset[type] = frozenset({int, float, bool, complex, type(None)})


class Loads(Protocol):
    """Parses serialised values."""

    def __call__(self, typed: bytes, /) -> Any:
        """The value."""
        ...


def worth_itemising(value: object, *, after: int = 0) -> bool:
    """Whether a value is kept item by item: a plain list that holds no numbers.

    Numbers are smaller than the name of an item, and a vector of them would cost a call each.

    Args:
        value: Anything.
        after: So many leading items are known to be no numbers.
    """
    if type(value) is not list or not value:
        return False
    return _SCALARS.isdisjoint(map(type, islice(cast("list[object]", value), after, None)))


class Recipe:
    """A serialised item with what is needed, beside a snapshot of it, to make it anew.

    Args:
        typed: The serialised item.
        loads: Parses it.
        put: The snapshot of the item that was put, when it can be described exactly.
        known: Shapes by the moulds of messages that came back exactly; None when the serializer may treat one text unlike another.
    """

    __slots__ = ("_comes_back", "_known", "_loads", "_put", "shape", "typed")

    def __init__(self, typed: bytes, loads: Loads, put: Snapshot | None = None, known: Cache[Shape] | None = None) -> None:
        self.typed = typed
        self._loads = loads
        self._put = put
        self._known = known
        self._comes_back = False
        self.shape: Shape | None = None
        """Known once it was parsed; None also for an item that a snapshot does not describe in full."""

    def parse(self) -> Any:
        """The item, from its bytes."""
        item = self._loads(self.typed)
        self.shape = shape_of(item)
        return item

    def comes_back(self) -> bool:
        """Whether the item that was put is, exactly, the one that its bytes are parsed to. Found out at the first call."""
        if (put := self._put) is not None:
            # Parsing takes 0.05 ms a message in a running graph; one message of each mould is enough.
            mould = put.only_mould if self._known is not None else None
            shape = self._known.get(mould) if self._known is not None and mould is not None else None
            if shape is not None:
                self.shape, self._comes_back = shape, True
            else:
                self._comes_back = put.continued([self.parse()]) is not None and self.shape is not None
                if self._comes_back and self._known is not None and self.shape is not None and mould is not None:
                    self._known.put(mould, self.shape)
            self._put = None
        return self._comes_back
