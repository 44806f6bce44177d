"""How much of a question a statement holds, and whether it has the form that the question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.overlap import names_attribute, pieces_of, shares
from hindsight_langgraph.recall.recollection import Cues, Query
from hindsight_langgraph.recall.wording import lacks_form
from hindsight_langgraph.records import Triple
from tests.recall.stores import unit


def cues(text: str) -> Cues:
    return read_cues(Query(text=text), now=datetime(2025, 6, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("asked", "right", "wrong"),
    [
        ("屋里的墙要刷什么色？", "墙面改刷浅灰。", "地板只要实木的。"),
        ("Which colour is the hull?", "The hull will be green.", "The varnish dries in three days."),
    ],
)
def test_the_unit_that_shares_words_with_the_question_holds_more_of_it(asked: str, right: str, wrong: str) -> None:
    found = shares(cues(asked), [pieces_of(unit("a", right)), pieces_of(unit("b", wrong))])
    assert found[0] > found[1]


def test_a_word_that_every_unit_holds_counts_less_than_a_rare_one() -> None:
    units = [unit("a", "Petrel is moored."), unit("b", "Petrel's mast is new."), unit("c", "Petrel leaks.")]
    common, rare, _ = shares(cues("Petrel's mast"), [pieces_of(told) for told in units])
    assert rare - common > common


def test_the_name_of_the_attribute_is_part_of_what_a_unit_says() -> None:
    told = unit("a", "It is navy blue.", triple=Triple(subject="Petrel", attribute="hull_colour", value="navy blue"))
    assert shares(cues("hull colour?"), [pieces_of(told), pieces_of(unit("b", "It leaks."))])[0] == pytest.approx(1.0)
    assert names_attribute(told, frozenset(cues("hull?").topics))


def test_turns_kept_whole_are_not_weighed_by_their_words_here() -> None:
    assert shares(cues("hull colour?"), [pieces_of(unit("a", "the hull colour is green", raw=True))]) == [0.0]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What does a stall cost?", "24 of the stalls are booked."),
        ("房租一个月多少钱？", "店在隔壁街。"),
        ("At what time does it begin?", "The Walk is on 8 November."),
        ("小满的生日是哪天？", "小满四岁。"),
        ("What's Wren's phone number?", "Wren leads the platform."),
        ("How many singers are there?", "The choir sings in a church."),
    ],
)
def test_a_text_without_the_form_that_is_asked_for_lacks_it(asked: str, told: str) -> None:
    assert lacks_form(cues(asked), told)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What does a stall cost?", "A stall is 30 euros."),
        ("房租一个月多少钱？", "房租每月 5600 元。"),
        ("At what time does it begin?", "The Walk begins at six."),
        ("哪天开工？", "开工改到 5 月 18 日。"),
        ("Which colour is the hull?", "Green."),
    ],
)
def test_a_text_in_the_form_that_is_asked_for_does_not(asked: str, told: str) -> None:
    assert not lacks_form(cues(asked), told)
