"""Base importance, tiers and the worth of an episode follow the specification."""

from __future__ import annotations

import pytest

from hindsight_langgraph.encoding.score import base_importance, episode_worth, tier_of
from hindsight_langgraph.records import Kind, Tier, Triple


@pytest.mark.parametrize(
    ("kind", "importance"),
    [(Kind.PREFERENCE, 0.90), (Kind.TASK_STATE, 0.85), (Kind.FACT, 0.70), (Kind.PROCEDURE, 0.65), (Kind.SENTIMENT, 0.50)],
)
def test_a_kind_starts_with_the_importance_that_the_specification_gives_it(kind: Kind, importance: float) -> None:
    assert base_importance(kind) == importance


def test_every_kind_has_an_importance() -> None:
    assert all(0.0 < base_importance(kind) <= 1.0 for kind in Kind)


def test_a_corrected_failure_is_worth_an_episode_and_a_smooth_routine_is_not() -> None:
    assert episode_worth(outcome_known=True, corrected=True, exception=False, novel=False) == pytest.approx(0.6)
    assert episode_worth(outcome_known=True, corrected=False, exception=False, novel=True) == pytest.approx(0.5)
    assert episode_worth(outcome_known=True, corrected=True, exception=True, novel=True) == pytest.approx(1.0)


def test_who_the_user_is_and_what_they_prefer_is_core_what_others_are_is_not() -> None:
    mine = Triple(subject="user", attribute="lives_in", value="Turku")
    theirs = Triple(subject="Ilse", attribute="lives_in", value="Turku")
    assert tier_of(Kind.FACT, mine) is Tier.CORE
    assert tier_of(Kind.FACT, theirs) is Tier.WORKING_SET
    assert tier_of(Kind.PREFERENCE, None) is Tier.CORE
    assert tier_of(Kind.DECISION, None) is Tier.WORKING_SET
