"""What users' words say of the work, in both languages."""

from __future__ import annotations

import pytest

from hindsight_langgraph.annotation.signals import Signal, overruled, praised, signal_of


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, that works!", "Perfect.", "No problem, looks good to me.", "Yes, that's it.", "Great job", "Not bad at all, thank you",
        "谢谢，搞定了", "没问题，就这样", "好的，辛苦了", "不错", "对，就是这个", "太好了！",
    ],
)  # fmt: skip
def test_acceptance_is_read(text: str):
    assert signal_of(text) is Signal.ACCEPT


@pytest.mark.parametrize(
    "text",
    [
        "No, it should be 14:00.", "That's wrong.", "Not that one, the blue file.", "It still doesn't start.", "You forgot the attachment.",
        "I told you before: no attachments!", "This isn't what I asked for.", "The total is wrong, it should be 40.",
        "不对，应该是周四。", "不是这个，是上一版", "你弄错了", "还是不行", "怎么又发错人了？", "说过多少次了，要抄送财务",
    ],
)  # fmt: skip
def test_a_correction_is_read(text: str):
    assert signal_of(text) is Signal.CORRECT


@pytest.mark.parametrize(
    "text", ["Could you make the letters bigger?", "Use the blue one instead, please.", "换成绿色吧", "标题再短一点"]
)
def test_a_wish_for_otherwise_is_no_correction(text: str):
    assert signal_of(text) is Signal.CHANGE


@pytest.mark.parametrize("text", ["Never mind, I'll do it myself.", "Forget it.", "算了，我自己来", "不用了，先不弄了"])
def test_giving_up_is_read(text: str):
    assert signal_of(text) is Signal.ABANDON


@pytest.mark.parametrize("text", ["What time is it in Oslo?", "The file is called plan.txt", "明天几点开会？", "文件在桌面上"])
def test_other_words_say_nothing_of_the_work(text: str):
    assert signal_of(text) is Signal.NONE


def test_thanks_with_a_but_are_a_correction():
    assert signal_of("Thanks, but the date is wrong.") is Signal.CORRECT


def test_praise_and_refusal_of_one_message_are_told_apart():
    said = "The host was retired last month. The wording was perfect."
    assert overruled(said) == "The host was retired last month"
    assert praised(said) == "The wording was perfect"
