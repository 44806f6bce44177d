"""An immutable sequence that grows at its end without touching what it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Generic, TypeVar

T = TypeVar("T")
_CHUNK = 64


class Chunks(Generic[T]):
    """Items in tuples of some 64; a longer sequence shares all of them but the last with the one that it continues.

    Copying a list of 400 objects touches each of them to count a reference. In a process that does other things between two
    checkpoints each touch misses the processor's cache: the copies took longer than what was done with the items.
    """

    __slots__ = ("_length", "parts")

    def __init__(self, parts: tuple[tuple[T, ...], ...] = ()) -> None:
        self.parts = parts
        self._length = sum(map(len, parts))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.parts)

    def plus(self, items: Iterable[T]) -> Chunks[T]:
        """This sequence and more items behind it."""
        more = tuple(items)
        if not more:
            return self
        if self.parts and len(self.parts[-1]) < _CHUNK:
            return Chunks((*self.parts[:-1], self.parts[-1] + more))
        return Chunks((*self.parts, more))

    def after(self, start: int) -> Iterator[T]:
        """The items from a place on."""
        at = self._length
        behind: list[tuple[T, ...]] = []
        for part in reversed(self.parts):
            if at <= start:
                break
            at -= len(part)
            behind.append(part[max(0, start - at) :])
        return chain.from_iterable(reversed(behind))
