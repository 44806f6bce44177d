"""Short turns are completed from the turns before them."""

from __future__ import annotations

import pytest

from hindsight_langgraph.encoding.choices import options
from hindsight_langgraph.encoding.ellipsis import read
from hindsight_langgraph.records import Kind, Role, Turn


def conversation(*lines: str) -> list[Turn]:
    """Turns from "u: …" and "a: …"."""
    roles = {"u": Role.USER, "a": Role.ASSISTANT}
    return [Turn(id=f"t{i}", role=roles[line[0]], text=line[3:]) for i, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("lines", "chosen"),
    [
        (("a: Option one is a ferry. Option two is the night train.", "u: Go with the second one."), "the night train"),
        (
            ("a: We could paint it green, or leave the wood bare.", "u: Hm.", "a: Well?", "u: Never mind, the first one."),
            "paint it green",
        ),
        (("u: 有两个方案，头一个是租车，第二个是坐高铁", "a: 租车自由。", "u: 那就第二个吧"), "坐高铁"),
        (("a: 要么周五走，要么周六走", "u: 用头一个"), "周五走"),
    ],
)
def test_a_choice_says_what_was_chosen_and_names_both_turns(lines: tuple[str, ...], chosen: str) -> None:
    turns = conversation(*lines)
    reading = read(turns[-1], turns[:-1])
    assert chosen in reading.content
    assert reading.kind is Kind.DECISION
    assert reading.turn_ids == ("t0", turns[-1].id)


def test_a_bare_answer_quotes_its_question() -> None:
    turns = conversation("a: Right. Which port does it listen on?", "u: 7100.")
    assert read(turns[1], turns[:1]).content == "(Asked: Which port does it listen on?) 7100."


def test_a_chinese_answer_quotes_its_question() -> None:
    turns = conversation("a: 灾备那边呢？", "u: 只有三台")
    assert read(turns[1], turns[:1]).content == "（问：灾备那边呢？）只有三台"


def test_a_withdrawal_names_what_it_withdraws() -> None:
    turns = conversation("u: Let's move the office to the harbour next spring.", "a: Bold.", "u: Never mind.")
    reading = read(turns[2], turns[:2])
    assert "move the office to the harbour" in reading.content
    assert (reading.turn_ids, reading.withdraws) == (("t0", "t2"), True)


def test_what_is_to_be_forgotten_is_not_written_down_once_more() -> None:
    turns = conversation("u: The safe opens with 31 left, 12 right.", "a: Noted.", "u: Forget that.")
    assert "31" not in read(turns[2], turns[:2]).content


def test_a_turn_that_speaks_for_itself_stays_as_it_is() -> None:
    turns = conversation("a: Fine.", "u: The harbour office opens at nine.")
    assert read(turns[1], turns[:1]).content == "The harbour office opens at nine."


def test_an_ordinal_without_options_before_it_chooses_nothing() -> None:
    turns = conversation("a: Fine.", "u: That was the first one this year.")
    assert read(turns[1], turns[:1]).kind is None


def test_a_text_without_alternatives_has_no_options() -> None:
    assert options("The harbour office opens at nine.") == []
