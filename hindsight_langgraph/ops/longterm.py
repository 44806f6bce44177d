"""Requests to the long-term store: units, searched and changed under the owners that a `Where` names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Literal, TypeVar

from hindsight_langgraph.errors import MissingUser
from hindsight_langgraph.plan import Op
from hindsight_langgraph.records import Hit, IndexedUnit, Kind, MemoryUnit, Region, SparseVector, Status, Tier

Reply = TypeVar("Reply")


@dataclass(frozen=True, kw_only=True, slots=True)
class Where:
    """Which units a request may touch. Owners are compulsory: this is where isolation between users is enforced (SPEC A10).

    Conditions are joined by AND; the values of one tuple by OR; None does not restrict, an empty tuple matches nothing.
    """

    owners: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    regions: tuple[Region, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    statuses: tuple[Status, ...] | None = None
    tiers: tuple[Tier, ...] | None = None
    entities: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    attributes: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    sessions: tuple[str, ...] | None = None
    domains: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    raw: bool | None = None
    said_from: datetime | None = None
    """Said (else stored) at or after."""
    said_before: datetime | None = None
    anchor_from: datetime | None = None
    """Its anchor ends after this moment: with `anchor_before`, the anchor overlaps [from, before)."""
    anchor_before: datetime | None = None
    updated_from: datetime | None = None

    def __post_init__(self) -> None:
        if not self.owners or not all(owner.strip() for owner in self.owners):
            raise MissingUser("a request to long-term memory names no owner; build it from a Scope")


Collection = Literal["live", "cold"]
"""`cold` holds what was forgotten hard and can be brought back (SPEC F7)."""


class LongTermOp(Op[Reply], Generic[Reply]):
    """A request to the long-term store."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One channel of a search: exactly one of `dense`, `text`, `context`, `newest` says how units are ranked."""

    where: Where
    limit: int
    dense: tuple[float, ...] | None = None
    """Cosine to the unit's embedding."""
    text: SparseVector | None = None
    """BM25 over the unit with its speaker and date."""
    context: SparseVector | None = None
    """BM25 over the unit after its predecessor."""
    newest: bool = False
    """By moment, newest first; every score is 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchUnits(LongTermOp[list[list[Hit]]]):
    """Run several probes in one round trip. Reply: one list a probe, best first."""

    probes: tuple[Probe, ...]
    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchUnits(LongTermOp[list[MemoryUnit]]):
    """The units among `where.ids` that also meet the rest of `where`, in the order of the ids."""

    where: Where
    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A slice of a scan; `cursor` is None at the end."""

    units: list[IndexedUnit]
    cursor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScanUnits(LongTermOp[Page]):
    """Units in a stable order, page by page, with their vectors when asked."""

    where: Where
    limit: int = 256
    cursor: str | None = None
    with_vectors: bool = False
    """False leaves `dense` None and the sparse vectors empty."""
    collection: Collection = "live"


CountBy = Literal["region", "status", "tier", "kind", "domain", "owner"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CountUnits(LongTermOp[dict[str, int]]):
    """How many units match, by the values of one field, or under the key "" when `by` is None."""

    where: Where
    by: CountBy | None = None
    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class PutUnits(LongTermOp[None]):
    """Insert or replace units with their vectors. Checked whole before anything is written: all or none is accepted."""

    units: tuple[IndexedUnit, ...]
    only_new: bool = False
    """Leave a unit alone that is stored already: two writers of one turn make the same unit, and it may have changed since."""
    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviseUnits(LongTermOp[list[str]]):
    """Replace what is said about units, keeping their vectors.

    Each unit must carry the stored revision plus one; reply: the ids that were not changed because another revision or owner is
    stored, or because they are gone. The caller reads those again.
    """

    units: tuple[MemoryUnit, ...]
    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteUnits(LongTermOp[int]):
    """Delete what matches. Reply: how many there were."""

    where: Where
    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class ListOwners(LongTermOp[list[str]]):
    """Every owner that has a unit, sorted. For maintenance of a whole store (export, re-embedding), never for recall."""

    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnembeddedUnits(LongTermOp[list[IndexedUnit]]):
    """Units of any owner that have no embedding of the present space (SPEC A11), for maintenance.

    They are in an older space, or were stored while the model was down. Each comes with its word vectors and `dense` None.
    """

    limit: int = 64
    collection: Collection = "live"


@dataclass(frozen=True, kw_only=True, slots=True)
class AttachEmbeddings(LongTermOp[int]):
    """Give units the embedding that each carries, bringing those of an older space into the present one (SPEC A11).

    A unit that was revised, replaced or deleted since it was read is left as it is now. Reply: how many were embedded.
    """

    units: tuple[IndexedUnit, ...]
    collection: Collection = "live"
