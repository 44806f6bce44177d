"""The one translation of `Where` into conditions that every engine can express.

The owner's condition is made first and always: this is where isolation between users is enforced (SPEC A10). Reading by id goes
through it as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from hindsight_langgraph.backends.payload import MOMENT, REVISION, TENANT, WRITES, point_id
from hindsight_langgraph.errors import StoreRejected
from hindsight_langgraph.ops import Where


@dataclass(frozen=True, kw_only=True, slots=True)
class OneOf:
    """The field has, or for a list contains, one of the values; no values match nothing."""

    field: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Between:
    """The field is a number with `low <= n`, `above < n` and `n < below`."""

    field: str
    low: float | None = None
    above: float | None = None
    below: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class HasId:
    """The point is one of these; no ids match nothing."""

    ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unembedded:
    """The point has no dense vector."""


Condition = OneOf | Between | HasId | Unembedded
Conditions = tuple[Condition, ...]
"""All of them must hold."""


def owned_by(owners: tuple[str, ...]) -> Conditions:
    """Belongs to one of the owners."""
    return (OneOf(field=TENANT, values=owners),)


def conditions(where: Where) -> Conditions:
    """What a point must meet to be touched by a request."""
    return (*owned_by(where.owners), *_identity(where), *_values(where), *_times(where))


def _identity(where: Where) -> Iterable[Condition]:
    if where.ids is not None:
        yield HasId(ids=tuple(dict.fromkeys(point_id(owner, unit) for unit in where.ids for owner in where.owners)))


def _values(where: Where) -> Iterable[Condition]:
    fields: tuple[tuple[str, tuple[str, ...] | None], ...] = (
        ("region", where.regions),
        ("kind", where.kinds),
        ("status", where.statuses),
        ("tier", where.tiers),
        ("entities", where.entities),
        ("subject", where.subjects),
        ("attribute", where.attributes),
        ("sources", where.sources),
        ("session", where.sessions),
        ("domain", where.domains),
        ("agent", where.agents),
    )
    for name, values in fields:
        if values is not None:
            yield OneOf(field=name, values=tuple(str(value) for value in values)) if values else HasId(ids=())
    if where.raw is not None:
        yield OneOf(field="raw", values=(int(where.raw),))


def _times(where: Where) -> Iterable[Condition]:
    if where.said_from is not None or where.said_before is not None:
        yield Between(field=MOMENT, low=_seconds(where.said_from), below=_seconds(where.said_before))
    if where.anchor_from is not None:
        yield Between(field="anchor_end", above=_seconds(where.anchor_from))
    if where.anchor_before is not None:
        yield Between(field="anchor_start", below=_seconds(where.anchor_before))
    if where.updated_from is not None:
        yield Between(field="updated", low=_seconds(where.updated_from))


def _seconds(moment: datetime | None) -> float | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise StoreRejected(f"{moment} has no time zone; pass an aware datetime, in UTC for instance")
    return moment.timestamp()


def at_revision(owner: str, unit_id: str, revision: int) -> Conditions:
    """Exactly this unit, while it has this revision."""
    return (*owned_by((owner,)), HasId(ids=(point_id(owner, unit_id),)), OneOf(field=REVISION, values=(revision,)))


def written_by(owner: str, ids: tuple[str, ...], write: str) -> Conditions:
    """These points of an owner, as far as the named write has put them there."""
    return (*owned_by((owner,)), HasId(ids=ids), OneOf(field=WRITES, values=(write,)))
