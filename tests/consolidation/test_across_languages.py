"""What one user says in English and in Chinese is one memory (SPEC F3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight_langgraph.consolidation.contradictions import find_contradictions, foreign_values
from hindsight_langgraph.encoding.values import Likeness, compare_values
from hindsight_langgraph.errors import ModelUnavailable
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.records import Status
from tests.clock import NOON, FakeClock
from tests.consolidation.scene import unit
from tests.memory.opening import open_memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path_factory.mktemp("both"), embeddings="local", clock=FakeClock(NOON)) as opened:
        yield opened


def active(memory: HindsightMemory, *said: str) -> list[str]:
    """What is active of what a user says, each sentence some days after the one before."""
    user = " ".join(said)
    for place, text in enumerate(said):
        memory.remember([{"role": "user", "content": text, "id": f"t{place}"}], scope=user, at=NOON + timedelta(days=3 * place))
    memory.consolidate(scope=user, passes=("duplicates", "contradictions"))
    return sorted(one.source_text for one in memory.units(scope=user) if one.status is Status.ACTIVE)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("我搬到柏林了。", "I moved to Munich."),
        ("I live in Lyon.", "我搬到马赛了。"),
        ("My wife works at Tencent.", "我老婆在华为上班。"),
        ("我的生日是5月3日。", "My birthday is May 4."),
        ("我的导师是王老师。", "My advisor is Professor Lin."),
        ("我最喜欢的颜色是红色。", "My favourite colour is blue."),
        ("I'm allergic to peanuts.", "我不再对花生过敏了。"),
        ("我喜欢咖啡。", "I no longer like coffee."),
        ("我的邮箱是wang@example.cn。", "My email is lei@example.com."),
    ],
)
def test_a_later_statement_in_the_other_language_retires_the_earlier(memory: HindsightMemory, first: str, second: str):
    assert active(memory, first, second) == [second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("我会说法语。", "I speak Spanish."),
        ("我对花生过敏。", "I'm allergic to penicillin."),
        ("My wife works at Tencent.", "我在华为工作。"),
        ("我女儿住在柏林。", "I live in Munich."),
        ("我喜欢绿茶。", "I no longer like coffee."),
        ("我的生日是5月3日。", "My wife's birthday is May 4."),
        ("我最喜欢的颜色是红色。", "My favourite food is noodles."),
    ],
)
def test_statements_about_others_or_of_several_values_stand_side_by_side(memory: HindsightMemory, first: str, second: str):
    assert active(memory, first, second) == sorted((first, second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My birthday is 3 May.", "我的生日是5月3日。"),
        ("我对花生过敏。", "I'm allergic to peanuts."),
    ],
)
def test_the_same_said_in_both_languages_is_one_memory(memory: HindsightMemory, first: str, second: str):
    assert active(memory, first, second) == [first]


def test_values_of_two_languages_are_one_only_where_it_is_known():
    here = unit("我在柏林", triple=("user", "lives_in", "柏林"))
    there = unit("Berlin it is", day=1, triple=("user", "city", "Berlin"))
    assert foreign_values([there, here]) == [("柏林", "Berlin")]
    assert [change.verb for change in find_contradictions([here, there])] == ["retire"]
    known = {frozenset(("柏林", "Berlin"))}
    assert [change.verb for change in find_contradictions([here, there], alike=known)] == ["merge"]


def test_values_of_other_attributes_subjects_or_one_language_are_not_compared_by_embedding():
    units = [
        unit("a", triple=("user", "lives_in", "柏林")),
        unit("b", triple=("brother", "lives_in", "Berlin")),
        unit("c", triple=("user", "works_at", "Berlin Zoo")),
        unit("d", triple=("user", "lives_in", "上海")),
        unit("e", triple=("run", "f1", "0.913")),
        unit("f", triple=("run", "f1", "0.913 作废")),
    ]
    assert foreign_values(units) == []


class OnlyUnits(HashEmbedder):
    """Embeds what is stored and fails on the short values that are compared, as a model that goes down in between."""

    def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[tuple[float, ...]]:
        if "柏林" in texts:
            raise ModelUnavailable("the embedder is gone")
        return super().embed(texts, purpose=purpose)


def test_an_embedder_that_is_down_leaves_values_to_the_rules(tmp_path: Path):
    with open_memory(tmp_path, embeddings=OnlyUnits(), clock=FakeClock(NOON)) as memory:
        assert active(memory, "我住在柏林。", "I live in Munich.") == ["I live in Munich."]


@pytest.mark.parametrize(
    ("older", "newer", "likeness"),
    [
        ("5月3日", "3 May", Likeness.SAME),
        ("十月十八号", "18 October", Likeness.SAME),
        ("2025-05-03", "May 3rd", Likeness.SAME),
        ("5月3日", "May 4", Likeness.OTHER),
        ("素食者", "vegetarian", Likeness.SAME),
        ("龙虾", "shrimp", Likeness.OTHER),
        ("maybe 3 people", "5月3日", Likeness.OTHER),
    ],
)
def test_dates_and_everyday_values_are_compared_across_languages_without_a_model(older: str, newer: str, likeness: Likeness):
    assert compare_values(older, newer) is likeness
