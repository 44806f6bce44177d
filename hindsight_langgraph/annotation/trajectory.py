"""What happened in one task: its steps, the memories it was given, and how it ended (SPEC E1).

Steps are read from the turns of a conversation and kept in a log of the working store until an outcome closes the task. Judging them
is the annotation's business; recording one costs an append.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from hindsight_langgraph import keys
from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.ops import AppendLog, LogEntry, ReadLog
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Record, Role, Scope, Turn

TRAJECTORY_TTL_S: Final = 30 * 86_400.0
TRAJECTORY_KEEP: Final = 1_000


class StepKind(StrEnum):
    """What a step was."""

    GOAL = "goal"
    MESSAGE = "message"
    TOOL = "tool"
    RECALL = "recall"
    ERROR = "error"


class Step(Record):
    """One step of a task."""

    id: str
    kind: StepKind
    at: AwareDatetime
    content: str = ""
    """What was said, or what the tool answered, shortened."""
    tool: str | None = None
    error: bool = False
    unit_ids: tuple[str, ...] = ()
    """Memories that were recalled in this step."""


class Outcome(Record):
    """How a task ended. Unknown stays unknown: `success` None."""

    at: AwareDatetime
    success: bool | None = None
    feedback: str = ""


class Trajectory(Record):
    """A task from its first step to its outcome."""

    steps: tuple[Step, ...] = ()
    outcome: Outcome | None = None


_ENTRY: TypeAdapter[Step | Outcome] = TypeAdapter(Step | Outcome)


def steps_of(turns: Sequence[Turn], *, now: datetime, limit: int) -> list[Step]:
    """The steps that turns stand for, each text shortened to `limit` characters."""
    return [
        Step(
            id=turn.id,
            kind=_kind_of(turn),
            at=turn.at or now,
            content=turn.text
            if len(turn.text) <= limit
            else f"{turn.text[:limit]} [{len(turn.text) - limit} characters left out]",
            tool=turn.tool,
            error=turn.error,
        )
        for turn in turns
        if turn.role is not Role.SYSTEM
    ]


def _kind_of(turn: Turn) -> StepKind:
    if turn.role is Role.USER:
        return StepKind.GOAL
    return StepKind.TOOL if turn.role is Role.TOOL else StepKind.MESSAGE


def record_steps(scope: Scope, steps: Sequence[Step]) -> Plan[int]:
    """Append steps to the task's trajectory; one that is there already is left alone. Returns how many were new."""
    if not steps:
        return 0
    entries = tuple(LogEntry(id=step.id, at=step.at, body=step.model_dump_json(exclude_defaults=True).encode()) for step in steps)
    return (yield from ask(AppendLog(key=keys.trajectory(scope), entries=entries, ttl_s=TRAJECTORY_TTL_S, keep=TRAJECTORY_KEEP)))


def record_outcome(scope: Scope, outcome: Outcome) -> Plan[None]:
    """Close the task. A second outcome stands beside the first; the latest one counts."""
    body = outcome.model_dump_json().encode()
    entry = LogEntry(id=f"outcome:{hashlib.blake2b(body, digest_size=12).hexdigest()}", at=outcome.at, body=body)
    yield from ask(AppendLog(key=keys.trajectory(scope), entries=(entry,), ttl_s=TRAJECTORY_TTL_S, keep=TRAJECTORY_KEEP))


def read_trajectory(scope: Scope) -> Plan[Trajectory]:
    """The task as it was recorded, oldest step first."""
    entries = yield from ask(ReadLog(key=keys.trajectory(scope), oldest_first=True))
    steps: list[Step] = []
    outcome: Outcome | None = None
    for entry in entries:
        try:
            record = _ENTRY.validate_json(entry.body)
        except ValidationError as error:
            raise StoreCorrupt(f"a step of task {scope.task!r} cannot be read: {error}") from error
        if isinstance(record, Step):
            steps.append(record)
        else:
            outcome = record
    return Trajectory(steps=tuple(steps), outcome=outcome)
