"""Missed memories, and the examples that a retriever learns from (SPEC E3, E6)."""

from __future__ import annotations

from hindsight_langgraph.annotation.examples import examples_of
from hindsight_langgraph.annotation.missed import missed_units, searched_by
from hindsight_langgraph.annotation.report import AnnotationReport
from hindsight_langgraph.annotation.trajectory import Outcome
from hindsight_langgraph.annotation.verdict import Effect, Judgement, Use
from hindsight_langgraph.records import CausalRole
from tests.annotation.making import call, case, plan, says, unit
from tests.clock import NOON

EXPORT = case(
    "Export the slips as CSV.", plan("Write a CSV."), call("fs.write", "ok", separator=","), says("Here it is."),
    memories=("The canteen closes at two.",), success=False, feedback="It needs semicolons and decimal commas!", error="Wrong separator",
)  # fmt: skip


def test_a_memory_that_held_what_the_task_learnt_too_late_was_missed():
    held, other = (
        unit("a", "The bookkeeper needs semicolons and decimal commas."),
        unit("b", "The slips are printed on blue paper."),
    )
    assert [found.id for found, _ in missed_units(EXPORT, [held, other])] == ["a"]
    assert "semicolons" in searched_by(EXPORT)


def test_what_the_task_was_given_was_not_missed():
    given = unit("m1", "The bookkeeper needs semicolons and decimal commas.")
    assert missed_units(EXPORT, [given]) == []


def test_a_task_that_learnt_nothing_missed_nothing():
    assert missed_units(case("Fetch it.", call("get", "200")), [unit("a", "Fetch it with care.")]) == []


def report(case_name: str, **roles: tuple[CausalRole, Effect]) -> AnnotationReport:
    judgements = tuple(
        Judgement(
            ref=f"memory:{name}",
            role=role,
            effect=effect,
            importance=0.5,
            reason="so",
            use=Use(used=effect is not Effect.NONE, reason=""),
        )
        for name, (role, effect) in roles.items()
    )
    outcome = Outcome(at=NOON, success=True)
    return AnnotationReport(
        case=case_name, session_id="s", task="t", at=NOON, goal="How?", query="How?", outcome=outcome, judgements=judgements
    )


HELPED = (CausalRole.DIRECT_CAUSE, Effect.POSITIVE)
IGNORED = (CausalRole.NOISE, Effect.NONE)
MISLED = (CausalRole.DIRECT_CAUSE, Effect.NEGATIVE)
UNITS = {name: unit(name, f"text of {name}") for name in [*"abcd", *(f"r{i}" for i in range(20))]}


def test_what_helped_is_a_positive_and_what_was_recalled_in_vain_a_hard_negative():
    (example,) = examples_of([report("c1", a=HELPED, b=IGNORED, c=MISLED)], UNITS, seed=0)
    assert example.positive.endswith("text of a")
    assert {text.split()[-1] for text in example.hard_negatives} == {"b", "c"}
    assert not {text.split()[-1] for text in example.random_negatives} & {"a", "b", "c"}


def test_hard_ones_are_between_30_and_45_percent_of_the_negatives():
    for ignored in ({"b": IGNORED}, {"b": IGNORED, "c": MISLED}, {"b": IGNORED, "c": MISLED, "d": IGNORED}):
        (example,) = examples_of([report("c1", a=HELPED, **ignored)], UNITS, seed=0)
        share = len(example.hard_negatives) / (len(example.hard_negatives) + len(example.random_negatives))
        assert 0.30 <= share <= 0.45


def test_a_missed_memory_is_a_positive_and_a_forgotten_one_teaches_nothing():
    missed = report("c1", b=IGNORED).model_copy(update={"missed": ("a",)})
    assert [example.positive.split()[-1] for example in examples_of([missed], UNITS, seed=0)] == ["a"]
    assert examples_of([report("c1", gone=HELPED)], UNITS, seed=0) == []


def test_the_same_seed_draws_the_same_examples():
    reports = [report("c1", a=HELPED, b=IGNORED), report("c2", d=HELPED)]
    assert examples_of(reports, UNITS, seed=3) == examples_of(reports, UNITS, seed=3)
