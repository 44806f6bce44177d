"""The nouns of the memory; the glossary of the whole code base.

* **unit**: one managed memory (`MemoryUnit`, SPEC A1); it has content, a life and a status.
* **turn**: one message of a conversation as the memory sees it (`Turn`).
* **region**: episodic, semantic or procedural long-term memory (SPEC A5).
* **owner**: whose memory it is, the tenant key of every store: a user or a shared scope.
* **scope**: who asks, and from which thread, agent, task and domain (`Scope`, SPEC A10).
* **anchor**: when the thing that a unit speaks of happens (`TimeAnchor`), as opposed to when it was said or stored.
* **task**: one piece of work, from a goal to an outcome; it owns a working memory.
* **session buffer**: the last turns of one thread, kept for a day (SPEC A4).

Every record is frozen and keyword-only. Instants are timezone-aware; a naive datetime is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator, model_validator

from hindsight_langgraph.errors import MissingUser

Unit01 = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
"""A finite number from 0 to 1."""


class Record(BaseModel):
    """A frozen value; unknown fields are refused, so that a misspelt one never passes unseen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Role(StrEnum):
    """Who speaks in a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Region(StrEnum):
    """The room of long-term memory that a unit lives in (SPEC A5)."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Kind(StrEnum):
    """What sort of thing a unit says (SPEC B3)."""

    PREFERENCE = "preference"
    FACT = "fact"
    DECISION = "decision"
    TASK_STATE = "task_state"
    PROCEDURE = "procedure"
    ENTITY = "entity"
    CORRECTION = "correction"
    SENTIMENT = "sentiment"
    EPISODE = "episode"


REGION_OF: dict[Kind, Region] = {
    Kind.PREFERENCE: Region.SEMANTIC,
    Kind.FACT: Region.SEMANTIC,
    Kind.ENTITY: Region.SEMANTIC,
    Kind.SENTIMENT: Region.SEMANTIC,
    Kind.CORRECTION: Region.SEMANTIC,
    Kind.DECISION: Region.EPISODIC,
    Kind.TASK_STATE: Region.EPISODIC,
    Kind.EPISODE: Region.EPISODIC,
    Kind.PROCEDURE: Region.PROCEDURAL,
}
"""The region that each kind is written to (SPEC A5)."""


class Status(StrEnum):
    """Where a unit stands in its life (SPEC A9)."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


class CausalRole(StrEnum):
    """What a unit or step did for an outcome (SPEC A8)."""

    DIRECT_CAUSE = "direct_cause"
    CONTEXT = "context"
    NOISE = "noise"


class Tier(StrEnum):
    """How strongly a unit is held (SPEC A13). Core units do not decay."""

    CORE = "core"
    WORKING_SET = "working_set"
    ARCHIVE = "archive"


class Precision(StrEnum):
    """How exactly a time is known."""

    INSTANT = "instant"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    RANGE = "range"


class TimeAnchor(Record):
    """The half-open interval [start, end) that a text speaks of, resolved against its own moment (SPEC D5)."""

    start: AwareDatetime
    end: AwareDatetime
    precision: Precision
    text: str = ""
    """The words that it was read from."""

    @model_validator(mode="after")
    def _end_is_not_before_start(self) -> Self:
        if self.end < self.start:
            raise ValueError(f"the anchor ends ({self.end}) before it starts ({self.start})")
        return self


class Triple(Record):
    """A statement as subject, attribute, value (SPEC A7)."""

    subject: str
    attribute: str
    value: str
    negated: bool = False
    """True for 'does not', 'no longer', 'can't stand'."""
    multi_valued: bool = False
    """True where a second value stands beside the first (speaks English, speaks Chinese)."""


class Relation(Record):
    """A typed edge between two entities (SPEC A7); an overruled edge is kept with `valid=False`."""

    source: str
    target: str
    type: str
    valid: bool = True


class Attachment(Record):
    """An image or file: described and referenced, never stored as bytes (SPEC A12)."""

    description: str
    reference: str = ""
    media_type: str = ""


class EpisodeEvent(Record):
    """One link of an event chain (SPEC A6)."""

    step: int
    kind: str
    content: str


class Episode(Record):
    """What happened in one task (SPEC A6)."""

    goal: str
    events: tuple[EpisodeEvent, ...] = ()
    outcome: str = ""
    success: bool | None = None
    error: str = ""
    user_correction: str = ""
    participants: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class StoredItem(Record):
    """What a caller of the LangGraph store put: its address and its value."""

    namespace: tuple[str, ...]
    key: str
    value: str
    """A JSON object."""
    indexed: bool = True
    """False keeps it out of searches by meaning."""
    ttl_minutes: float | None = Field(default=None, gt=0)

    @property
    def labels(self) -> tuple[str, ...]:
        """One text for its namespace and for each above it: a prefix is then one equality, exact by label."""
        return tuple(namespace_label(self.namespace[:depth]) for depth in range(len(self.namespace) + 1))


def namespace_label(namespace: tuple[str, ...]) -> str:
    """A namespace as one text, another one for another namespace."""
    return f"store:{json.dumps(namespace, ensure_ascii=False)}"


def _no_blank(value: str, what: str) -> str:
    if not value.strip():
        raise MissingUser(f"{what} is blank; pass the id of one user, for example user_id='alice'")
    return value


class Scope(Record):
    """Who asks, and from where (SPEC A10). Every read and write of the memory is bound to one."""

    user_id: str
    session_id: str = "default"
    """One conversation: the thread id in LangGraph."""
    task_id: str | None = None
    agent_id: str | None = None
    domain: str | None = None
    """The domain of the task, where it has a clear one: recall reads that one alone (SPEC D9)."""
    more_domains: tuple[str, ...] = ()
    """Domains that it reads as well, and does not write to."""
    shared: tuple[str, ...] = ()
    """Shared scopes that this caller may read besides its own memory."""
    timezone: str = "UTC"
    """IANA name of the speaker's zone; relative times are read in it."""

    @field_validator("user_id")
    @classmethod
    def _user_is_named(cls, value: str) -> str:
        return _no_blank(value, "user_id")

    @property
    def owner(self) -> str:
        """The tenant that this caller writes to."""
        return user_owner(self.user_id)

    @property
    def readers(self) -> tuple[str, ...]:
        """Every tenant that this caller may read, its own first."""
        return (self.owner, *(shared_owner(name) for name in self.shared))

    @property
    def domains(self) -> tuple[str, ...]:
        """Every domain that this task reads; empty where it has none of its own, and then it reads all."""
        return (self.domain, *self.more_domains) if self.domain else self.more_domains

    @property
    def task(self) -> str:
        """The task whose working memory is meant: the given one, else the session's own."""
        return self.task_id or self.session_id


def user_owner(user_id: str) -> str:
    """The tenant key of a user. Prefixed, so that no user id can equal a shared scope's key."""
    return f"user:{_no_blank(user_id, 'user_id')}"


def shared_owner(name: str) -> str:
    """The tenant key of a shared scope."""
    return f"shared:{_no_blank(name, 'shared scope')}"


class Turn(Record):
    """One message as the memory sees it: text only, with its speaker and its moment."""

    id: str
    role: Role
    text: str
    at: AwareDatetime | None = None
    """When it was said; None when nobody knows, and then no relative time is resolved."""
    speaker: str | None = None
    """The speaker's name, where one is given."""
    tool: str | None = None
    error: bool = False
    """True for a tool message that reports a failure."""
    arguments: str = ""
    """What the tool was called with, as JSON."""
    group: str = ""
    """For a tool message the id of the message that called the tool; calls of one group ran in parallel."""
    calls: tuple[str, ...] = ()
    """Names of the tools that the message calls."""
    took_s: float | None = None
    """How long the call, or the model's answer, took in seconds; None where the host does not say."""
    attachments: tuple[Attachment, ...] = ()


class MemoryUnit(Record):
    """One managed memory (SPEC A1)."""

    id: str
    owner: str
    content: str
    """Self-contained: no pronouns without their noun, absolute dates."""
    region: Region
    kind: Kind

    session_id: str = "default"
    agent_id: str | None = None
    domain: str | None = None

    source_text: str = ""
    sources: tuple[str, ...] = ()
    """Ids of the turns that it was read from, in order."""
    speaker: Role = Role.USER
    speaker_name: str = ""
    """The speaker's own name, where the turn gave one (`Turn.speaker`)."""
    preceding: str = ""
    """The turn before, shortened: what an elliptical text answers."""

    triple: Triple | None = None
    entities: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    episode: Episode | None = None
    attachments: tuple[Attachment, ...] = ()
    tags: tuple[str, ...] = ()

    anchor: TimeAnchor | None = None
    said_at: AwareDatetime | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None

    base_importance: Unit01 = 0.5
    importance: Unit01 = 0.5
    confidence: Unit01 = 0.8
    role: CausalRole | None = None
    confirmations: int = Field(default=0, ge=0)
    """How often the same thing was said again."""
    references: int = Field(default=0, ge=0)
    """How often it was recalled."""
    last_recalled_at: AwareDatetime | None = None

    status: Status = Status.ACTIVE
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    tier: Tier = Tier.WORKING_SET
    raw: bool = False
    """True for text kept whole because extraction failed or was unsure (SPEC B4), or because it is a caller's item."""
    item: StoredItem | None = None
    """For a unit that was put through the LangGraph store; its `valid_to` is when it expires."""
    revision: int = Field(default=0, ge=0)
    """Goes up by one at each change; a writer that saw an older one must read again."""

    @property
    def moment(self) -> AwareDatetime:
        """When it was said, else when it was stored: what its age is counted from."""
        return self.said_at or self.created_at


class TracedRun(Record):
    """Names the run that a tracer shows a recall as."""

    id: str
    trace_id: str
    project: str


class SparseVector(Record):
    """A lexical vector: term ids and weights, of equal length; ids are unsigned 32-bit and distinct."""

    indices: tuple[int, ...]
    values: tuple[float, ...]

    @model_validator(mode="after")
    def _lengths_agree(self) -> Self:
        if len(self.indices) != len(self.values):
            raise ValueError(f"{len(self.indices)} indices but {len(self.values)} values")
        return self


class IndexedUnit(Record):
    """A unit with the vectors that it is found by. Text and vector are stored apart (SPEC A11)."""

    unit: MemoryUnit
    dense: tuple[float, ...] | None
    """Embedding of the unit, as long as the space's dimension; None while the model is down: found by words only."""
    text: SparseVector
    """Words of the unit with its speaker and date."""
    context: SparseVector
    """Words of the unit after its predecessor."""


class EmbeddingSpace(Record):
    """The embedding model and dimension that a store's vectors come from (SPEC A11)."""

    model: str
    dimension: int = Field(gt=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A unit found by one channel, with that channel's raw score; a plain value, since one search makes hundreds."""

    unit: MemoryUnit
    score: float
