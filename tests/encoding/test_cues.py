"""Questions are told from statements, with and without their mark."""

from __future__ import annotations

import pytest

from hindsight_langgraph.encoding.cues import is_question, is_retraction


@pytest.mark.parametrize(
    "text", ["Where do I live?", "When is the meeting", "Which seats do I prefer", "Can we use Go", "我喜欢喝什么", "在吗？"]
)
def test_a_question_is_known_even_without_its_mark(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    ["When the pump stalls, restart it.", "What I like is tea.", "How I do invoices: first total the slips.", "我什么都吃。"],
)
def test_a_statement_that_begins_or_sounds_like_a_question_is_none(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize("text", ["Forget what I said about the boat.", "Please delete that.", "那条你删掉吧", "忘了吧，是谣言"])
def test_what_takes_something_back_is_known(text: str) -> None:
    assert is_retraction(text)


@pytest.mark.parametrize("text", ["Don't forget to lock the shed.", "I'll never forget that summer.", "别忘了锁门"])
def test_a_reminder_takes_nothing_back(text: str) -> None:
    assert not is_retraction(text)
