"""The tasks of one conversation told apart: each from a request to its outcome (SPEC E1)."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_langgraph.annotation.signals import Signal, signal_of
from hindsight_langgraph.annotation.trajectory import Outcome, Step, StepKind, Trajectory


def tasks_of(records: Sequence[Step | Outcome]) -> list[Trajectory]:
    """The tasks in order; the last may have no outcome yet.

    A task ends with its outcome, but thanks and late complaints that follow still belong to it: the next request begins the next one.
    Of several outcomes of one task the latest counts.
    """
    found: list[Trajectory] = []
    steps: list[Step] = []
    outcome: Outcome | None = None
    for record in records:
        if isinstance(record, Outcome):
            outcome = record if outcome is None or record.at >= outcome.at else outcome
            continue
        if outcome is not None and _begins_a_task(record, outcome):
            found.append(Trajectory(steps=tuple(steps), outcome=outcome))
            steps, outcome = [], None
        steps.append(record)
    if steps or outcome is not None:
        found.append(Trajectory(steps=tuple(steps), outcome=outcome))
    return found


def _begins_a_task(step: Step, outcome: Outcome) -> bool:
    if step.kind is not StepKind.GOAL or (outcome.read and step.at <= outcome.at):
        return False
    return signal_of(step.content) in (Signal.NONE, Signal.CHANGE)
