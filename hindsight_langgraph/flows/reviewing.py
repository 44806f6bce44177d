"""From one person's review of a traced answer to what the memory makes of it (SPEC C9, E5, G5).

What an answer rested on gains or loses, an outcome is recorded, a corrected answer becomes a memory. A mark of every review is kept with
the target of each change before anything is changed, so that a run that dies half-way is done again and changes nothing twice.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime

from hindsight_langgraph import keys
from hindsight_langgraph.annotation.trajectory import Outcome, record_outcome
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.identity import unit_id
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.encoding.store import put
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.ops import FetchUnits, ReadFields, ReviseUnits, Where, WriteFields
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import REGION_OF, Kind, MemoryUnit, Record, Role, Scope

ACCEPTED: Final = 0.1
CORRECTED: Final = -0.2
"""SPEC C9: what a person's verdict is worth to the confidence of what the answer rested on."""
CONFIDENCE: Final = (0.1, 1.0)
RAISED: Final = 0.05
LOWERED: Final = -0.1
IMPORTANCE: Final = (0.05, 1.0)
ATTEMPTS: Final = 5
"""How often a change is planned anew after someone else changed the same unit."""
TAG: Final = "review"


class Review(Record):
    """What a person said of one answer, and what the answer rested on."""

    id: str
    """Of the feedback; the same one is never taken in twice."""
    at: AwareDatetime
    scope: Scope
    question: str = ""
    unit_ids: tuple[str, ...] = ()
    """The memories that were put before the model."""
    success: bool | None = None
    """Whether the answer was good; None where the review does not say."""
    comment: str = ""
    correction: str = ""
    """The answer as it should have been."""


class Fate(StrEnum):
    """What became of a review."""

    APPLIED = "applied"
    KNOWN = "known"
    """It was taken in before."""
    WOULD_APPLY = "would apply"
    NOTHING = "nothing to learn"


class Applied(Record):
    """What one review did, or with `dry_run` would do."""

    review: Review
    fate: Fate
    units: tuple[MemoryUnit, ...] = ()
    """What it moves, as it was before."""


class _Move(Record):
    unit_id: str
    revision: int
    """The revision that the change makes; a unit that has it is changed already."""
    confidence: float
    importance: float


class _Mark(Record):
    done: bool = False
    moves: tuple[_Move, ...] = ()


def apply_review(review: Review, *, now: AwareDatetime, settings: FlowSettings, dry_run: bool = False) -> Plan[Applied]:
    """Take in one review. Doing it again, after a crash or for good measure, changes nothing more.

    Only units of the review's own user are moved, whatever it names.
    """
    redact = settings.writing.redactor
    texts = {name: redact(getattr(review, name))[0] for name in ("question", "comment", "correction")}
    review = review.model_copy(update=texts)
    mark = yield from _read_mark(review)
    units = tuple((yield from _units(review)))
    if mark is not None and mark.done:
        return Applied(review=review, fate=Fate.KNOWN, units=units)
    if review.success is None and not review.correction:
        return Applied(review=review, fate=Fate.NOTHING, units=units)
    if dry_run:
        return Applied(review=review, fate=Fate.WOULD_APPLY, units=units)
    mark = yield from _move(review, mark)
    if review.success is not None:
        yield from record_outcome(review.scope, Outcome(at=review.at, success=review.success, feedback=review.comment))
    if review.correction:
        yield from _write_correction(review, now=now)
    yield from _write_mark(review, mark.model_copy(update={"done": True}))
    return Applied(review=review, fate=Fate.APPLIED, units=units)


def _move(review: Review, mark: _Mark | None) -> Plan[_Mark]:
    """Move what the answer rested on; each change is noted before it is made."""
    if review.success is None:
        return _Mark()
    for _ in range(ATTEMPTS):
        units = yield from _units(review)
        if mark is None:
            mark = _Mark(moves=tuple(_move_of(unit, good=review.success) for unit in units))
            yield from _write_mark(review, mark)
        by_id = {move.unit_id: move for move in mark.moves}
        due = [_moved(unit, move) for unit in units if (move := by_id.get(unit.id)) and unit.revision + 1 == move.revision]
        refused = set((yield from ask(ReviseUnits(units=tuple(due))))) if due else set[str]()
        if not refused:
            return mark
        fresh = {unit.id: unit for unit in (yield from _units(review)) if unit.id in refused}
        moves = [_move_of(fresh[m.unit_id], good=review.success) if m.unit_id in fresh else m for m in mark.moves]
        mark = mark.model_copy(update={"moves": tuple(moves)})
        yield from _write_mark(review, mark)
    assert mark is not None
    return mark  # someone else changes these units all the time; they are not moved this once


def _move_of(unit: MemoryUnit, *, good: bool) -> _Move:
    return _Move(
        unit_id=unit.id,
        revision=unit.revision + 1,
        confidence=_within(unit.confidence + (ACCEPTED if good else CORRECTED), CONFIDENCE),
        importance=_within(unit.importance + (RAISED if good else LOWERED), IMPORTANCE),
    )


def _moved(unit: MemoryUnit, move: _Move) -> MemoryUnit:
    return unit.model_copy(update={"confidence": move.confidence, "importance": move.importance, "revision": move.revision})


def _within(value: float, bounds: tuple[float, float]) -> float:
    return round(min(bounds[1], max(bounds[0], value)), 6)


def _write_correction(review: Review, *, now: AwareDatetime) -> Plan[None]:
    """Keep the right answer as a correction with its question; what was forgotten stays forgotten."""
    source = f"review:{review.id}"
    asked = f'asked "{review.question}", ' if review.question else ""
    content = f"Correction: {asked}the right answer is: {review.correction}"
    unit = MemoryUnit(
        id=unit_id(review.scope.owner, sources=(source,), content=content),
        owner=review.scope.owner,
        content=content,
        region=REGION_OF[Kind.CORRECTION],
        kind=Kind.CORRECTION,
        session_id=review.scope.session_id,
        agent_id=review.scope.agent_id,
        domain=review.scope.domain,
        source_text=review.correction,
        sources=(source,),
        speaker=Role.USER,
        tags=(TAG,),
        said_at=review.at,
        created_at=now,
        updated_at=now,
        base_importance=0.9,
        importance=0.9,
        confidence=0.95,
    )
    forgotten = (yield from read_learned(review.scope)).forgotten
    stored = yield from ask(FetchUnits(where=Where(owners=(unit.owner,), ids=(unit.id,))))
    if not stored and not forgotten & {unit.id, source}:
        vectors = yield from embed_texts([content])
        yield from put([unit], {unit.id: vectors[content]} if content in vectors else {})


def _units(review: Review) -> Plan[list[MemoryUnit]]:
    if not review.unit_ids:
        return []
    return (yield from ask(FetchUnits(where=Where(owners=(review.scope.owner,), ids=review.unit_ids))))


def _read_mark(review: Review) -> Plan[_Mark | None]:
    marks = yield from ask(ReadFields(key=keys.reviews(review.scope)))
    body = marks.get(review.id)
    return None if body is None else _Mark.model_validate_json(body)


def _write_mark(review: Review, mark: _Mark) -> Plan[None]:
    yield from ask(WriteFields(key=keys.reviews(review.scope), fields={review.id: mark.model_dump_json().encode()}))
