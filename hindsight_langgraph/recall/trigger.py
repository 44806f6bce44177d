"""Decide whether a step calls for a recall (SPEC D13)."""

from __future__ import annotations

from hindsight_langgraph import lexical
from hindsight_langgraph.recall import phrases
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.records import Region

SAME_GOAL = 0.6
"""Share of common terms from which two goals are the same one in other words."""


def recall_trigger(query: Query, *, before: Query | None, failed: bool = False) -> str:
    """Why this step calls for a recall, blank when what was recalled before still serves.

    Args:
        query: the present step.
        before: the step of the last recall; None when there was none, or what it gave is not at hand any more.
        failed: whether the last tool call went wrong.
    """
    if not query.composite:
        return ""
    if before is None or _differs(query.goal, before.goal):
        return "a new task"
    if query.text.strip() and query.text != before.text:
        return "a new message of the user"
    if failed and query.last_result != before.last_result:
        return "an error"
    if _differs(query.sub_step, before.sub_step):
        return "a new sub-goal"
    if query.sub_step != before.sub_step and _asks_memory(query.sub_step):
        return "a question about the past or about how it is done"
    return ""


def _asks_memory(text: str) -> bool:
    return bool(phrases.PAST.search(text) or phrases.HISTORY.search(text)) or any(
        pattern.search(text) for pattern in phrases.REGIONS[Region.PROCEDURAL]
    )


def _differs(one: str, other: str) -> bool:
    ours, theirs = set(lexical.terms(one)), set(lexical.terms(other))
    return bool(ours) and len(ours & theirs) / len(ours | theirs) < SAME_GOAL
