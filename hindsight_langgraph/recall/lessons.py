"""What one recall can teach a ranker once its task is judged: every candidate's features, and what it turned out to be worth (SPEC E6)."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime, ValidationError

from hindsight_langgraph.annotation.examples import helped
from hindsight_langgraph.annotation.report import AnnotationReport
from hindsight_langgraph.annotation.verdict import Effect, unit_of
from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.ranker import FEATURES, POOL, RANKER_VERSION, rows
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.records import MemoryUnit, Record

LINEAR: Final = FEATURES.index("linear")
"""The column of the weighted sum."""


class Worth(IntEnum):
    """What a candidate was worth to its task, as a grade of relevance."""

    MISLEADING = 0
    IGNORED = 1
    """Recalled in vain, or not recalled: nothing speaks for it."""
    HELPFUL = 2


class LoggedCandidate(Record, extra="ignore"):
    """A candidate as the recall log keeps it."""

    id: str
    score: float
    terms: Mapping[str, float] = {}

    @property
    def linear(self) -> float:
        """Its weighted sum, also where a ranker had the last word."""
        return self.terms.get("linear", self.score)


class LoggedRecall(Record, extra="ignore"):
    """A recall as the log keeps it, as far as a ranker learns from it."""

    query: Query
    at: AwareDatetime
    items: tuple[LoggedCandidate, ...] = ()
    dropped: tuple[LoggedCandidate, ...] = ()

    @property
    def pool(self) -> list[LoggedCandidate]:
        """What a ranker would have seen: the best by the weighted sum, best first."""
        return sorted((*self.items, *self.dropped), key=lambda candidate: (-candidate.linear, candidate.id))[:POOL]


class Lesson(Record):
    """The candidates of one recall with their worth."""

    case: str
    """The task that it comes from."""
    at: AwareDatetime
    domain: str | None = None
    features: int
    """`RANKER_VERSION` of the rows."""
    grades: tuple[Worth, ...]
    table: str
    """The features of each candidate, [candidates, features] as 16-bit floats in base64."""

    @property
    def rows(self) -> NDArray[np.float32]:
        """The features as numbers.

        Raises:
            StoreCorrupt: they are not as many as the grades ask for.
        """
        try:
            flat = np.frombuffer(base64.b64decode(self.table, validate=True), dtype=np.float16)
            return flat.reshape(len(self.grades), len(FEATURES)).astype(np.float32)
        except ValueError as error:
            raise StoreCorrupt(f"a lesson of task {self.case} cannot be read: {error}") from error

    @property
    def tells(self) -> bool:
        """Whether anything can be learnt from it here: something helped, something did not, and the features are today's."""
        return self.features == RANKER_VERSION and Worth.HELPFUL in self.grades and len(set(self.grades)) > 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """A candidate as the ranker reads one."""

    unit: MemoryUnit
    terms: Mapping[str, float]
    score: float


def read_recall(body: bytes) -> LoggedRecall | None:
    """A recall of the log; None for one that another version wrote otherwise."""
    try:
        return LoggedRecall.model_validate_json(body)
    except ValidationError:
        return None


def recall_of(recalls: Sequence[LoggedRecall], *, asked: str, given: Sequence[str], until: datetime) -> LoggedRecall | None:
    """The recall that a step was given: the last one before `until` for the same words that chose all that was `given`."""
    fitting = [
        recall
        for recall in recalls
        if recall.at <= until and recall.query.text == asked and set(given) <= {candidate.id for candidate in recall.items}
    ]
    return max(fitting, key=lambda recall: recall.at, default=None)


def lesson_of(recall: LoggedRecall, units: Mapping[str, MemoryUnit], report: AnnotationReport) -> Lesson | None:
    """The lesson of a recall, or None when none of its candidates was judged or is left."""
    seen = [
        _Seen(unit=units[candidate.id], terms=candidate.terms, score=candidate.linear)
        for candidate in recall.pool
        if candidate.id in units
    ]
    grades = _grades(report)
    if not any(candidate.unit.id in grades for candidate in seen):
        return None
    table = rows(seen, read_cues(recall.query, now=recall.at)).astype(np.float16)
    return Lesson(
        case=report.case,
        at=recall.at,
        domain=report.domain,
        features=RANKER_VERSION,
        grades=tuple(grades.get(candidate.unit.id, Worth.IGNORED) for candidate in seen),
        table=base64.b64encode(table.tobytes()).decode(),
    )


def _grades(report: AnnotationReport) -> dict[str, Worth]:
    """What each judged memory was worth."""
    found: dict[str, Worth] = {}
    for judgement in report.judgements:
        unit_id = unit_of(judgement.ref)
        if unit_id is None:
            continue
        if judgement.effect is Effect.NEGATIVE:
            found[unit_id] = Worth.MISLEADING
        else:
            found[unit_id] = Worth.HELPFUL if helped(judgement) else Worth.IGNORED
    return found | dict.fromkeys(report.missed, Worth.HELPFUL)
