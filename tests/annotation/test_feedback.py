"""Importance, confidence and role move with outcomes: bounded, and back again (SPEC C9, E5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.annotation.feedback import (
    IGNORED_BEFORE_NOISE,
    LEAST,
    LEAST_CONFIDENCE,
    STEP,
    Event,
    apply_event,
    event_of,
    missed_event,
    take_back,
)  # fmt: skip
from hindsight_langgraph.annotation.verdict import Effect, Judgement, Use
from hindsight_langgraph.records import CausalRole, MemoryUnit
from tests.annotation.making import unit
from tests.clock import NOON

shares = st.floats(0, 1, allow_nan=False)


def judgement(role: CausalRole, effect: Effect, importance: float = 0.8, *, used: bool = True) -> Judgement:
    return Judgement(
        ref="memory:m", role=role, effect=effect, importance=importance, reason="so", use=Use(used=used, reason="so")
    )


HELPED = judgement(CausalRole.DIRECT_CAUSE, Effect.POSITIVE)
MISLED = judgement(CausalRole.DIRECT_CAUSE, Effect.NEGATIVE)
IGNORED = judgement(CausalRole.NOISE, Effect.NONE, 0.0, used=False)


def moved(start: MemoryUnit, *judgements: Judgement, success: bool = True) -> tuple[MemoryUnit, list[Event]]:
    past: list[Event] = []
    for i, found in enumerate(judgements):
        past.append(event_of(start, found, success=success, past=past, case=f"c{i}", outcome="o", at=NOON))
        start = apply_event(past[-1], start)
    return start, past


@given(
    importance=shares, confidence=shares, weight=shares, role=st.sampled_from(CausalRole), effect=st.sampled_from(Effect),
    used=st.booleans(), success=st.booleans(),
)  # fmt: skip
def test_one_outcome_moves_a_unit_within_bounds_and_can_be_taken_back(
    *, importance: float, confidence: float, weight: float, role: CausalRole, effect: Effect, used: bool, success: bool
):
    before = unit("m", "x", importance=importance, confidence=max(LEAST_CONFIDENCE, confidence))
    event = event_of(before, judgement(role, effect, weight, used=used), success=success, past=[], case="c", outcome="o", at=NOON)
    after = apply_event(event, before)
    assert abs(after.importance - importance) <= STEP + 1e-6
    assert min(LEAST, importance) - 1e-6 <= after.importance <= 1
    assert LEAST_CONFIDENCE <= after.confidence <= 1
    back = take_back(event, after)
    assert back.importance == pytest.approx(importance, abs=1e-5)
    assert back.confidence == pytest.approx(before.confidence, abs=1e-5)
    assert back.role is before.role


def test_acceptance_adds_a_tenth_of_confidence_and_a_correction_takes_two():
    before = unit("m", "x", confidence=0.5)
    assert moved(before, HELPED)[0].confidence == pytest.approx(0.6)
    assert moved(before, MISLED, success=False)[0].confidence == pytest.approx(0.3)


def test_what_helps_rises_and_what_misleads_or_is_ignored_falls():
    before = unit("m", "x", importance=0.5)
    assert moved(before, HELPED)[0].importance > 0.5 > moved(before, IGNORED)[0].importance > moved(before, MISLED)[0].importance


def test_one_task_makes_no_unit_noise_and_several_in_a_row_do():
    before = unit("m", "x")
    assert moved(before, *[IGNORED] * (IGNORED_BEFORE_NOISE - 1))[0].role is not CausalRole.NOISE
    assert moved(before, *[IGNORED] * IGNORED_BEFORE_NOISE)[0].role is CausalRole.NOISE


def test_what_misleads_falls_as_low_as_it_goes_and_can_come_back():
    fallen, _ = moved(unit("m", "x", importance=0.9), *[MISLED] * 8, success=False)
    assert fallen.importance == pytest.approx(LEAST)
    assert fallen.confidence == pytest.approx(LEAST_CONFIDENCE)
    assert fallen.role is CausalRole.CONTEXT
    assert moved(fallen, *[HELPED] * 8)[0].importance > 0.6


def test_what_helped_once_is_not_noise_for_being_ignored_thrice():
    assert moved(unit("m", "x"), HELPED, IGNORED, IGNORED, IGNORED)[0].role is CausalRole.DIRECT_CAUSE


def test_right_advice_that_was_not_heeded_weighs_more_next_time():
    unheeded = judgement(CausalRole.CONTEXT, Effect.NONE, 0.5, used=False)
    assert moved(unit("m", "x", importance=0.5), unheeded, success=False)[0].importance > 0.5


def test_a_missed_memory_is_raised_and_is_noise_no_longer():
    before = unit("m", "x", importance=0.3, role=CausalRole.NOISE)
    after = apply_event(missed_event(before, reason="it held the answer", case="c", outcome="o", at=NOON), before)
    assert after.role is CausalRole.DIRECT_CAUSE
    assert after.importance == pytest.approx(0.5)


def test_taking_back_keeps_what_others_changed_since():
    before = unit("m", "x", importance=0.5)
    after, (event,) = moved(before, HELPED)
    changed = after.model_copy(update={"content": "y", "references": 7, "role": CausalRole.NOISE})
    back = take_back(event, changed)
    assert (back.content, back.references, back.role) == ("y", 7, CausalRole.NOISE)
