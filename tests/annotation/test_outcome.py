"""How a task ended, read from its conversation; unknown stays unknown."""

from __future__ import annotations

import pytest

from hindsight_langgraph.annotation.outcome import read_outcome
from hindsight_langgraph.annotation.tasks import tasks_of
from hindsight_langgraph.annotation.trajectory import Outcome, Step, StepKind
from tests.annotation.making import call, fails, plan, says, steps_of, user
from tests.clock import NOON

DONE = (user("Book a table for two."), call("book", "booked", seats=2), says("Booked for two."))


@pytest.mark.parametrize("thanks", ["Thanks!", "好的，谢谢", "Perfect, exactly what I wanted."])
def test_thanks_close_a_task_as_a_success(thanks: str):
    found = read_outcome(steps_of(*DONE, user(thanks), says("You are welcome.")))
    assert found is not None
    assert (found.success, found.feedback, found.read) == (True, thanks, True)


@pytest.mark.parametrize("words", ["No, it should be for four.", "不对，是四个人"])
def test_a_correction_closes_a_task_as_a_failure(words: str):
    found = read_outcome(steps_of(*DONE, user(words)))
    assert found is not None
    assert (found.success, found.feedback) == (False, words)


def test_a_correction_that_was_worked_on_leaves_it_open():
    assert read_outcome(steps_of(*DONE, user("No, for four."), call("book", "booked", seats=4), says("Booked for four."))) is None


def test_thanks_after_the_mended_work_close_it_as_a_success():
    steps = steps_of(*DONE, user("No, for four."), call("book", "booked", seats=4), says("Booked."), user("Thank you!"))
    found = read_outcome(steps)
    assert found is not None
    assert found.success is True


@pytest.mark.parametrize("words", ["Never mind, I'll do it myself.", "算了，不用了"])
def test_giving_up_is_a_failure(words: str):
    found = read_outcome(steps_of(*DONE, user(words)))
    assert found is not None
    assert found.success is False


def test_a_yes_to_a_question_accepts_nothing():
    asked = (user("Book a table."), says("For eight, at Rossi. Shall I book it?"))
    assert read_outcome(steps_of(*asked, user("Yes, go ahead."))) is None


def test_a_run_that_broke_off_is_a_failure():
    steps = (*steps_of(user("Count the rows.")), Step(id="e", kind=StepKind.ERROR, at=NOON, content="no such table", error=True))
    found = read_outcome(steps)
    assert found is not None
    assert (found.success, found.error) == (False, "no such table")


def test_a_last_failure_that_the_agent_admits_is_a_failure():
    found = read_outcome(steps_of(user("下载照片"), fails("drive.get", "磁盘空间不足"), says("空间不够，没能下载完。")))
    assert found is not None
    assert (found.success, found.error) == (False, "磁盘空间不足")


def test_a_request_alone_and_work_without_an_answer_stay_unknown():
    assert read_outcome(steps_of(user("Thanks in advance! Book a table."))) is None
    assert read_outcome(steps_of(*DONE)) is None
    assert read_outcome(steps_of(plan("think"), says("hello"))) is None


def test_the_next_request_begins_the_next_task_and_a_late_complaint_does_not():
    first, second = steps_of(*DONE), steps_of(*DONE, user("The bill is wrong, it should be 40."), user("What is the weather?"))
    told = Outcome(at=first[-1].at, success=True)
    tasks = tasks_of([*first, told, second[3], second[4]])
    assert [step.id for step in tasks[0].steps] == ["1", "2", "3", "4"]
    assert [step.id for step in tasks[1].steps] == ["5"]
    assert (tasks[0].outcome, tasks[1].outcome) == (told, None)


def test_of_several_outcomes_of_one_task_the_latest_counts():
    steps = steps_of(*DONE)
    early, late = Outcome(at=NOON, success=True), Outcome(at=steps[-1].at, success=False)
    assert tasks_of([*steps, late, early])[0].outcome == late
