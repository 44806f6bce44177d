"""Names of things, each under one id per user."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.encoding.entities import AliasTable, find_entities, normalise

EMPTY = AliasTable()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PG", "PostgreSQL"),
        ("postgres", "PostgreSQL"),
        ("k8s", "Kubernetes"),
        ("JS", "javascript"),
        ("ts", "TypeScript"),
        ("VS Code", "vscode"),
        ("Node.js", "nodejs"),
        ("GCP", "Google Cloud"),
        ("sklearn", "scikit-learn"),
        ("C++", "cpp"),
        ("the Colonel", "Colonel"),
        ("Marta's", "marta"),
        ("ＰＧ", "pg"),
        ("“雨前”", "雨前"),
        ("Mongo", "MongoDB"),
        ("neovim", "nvim"),
    ],
)
def test_spellings_of_one_thing_share_an_id(one: str, other: str) -> None:
    assert EMPTY.resolve(one) == EMPTY.resolve(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A1032", "A1023"),
        ("Dray", "Dray-Lite"),
        ("EXP-12", "EXP-21"),
        ("order 4417", "order 4471"),
        ("Java", "JavaScript"),
        ("MySQL", "MariaDB"),
        ("Vim", "Neovim"),
        ("React", "React Native"),
        ("小柯", "老柯"),
        ("快付", "快付 Pro"),
        ("Mr Chen", "Mrs Chen"),
        ("Heron", "Heron 2"),
    ],
)
def test_look_alikes_stay_apart(one: str, other: str) -> None:
    assert EMPTY.resolve(one) != EMPTY.resolve(other)


STATED = [
    ("Every release is signed by Tansy, our lead. In chat she goes by ops-tansy.", "ops-tansy", "tansy"),
    ("Gwendolyn Pike, also known as Wendy, joined us.", "Wendy", "gwendolyn pike"),
    ("The Kestrel Gateway, aka KGW, is down.", "KGW", "kestrel gateway"),
    ("My boss is Orla. Everyone calls her the Admiral.", "Admiral", "orla"),
    ("HMS is short for Harbour Management System.", "HMS", "harbour management system"),
    ("Harbour Management System (HMS for short) is slow", "HMS", "harbour management system"),
    ("By Bluebird I mean Project Halcyon.", "Bluebird", "project halcyon"),
    ("Quill and Ferret are the same service.", "Quill", "ferret"),
    ('My agent is Corin, but in my notes I just write "the old fox".', "old fox", "corin"),
    ("Colleagues call Benedikt Ben.", "Ben", "benedikt"),
    ("Sable's nickname is Blackie", "Blackie", "sable"),
    ("财务归李姐管，大家都叫她小李姐", "小李姐", "李姐"),
    ("店里的伙计叫阿奎，我有时候会打成“阿葵”", "阿葵", "阿奎"),
    ("梨子和阿梨是同一个人", "梨子", "阿梨"),
    ("教练老罗，群里也叫罗哥", "罗哥", "老罗"),
    ("导师当面叫冯老师，背后叫老冯", "老冯", "冯老师"),
    ("云栈是云上栈桥系统的简称", "云栈", "云上栈桥系统"),
    ("青鸟又名蓝雀", "蓝雀", "青鸟"),
    ("老周的外号是铁头", "铁头", "老周"),
]


@pytest.mark.parametrize(("text", "alias", "entity"), STATED)
def test_an_alias_that_a_text_states_is_learned(text: str, alias: str, entity: str) -> None:
    assert EMPTY.learn(text).resolve(alias) == entity


@pytest.mark.parametrize(
    "text",
    [
        "I called Millbrook late last week.",
        "Forget that I called Petra rude.",
        "Please call me tomorrow.",
        "The function is called twice.",
        "We go by train.",
        "Nobody knows what it is called.",
        "叫他明天来",
        "你叫什么名字",
        "我叫了外卖",
        "大家都叫好",
        "Time is short for Marta and me",
        "Dray and Dray-Lite are the two builds.",
        "A1032 和 A1023 是两个订单",
    ],
)
def test_ordinary_sentences_teach_no_alias(text: str) -> None:
    assert dict(EMPTY.learn(text).learned) == {}


def test_a_learned_alias_can_be_taken_back() -> None:
    table = EMPTY.learn("Orla is my boss. Everyone calls her the Admiral.")
    assert table.resolve("the Admiral") == "orla"
    assert table.forget("the Admiral").resolve("the Admiral") == "admiral"
    assert EMPTY.resolve("the Admiral") == "admiral"


def test_aliases_form_chains_and_never_loops() -> None:
    table = EMPTY.link("b", "a").link("c", "b").link("a", "c")
    assert {table.resolve(name) for name in "abc"} == {"a"}


def test_two_known_technologies_are_never_joined() -> None:
    assert EMPTY.link("MySQL", "PostgreSQL").resolve("MySQL") == "mysql"


def test_what_was_stored_is_what_comes_back() -> None:
    learned = dict(EMPTY.learn("The Kestrel Gateway, aka KGW, is down.").learned)
    assert AliasTable(learned).resolve("KGW") == "kestrel gateway"


def test_a_title_and_the_bare_name_are_one_person() -> None:
    table = EMPTY.learn("I saw Dr Okafor on Monday.")
    assert table.resolve("Okafor") == table.resolve("Dr. Okafor")


def test_a_mrs_and_a_mr_of_one_name_are_two_people() -> None:
    table = EMPTY.learn("I met Mr Lund.").learn("Later Mrs Lund came too.")
    assert table.resolve("Mr Lund") != table.resolve("Mrs Lund")
    assert table.resolve("Lund") == "lund"


def test_a_chinese_nickname_is_not_joined_to_a_title_unless_said() -> None:
    table = EMPTY.learn("陈医生让我复查").learn("老陈请我吃饭")
    assert table.resolve("陈医生") != table.resolve("老陈")


FOUND = [
    ("We moved from MySQL to PG last year.", {"mysql", "postgresql"}),
    ("I run Saltwater Looms with Petra.", {"saltwater looms", "petra"}),
    ("Marta wants the report by noon.", {"marta"}),
    ("Order 5518 is for the Harbour Inn.", {"5518", "harbour inn"}),
    ("Ticket EXP-12 blocks A1032.", {"exp-12", "a1032"}),
    ("run `make lint` before you push", {"make lint"}),
    ("The novel is The Glass Heron, set in Port Isolde.", {"glass heron", "port isolde"}),
    ("Dr Okafor said it heals", {"dr okafor"}),
    ("we use fastapi and pytest", {"fastapi", "pytest"}),
    ("我们用 Redis 和 InfluxDB", {"redis", "influxdb"}),
    ("张工和李老师都同意了", {"张工", "李老师"}),
    ("新店叫“雨后”", {"雨后"}),
    ("我在远帆物流上班", {"远帆物流"}),
    ("订单 A2071 改了", {"a2071"}),
    ("小棠和阿奎值班", {"小棠", "阿奎"}),
    ("K8S 集群升级到 1.31", {"kubernetes"}),
]


@pytest.mark.parametrize(("text", "entities"), FOUND)
def test_names_are_found(text: str, entities: set[str]) -> None:
    assert set(find_entities(text, EMPTY)) == entities


@pytest.mark.parametrize(
    "text",
    [
        "Good morning! How are you today?",
        "Yes, please. That would be great.",
        "I think so. Nothing's wrong.",
        "See you on Monday in March.",
        "We react to the express train and let it rust.",
        "你好，今天天气不错",
        "好的，谢谢",
        "小时候学过",
        "老是忘",
        "程序跑完了，员工下班",
        "Thanks, perfect.",
        "It takes 20 minutes.",
    ],
)
def test_ordinary_words_are_no_names(text: str) -> None:
    assert find_entities(text, EMPTY) == ()


def test_a_thing_seen_before_is_found_however_it_is_written() -> None:
    table = AliasTable(seen=["attic", "青垄", "Salt Ledger", "5518"])
    assert find_entities("is the attic up?", table) == ("attic",)
    assert find_entities("昨天跟青垄说了", table) == ("青垄",)
    assert find_entities("5518 is paused", table) == ("5518",)
    assert find_entities("I rewrote the Ledger", table) == ("salt ledger",)


def test_a_word_that_two_things_share_names_neither() -> None:
    table = AliasTable(seen=["Salt Ledger", "Salt Letters"])
    assert find_entities("I rewrote the Salt", table) == ("salt",)


def test_an_alias_in_a_text_yields_the_id() -> None:
    table = EMPTY.learn("教练老罗，群里也叫罗哥")
    assert find_entities("罗哥迟到了", table) == ("老罗",)


def test_each_thing_is_named_once_in_order_of_mention() -> None:
    assert find_entities("Petra told Marta that Petra left PG.", EMPTY) == ("petra", "marta", "postgresql")


@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing(name: str) -> None:
    assert normalise(normalise(name)) == normalise(name)


@given(st.text(alphabet="ABcd 和也叫老张阿梨，。\"'aka-12()", max_size=40))
def test_any_text_is_read_without_error(text: str) -> None:
    table = EMPTY.learn(text)
    entities = find_entities(text, table)
    assert all(table.resolve(entity) for entity in entities)
