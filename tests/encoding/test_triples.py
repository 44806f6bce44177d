"""Triples are read off sentences of both languages, and credited to whom they are about."""

from __future__ import annotations

import pytest

from hindsight_langgraph.encoding.assertions import triples
from hindsight_langgraph.encoding.attributes import canonical
from hindsight_langgraph.records import Triple


def read(text: str) -> list[tuple[str, str, str, bool]]:
    return [(t.subject, t.attribute, t.value, t.negated) for _, t in triples(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I live in Turku.", ("user", "lives_in", "Turku", False)),
        ("We moved to Graz last spring.", ("user", "lives_in", "Graz", False)),
        ("I also play the cello.", ("user", "plays", "cello", False)),
        ("My cousin Ilse works at Norddruck.", ("Ilse", "works_at", "Norddruck", False)),
        ("My sister lives in Vaasa.", ("sister", "lives_in", "Vaasa", False)),
        ("I can't stand marzipan.", ("user", "likes", "marzipan", True)),
        ("I no longer use Emacs.", ("user", "uses", "Emacs", True)),
        ("I stopped drinking coffee.", ("user", "drinks", "coffee", True)),
        ("I'm allergic to walnuts, by the way.", ("user", "allergic_to", "walnuts", False)),
        ("I'm no longer allergic to walnuts.", ("user", "allergic_to", "walnuts", True)),
        ("I'm learning Estonian.", ("user", "studies", "Estonian", False)),
        ("My email is ilse@example.com.", ("user", "email", "ilse@example.com", False)),
        ("My alarm is 6:30.", ("user", "alarm", "6:30", False)),
        ("Kestrel's port is now 7100.", ("Kestrel", "port", "7100", False)),
        ("My blood type is B negative.", ("user", "blood_type", "B negative", False)),
        ("I'm an Emacs user.", ("user", "uses", "Emacs", False)),
        ("My uncle is a big tea drinker.", ("uncle", "drinks", "tea", False)),
        ("I'm not a Zotero user any more.", ("user", "uses", "Zotero", True)),
        ("我是 Emacs 用户。", ("user", "uses", "Emacs", False)),
        ("我不再用 Emacs 了。", ("user", "uses", "Emacs", True)),
        ("我在用 Logic Pro 11 录音。", ("user", "uses", "Logic Pro 11", False)),
        ("仓库的机器人是 4 台。", ("仓库", "机器人", "4台", False)),
        ("我住在苏州。", ("user", "lives_in", "苏州", False)),
        ("我每天喝两杯豆浆。", ("user", "drinks", "豆浆", False)),
        ("我不再喝豆浆了。", ("user", "drinks", "豆浆", True)),
        ("我室友小林受不了香菜。", ("小林", "likes", "香菜", True)),
        ("我对芒果过敏。", ("user", "allergic_to", "芒果", False)),
        ("我不再对芒果过敏了。", ("user", "allergic_to", "芒果", True)),
        ("我最喜欢的颜色是靛蓝。", ("user", "最喜欢的颜色", "靛蓝", False)),
        ("我的邮箱是ilse.norddruck@example.com。", ("user", "邮箱", "ilse.norddruck@example.com", False)),
        ("网关的端口是7100。", ("网关", "端口", "7100", False)),
    ],
)
def test_a_plain_statement_becomes_a_triple(text: str, wanted: tuple[str, str, str, bool]) -> None:
    assert read(text) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        "I don't dislike marzipan.",
        "Do I live in Turku?",
        "If I moved to Graz I would miss the sea.",
        "I wish I lived in Rome.",
        "I like it.",
        "我要是住在苏州就好了。",
        "我不讨厌香菜。",
        "I'm a team player.",
        "She's a regular user.",
        "我是忠实用户。",
    ],
)
def test_nothing_is_read_that_the_text_does_not_assert(text: str) -> None:
    assert read(text) == []


def test_a_dislike_and_a_liking_share_one_attribute() -> None:
    dislike = canonical(Triple(subject="I", attribute="hates", value="noise"))
    assert (dislike.subject, dislike.attribute, dislike.negated, dislike.multi_valued) == ("user", "likes", True, True)


def test_the_same_attribute_in_two_languages_is_one() -> None:
    english = canonical(Triple(subject="user", attribute="residence", value="Oslo"))
    chinese = canonical(Triple(subject="用户", attribute="住址", value="Oslo"))
    assert english == chinese
