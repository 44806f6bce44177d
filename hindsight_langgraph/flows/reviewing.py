"""From one person's review of a traced answer to what the memory makes of it (SPEC C9, E5, G5).

What an answer rested on gains or loses, an outcome is recorded, a corrected answer becomes a memory. Each part recognises
what it did before, and a review is marked as done at the end, so that a run that dies half-way is done again and changes nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime

from hindsight_langgraph import keys
from hindsight_langgraph.annotation.feedback import Event, reviewed_event
from hindsight_langgraph.annotation.trajectory import Outcome, record_outcome
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.identity import unit_id
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.encoding.redact import knowing
from hindsight_langgraph.encoding.store import put
from hindsight_langgraph.flows.moving import change
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.ops import FetchUnits, ReadFields, Where, WriteFields
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import REGION_OF, Kind, MemoryUnit, Record, Role, Scope

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


def apply_review(review: Review, *, now: AwareDatetime, settings: FlowSettings, dry_run: bool = False) -> Plan[Applied]:
    """Take in one review. Doing it again, after a crash or for good measure, changes nothing more.

    Only units of the review's own user are moved, whatever it names.

    Raises:
        Conflict: others changed a unit again and again; take the review in again.
    """
    redact = knowing(settings.writing.redactor, settings.secrets.of(review.scope.owner))
    texts = {name: redact(getattr(review, name))[0] for name in ("question", "comment", "correction")}
    review = review.model_copy(update=texts)
    units = tuple((yield from _units(review)))
    if (yield from _is_done(review)):
        return Applied(review=review, fate=Fate.KNOWN, units=units)
    if review.success is None and not review.correction:
        return Applied(review=review, fate=Fate.NOTHING, units=units)
    if dry_run:
        return Applied(review=review, fate=Fate.WOULD_APPLY, units=units)
    yield from _move(review, at=now)
    if review.success is not None:
        yield from record_outcome(review.scope, Outcome(at=review.at, success=review.success, feedback=review.comment))
    if review.correction:
        yield from _write_correction(review, now=now)
    yield from ask(WriteFields(key=keys.reviews(review.scope), fields={review.id: now.isoformat().encode()}))
    return Applied(review=review, fate=Fate.APPLIED, units=units)


def _move(review: Review, *, at: AwareDatetime) -> Plan[None]:
    """Move what the answer rested on; each change stands in its unit's history, and is made once."""
    if review.success is None:
        return
    good = review.success
    reason = f"the answer was reviewed as {'good' if good else 'bad'}" + (f": {review.comment}" if review.comment else "")

    def make(unit: MemoryUnit, past: Sequence[Event]) -> Event:
        del past
        return reviewed_event(unit, good=good, reason=reason, case=case, outcome=outcome, at=at)

    case, outcome = f"review:{review.id}", "good" if good else "bad"
    for moved in dict.fromkeys(review.unit_ids):
        yield from change(moved, make, scope=review.scope, case=case, outcome=outcome)


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


def _is_done(review: Review) -> Plan[bool]:
    return review.id in (yield from ask(ReadFields(key=keys.reviews(review.scope))))
