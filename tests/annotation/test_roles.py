"""Roles, effects and importances by rules."""

from __future__ import annotations

import pytest

from benchmarks.annotation import macro_f1
from hindsight_langgraph.annotation.verdict import Effect
from hindsight_langgraph.records import CausalRole
from tests.annotation.labelled import TASKS
from tests.annotation.making import call, case, fails, judged, plan, says, user

ROLES = {"D": CausalRole.DIRECT_CAUSE, "C": CausalRole.CONTEXT, "N": CausalRole.NOISE}
EFFECTS = {"+": Effect.POSITIVE, "-": Effect.NEGATIVE, "0": Effect.NONE}


def labels_of(name: str) -> dict[str, tuple[CausalRole, Effect]]:
    _, steps, memories = TASKS[name]
    marks = {str(i): mark for i, mark in enumerate(steps.split(), 1)} | {
        f"m{i}": mark for i, mark in enumerate(memories.split(), 1)
    }
    return {ref: (ROLES[mark[0]], EFFECTS[mark[1]]) for ref, mark in marks.items()}


def test_on_tasks_that_the_rules_were_not_made_on_roles_and_effects_hold():
    pairs = [(labels_of(name)[ref], judgement) for name in TASKS for ref, judgement in judged(TASKS[name][0]).items()]
    assert macro_f1([(role, judgement.role) for (role, _), judgement in pairs]) >= 0.9
    assert sum(effect is judgement.effect for (_, effect), judgement in pairs) / len(pairs) >= 0.93


@pytest.mark.parametrize(
    "name",
    [
        "a failure put right", "a test mended", "given up", "a memory out of date", "a fault found by looking", "forbidden by the user",
        "a limit of the service", "made wrong in an earlier step", "picked from what was offered",
    ],
)  # fmt: skip
def test_every_step_of_a_task_is_judged_as_labelled(name: str):
    found, labels = judged(TASKS[name][0]), labels_of(name)
    steps = [ref for ref in labels if ref.isdigit()]
    assert {ref: (found[ref].role, found[ref].effect) for ref in steps} == {ref: labels[ref] for ref in steps}


@pytest.mark.parametrize("name", ["nobody was told", "moved since", "made wrong in an earlier step", "a fault found by looking"])
def test_every_memory_of_a_task_is_judged_as_labelled(name: str):
    found, labels = judged(TASKS[name][0]), labels_of(name)
    memories = [ref for ref in labels if not ref.isdigit()]
    assert {ref: (found[ref].role, found[ref].effect) for ref in memories} == {ref: labels[ref] for ref in memories}


def test_a_correction_turns_what_came_before_into_a_detour():
    found = judged(
        case(
            "统计总额",
            call("sql", "128", q="a"),
            says("128"),
            user("不对，单位是分"),
            call("sql", "1.28", q="a/100"),
            says("1.28"),
        )
    )
    assert (found["3"].role, found["4"].role) == (CausalRole.DIRECT_CAUSE, CausalRole.DIRECT_CAUSE)
    assert [found[ref].effect for ref in ("1", "2")] == [Effect.NEGATIVE, Effect.NEGATIVE]
    assert found["3"].importance > found["4"].importance > found["5"].importance


def test_a_failure_that_passes_by_itself_weighs_little():
    passing = judged(case("Fetch it.", fails("http.get", "timed out", url="u"), call("http.get", "200", url="u")))
    thought = judged(
        case(
            "Fetch it.", fails("http.get", "401", url="u"), plan("It needs a token."), call("http.get", "200", url="u", token="t")
        )
    )
    assert passing["1"].importance < thought["1"].importance
    assert passing["2"].importance < thought["3"].importance


def test_a_check_of_what_was_made_is_context_and_a_read_that_answers_is_the_cause():
    wrote = judged(case("Save it.", call("fs.write", "ok", path="plan.txt"), call("fs.stat", "12 bytes", path="plan.txt")))
    read = judged(case("How big is it?", call("fs.stat", "12 bytes", path="plan.txt"), says("12 bytes")))
    assert (wrote["1"].role, wrote["2"].role) == (CausalRole.DIRECT_CAUSE, CausalRole.CONTEXT)
    assert read["1"].role is CausalRole.DIRECT_CAUSE


def test_without_any_memory_overlap_a_memory_is_noise_and_weighs_nothing():
    found = judged(case("Fetch it.", call("http.get", "200", url="u"), memories=("The gym opens at six.",)))
    assert (found["m1"].role, found["m1"].effect) == (CausalRole.NOISE, Effect.NONE)
    assert found["m1"].importance <= 0.1
    assert found["m1"].use is not None
    assert not found["m1"].use.used


def test_every_importance_is_a_share_and_every_judgement_has_a_reason():
    for task, _, _ in TASKS.values():
        for judgement in judged(task).values():
            assert 0 <= judgement.importance <= 1
            assert judgement.reason


def test_a_task_without_steps_is_judged_as_nothing():
    assert judged(case("Nothing was done.")) == {}
