"""What happened in one task: its steps, the memories it was given, and how it ended (SPEC E1).

Steps are read from the turns of a conversation and kept in a log of the working store until an outcome closes the task. Judging them
is the annotation's business; recording one costs an append.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from hindsight_langgraph import keys
from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.ops import AppendLog, LogEntry, ReadLog
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Record, Role, Scope, TracedRun, Turn

TRAJECTORY_TTL_S: Final = 30 * 86_400.0
TRAJECTORY_KEEP: Final = 1_000


class StepKind(StrEnum):
    """What a step was."""

    GOAL = "goal"
    """What the user said: the request, later answers, corrections."""
    PLAN = "plan"
    """A decision: what the agent said as it called tools."""
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
    arguments: str = ""
    """What the tool was called with, as JSON, shortened."""
    error: bool = False
    cancelled: bool = False
    """The call was given up before it answered."""
    took_s: float | None = None
    """How long it took, in seconds: known to the middleware, to `@memory.step` and to an observed checkpointer; None where only messages
    were seen."""
    run_id: str | None = None
    """The run of the graph that it was part of."""
    branch: str = ""
    """Which subgraph it ran in; blank for the root graph."""
    group: str = ""
    """The message that asked for it: calls of one group ran in parallel."""
    unit_ids: tuple[str, ...] = ()
    """Memories that were recalled in this step."""
    traced: TracedRun | None = None
    """The run that a tracer shows the recall as."""


class Outcome(Record):
    """How a task ended. Unknown stays unknown: `success` None."""

    at: AwareDatetime
    success: bool | None = None
    feedback: str = ""
    """What the user said of it."""
    error: str = ""
    """What went wrong, where that is known."""
    read: bool = False
    """True when it was read from the conversation, False when it was told."""


class Trajectory(Record):
    """A task from its first step to its outcome."""

    steps: tuple[Step, ...] = ()
    outcome: Outcome | None = None


_CANCELLED: Final = re.compile(r"\bcancell?ed\b|\baborted\b|\binterrupted\b|已取消|被取消|中断", re.IGNORECASE)
_ENTRY: TypeAdapter[Step | Outcome] = TypeAdapter(Step | Outcome)


def steps_of(turns: Sequence[Turn], *, now: datetime, limit: int, run_id: str | None = None, branch: str = "") -> list[Step]:
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
            arguments=turn.arguments if len(turn.arguments) <= limit else turn.arguments[:limit],
            error=turn.error,
            cancelled=turn.error and bool(_CANCELLED.search(turn.text)),
            group=turn.group,
            took_s=turn.took_s,
            run_id=run_id,
            branch=branch,
        )
        for turn in turns
        if turn.role is not Role.SYSTEM
    ]


def timed(turns: Sequence[Turn], took_s: float | None) -> list[Turn]:
    """Turns that came out of one piece of work, with how long it took, where that can be told: one answer, or calls made at once."""
    done = [turn for turn in turns if turn.role in (Role.ASSISTANT, Role.TOOL)]
    at_once = len(done) == 1 or (len({turn.group for turn in done}) == 1 and all(turn.group for turn in done))
    if took_s is None or not at_once:
        return list(turns)
    return [turn.model_copy(update={"took_s": took_s}) if turn in done and turn.took_s is None else turn for turn in turns]


def _kind_of(turn: Turn) -> StepKind:
    if turn.role is Role.USER:
        return StepKind.GOAL
    if turn.role is Role.TOOL:
        return StepKind.TOOL
    return StepKind.PLAN if turn.calls else StepKind.MESSAGE


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
    records = yield from read_records(scope)
    outcomes = [record for record in records if isinstance(record, Outcome)]
    return Trajectory(
        steps=tuple(record for record in records if isinstance(record, Step)), outcome=outcomes[-1] if outcomes else None
    )


def read_records(scope: Scope) -> Plan[list[Step | Outcome]]:
    """Steps and outcomes as they were recorded, oldest first."""
    entries = yield from ask(ReadLog(key=keys.trajectory(scope), oldest_first=True))
    records: list[Step | Outcome] = []
    for entry in entries:
        try:
            records.append(_ENTRY.validate_json(entry.body))
        except ValidationError as error:
            raise StoreCorrupt(f"a step of task {scope.task!r} cannot be read: {error}") from error
    return records
