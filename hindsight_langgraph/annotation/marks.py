"""What two texts of one task have in common: names, numbers and words that say something (SPEC E2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, cast

from hindsight_langgraph.lexical import terms

_IDENTIFIER: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]++(?:[._/:@-]*+[A-Za-z]*+\d[\w.-]*|[_/@][\w./@-]+|(?:[.-][A-Za-z]\w*)+)")
_HOST: Final = re.compile(r"[a-z0-9-]*\d[a-z0-9-]*(?:\.[a-z0-9-]+)+")
"""A host is spoken of by its first label too."""
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")
_HAN_NUMBER: Final = re.compile(r"[零〇一二两三四五六七八九十百千万]+(?=[天日号点个人元块分秒周月年次条片成折倍%])")
_DIGITS: Final = {**{c: n for n, c in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
_SCALES: Final = {"十": 10, "百": 100, "千": 1_000}
_EMPTY_HAN: Final = frozenset("的了是在和吗呢吧就也都把被给我你他她它这那个们请帮")
_EMPTY_WORDS: Final = frozenset(
    ["user", "want", "need", "use", "get", "make", "do", "please", "new", "old", "one", "two", "first", "last", "now", "today", "work", "task", "thing", "way", "time", "keep", "like", "never", "alway", "before", "after", "everi", "any", "all", "more", "most", "other", "onli", "just", "also", "run", "go", "put", "let"]
)  # fmt: skip


@lru_cache(maxsize=4_096)
def marks(text: str) -> frozenset[str]:
    """Numbers and identifiers of a text: what is hardly shared by chance. Numbers in figures and in Chinese words are one."""
    found = {match.lower().strip("./:-") for match in _IDENTIFIER.findall(text)}
    found |= {name for full in found if _HOST.fullmatch(full) and (name := full.split(".", 1)[0])}
    found |= {match.replace(",", "") for match in _NUMBER.findall(text)}
    return frozenset(found | {str(_number(match)) for match in _HAN_NUMBER.findall(text)})


@lru_cache(maxsize=4_096)
def words(text: str) -> frozenset[str]:
    """Stems and Chinese bigrams of a text that say something."""
    return frozenset(term for term in terms(text.replace("_", " ")) if _says_something(term))


def shared(one: str, other: str) -> frozenset[str]:
    """Marks and words that both texts hold."""
    return (marks(one) & marks(other)) | (words(one) & words(other))


def clauses(text: str) -> list[str]:
    """The clauses of a text, split at punctuation."""
    return [part.strip() for part in re.split(r"[,，。.;；!！?？\n]+(?=\s|$|[^\d\w]|[\u4e00-\u9fff])", text) if part.strip()]


def _says_something(term: str) -> bool:
    if "\u4e00" <= term[0] <= "\u9fff":
        return not any(char in _EMPTY_HAN for char in term)
    return len(term) > 1 and term not in _EMPTY_WORDS and not term.isdigit()


def _number(word: str) -> int:
    total = part = digit = 0
    for char in word:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char == "万":
            total, part, digit = (total + part + digit) * 10_000, 0, 0
        else:
            part, digit = part + (digit or 1) * _SCALES[char], 0
    return total + part + digit


def values(arguments: str) -> Iterator[str]:
    """The values in a call's arguments, as texts; names of parameters say nothing of what was done."""
    try:
        stack: list[object] = [json.loads(arguments)]
    except ValueError:
        if arguments:
            yield arguments
        return
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(cast("dict[str, object]", value).values())
        elif isinstance(value, list):
            stack.extend(cast("list[object]", value))
        elif value is not None and not isinstance(value, bool):
            yield str(value)
