"""The closed list of requests that the memory makes of its stores and models.

An op is a small frozen value. A working store answers every `WorkingOp`, a long-term store every `LongTermOp`, an embedder
`Embed`. Every op is idempotent: running it twice leaves what running it once left (counters excepted, see `AddCount`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from hindsight_langgraph.errors import MissingUser
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.plan import Op, Plan
from hindsight_langgraph.records import Hit, IndexedUnit, Kind, MemoryUnit, Region, Scope, SparseVector, Status, Tier, Turn

Reply = TypeVar("Reply")


# --- working store -------------------------------------------------------------------------------------------------------


class WorkingOp(Op[Reply], Generic[Reply]):
    """A request to the working store."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadFields(WorkingOp[dict[str, bytes]]):
    """All fields of a hash, oldest written first; empty when the key is absent or expired."""

    key: Key


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteFields(WorkingOp[None]):
    """Set fields of a hash and (re)start its time to live, in one atomic step. A rewritten field becomes the newest."""

    key: Key
    fields: Mapping[str, bytes]
    ttl_s: float | None = None
    """None keeps the key until it is deleted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldFields(WorkingOp[bool]):
    """Put `put` and remove `drop` in one atomic step, only if every dropped field still has the value given (SPEC A3).

    A field that is in both is replaced. Reply: whether it was done; False leaves everything as it was.
    """

    key: Key
    put: Mapping[str, bytes]
    drop: Mapping[str, bytes]
    ttl_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DropFields(WorkingOp[int]):
    """Remove fields of a hash. Reply: how many were there."""

    key: Key
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AddCount(WorkingOp[int]):
    """Add to an integer field. Reply: the new value. Not idempotent: a caller that may repeat it accepts an over-count."""

    key: Key
    name: str
    by: int = 1
    ttl_s: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LogEntry:
    """One entry of a log. `id` is unique within its log; `at` orders it, ties by id."""

    id: str
    at: datetime
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class AppendLog(WorkingOp[int]):
    """Append entries; an id that is there already keeps its first entry. Reply: how many were new."""

    key: Key
    entries: tuple[LogEntry, ...]
    ttl_s: float | None = None
    keep: int | None = None
    """At most this many newest entries stay; None keeps all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadLog(WorkingOp[list[LogEntry]]):
    """Entries of a log, newest first unless `oldest_first`."""

    key: Key
    limit: int | None = None
    oldest_first: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplaceEntry(WorkingOp[bool]):
    """Change the body of an entry that exists, keeping its place. Reply: whether it was there."""

    key: Key
    id: str
    body: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class DropEntries(WorkingOp[int]):
    """Remove entries by id. Reply: how many were there."""

    key: Key
    ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListKeys(WorkingOp[list[Key]]):
    """The live keys of an owner, of one kind or of all."""

    owner: str
    kind: KeyKind | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteKeys(WorkingOp[int]):
    """Delete keys of one owner, every one of them when `keys` is None (SPEC G8). Reply: how many were there."""

    owner: str
    keys: tuple[Key, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SetDue(WorkingOp[None]):
    """Make `item` due at a moment; a second call moves it. A claim that is running meanwhile will not settle it."""

    queue: str
    item: str
    due: datetime
    body: bytes = b""
    only_earlier: bool = False
    """Leave an item alone that is due sooner already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """The right to work on one due item until the lease ends."""

    item: str
    body: bytes
    token: str
    attempts: int
    """1 at the first claim."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimDue(WorkingOp[list[Claim]]):
    """Claim items that are due at `now`, the longest due first; each is hidden from others until `now + lease_s`."""

    queue: str
    now: datetime
    lease_s: float
    limit: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class SettleDue(WorkingOp[bool]):
    """Finish a claim: remove the item, or make it due again at `retry_at`. Reply: False when the claim was lost meanwhile."""

    queue: str
    item: str
    token: str
    retry_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtendLease(WorkingOp[bool]):
    """Keep a claim until `until`. Reply: False when the claim was lost meanwhile."""

    queue: str
    item: str
    token: str
    until: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class PeekDue(WorkingOp[list[tuple[str, datetime]]]):
    """Items of a queue with their due times, soonest first."""

    queue: str
    limit: int = 100


# --- long-term store -----------------------------------------------------------------------------------------------------


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


# --- models --------------------------------------------------------------------------------------------------------------


class ModelOp(Op[Reply], Generic[Reply]):
    """A request to a model."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Embed(ModelOp[list[tuple[float, ...]]]):
    """Embed texts; reply: one unit-length vector a text, as long as the space's dimension. Blank texts are a caller's fault."""

    texts: tuple[str, ...]
    purpose: Literal["query", "document"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """One message to the small chat model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a chat model said, as it said it."""

    text: str
    finish_reason: str = ""
    reasoning: str = ""
    """Text from a separate reasoning field, where the provider has one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Complete(ModelOp[Answer]):
    """Ask the small chat model; `schema` is a JSON schema for models that can constrain their output."""

    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, object] = field(default_factory=dict[str, object])
    max_tokens: int = 800
    temperature: float | None = None
    """How freely it answers, for a model that can be told; None leaves it as the model was made."""


# --- background ----------------------------------------------------------------------------------------------------------


class BackgroundOp(Op[Reply], Generic[Reply]):
    """A request to the process that the memory runs in."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Later(BackgroundOp[None]):
    """Run a plan off the answer's path; whoever waits for `owner` waits for it too."""

    owner: str
    plan: Callable[[], Plan[object]]
    slow: bool = False
    """True for work that may take seconds; it runs apart, so that no write waits behind it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settle(BackgroundOp[bool]):
    """Wait until the background work of one owner (of all, for None) is done. Reply: whether it was in time."""

    owner: str | None
    timeout_s: float
    idle: bool = False
    """Wait for consolidation too, which no answer waits for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Keep(BackgroundOp[None]):
    """Hold turns in the process because no store takes them; the oldest are let go, and counted, past a limit."""

    scope: Scope
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TakeKept(BackgroundOp[list[tuple[Scope, tuple[Turn, ...]]]]):
    """Take back everything that is held for an owner; the caller keeps again what it cannot place."""

    owner: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Notify(BackgroundOp[None]):
    """Tell the memory's listeners of something that was done."""

    event: object


@dataclass(frozen=True, kw_only=True, slots=True)
class StaleEmbeddings(BackgroundOp[str]):
    """What is wrong when the store holds units of another embedding model (SPEC A11); blank when nothing is. Warned of once."""
