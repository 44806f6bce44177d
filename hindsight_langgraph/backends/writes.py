"""Answers the writing requests of a long-term store from those of its engine, over every embedding space.

An engine's conditional write says nothing about whether it took place, so each write leaves its name in the payload. A writer reads
its own name back; the last few names are kept, so that another writer who came right after it does not hide it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from hindsight_langgraph.backends.checks import check_units
from hindsight_langgraph.backends.engine import Count, Overwrite, Place, Point, Remove, Scroll, SetDense, Upsert
from hindsight_langgraph.backends.filters import Conditions, HasId, Unembedded, at_revision, conditions, written_by
from hindsight_langgraph.backends.payload import REVISION, WRITES, encode_payload, point_id, revision_of, writes_of
from hindsight_langgraph.backends.spaces import Places
from hindsight_langgraph.errors import StoreRejected
from hindsight_langgraph.ops import AttachEmbeddings, DeleteUnits, PutUnits, ReviseUnits
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import IndexedUnit, MemoryUnit

BATCH: Final = 512
"""Points of one round trip; a request of more is sent in several, after all of it was checked."""


def _point(indexed: IndexedUnit, write: str) -> Point:
    unit = indexed.unit
    return Point(
        id=point_id(unit.owner, unit.id),
        payload=encode_payload(unit, write=write),
        dense=indexed.dense,
        text=indexed.text,
        context=indexed.context,
    )


def _batches(points: Sequence[Point]) -> Iterable[tuple[Point, ...]]:
    for start in range(0, len(points), BATCH):
        yield tuple(points[start : start + BATCH])


def put(op: PutUnits, places: Places, write: str) -> Plan[None]:
    """Check everything, write it to the present space, then take older copies away: a crash in between loses nothing."""
    check_units(op.units, places.present.space)
    points = [_point(indexed, write) for indexed in op.units]
    if op.only_new and places.older:
        stored = yield from _stored(tuple(point.id for point in points), places)
        points = [point for point in points if point.id not in stored]
    for batch in _batches(points):
        yield from ask(Upsert(place=places.present, points=batch, older_than=0 if op.only_new else None))
        for place in places.older:
            yield from ask(Remove(place=place, conditions=((HasId(ids=tuple(point.id for point in batch)),),)))


def revise(op: ReviseUnits, places: Places, write: str) -> Plan[list[str]]:
    """Overwrite each unit where it is, if its stored revision is the one before; reply the ids where it was not."""
    units = {point_id(unit.owner, unit.id): unit for unit in op.units}
    if len(units) != len(op.units):
        raise StoreRejected("a unit is revised twice in one request; keep the last")
    stored = yield from _stored(tuple(units), places)
    changes: dict[Place, list[tuple[Conditions, dict[str, str | int | float | list[str]]]]] = defaultdict(list)
    for each, unit in units.items():
        payload = encode_payload(unit, write=write, earlier_writes=writes_of(stored[each][1].payload) if each in stored else ())
        if each in stored and revision_of(stored[each][1].payload) == unit.revision - 1:
            changes[stored[each][0]].append((at_revision(unit.owner, unit.id, unit.revision - 1), payload))
    for place, edits in changes.items():
        yield from ask(Overwrite(place=place, changes=tuple(edits)))
    if not changes:
        return [unit.id for unit in op.units]
    after = yield from _stored(tuple(units), places)
    return [unit.id for each, unit in units.items() if each not in after or write not in writes_of(after[each][1].payload)]


def _stored(ids: tuple[str, ...], places: Places) -> Plan[dict[str, tuple[Place, Point]]]:
    """Where each point is, with its revision and last writes; the present place wins over older ones."""
    found: dict[str, tuple[Place, Point]] = {}
    for place in places.all if ids else ():
        page = Scroll(place=place, conditions=(HasId(ids=ids),), limit=len(ids), fields=(REVISION, WRITES))
        points, _ = yield from ask(page)
        found |= {point.id: (place, point) for point in points}
    return found


def delete(op: DeleteUnits, places: Places) -> Plan[int]:
    """Delete what matches, in every space.

    Older spaces come first: a move that runs meanwhile finds its unit gone there, and takes its own copy back (see `_move_from`).
    """
    wanted = conditions(op.where)
    if places.older:
        return (yield from _delete_by_id(wanted, places))
    found = yield from ask(Count(place=places.present, conditions=wanted))
    if found:
        yield from ask(Remove(place=places.present, conditions=(wanted,)))
    return found


def _delete_by_id(wanted: Conditions, places: Places) -> Plan[int]:
    """By id, because the copies of one unit in two spaces may differ in the fields that are asked for."""
    deleted: set[str] = set()
    while True:
        ids: set[str] = set()
        for place in places.all:
            points, _ = yield from ask(Scroll(place=place, conditions=wanted, limit=BATCH, fields=()))
            ids |= {point.id for point in points}
        if not ids - deleted:
            return len(deleted)
        for place in places.all:
            yield from ask(Remove(place=place, conditions=((HasId(ids=tuple(sorted(ids))),),)))
        deleted |= ids


def attach(op: AttachEmbeddings, places: Places, write: str) -> Plan[int]:
    """Embed units where they are, if that is the present space, else bring them there."""
    check_units(op.units, places.present.space)
    for indexed in op.units:
        if indexed.dense is None:
            raise StoreRejected(f"unit {indexed.unit.id!r} was to get an embedding and carries none")
    done = 0
    for place in places.older:
        done += yield from _move_from(place, op.units, places.present, write)
    return done + (yield from _embed_in_place(op.units, places.present))


def _embed_in_place(units: tuple[IndexedUnit, ...], present: Place) -> Plan[int]:
    vectors = {_id(indexed.unit): (indexed.unit.revision, indexed.dense) for indexed in units}
    waiting: Conditions = (HasId(ids=tuple(vectors)), Unembedded())
    found, _ = yield from ask(Scroll(place=present, conditions=waiting, limit=max(1, len(vectors)), fields=(REVISION,)))
    by_revision: dict[int, list[tuple[str, tuple[float, ...]]]] = defaultdict(list)
    for point in found:
        revision, dense = vectors[point.id]
        if dense is not None and revision_of(point.payload) == revision:
            by_revision[revision].append((point.id, dense))
    for revision, batch in by_revision.items():
        yield from ask(SetDense(place=present, vectors=tuple(batch), revision=revision))
    return sum(len(batch) for batch in by_revision.values())


def _move_from(place: Place, units: tuple[IndexedUnit, ...], present: Place, write: str) -> Plan[int]:
    """Copy units to the present space, look whether they still are what was read, then remove the older copies.

    Whoever revised, replaced or deleted a unit meanwhile did so in the older space first: then the new copy is taken back.
    """
    points = {point_id(indexed.unit.owner, indexed.unit.id): _point(indexed, write) for indexed in units}
    before = yield from _unchanged(place, points)
    by_revision: dict[int, list[Point]] = defaultdict(list)
    for each in before:
        by_revision[revision_of(points[each].payload)].append(points[each])
    for revision, batch in by_revision.items():
        yield from ask(Upsert(place=present, points=tuple(batch), older_than=revision))
    after = yield from _unchanged(place, {each: points[each] for each in before})
    yield from _take_back([indexed.unit for indexed in units if _id(indexed.unit) in before - after], present, write)
    kept = [indexed.unit for indexed in units if _id(indexed.unit) in after]
    if kept:
        yield from ask(Remove(place=place, conditions=tuple(at_revision(unit.owner, unit.id, unit.revision) for unit in kept)))
    return len(kept)


def _id(unit: MemoryUnit) -> str:
    return point_id(unit.owner, unit.id)


def _unchanged(place: Place, points: dict[str, Point]) -> Plan[set[str]]:
    """Which points are in a place with the revision that was read."""
    if not points:
        return set()
    found, _ = yield from ask(Scroll(place=place, conditions=(HasId(ids=tuple(points)),), limit=len(points), fields=(REVISION,)))
    return {point.id for point in found if revision_of(point.payload) == revision_of(points[point.id].payload)}


def _take_back(units: Sequence[MemoryUnit], present: Place, write: str) -> Plan[None]:
    """Remove copies that this write has made, and no others."""
    if units:
        conditions_ = tuple(written_by(unit.owner, (_id(unit),), write) for unit in units)
        yield from ask(Remove(place=present, conditions=conditions_))
