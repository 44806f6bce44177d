"""Which statements contradict which (SPEC F3; CASES O10)."""

from __future__ import annotations

import pytest

from hindsight_langgraph.consolidation.contradictions import find_contradictions
from hindsight_langgraph.consolidation.reversals import find_reversals
from hindsight_langgraph.encoding.values import Likeness, compare_values
from hindsight_langgraph.records import Kind, MemoryUnit
from tests.consolidation.scene import later, unit


def said(*triples: tuple[str, ...]) -> list[MemoryUnit]:
    return [unit(" ".join(triple), day=day, triple=triple) for day, triple in enumerate(triples)]


def retired(units: list[MemoryUnit]) -> list[str]:
    return [change.old_text for change in find_contradictions(units) if change.verb == "retire"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("user", "lives_in", "Tartu"), ("user", "lives_in", "Riga")),
        (("Dray", "rate limit", "120 requests/s"), ("dray", "limit of rate", "180 requests/s")),
        (("user", "residence", "Tartu"), ("user", "住址", "里加")),
        (("hall", "opening hours", "nine to five"), ("hall", "opening hours", "nine to six")),
        (("order 7", "quantity", "40 斤"), ("order 7", "数量", "60 斤")),
        (("attic and shed", "ingress", "Traefik"), ("shed", "ingress", "nginx")),
        (("order 7", "status", "paused"), ("order 7", "status and weekly quantity", "restarts with 90 rolls")),
    ],
)
def test_another_value_of_the_same_attribute_retires_the_older(first: tuple[str, ...], second: tuple[str, ...]):
    assert retired(said(first, second)) == [" ".join(first)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("canoe", "stands in", "hall 13"), ("tent", "stands in", "hall 17")),
        (("brother", "lives_in", "Narva"), ("user", "lives_in", "Tartu")),
        (("user", "plays", "oboe"), ("user", "plays", "viola")),
        (("user", "speaks", "English"), ("user", "语言", "中文")),
        (("user", "phone", "4417"), ("user", "address", "7 Elm Road")),
    ],
)
def test_other_things_and_values_that_may_stand_together_stay(first: tuple[str, ...], second: tuple[str, ...]):
    multi = said(first, second)
    marked = [one.model_copy(update={"triple": one.triple.model_copy(update={"multi_valued": one.triple.attribute in {"plays", "speaks", "语言"}})}) for one in multi if one.triple]  # fmt: skip
    assert retired(marked) == []


def test_a_second_value_said_to_stand_beside_the_first_retires_nothing():
    first = unit("My hobby is chess", triple=("user", "hobby", "chess"))
    second = unit("My hobby is also rowing", day=1, triple=("user", "hobby", "rowing"))
    assert retired([first, second]) == []


def test_an_older_statement_that_arrives_late_does_not_retire_a_newer_one():
    new = unit("I live in Riga", day=5, triple=("user", "lives_in", "Riga"))
    late = unit("I live in Tartu", day=1, created_at=later(9), triple=("user", "lives_in", "Tartu"))
    assert retired([new, late]) == ["I live in Tartu"]


def test_the_opposite_of_the_same_value_retires_it_and_only_it():
    likes = [unit(f"I like {what}", day=i, triple=("user", "likes", what)) for i, what in enumerate(("rye", "figs"))]
    end = unit("I no longer like rye", day=3, triple=("user", "likes", "rye", "not"))
    assert retired([*likes, end]) == ["I like rye"]


def test_a_value_that_goes_there_and_back_leaves_the_last_one():
    assert retired(said(("walk", "end", "meadow"), ("walk", "end", "hall"), ("walk", "end", "meadow"))) == [
        "walk end meadow",
        "walk end hall",
    ]


def test_intervals_that_do_not_meet_contradict_nothing():
    may = unit("In May I stay in Riga", triple=("user", "stays_in", "Riga"), valid_from=later(50), valid_to=later(80))
    june = unit("In June I stay in Oslo", day=1, triple=("user", "stays_in", "Oslo"), valid_from=later(81), valid_to=later(110))
    assert retired([may, june]) == []


def test_the_same_statement_again_merges_and_is_never_retired():
    changes = find_contradictions(said(("hall", "capacity", "ninety people"), ("hall", "capacity", "90 people")))
    assert [change.verb for change in changes] == ["merge"]


@pytest.mark.parametrize(
    ("older", "newer", "likeness"),
    [
        ("90 minutes", "1.5 h", Likeness.SAME),
        ("一万二千 元", "12000 元", Likeness.SAME),
        ("1.5 kg", "3 斤", Likeness.SAME),
        ("Saturday 8 November", "8 November", Likeness.SAME),
        ("周二", "Tuesday", Likeness.SAME),
        ("twenty-five euros", "25 €", Likeness.SAME),
        ("short mails", "short mails without bullets", Likeness.OTHER),
        ("Riga", "Riga, Old Town", Likeness.MORE),
        ("nginx", "not nginx", Likeness.OTHER),
        ("要辣", "不要辣", Likeness.OTHER),
        ("Tuesday and Thursday", "Thursday", Likeness.OTHER),
        ("90 g", "90 kg", Likeness.OTHER),
        ("192.0.2.40", "192.0.2.44", Likeness.OTHER),
        ("0.913", "0.913 作废", Likeness.OTHER),
        ("oak, not pine", "oak", Likeness.SAME),
        ("oak, not pine", "pine", Likeness.OTHER),
    ],
)
def test_values_are_compared_by_what_they_mean(older: str, newer: str, likeness: Likeness):
    assert compare_values(older, newer) is likeness


@pytest.mark.parametrize(
    ("wish", "end"),
    [
        ("I love rhubarb, put it in every menu", "I've gone off rhubarb"),
        ("我超爱芒果，多放芒果", "芒果我吃腻了"),
        ("I want to sail to Gotland", "Forget what I said about sailing to Gotland."),
        ("The locker code is 7714", "That locker code has leaked. Delete it."),
        ("仓库的门禁码是 7714", "那个门禁码泄露了，忘掉它"),
        ("Heron, our queue, is written in Ruby 3.1", "We moved Heron to Ruby 3.3 on Monday"),
    ],
)
def test_what_is_taken_back_in_so_many_words_is_retired(wish: str, end: str):
    kept = unit("The rye bread is baked at six", day=1)
    changes = find_reversals([unit(wish, kind=Kind.PREFERENCE), kept, unit(end, day=2, kind=Kind.PREFERENCE)])
    assert [change.old_text for change in changes] == [wish]


@pytest.mark.parametrize(
    "new", ["Egret moved to Ruby 3.3 on Monday", "Heron is tested on Ruby 3.3", "That gate code has leaked. Delete it."]
)
def test_another_thing_and_what_is_no_change_retire_nothing(new: str):
    before = [unit("Heron, our queue, is written in Ruby 3.1"), unit("The locker code is 7714", day=1)]
    assert find_reversals([*before, unit(new, day=2)]) == []
