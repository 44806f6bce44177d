"""A chat model's answer, in every shape but the right one."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.encoding.answers import Fact, parse_facts
from hindsight_langgraph.encoding.json_answers import read_json
from hindsight_langgraph.encoding.scores import parse_score
from hindsight_langgraph.encoding.statement import ExtractionStatus
from hindsight_langgraph.ops import Answer

COMMUTE = '{"facts":[{"subject":"user","attribute":"commute","value":"bicycle"}]}'
DOG = '{"facts":[{"subject":"user","attribute":"pet","value":"dog"}]}'
CAT = '{"facts":[{"subject":"user","attribute":"pet","value":"cat"}]}'


def _triples(text: str, **fields: str) -> list[tuple[str, str, str]]:
    return [(fact.subject, fact.attribute, fact.value) for fact in parse_facts(Answer(text=text, **fields)).facts]


@pytest.mark.parametrize(
    "text",
    [
        f"Sure, this is what I found:\n```json\n{COMMUTE}\n```\nShall I look for more?",
        f"Sure, this is what I found:\n```\n{COMMUTE}\n```\nShall I look for more?",
        f"Sure, this is what I found:\r\n```JSON\r\n{COMMUTE}\r\n```\r\nShall I look for more?",
        f"{COMMUTE}",
        f"好的，结果如下：{COMMUTE}。还需要别的吗？",
        f"Rules [1] and {{2}} considered. {COMMUTE}",
    ],
)
def test_chatter_and_fences_round_the_json_do_not_matter(text: str) -> None:
    assert _triples(text) == [("user", "commute", "bicycle")]


def test_a_fence_inside_a_value_is_kept_verbatim() -> None:
    text = '{"facts":[{"subject":"user","attribute":"note","value":"writes ```bash blocks"}]}'
    assert _triples(text) == [("user", "note", "writes ```bash blocks")]


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Maybe {CAT}? No, a dog.</think>{DOG}",
        f"...no, a dog.</think>\n{DOG}",
        f"Draft {CAT} ... no, a dog.</think>\n{DOG}",
        f"<thought>Maybe {CAT}? No, a dog.</thought>{DOG}",
        f"<think>Maybe {CAT}</think><think>or {CAT}</think>\n```json\n{DOG}\n```",
    ],
)
def test_a_draft_inside_the_thinking_is_not_the_answer(text: str) -> None:
    assert _triples(text) == [("user", "pet", "dog")]


def test_thinking_that_never_ends_is_a_failure() -> None:
    parsed = parse_facts(Answer(text=f"<think>They mention a pet. Draft {CAT} hmm"))
    assert (parsed.status, parsed.facts) == (ExtractionStatus.FAILED, ())


@pytest.mark.parametrize("value", ["<think>", "</think>", "a <think> b </think> c"])
def test_a_value_that_looks_like_a_thinking_tag_is_literal(value: str) -> None:
    text = json.dumps({"facts": [{"subject": "user", "attribute": "favourite_tag", "value": value}]})
    assert _triples(text) == [("user", "favourite_tag", value)]


@pytest.mark.parametrize(
    "text",
    [
        '[{"subject":"user","attribute":"team","value":"Kite"}]',
        '{"facts":{"subject":"user","attribute":"team","value":"Kite"}}',
        '{"memory list":[{"entity":"user","attr":"team","val":"Kite"}]}',
        '{"Facts":[{"Subject":"user","Attribute":"team","Value":"Kite"}]}',
        '{"subject":"user","attribute":"team","value":"Kite"}',
        '{"result":{"facts":[{"subject":"user","attribute":"team","value":"Kite"}]},"data":{"facts":[{"subject":"user","attribute":"team","value":"Kite"}]}}',
        '{"facts":[{"subject":"user","attribute":"team","value":"Kite",},],}',
    ],
)
def test_the_container_and_the_names_may_differ(text: str) -> None:
    assert _triples(text) == [("user", "team", "Kite")]


def test_bare_strings_are_rejected_and_never_a_silent_success() -> None:
    parsed = parse_facts(Answer(text='{"facts":["user is in team Kite"]}'))
    assert (parsed.status, parsed.rejected) == (ExtractionStatus.FAILED, 1)


def test_good_items_survive_their_bad_neighbours() -> None:
    parsed = parse_facts(
        Answer(text='{"facts":[{"subject":"user","attribute":"team","value":"Kite"},{"subject":"user"},null,7]}')
    )
    assert (parsed.status, len(parsed.facts), parsed.rejected) == (ExtractionStatus.PARTIAL, 1, 3)


@pytest.mark.parametrize(
    "text", ["{}\n \n \n\n", "", "  ", "null", "[[]]", '{"note":"nothing"}', "I found nothing to remember.", "[" * 50_000]
)
def test_an_answer_without_a_list_of_facts_is_a_failure(text: str) -> None:
    assert parse_facts(Answer(text=text, finish_reason="stop")).status is ExtractionStatus.FAILED


def test_no_answer_at_all_is_a_failure() -> None:
    assert parse_facts(None).status is ExtractionStatus.FAILED


def test_an_answer_in_the_reasoning_field_is_read() -> None:
    assert _triples("", reasoning='{"facts":[{"subject":"user","attribute":"city","value":"Porto"}]}') == [
        ("user", "city", "Porto")
    ]


CUT = '{"facts":[{"subject":"user","attribute":"city","value":"Porto"},{"subject":"user","attribute":"job","value":"night nur'


def test_a_cut_answer_keeps_its_whole_items_only() -> None:
    parsed = parse_facts(Answer(text=CUT, finish_reason="length"))
    assert [fact.value for fact in parsed.facts] == ["Porto"]
    assert parsed.status is ExtractionStatus.PARTIAL


def test_an_item_cut_inside_its_relations_is_dropped() -> None:
    text = '{"facts":[{"subject":"user","attribute":"job","value":"nurse","relations":[{"source":"a","type":"b","target":"c"}'
    assert parse_facts(Answer(text=text, finish_reason="length")).facts == ()


def test_a_limit_that_was_reached_is_partial_even_when_the_json_closes() -> None:
    assert parse_facts(Answer(text=DOG, finish_reason="length")).status is ExtractionStatus.PARTIAL


@pytest.mark.parametrize("text", ['{"facts":[]}', "[]", '```json\n{"facts": []}\n```'])
def test_an_empty_list_is_nothing_to_remember(text: str) -> None:
    parsed = parse_facts(Answer(text=text, finish_reason="stop"))
    assert (parsed.status, parsed.rejected) == (ExtractionStatus.OK_NOTHING, 0)


def test_every_field_is_read() -> None:
    item = {
        "kind": "decision",
        "subject": "user",
        "attribute": "editor",
        "value": "Helix",
        "content": "The user moved to Helix.",
        "source": 2,
        "quote": "Helix it is",
        "time": "yesterday",
        "entities": ["Helix", {"name": "Vim"}, "Helix"],
        "relations": [{"from": "user", "type": "uses", "to": "Helix"}, ["user", "left", "Vim"], {"from": "x"}],
        "confidence": "90%",
        "importance": "high",
        "negated": False,
        "multi_valued": True,
        "replaces": "Vim",
    }
    (fact,) = parse_facts(Answer(text=json.dumps({"facts": [item]}))).facts
    assert fact == Fact(
        kind="decision",
        subject="user",
        attribute="editor",
        value="Helix",
        content="The user moved to Helix.",
        source="2",
        quote="Helix it is",
        time="yesterday",
        entities=("Helix", "Vim"),
        relations=(("user", "uses", "Helix"), ("user", "left", "Vim")),
        confidence=0.9,
        importance=0.8,
        multi_valued=True,
        replaces="Vim",
    )


def test_a_lone_surrogate_never_reaches_a_store() -> None:
    (fact,) = parse_facts(Answer(text='{"facts":[{"content":"likes \\ud83d tea"}]}')).facts
    assert fact.content.encode() == b"likes  tea"


@given(st.text(alphabet='{}[]",:abc\\ntrue<think></>0-9 `', max_size=80))
def test_no_answer_raises(text: str) -> None:
    parsed = parse_facts(Answer(text=text))
    assert parsed.facts or parsed.status is not ExtractionStatus.OK_WITH_FACTS


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_that_is_whole_is_read_back(value: object) -> None:
    text = json.dumps({"facts": [value]})
    assert read_json(f"Here: {text} done", wanted=lambda found: isinstance(found, dict)) == ({"facts": [value]}, True)


DEFAULT = 0.42
SCORES = [
    (0.8, 0.8),
    ("0.8", 0.8),
    ("8/10", 0.8),
    ("85%", 0.85),
    ("Rating: 8 of 10", 0.8),
    ("I weighed 6 aspects; importance: 0.7", 0.7),
    ("I weighed 2 of 3 aspects; importance: 0.7", 0.7),
    ("2.0", 1.0),
    (2, 1.0),
    ("high", 0.8),
    ("importance: high", 0.8),
    (-1, 0.0),
    (True, DEFAULT),
    (None, DEFAULT),
    ("", DEFAULT),
    (math.nan, DEFAULT),
    (math.inf, DEFAULT),
    ("NaN", DEFAULT),
    ("Infinity", DEFAULT),
    ("see 3 notes", DEFAULT),
    ([0.5], DEFAULT),
    ("3/0", DEFAULT),
    ("重要性：0.6", 0.6),
    ("高", 0.8),
    (10**400, 1.0),
    ("0.9.", 0.9),
]


@pytest.mark.parametrize(("value", "score"), SCORES)
def test_a_score_is_read_in_any_shape(value: object, score: float) -> None:
    assert parse_score(value, DEFAULT) == pytest.approx(score)


@given(st.one_of(st.text(), st.floats(), st.integers(), st.none(), st.lists(st.integers())))
def test_every_score_is_finite_and_from_0_to_1(value: object) -> None:
    assert 0.0 <= parse_score(value, DEFAULT) <= 1.0
