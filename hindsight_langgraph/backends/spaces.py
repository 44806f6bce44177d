"""Which places hold the units of a collection when the embedding model has changed (SPEC A11).

Writes go to the present space. Units of an older one stay readable: everything but a dense probe is answered over all spaces. A
unit that is in two spaces, which only a crash between two writes can leave, counts once: the copy in the present space is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from hindsight_langgraph.backends.engine import Count, ListPlaces, OpenPlace, Place, Point, Ranked, Scroll
from hindsight_langgraph.backends.filters import HasId
from hindsight_langgraph.errors import EmbeddingMismatch
from hindsight_langgraph.ops import Collection
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import EmbeddingSpace

AnyPoint = TypeVar("AnyPoint", Point, Ranked)


@dataclass(frozen=True, kw_only=True, slots=True)
class StalePlace:
    """A place of another embedding space that still holds units."""

    place: Place
    units: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """The places of one collection: where it is written, and where else units of it still are."""

    present: Place
    stale: tuple[StalePlace, ...] = ()

    @property
    def older(self) -> tuple[Place, ...]:
        """The places of other spaces."""
        return tuple(stale.place for stale in self.stale)

    @property
    def all(self) -> tuple[Place, ...]:
        """Every place, older ones first: a unit that is moved during a long read is then seen twice rather than never."""
        return (*self.older, self.present)


def open_places(collection: Collection, space: EmbeddingSpace) -> Plan[Places]:
    """Open the present place of a collection, and those of other spaces that hold units."""
    present = Place(collection=collection, space=space)
    found = yield from ask(ListPlaces())
    stale: list[StalePlace] = []
    for place in sorted(found, key=lambda each: each.name):
        if place.collection == collection and place != present:
            yield from ask(OpenPlace(place=place))
            units = yield from ask(Count(place=place, conditions=()))
            if units:
                stale.append(StalePlace(place=place, units=units))
    yield from ask(OpenPlace(place=present))
    return Places(present=present, stale=tuple(stale))


def without_present(places: Places, points: Sequence[AnyPoint]) -> Plan[list[AnyPoint]]:
    """Those points of older places that the present place does not hold as well."""
    if not points:
        return []
    ids = tuple(dict.fromkeys(point.id for point in points))
    held, _ = yield from ask(Scroll(place=places.present, conditions=(HasId(ids=ids),), limit=len(ids), fields=()))
    taken = {point.id for point in held}
    return [point for point in points if point.id not in taken]


def mismatch(places: Places) -> EmbeddingMismatch | None:
    """What is wrong when units of a collection are in another embedding space, as an error to log or raise; else None."""
    if not places.stale:
        return None
    present = places.present
    left = "; ".join(
        f"{stale.units} units in {stale.place.name!r} ({stale.place.space.model}, {stale.place.space.dimension} dimensions)"
        for stale in places.stale
    )
    return EmbeddingMismatch(
        f"collection {present.name!r} is written with {present.space.model} ({present.space.dimension} dimensions), but holds {left}. "
        "Those are found by words, not by meaning, until `hindsight reembed` has been run"
    )
