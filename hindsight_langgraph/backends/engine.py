"""The requests that a vector engine answers: what the plans of the long-term store are made of.

An engine keeps points in places. A place belongs to one collection and one embedding space. Its name can be read back, so that a
store that is opened with another model finds what the old one left (SPEC A11).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar, cast
from urllib.parse import quote, unquote

from hindsight_langgraph.backends.filters import Conditions
from hindsight_langgraph.backends.payload import Payload
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.ops import Collection
from hindsight_langgraph.plan import Op
from hindsight_langgraph.records import EmbeddingSpace, SparseVector

Reply = TypeVar("Reply")

DENSE: Final = "dense"
TEXT: Final = "text"
CONTEXT: Final = "context"
VectorName = Literal["dense", "text", "context"]

NO_WORDS: Final = SparseVector(indices=(), values=())

_PLACE = re.compile(r"(live|cold)\.([1-9][0-9]*)\.(.+)")
_LONGEST_NAME: Final = 200
"""Bytes; file systems and Qdrant allow 255, and a prefix comes before it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where points are kept: one collection in one embedding space."""

    collection: Collection
    space: EmbeddingSpace

    @property
    def name(self) -> str:
        """Name of the shard directory or server collection, for example `live.384.intfloat=2Fmultilingual-e5-small`."""
        model = quote(self.space.model, safe="").replace("%", "=")  # quote escapes "=" itself, so this can be undone
        return f"{self.collection}.{self.space.dimension}.{model}"


def checked_name(place: Place) -> str:
    """The name of a place.

    Raises:
        ConfigError: the model's name is blank or too long for a directory.
    """
    if not place.space.model.strip() or len(place.name) > _LONGEST_NAME:
        raise ConfigError(f"the embedding model's name {place.space.model!r} is blank or too long to name a store after it")
    return place.name


def parse_place(name: str) -> Place | None:
    """The place that a name stands for; None when the name is not one of ours."""
    match = _PLACE.fullmatch(name)
    if match is None:
        return None
    space = EmbeddingSpace(model=unquote(match[3].replace("=", "%")), dimension=int(match[2]))
    return Place(collection=cast("Collection", match[1]), space=space)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A unit as an engine holds it. `dense` None and empty word vectors are not stored at all."""

    id: str
    payload: Payload
    dense: tuple[float, ...] | None = None
    text: SparseVector = NO_WORDS
    context: SparseVector = NO_WORDS


def point_of(found: Any) -> Point:
    """A point as the clients of both engines hand it out: they name its parts alike."""
    vectors: dict[str, Any] = found.vector or {}
    dense = vectors.get(DENSE)
    return Point(
        id=str(found.id),
        payload=found.payload or {},
        dense=None if dense is None else tuple(dense),
        text=_words(vectors.get(TEXT)),
        context=_words(vectors.get(CONTEXT)),
    )


def _words(found: Any) -> SparseVector:
    return NO_WORDS if found is None else SparseVector(indices=tuple(found.indices), values=tuple(found.values))


class Ranked(NamedTuple):
    """A point as a ranking found it; a bare tuple, since one recall makes hundreds."""

    id: str
    payload: Payload
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """One ranked query: by a vector under `using`, or newest first where `vector` is None."""

    conditions: Conditions
    limit: int
    using: VectorName = "dense"
    vector: tuple[float, ...] | SparseVector | None = None
    corpus: Conditions = ()
    """Over which points the inverse document frequency is counted: those of the same owners, so that one user's words never
    move another's scores."""


class EngineOp(Op[Reply], Generic[Reply]):
    """A request to the engine about one place."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ListPlaces(EngineOp[list[Place]]):
    """Every place that exists, whichever process made it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenPlace(EngineOp[None]):
    """Make a place usable, creating it with its indexes when it is missing."""

    place: Place


@dataclass(frozen=True, kw_only=True, slots=True)
class Rank(EngineOp[list[list[Ranked]]]):
    """Run several rankings in one round trip; each reply best first, with payload `fields` only."""

    place: Place
    rankings: tuple[Ranking, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scroll(EngineOp[tuple[list[Point], str | None]]):
    """Points in the order of their ids, from `start` on, with payload `fields` only; the second reply is the next `start`."""

    place: Place
    conditions: Conditions
    limit: int
    fields: tuple[str, ...]
    start: str | None = None
    with_vectors: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Count(EngineOp[int]):
    """How many points match, exactly."""

    place: Place
    conditions: Conditions


@dataclass(frozen=True, kw_only=True, slots=True)
class CountValues(EngineOp[dict[str, int]]):
    """How many matching points have each value of a field."""

    place: Place
    field: str
    conditions: Conditions


@dataclass(frozen=True, kw_only=True, slots=True)
class Upsert(EngineOp[None]):
    """Insert or replace points. With `older_than` a point is written only where none is, or one with a lower revision."""

    place: Place
    points: tuple[Point, ...]
    older_than: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SetDense(EngineOp[None]):
    """Give points a dense vector, each only while it has the revision; the rest of it stays. Refused when one is gone."""

    place: Place
    vectors: tuple[tuple[str, tuple[float, ...]], ...]
    revision: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Overwrite(EngineOp[None]):
    """Replace payloads, each only where its conditions hold; vectors stay."""

    place: Place
    changes: tuple[tuple[Conditions, Payload], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Remove(EngineOp[None]):
    """Delete what meets the conditions of any entry."""

    place: Place
    conditions: tuple[Conditions, ...]
