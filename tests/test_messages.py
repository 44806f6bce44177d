"""Messages of any shape become turns; a recollection becomes one message (CASES O15, SPEC A12, D11)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from hindsight_langgraph.errors import CallError
from hindsight_langgraph.messages import RECOLLECTION_ID, inject, read_turns
from hindsight_langgraph.records import Role

NOW = datetime(2025, 3, 10, 9, tzinfo=UTC)


def test_text_parts_are_joined_and_an_image_becomes_a_description_without_its_bytes():
    message = HumanMessage(
        [{"type": "text", "text": "I keep bees"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
        id="m",
    )
    (turn,) = read_turns([message])
    assert turn.text == "I keep bees"
    assert turn.attachments[0].media_type == "image/png"
    assert "AAAA" not in turn.model_dump_json()


def test_a_linked_image_keeps_its_reference():
    (turn,) = read_turns([HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.org/hive.png"}}], id="m")])
    assert turn.attachments[0].reference == "https://example.org/hive.png"


@pytest.mark.parametrize(
    "empty",
    [
        HumanMessage("  \n", id="a"),
        HumanMessage([], id="b"),
        AIMessage("", id="c", tool_calls=[{"name": "look", "args": {}, "id": "1"}]),
        {"role": "assistant", "content": None},
    ],
)
def test_a_message_without_text_is_no_turn(empty: object):
    assert read_turns([empty]) == []


def test_a_tool_message_with_list_content_is_read_with_its_name_and_failure():
    (turn,) = read_turns([ToolMessage(["two ", "parts"], tool_call_id="1", name="shell", status="error", id="t")])
    assert (turn.role, turn.tool, turn.error, turn.text) == (Role.TOOL, "shell", True, "two \nparts")


def test_signs_beyond_the_basic_plane_are_kept():
    assert read_turns([HumanMessage("🐝🐝🐝", id="m")])[0].text == "🐝🐝🐝"


def test_inline_base64_in_a_text_is_replaced_by_a_note_of_its_size():
    data = "data:application/pdf;base64," + "QUJD" * 1000
    (turn,) = read_turns([ToolMessage(f"see {data} above", tool_call_id="1", id="t")])
    assert "QUJD" not in turn.text
    assert turn.text.startswith("see [application/pdf, 4028 characters left out]")
    assert turn.attachments[0].media_type == "application/pdf"


def test_dicts_and_pairs_are_messages_too():
    turns = read_turns([{"role": "user", "content": "hello", "id": "1"}, ("assistant", "hi")])
    assert [(turn.role, turn.text) for turn in turns] == [(Role.USER, "hello"), (Role.ASSISTANT, "hi")]


def test_a_message_without_an_id_gets_the_same_one_each_time():
    first, again = (read_turns([("user", "a"), ("user", "a")]) for _ in range(2))
    assert [turn.id for turn in first] == [turn.id for turn in again]
    assert first[0].id != first[1].id


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"created_at": "2025-03-05T00:20:00+08:00"}, datetime(2025, 3, 4, 16, 20, tzinfo=UTC)),
        ({"timestamp": 1_741_104_000}, datetime(2025, 3, 4, 16, 0, tzinfo=UTC)),
        ({"sent_at": datetime(2025, 3, 4, 16, tzinfo=UTC)}, datetime(2025, 3, 4, 16, 0, tzinfo=UTC)),
        ({"created_at": "yesterday"}, NOW),
        ({}, NOW),
    ],
)
def test_a_messages_own_time_comes_before_the_callers(extra: dict[str, object], expected: datetime):
    assert read_turns([HumanMessage("x", id="m", additional_kwargs=extra)], at=NOW)[0].at == expected


def test_a_moment_that_nobody_knows_stays_unknown():
    assert read_turns([("user", "last night it rained")])[0].at is None


def test_something_else_is_refused_with_its_place():
    with pytest.raises(CallError, match="message 1 is a int"):
        read_turns([("user", "a"), 7])
    with pytest.raises(CallError, match="role 'wizard'"):
        read_turns([{"role": "wizard", "content": "x"}])


def test_a_removal_is_no_turn():
    assert read_turns([RemoveMessage(id="x")]) == []


def test_the_block_stands_just_before_the_users_last_message_and_nothing_is_changed():
    messages = [SystemMessage("be kind"), HumanMessage("a"), AIMessage("b"), HumanMessage("c"), AIMessage("", id="d")]
    before = list(messages)
    sent = inject(messages, "<recalled>")
    assert [m.text for m in sent] == ["be kind", "a", "b", "<recalled>", "c", ""]
    assert sent[3].id == RECOLLECTION_ID
    assert messages == before


def test_injecting_twice_leaves_one_block_and_an_empty_one_leaves_none():
    once = inject([HumanMessage("c", id="c")], "<old>")
    assert [m.text for m in inject(once, "<new>")] == ["<new>", "c"]
    assert [m.text for m in inject(once, "")] == ["c"]


def test_an_injected_recollection_is_never_read_as_a_turn():
    assert [turn.text for turn in read_turns(inject([HumanMessage("c", id="c")], "<old>"))] == ["c"]
