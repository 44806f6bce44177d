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
        (step(), True, "an error"),
        (step(text="What did we decide about the port last time?"), False, "a question about the past or about how it is done"),
        (step(text="上次端口是怎么定的"), False, "a question about the past or about how it is done"),
        (step(text="Pick a colour for the dashboard"), False, "another question"),
    ],
)
def test_something_new_calls_for_a_recall(query: Query, failed: bool, why: str) -> None:
    assert recall_trigger(query, before=BEFORE, failed=failed) == why


def test_the_first_step_calls_for_a_recall() -> None:
    assert recall_trigger(BEFORE, before=None) == "a new task"


@pytest.mark.parametrize("query", [BEFORE, step(last_result="image built"), step(text="  "), Query(text=" ")])
def test_the_same_step_again_calls_for_none(query: Query) -> None:
    assert recall_trigger(query, before=BEFORE) == ""
