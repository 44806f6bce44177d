"""Answers the reading requests of a long-term store from those of its engine, over every embedding space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from hindsight_langgraph.backends.checks import check_probe
from hindsight_langgraph.backends.engine import (
    Count,
    CountValues,
    Place,
    Point,
    Rank,
    Ranked,
    Ranking,
    Scroll,
    VectorName,
)
from hindsight_langgraph.backends.filters import Conditions, Unembedded, conditions, owned_by
from hindsight_langgraph.backends.payload import MOMENT, UNIT, Payload, moment_of, point_id, text_of
from hindsight_langgraph.backends.spaces import Places, without_present
from hindsight_langgraph.errors import StoreRejected
from hindsight_langgraph.ops import (
    CountBy,
    CountUnits,
    FetchUnits,
    ListOwners,
    Page,
    Probe,
    ScanUnits,
    SearchUnits,
    UnembeddedUnits,
)
from hindsight_langgraph.plan import Plan, ask, together
from hindsight_langgraph.records import Hit, IndexedUnit, MemoryUnit

Reader = Callable[[Payload], MemoryUnit]

PAGE: Final = 512
"""Points read in one round trip where all are wanted."""


def search(op: SearchUnits, places: Places, read: Reader) -> Plan[list[list[Hit]]]:
    """Run every probe in each place, best first; a dense probe is answered by the present space alone."""
    for probe in op.probes:
        check_probe(probe, places.present.space)
    rankings = [_ranking(probe) for probe in op.probes]
    found = yield from _rank(rankings, places)
    return [_hits(points, probe, read) for points, probe in zip(found, op.probes, strict=True)]


def _ranking(probe: Probe) -> Ranking | None:
    """The query of a probe; None where it has no words to look for."""
    wanted = conditions(probe.where)
    if probe.newest:
        return Ranking(conditions=wanted, limit=probe.limit)
    if probe.dense is not None:
        return Ranking(conditions=wanted, limit=probe.limit, using="dense", vector=probe.dense)
    words = probe.text if probe.text is not None else probe.context
    if words is None or not words.indices:
        return None
    using: VectorName = "text" if probe.text is not None else "context"
    return Ranking(conditions=wanted, limit=probe.limit, using=using, vector=words, corpus=owned_by(probe.where.owners))


def _rank(rankings: Sequence[Ranking | None], places: Places) -> Plan[list[list[Ranked]]]:
    asked: list[tuple[Place, list[int]]] = []
    for place in places.all:
        indexes = [
            index
            for index, ranking in enumerate(rankings)
            if ranking is not None and (place == places.present or not isinstance(ranking.vector, tuple))
        ]
        if indexes:
            asked.append((place, indexes))
    requests = [
        Rank(place=place, rankings=tuple(r for index in indexes if (r := rankings[index]) is not None), fields=(UNIT, MOMENT))
        for place, indexes in asked
    ]
    replies = yield from together(*requests)
    merged: list[list[Ranked]] = [[] for _ in rankings]
    for (place, indexes), reply in zip(asked, replies, strict=True):
        if isinstance(reply, Exception):
            raise reply
        for index, points in zip(indexes, reply, strict=True):
            merged[index] += points if place == places.present else (yield from without_present(places, points))
    return merged


def _hits(points: list[Ranked], probe: Probe, read: Reader) -> list[Hit]:
    """Hits best first; ties by id, so that the same data gives the same order on every engine."""
    if probe.newest:
        ranked = sorted(points, key=lambda point: (-moment_of(point.payload), point.id))
        return [Hit(unit=read(point.payload), score=0.0) for point in ranked[: probe.limit]]
    scores = [point.score for point in points]
    if scores != sorted(set(scores), reverse=True):  # no engine says how it orders points of one score
        points = sorted(points, key=lambda point: (-point.score, point.id))
    return [Hit(unit=read(point.payload), score=point.score) for point in points[: probe.limit]]


def fetch(op: FetchUnits, places: Places, read: Reader) -> Plan[list[MemoryUnit]]:
    """Read units by id, in the order of the ids; one that is not there, or not the owner's, is left out."""
    if op.where.ids is None:
        raise StoreRejected("FetchUnits names no ids; scan instead")
    order = [point_id(owner, unit) for unit in dict.fromkeys(op.where.ids) for owner in op.where.owners]
    if not order:
        return []
    found: dict[str, Point] = {}
    for place in places.all:
        points, _ = yield from ask(Scroll(place=place, conditions=conditions(op.where), limit=len(order), fields=(UNIT,)))
        kept = points if place == places.present else (yield from without_present(places, points))
        found |= {point.id: point for point in kept}
    return [read(found[each].payload) for each in dict.fromkeys(order) if each in found]


def scan(op: ScanUnits, places: Places, read: Reader) -> Plan[Page]:
    """One page in the order of the ids, of one place after the other. The cursor is `<place name>/<next id>`."""
    if op.limit < 1:
        raise StoreRejected(f"a page of {op.limit} units; ask for at least 1")
    place, start = _resume(op.cursor, places)
    page = Scroll(
        place=place, conditions=conditions(op.where), limit=op.limit, fields=(UNIT,), start=start, with_vectors=op.with_vectors
    )
    points, after = yield from ask(page)
    kept = points if place == places.present else (yield from without_present(places, points))
    return Page(
        units=[_indexed(point, read, embedded=place == places.present) for point in kept], cursor=_cursor(place, after, places)
    )


def _resume(cursor: str | None, places: Places) -> tuple[Place, str | None]:
    if cursor is None:
        return places.all[0], None
    name, slash, start = cursor.rpartition("/")
    for place in places.all:
        if slash and place.name == name:
            return place, start or None
    raise StoreRejected(f"cursor {cursor!r} is not one that a scan of this store gave; start the scan again")


def _cursor(place: Place, after: str | None, places: Places) -> str | None:
    if after is not None:
        return f"{place.name}/{after}"
    following = places.all[places.all.index(place) + 1 :]
    return f"{following[0].name}/" if following else None


def _indexed(point: Point, read: Reader, *, embedded: bool) -> IndexedUnit:
    dense = point.dense if embedded else None  # a vector of another space would only mislead
    return IndexedUnit(unit=read(point.payload), dense=dense, text=point.text, context=point.context)


def count(op: CountUnits, places: Places) -> Plan[dict[str, int]]:
    """How many units match, by the values of a field; a unit without a value there is not counted by it."""
    wanted = conditions(op.where)
    if op.by is None:
        here = yield from ask(Count(place=places.present, conditions=wanted))
        there = yield from _older_points(places, wanted, ("id",))
        return {"": here + len(there)}
    by: CountBy = op.by
    totals = Counter((yield from ask(CountValues(place=places.present, field=by, conditions=wanted))))
    older = yield from _older_points(places, wanted, (by,))
    totals.update(value for point in older if (value := text_of(point.payload, by)))
    return dict(sorted(totals.items()))


def _older_points(places: Places, wanted: Conditions, fields: tuple[str, ...]) -> Plan[list[Point]]:
    """Matching points that are in older places only; empty in a store whose model never changed, without any request."""
    found: list[Point] = []
    for place in places.older:
        start: str | None = None
        while True:
            points, start = yield from ask(Scroll(place=place, conditions=wanted, limit=PAGE, fields=fields, start=start))
            found += yield from without_present(places, points)
            if start is None:
                break
    return found


def owners(op: ListOwners, places: Places) -> Plan[list[str]]:  # noqa: ARG001 (the collection has chosen the places)
    """Every owner in any place."""
    found: set[str] = set()
    for place in places.all:
        found |= set((yield from ask(CountValues(place=place, field="owner", conditions=()))))
    return sorted(found)


def unembedded(op: UnembeddedUnits, places: Places, read: Reader) -> Plan[list[IndexedUnit]]:
    """The first units of the older places, then those of the present place that have no dense vector."""
    found: list[IndexedUnit] = []
    for place in places.all:
        limit = op.limit - len(found)
        if limit > 0:
            wanted: Conditions = (Unembedded(),) if place == places.present else ()
            points, _ = yield from ask(Scroll(place=place, conditions=wanted, limit=limit, fields=(UNIT,), with_vectors=True))
            found += [_indexed(point, read, embedded=False) for point in points]
    return found
