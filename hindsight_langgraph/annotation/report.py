"""What hindsight found of one task, as it is kept (SPEC E2)."""

from __future__ import annotations

import hashlib

from pydantic import AwareDatetime, Field

from hindsight_langgraph.annotation.feedback import Event
from hindsight_langgraph.annotation.trajectory import Outcome, Trajectory
from hindsight_langgraph.annotation.verdict import Judgement
from hindsight_langgraph.records import Record, Scope, Unit01


class AnnotationReport(Record):
    """The judgements of one finished task and what they changed."""

    case: str
    """The same task always has the same one."""
    session_id: str
    task: str
    domain: str | None = None
    at: AwareDatetime
    goal: str
    query: str = ""
    """What was recalled for; the goal where nothing was."""
    outcome: Outcome
    judgements: tuple[Judgement, ...] = ()
    changes: tuple[Event, ...] = ()
    missed: tuple[str, ...] = ()
    """Units that were not recalled and would have helped."""
    episode_id: str | None = None
    episode_worth: Unit01 = 0.0
    asked: int = Field(default=0, ge=0)
    """Judgements that were put to the chat model."""

    @property
    def model_share(self) -> float:
        """The share of judgements that the rules left to a chat model."""
        return self.asked / len(self.judgements) if self.judgements else 0.0

    def lines(self) -> list[str]:
        """A readable account."""
        ended = {True: "succeeded", False: "failed", None: "is open"}[self.outcome.success]
        rows = [f"{self.goal}: {ended}; {self.model_share:.0%} of {len(self.judgements)} judgements put to the model"]
        rows += [f"  {j.ref}: {j.role}, {j.effect}, {j.importance:.2f} ({j.reason})" for j in self.judgements]
        rows += [f"  missed: {unit_id}" for unit_id in self.missed]
        return rows + ([f"  episode {self.episode_id}"] if self.episode_id else [])


def case_name(scope: Scope, task: Trajectory) -> str:
    """Names a task by its owner, its conversation and its first step."""
    first = task.steps[0].id if task.steps else ""
    return _digest(scope.owner, scope.session_id, scope.task, first)


def outcome_name(outcome: Outcome) -> str:
    """Names an outcome by what it says."""
    return _digest(str(outcome.success), outcome.feedback, outcome.error)


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=12).hexdigest()
