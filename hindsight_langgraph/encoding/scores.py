"""Parse a score from 0 to 1 in whatever shape a chat model gives it (CASES O05)."""

from __future__ import annotations

import math
import re
from typing import Final, TypeVar

Default = TypeVar("Default", float, None)

_NUMBER: Final = r"[-+]?\d+(?:\.\d+)?"
_SCALED: Final = re.compile(rf"({_NUMBER})\s*(?:[%％]|(?:/|out of\b|of\b)\s*({_NUMBER}))?", re.IGNORECASE)
_NAME: Final = re.compile(r"\b(?:importance|score|rating|relevance|confidence)\b|重要性|重要度|评分|得分|分数", re.IGNORECASE)
_SAID: Final = re.compile(r"[:：=]\s*(?=[-+]?\d)")
"""What a score follows: a number between its name and this, such as its scale in brackets, is none."""
_WORDS: Final = {
    "critical": 0.95,
    "very high": 0.95,
    "high": 0.8,
    "important": 0.8,
    "medium": 0.5,
    "moderate": 0.5,
    "low": 0.2,
    "very low": 0.1,
    "none": 0.0,
    "很高": 0.95,
    "高": 0.8,
    "重要": 0.8,
    "中": 0.5,
    "中等": 0.5,
    "一般": 0.5,
    "低": 0.2,
    "很低": 0.1,
}


def parse_score(value: object, default: Default) -> float | Default:
    """The score of a value: 0.8, "0.8", "8/10", "85%", "importance: 0.7", "high".

    Finite, from 0 to 1, or `default`: nothing that is no score becomes 0, and a number from the prose round it is never taken. A
    number above 1 without its scale is clamped, one below 0 too. True and False are no scores.
    """
    if isinstance(value, bool):
        return default
    if isinstance(value, int):
        return float(min(1, max(0, value)))
    if isinstance(value, float):
        return min(1.0, max(0.0, value)) if math.isfinite(value) else default
    if not isinstance(value, str):
        return default
    read = _read(value.strip().rstrip(".。"))
    return default if read is None else min(1.0, max(0.0, read))


def _read(text: str) -> float | None:
    word = _WORDS.get(text.lower())
    if word is not None:
        return word
    names = list(_NAME.finditer(text))
    if names:
        said = _SAID.search(text, names[-1].end())
        behind = _SCALED.search(text, said.end() if said else names[-1].end())
        return _scaled(behind) if behind else _WORDS.get(text[names[-1].end() :].strip(" :：=is").lower())
    alone = _SCALED.fullmatch(text)
    return _scaled(alone) if alone else None


def _scaled(match: re.Match[str]) -> float | None:
    number = float(match[1])
    if match[2]:
        return number / float(match[2]) if float(match[2]) > 0 else None
    return number / 100 if match[0].endswith(("%", "％")) else number
