"""When a step calls for a recall (SPEC D13)."""

from __future__ import annotations

import pytest

from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.recall.trigger import recall_trigger

BEFORE = Query(text="Deploy the Heron service", goal="deploy the Heron service to staging", sub_step="build the image")


def step(**fields: str) -> Query:
    return BEFORE.model_copy(update=fields)


@pytest.mark.parametrize(
    ("query", "failed", "why"),
    [
        (step(goal="write the quarterly invoice"), False, "a new task"),
        (step(sub_step="run the migration"), False, "a new sub-goal"),
        (step(last_result="disk full"), True, "an error"),
        (step(sub_step="build the image as we said"), False, "a question about the past or about how it is done"),
        (step(text="And the Heron service?"), False, "a new message of the user"),
        (step(text="接着来"), False, "a new message of the user"),
    ],
)
def test_something_new_calls_for_a_recall(query: Query, failed: bool, why: str) -> None:
    assert recall_trigger(query, before=BEFORE, failed=failed) == why


def test_the_first_step_calls_for_a_recall() -> None:
    assert recall_trigger(BEFORE, before=None) == "a new task"


def test_an_error_that_was_asked_about_calls_for_none() -> None:
    assert recall_trigger(step(last_result="disk full"), before=step(last_result="disk full"), failed=True) == ""


@pytest.mark.parametrize(
    "query", [BEFORE, step(sub_step="build image"), step(last_result="image built"), step(text="  "), Query(text=" ")]
)
def test_the_same_step_again_calls_for_none(query: Query) -> None:
    assert recall_trigger(query, before=BEFORE) == ""
