"""The nouns of hindsight: a finished task as it is judged, and what is judged of it (SPEC E2)."""

from __future__ import annotations

from enum import StrEnum

from hindsight_langgraph.annotation.trajectory import Outcome, Step, StepKind
from hindsight_langgraph.records import CausalRole, Record, Unit01


class Effect(StrEnum):
    """Where something moved the task: towards the user's goal, away from it, or nowhere."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NONE = "none"


class Given(Record):
    """A memory that the task was given."""

    id: str
    content: str


class Case(Record):
    """One finished task, ready to be judged."""

    goal: str
    steps: tuple[Step, ...]
    """In order; neither the goal itself nor recalls are among them."""
    memories: tuple[Given, ...] = ()
    outcome: Outcome


class Use(Record):
    """Whether a memory was used, and what says so (SPEC E2)."""

    used: bool
    reason: str
    steps: tuple[int, ...] = ()
    """Places of the steps that show it."""
    decisive: bool = False
    """True when a call carries something that only this memory could have told."""
    named: bool = False
    """True when that is a name or a number."""


class Judgement(Record):
    """What one step or memory did for the outcome."""

    ref: str
    """`step:ID` or `memory:ID`."""
    role: CausalRole
    effect: Effect
    importance: Unit01
    """Its share in the outcome."""
    reason: str
    sure: bool = True
    """False for a case that the rules leave to a chat model, when there is one."""
    by: str = "rules"
    """"rules" or "model"."""
    use: Use | None = None
    """For a memory: whether it was used."""


def step_ref(step: Step) -> str:
    """How a judgement names a step."""
    return f"step:{step.id}"


def memory_ref(unit_id: str) -> str:
    """How a judgement names a memory."""
    return f"memory:{unit_id}"


def unit_of(ref: str) -> str | None:
    """The memory that a judgement names; None where it names a step."""
    kind, _, unit_id = ref.partition(":")
    return unit_id if kind == "memory" else None


def case_of(steps: tuple[Step, ...], memories: tuple[Given, ...], outcome: Outcome) -> Case:
    """The case of recorded steps: the user's first words are its goal, recalls are told apart from what was done."""
    if outcome.read and outcome.feedback:  # what the user said of the task, and what followed it, are no steps of it
        steps = tuple(step for step in steps if step.at < outcome.at)
    goal = next((step for step in steps if step.kind is StepKind.GOAL), None)
    done = tuple(step for step in steps if step is not goal and step.kind is not StepKind.RECALL)
    return Case(goal="" if goal is None else goal.content, steps=done, memories=memories, outcome=outcome)
