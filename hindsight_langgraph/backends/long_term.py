"""From a request to the long-term store to the plan that answers it on any vector engine."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, cast

from hindsight_langgraph.backends import reads, writes
from hindsight_langgraph.backends.engine import Place, checked_name
from hindsight_langgraph.backends.payload import unit_reader
from hindsight_langgraph.backends.spaces import Places, StalePlace, mismatch, open_places
from hindsight_langgraph.errors import EmbeddingMismatch, StoreError
from hindsight_langgraph.ops import (
    AttachEmbeddings,
    Collection,
    CountUnits,
    DeleteUnits,
    FetchUnits,
    ListOwners,
    LongTermOp,
    PutUnits,
    ReviseUnits,
    ScanUnits,
    SearchUnits,
    UnembeddedUnits,
)
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.records import EmbeddingSpace

AnyLongTermOp = (
    SearchUnits
    | FetchUnits
    | ScanUnits
    | CountUnits
    | PutUnits
    | ReviseUnits
    | DeleteUnits
    | ListOwners
    | UnembeddedUnits
    | AttachEmbeddings
)


def _new_write() -> str:
    return uuid.uuid4().hex[:16]


def _collection(op: LongTermOp[Any]) -> Collection:
    return cast("AnyLongTermOp", op).collection


class LongTermPlans:
    """What the stores on Qdrant Edge and on a Qdrant server have in common: everything but the engine.

    It remembers in which places it found each collection, and looks again after units were moved or a request failed.
    """

    def __init__(self, space: EmbeddingSpace, *, new_write: Callable[[], str] = _new_write) -> None:
        checked_name(Place(collection="live", space=space))
        self._space = space
        self._new_write = new_write
        self._places: dict[Collection, Places] = {}
        self._read = unit_reader()

    def answer(self, op: LongTermOp[Any]) -> Plan[Any]:
        """The plan that answers one request, opening the collection first where that has not been done."""
        request = cast("AnyLongTermOp", op)
        collection = _collection(op)
        places = self._places.get(collection)
        if places is None:
            places = self._places[collection] = yield from open_places(collection, self._space)
        try:
            reply = yield from self._plan(request, places)
        except StoreError:
            self._places.pop(collection, None)  # somebody may have dropped a collection of the server
            raise
        if isinstance(op, AttachEmbeddings):
            self._places.pop(collection, None)  # the older places may be empty now
        return reply

    def is_open(self, op: LongTermOp[Any]) -> bool:
        """Whether the collection that a request is about has been opened."""
        return _collection(op) in self._places

    @property
    def stale_places(self) -> tuple[StalePlace, ...]:
        """What older embedding spaces hold, in the collections that were opened so far."""
        return tuple(stale for places in self._opened() for stale in places.stale)

    @property
    def mismatch(self) -> EmbeddingMismatch | None:
        """What is wrong with the first opened collection that holds units of another space; None when nothing is."""
        return next((found for places in self._opened() if (found := mismatch(places)) is not None), None)

    def _opened(self) -> list[Places]:
        return list(self._places.values())  # at once: other threads open and drop places meanwhile

    def _plan(self, op: AnyLongTermOp, places: Places) -> Plan[Any]:
        match op:
            case SearchUnits():
                return reads.search(op, places, self._read)
            case FetchUnits():
                return reads.fetch(op, places, self._read)
            case ScanUnits():
                return reads.scan(op, places, self._read)
            case CountUnits():
                return reads.count(op, places)
            case PutUnits():
                return writes.put(op, places, self._new_write())
            case ReviseUnits():
                return writes.revise(op, places, self._new_write())
            case DeleteUnits():
                return writes.delete(op, places)
            case ListOwners():
                return reads.owners(op, places)
            case UnembeddedUnits():
                return reads.unembedded(op, places, self._read)
            case AttachEmbeddings():
                return writes.attach(op, places, self._new_write())
