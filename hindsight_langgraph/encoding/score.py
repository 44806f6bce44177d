"""How important a unit is before anything is known of its use, and whether an episode is worth keeping (SPEC B5, B8)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hindsight_langgraph.records import Kind, Tier, Triple

BASE_IMPORTANCE: Final[Mapping[Kind, float]] = MappingProxyType(
    {
        Kind.PREFERENCE: 0.90,
        Kind.TASK_STATE: 0.85,
        Kind.DECISION: 0.85,  # a decision changes the state of a task
        Kind.CORRECTION: 0.85,  # so does taking one back
        Kind.FACT: 0.70,
        Kind.ENTITY: 0.70,
        Kind.PROCEDURE: 0.65,
        Kind.SENTIMENT: 0.50,
        Kind.EPISODE: 0.50,
    }
)
"""SPEC B5; the kinds that it does not name take the value of the one that they are most like."""

_IDENTITY: Final = frozenset({"name", "allergic_to", "lives_in", "works_at", "occupation", "birthday"})


def base_importance(kind: Kind) -> float:
    """The importance that a kind starts with (SPEC B5). Chit-chat (0.20 there) has none: the gate lets it go."""
    return BASE_IMPORTANCE[kind]


def tier_of(kind: Kind, triple: Triple | None, *, subject: str = "user") -> Tier:
    """Core for who the user is and for standing preferences, the working set for everything else (SPEC A13)."""
    about_user = triple is None or triple.subject == subject
    if about_user and (kind is Kind.PREFERENCE or (triple is not None and triple.attribute in _IDENTITY)):
        return Tier.CORE
    return Tier.WORKING_SET


def episode_worth(*, outcome_known: bool, corrected: bool, exception: bool, novel: bool) -> float:
    """0.3 outcome known + 0.3 user correction + 0.2 exception met + 0.2 novelty (SPEC B8), from 0 to 1."""
    return 0.3 * outcome_known + 0.3 * corrected + 0.2 * exception + 0.2 * novel
