"""Whether words could answer a question."""

from __future__ import annotations

import pytest

from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.recall.wording import answer_form, answers_a_question, is_standing, speaks_of_self
from tests.recall.stores import NOW, unit


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When did the oven break?", "The oven broke last Tuesday."),
        ("烤箱什么时候坏的？", "烤箱昨天坏了。"),
        ("How many loaves go in?", "Six loaves at most."),
        ("烤箱放得下多少个？", "放六个。"),
        ("Who fixed the oven?", "In the end, Petra fixed it."),
    ],
)
def test_a_text_with_what_the_question_asks_for_has_its_form(question: str, text: str) -> None:
    has_form = answer_form(read_cues(Query(text=question), now=NOW))
    assert has_form(text) > has_form("it broke and was fixed again") == 0.0


def test_a_question_for_no_form_in_particular_favours_none() -> None:
    assert answer_form(read_cues(Query(text="Tell me of the oven."), now=NOW))("Petra fixed it on 3 May, for 40 euros.") == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "Always answer in metric units.",
        "Please never use tabs.",
        "Show both when I ask about prices.",
        "I prefer tea.",
        "以后都用公制单位。",
    ],
)
def test_a_rule_for_times_to_come_is_standing(text: str) -> None:
    assert is_standing(text)


@pytest.mark.parametrize("text", ["We have almost always lived here.", "The tram was late.", "昨天下雨了。"])
def test_a_report_is_not_a_standing_rule(text: str) -> None:
    assert not is_standing(text)


def test_first_person_is_speaking_of_oneself() -> None:
    assert speaks_of_self("I baked it")
    assert not speaks_of_self("It rained")


def test_what_follows_a_question_answers_one() -> None:
    assert answers_a_question(unit("a", "Yes.", preceding="Bo: Coming？"))
    assert not answers_a_question(unit("a", "Yes.", preceding="Bo: Coming."))
