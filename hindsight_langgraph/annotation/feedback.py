"""How a unit's importance, confidence and role move with what it did: bounded, and taken back on demand (SPEC C9, E5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import AwareDatetime

from hindsight_langgraph.annotation.verdict import Effect, Judgement
from hindsight_langgraph.records import CausalRole, MemoryUnit, Record

LEAST, MOST = 0.05, 1.0
"""Bounds of importance."""
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.1, 1.0
"""SPEC C9."""
STEP: Final = 0.2
"""The most that one outcome moves an importance."""
MISSED: Final = 0.2
ACCEPTED: Final = 0.1
CORRECTED: Final = -0.2
"""SPEC C9: what a user's acceptance or correction is worth to the confidence of what the answer rested on."""
PRAISED: Final = 0.05
BLAMED: Final = -0.1
"""What a person's review of an answer is worth to the importance of each memory that it rested on."""
RECENT: Final = 5
"""How many of the last verdicts a role follows."""
IGNORED_BEFORE_NOISE: Final = 4
"""So many verdicts of noise in a row make a unit noise: one task that it did not fit says little."""


class Event(Record):
    """One change of a unit, with its reason: what `memory.history` shows."""

    id: str
    """Unique within the unit's history."""
    at: AwareDatetime
    unit_id: str
    case: str
    """The task that it comes from."""
    outcome: str
    """Names the outcome that it rests on; another outcome of the same task takes it back first."""
    verdict: CausalRole | None = None
    effect: Effect = Effect.NONE
    reason: str
    importance_by: float = 0.0
    confidence_by: float = 0.0
    role_before: CausalRole | None = None
    role_after: CausalRole | None = None
    revision: int = 0
    """The unit's revision that it changes."""
    taken_back: bool = False


def event_of(
    unit: MemoryUnit, judgement: Judgement, *, success: bool, past: Sequence[Event], case: str, outcome: str, at: AwareDatetime
) -> Event:
    """What a judgement changes about its unit.

    Args:
        unit: as it stands.
        judgement: of this unit in this task.
        success: how the task ended.
        past: earlier events of the unit, oldest first.
        case: the task.
        outcome: names its outcome.
        at: when it was judged.
    """
    importance, confidence = _moves(unit, judgement, success=success)
    return Event(
        id=f"{case}:{unit.id}",
        at=at,
        unit_id=unit.id,
        case=case,
        outcome=outcome,
        verdict=judgement.role,
        effect=judgement.effect,
        reason=judgement.reason,
        importance_by=_within(unit.importance, importance, LEAST, MOST),
        confidence_by=_within(unit.confidence, confidence, LEAST_CONFIDENCE, MOST_CONFIDENCE),
        role_before=unit.role,
        role_after=role_after(unit, judgement, past),
    )


def missed_event(unit: MemoryUnit, *, reason: str, case: str, outcome: str, at: AwareDatetime) -> Event:
    """A memory that was not recalled and would have decided the task is raised, whatever it was before (SPEC E3, E5)."""
    return Event(
        id=f"{case}:{unit.id}", at=at, unit_id=unit.id, case=case, outcome=outcome, verdict=CausalRole.DIRECT_CAUSE, effect=Effect.POSITIVE,
        reason=f"missed: {reason}",
        importance_by=_within(unit.importance, MISSED, LEAST, MOST),
        confidence_by=_within(unit.confidence, ACCEPTED, LEAST_CONFIDENCE, MOST_CONFIDENCE),
        role_before=unit.role,
        role_after=CausalRole.DIRECT_CAUSE,
    )  # fmt: skip


def role_after(unit: MemoryUnit, judgement: Judgement, past: Sequence[Event]) -> CausalRole | None:
    """The unit's own role after one more verdict.

    Recall puts direct causes first and noise never (SPEC D8), so that a unit becomes noise only by several verdicts, and a cause only
    for the better.
    """
    told = [(event.verdict, event.effect) for event in past if not event.taken_back and event.verdict is not None][-RECENT + 1 :]
    told.append((judgement.role, judgement.effect))
    if judgement.effect is Effect.NEGATIVE:
        return CausalRole.CONTEXT  # it falls, and can come back: what misleads today may be right again tomorrow
    if judgement.role is CausalRole.DIRECT_CAUSE and judgement.effect is Effect.POSITIVE:
        return CausalRole.DIRECT_CAUSE
    ignored = [role is CausalRole.NOISE for role, _ in told]
    if len(ignored) >= IGNORED_BEFORE_NOISE and all(ignored[-IGNORED_BEFORE_NOISE:]):
        return CausalRole.NOISE
    if any(role is CausalRole.DIRECT_CAUSE and effect is Effect.POSITIVE for role, effect in told):
        return CausalRole.DIRECT_CAUSE
    return unit.role or CausalRole.CONTEXT if judgement.role is CausalRole.NOISE else CausalRole.CONTEXT


def reviewed_event(unit: MemoryUnit, *, good: bool, reason: str, case: str, outcome: str, at: AwareDatetime) -> Event:
    """A person's verdict on an answer moves what it rested on (SPEC C9). It names no memory, so no role follows from it."""
    return Event(
        id=f"{case}:{unit.id}", at=at, unit_id=unit.id, case=case, outcome=outcome,
        effect=Effect.POSITIVE if good else Effect.NEGATIVE,
        reason=reason,
        importance_by=_within(unit.importance, PRAISED if good else BLAMED, LEAST, MOST),
        confidence_by=_within(unit.confidence, ACCEPTED if good else CORRECTED, LEAST_CONFIDENCE, MOST_CONFIDENCE),
        role_before=unit.role,
        role_after=unit.role,
    )  # fmt: skip


def apply_event(event: Event, unit: MemoryUnit) -> MemoryUnit:
    """The unit after a change. The revision is the caller's to raise."""
    return _moved(unit, event.importance_by, event.confidence_by, event.role_after)


def take_back(event: Event, unit: MemoryUnit) -> MemoryUnit:
    """The unit as if the change had not been made; what others changed since stays."""
    role = event.role_before if unit.role is event.role_after else unit.role
    return _moved(unit, -event.importance_by, -event.confidence_by, role)


def _moves(unit: MemoryUnit, judgement: Judgement, *, success: bool) -> tuple[float, float]:
    """By how much importance and confidence move, before their bounds."""
    used = judgement.use is not None and judgement.use.used
    match judgement.role, judgement.effect:
        case CausalRole.DIRECT_CAUSE, Effect.POSITIVE:
            return STEP * judgement.importance * (MOST - unit.importance) + 0.02, ACCEPTED
        case _, Effect.NEGATIVE:
            return -STEP * judgement.importance, CORRECTED
        case CausalRole.CONTEXT, Effect.POSITIVE:
            return 0.03 * (1 - unit.importance), ACCEPTED / 2 if used and success else 0.0
        case CausalRole.CONTEXT, _ if not used and not success and judgement.importance >= 0.35:
            return 0.1, 0.0  # it was right, and the agent did not heed it: next time it should weigh more
        case CausalRole.NOISE, _:
            return -0.06, 0.0
        case _:
            return (-0.01, 0.0) if not used else (0.0, 0.0)


def _moved(unit: MemoryUnit, importance: float, confidence: float, role: CausalRole | None) -> MemoryUnit:
    return unit.model_copy(
        update={
            "importance": min(MOST, max(0.0, unit.importance + importance)),
            "confidence": min(MOST_CONFIDENCE, max(LEAST_CONFIDENCE, unit.confidence + confidence)),
            "role": role,
        }
    )


def _within(value: float, by: float, low: float, high: float) -> float:
    """The part of a move that stays within the bounds; a value outside already is not moved further out."""
    bounded = max(-STEP, min(STEP, by))
    return round(max(min(0.0, low - value), min(max(0.0, high - value), bounded)), 6)
