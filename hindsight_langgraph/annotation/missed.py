"""Memories that were not recalled and would have helped, looked for once the outcome is known (SPEC E3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_langgraph.annotation.course import course_of
from hindsight_langgraph.annotation.marks import marks, values, words
from hindsight_langgraph.annotation.signals import Signal
from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.annotation.verdict import Case
from hindsight_langgraph.records import MemoryUnit

ENOUGH: Final = 2
"""So many words of a memory, unknown to the task until the outcome told them, show that it would have helped."""


def searched_by(case: Case) -> str:
    """What to search for: the request, and what the outcome taught."""
    return "\n".join(part for part in (case.goal, lessons_of(case)) if part)


def lessons_of(case: Case) -> str:
    """What was learnt too late: the user's corrections, the error, and what put a failure right."""
    course = course_of(case.steps)
    parts = [case.steps[i].content for i, signal in course.users.items() if signal in (Signal.CORRECT, Signal.CHANGE)]
    if case.outcome.success is False:
        parts += [case.outcome.feedback, case.outcome.error]
    for recovery in course.recoveries:
        if not recovery.passing:
            parts += [case.steps[i].content for i in recovery.plans]
            parts += ["\n".join(values(case.steps[i].arguments)) for i in recovery.calls]
    return "\n".join(dict.fromkeys(part for part in parts if part))


def missed_units(case: Case, candidates: Sequence[MemoryUnit]) -> list[tuple[MemoryUnit, str]]:
    """The units that already held what the task learnt too late, each with the words that show it.

    Args:
        case: the finished task, with the memories that it was given.
        candidates: active units that a search by `searched_by` found and that the task was not given.
    """
    lesson = lessons_of(case)
    if not lesson:
        return []
    known = marks(case.goal) | words(case.goal)
    first = [step.content for step in case.steps[:1] if step.kind is StepKind.PLAN]
    known |= frozenset[str]().union(*(words(text) for text in first))
    taught = (marks(lesson) | words(lesson)) - known
    given = {memory.id for memory in case.memories}
    found: list[tuple[MemoryUnit, str]] = []
    for unit in candidates:
        common = taught & (marks(unit.content) | words(unit.content))
        if unit.id not in given and (len(common) >= ENOUGH or common & marks(unit.content)):
            found.append((unit, f"it holds {', '.join(sorted(common)[:4])}, which the task learnt too late"))
    return found
