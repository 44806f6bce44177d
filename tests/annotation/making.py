"""Makes tasks for tests in few words."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from hindsight_langgraph.annotation.memories import judge_memories
from hindsight_langgraph.annotation.roles import judge_steps
from hindsight_langgraph.annotation.trajectory import Outcome, Step, StepKind
from hindsight_langgraph.annotation.verdict import Case, Given, Judgement
from hindsight_langgraph.records import Kind, MemoryUnit, Region
from tests.clock import NOON


@dataclass(frozen=True, kw_only=True)
class Words:
    """One step, told."""

    kind: StepKind
    content: str
    tool: str | None = None
    arguments: str = ""
    error: bool = False


def plan(text: str) -> Words:
    return Words(kind=StepKind.PLAN, content=text)


def says(text: str) -> Words:
    return Words(kind=StepKind.MESSAGE, content=text)


def user(text: str) -> Words:
    return Words(kind=StepKind.GOAL, content=text)


def call(tool: str, result: str, **arguments: Any) -> Words:
    return Words(kind=StepKind.TOOL, content=result, tool=tool, arguments=json.dumps(arguments, ensure_ascii=False))


def fails(tool: str, error: str, **arguments: Any) -> Words:
    return replace(call(tool, error, **arguments), error=True)


def steps_of(*told: Words) -> tuple[Step, ...]:
    """Steps with the ids 1, 2, 3, …, a second apart."""
    return tuple(_step(i, words) for i, words in enumerate(told, 1))


def _step(number: int, words: Words) -> Step:
    at = NOON + timedelta(seconds=number)
    return Step(
        id=str(number), kind=words.kind, at=at, content=words.content, tool=words.tool, arguments=words.arguments, error=words.error,
    )  # fmt: skip


def case(
    goal: str, *told: Words, memories: tuple[str, ...] = (), success: bool | None = True, feedback: str = "", error: str = ""
) -> Case:
    """A finished task; its memories have the ids m1, m2, …"""
    return Case(
        goal=goal,
        steps=steps_of(*told),
        memories=tuple(Given(id=f"m{i}", content=text) for i, text in enumerate(memories, 1)),
        outcome=Outcome(at=NOON + timedelta(minutes=5), success=success, feedback=feedback, error=error),
    )


def judged(task: Case) -> dict[str, Judgement]:
    """Judgements by `1`, `2`, …, `m1`, …"""
    return {j.ref.partition(":")[2]: j for j in [*judge_steps(task), *judge_memories(task)]}


def unit(unit_id: str, content: str, **more: Any) -> MemoryUnit:
    """A fact of user u1."""
    kind = more.pop("kind", Kind.FACT)
    return MemoryUnit(
        id=unit_id, owner="user:u1", content=content, region=Region.SEMANTIC, kind=kind, created_at=NOON, updated_at=NOON, **more
    )
