"""Read from the words of a question and of a candidate whether the one could answer the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from hindsight_langgraph.recall.phrases import ASKED_FORMS, HOW_MANY, WHERE, WHICH, WHO
from hindsight_langgraph.recall.recollection import Cues, Question
from hindsight_langgraph.records import MemoryUnit

FULL_NAMES: Final = 3
"""So many names in a text make it as full of names as it gets."""

_TIME: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|this (?:week|month|year|morning|weekend)|ago|recently|since|weeks?|weekend|months?"
    r"|years?|days?|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|\d{4})\b|[昨今明前后]天|[上下这]个?(?:周|月|星期)|\d+[年月日号点]|[去今明]年"
)
_NUMBER: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|once|couple|dozen)\b|[一二三四五六七八九十两百]"
)
_NAME: Final = re.compile(r"(?<=[a-z,'] )[A-Z][a-z]+")
_SELF: Final = re.compile(r"\b(?:i|my|me|we|our)\b|我")
_STANDING: Final = re.compile(
    r"(?:^|[.!?;:,]\s+|\band\s+|\bplease\s+|\bto\s+)(?:always|never|don't ever|do not ever)\s+\w+|\bwhen(?:ever)? i ask\b|\bfrom now on\b"
    r"|\bevery time (?:i|you|we)\b|\bi (?:would |'d |do |really |always )?(?:prefer|rather)\b|\bmy preference\b|\bi(?:'d| would) like you to\b"
    r"|以后(?:都|就|请|别|不要)|从现在起|每次(?:都|我)|一律|务必|永远(?:不|别)|我(?:比较|更|还是)?(?:偏好|喜欢|倾向)|总是(?:用|要)"
)
_HINTS: Final = (
    "always", "never", "ever ", "i ask", "now on", "every time", "prefer", "rather", "preference", "like you to",
    "以后", "从现在起", "每次", "一律", "务必", "永远", "喜欢", "偏好", "倾向", "总是",
)  # fmt: skip
"""What every text that matches holds: looking for these first spares most texts the pattern."""


def answer_form(cues: Cues) -> Callable[[str], float]:
    """A function that tells how much of the form that the question asks for a text has, 0 to 1: a time, a number, or names.

    A question that asks for none of them is answered by any form, and the function gives 0.
    """
    if cues.question is Question.WHEN:
        return tells_time
    if HOW_MANY.search(cues.text):
        return tells_number
    if any(pattern.search(cues.text) for pattern in (WHO, WHERE, WHICH)):
        return tells_names
    return tells_anything


def tells_time(text: str) -> float:
    """1 for a text that tells a time, else 0."""
    return float(bool(_TIME.search(text.lower())))


def tells_number(text: str) -> float:
    """1 for a text that tells a number, else 0."""
    return float(bool(_NUMBER.search(text.lower())))


def tells_names(text: str) -> float:
    """How full of names a text is, 0 to 1."""
    return min(FULL_NAMES, len(_NAME.findall(text))) / FULL_NAMES


def tells_anything(text: str) -> float:  # noqa: ARG001 (any text will do)
    """0: where no form is asked for none is better than another."""
    return 0.0


def lacks_form(cues: Cues, text: str) -> bool:
    """Whether a question asks for an amount, a time, a day or a number, and a text has nothing that could be one."""
    wanted = [told for asked, told in ASKED_FORMS if asked.search(cues.text)]
    return bool(wanted) and not any(told.search(text) for told in wanted)


def speaks_of_self(text: str) -> bool:
    """Whether the speaker tells of themselves."""
    return bool(_SELF.search(text.lower()))


def answers_a_question(unit: MemoryUnit) -> bool:
    """Whether what was said just before asked something."""
    return "?" in unit.preceding or "？" in unit.preceding


def is_standing(text: str) -> bool:
    """Whether a text lays down a rule or a preference for times to come ("always ...", "when I ask ...", "I prefer ...").

    Such a unit bears on requests that share hardly a word with it.
    """
    lower = text.lower()
    return any(hint in lower for hint in _HINTS) and bool(_STANDING.search(lower))
