"""Whether a memory was used, with the reason."""

from __future__ import annotations

from hindsight_langgraph.annotation.marks import clauses, marks
from hindsight_langgraph.annotation.used import CLOSE, use_of
from hindsight_langgraph.annotation.verdict import Given
from tests.annotation.making import call, plan, says, steps_of


def use(content: str, *told, goal: str = "Do it.", likeness=None):
    return use_of(Given(id="m1", content=content), steps_of(*told), goal=goal, likeness=likeness)


def test_a_citation_is_a_use():
    assert use("Tea at four.", says("See [m1].")).reason == "cited by its id"


def test_a_number_or_name_in_a_call_is_a_deciding_use():
    found = use("The staging host is stg-9.", call("deploy", "ok", host="stg-9"))
    assert (found.used, found.decisive, found.steps) == (True, True, (0,))
    assert "stg-9" in found.reason


def test_what_the_request_said_already_shows_no_use():
    assert not use("Order 4417 is late.", call("orders.get", "late", no=4417), goal="Where is order 4417?").decisive


def test_what_a_tool_answered_shows_no_use():
    assert not use("The canteen has 40 seats.", call("count", "40", of="chairs")).used


def test_words_in_a_plan_are_a_use_that_decides_nothing():
    found = use("Board members want a summary first.", plan("Begin with a summary."))
    assert (found.used, found.decisive) == (True, False)


def test_an_answer_of_the_same_meaning_is_a_use():
    assert use("Tea at four.", says("Drinks, mid-afternoon."), likeness={0: CLOSE}).used
    assert not use("Tea at four.", says("Drinks, mid-afternoon."), likeness={0: CLOSE - 0.1}).used


def test_numbers_in_figures_and_in_chinese_words_are_one():
    assert marks("期限是 15 天") & marks("十五天") == {"15"}
    assert marks("共 2,300 条") & marks("两千三百条") == {"2300"}


def test_a_decimal_point_ends_no_clause():
    assert clauses("It costs 3.50, not 4.") == ["It costs 3.50", "not 4"]
