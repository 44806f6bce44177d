"""What one text says, read once for comparing it with many others: its words, names, amounts, times and turns of phrase."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from hindsight_langgraph.encoding.cues import KEEP_IN_MIND, cues
from hindsight_langgraph.encoding.values import read_value
from hindsight_langgraph.encoding.wordings import ENDED, LABELLED, RESTATED, TOLD_APART
from hindsight_langgraph.lexical import distinct_terms, terms
from hindsight_langgraph.records import MemoryUnit

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*(?:e-?\d+)?")
_COUNT: Final = (
    r"(?:\d[\d.,:]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety)(?:-\w+)?|hundred|thousand)\b)"
)
_MEASURED: Final = re.compile(rf"{_COUNT}\s?(?:([a-z%€£$]+)(?: ([a-z]+))?|([\u4e00-\u9fff]{{1,2}}))", re.IGNORECASE)
_COUNTED: Final = re.compile(
    rf"(?:{_COUNT}|[一二两三四五六七八九十百千万]+)\s?(?:(?P<en>[a-z%€£$]+)|(?P<zh>[\u4e00-\u9fff]{{1,2}}))?", re.IGNORECASE
)
_HALF: Final = re.compile(r"半([片个斤杯包碗瓶袋勺天])")
_NAME: Final = re.compile(
    r"[A-Za-z]+[-_]?\d+|(?<![.!?:]\s)(?<!^)\b[A-Z][\w-]+|\b[A-Za-z][\w.-]*\b(?=[\u3400-\u9fff\s，。]*[\u3400-\u9fff])|“([^”]+)”|\"([^\"]+)\""
)
_WRITTEN_DAY: Final = re.compile(r" ?\(\d{4}(?:-\d\d){0,2}(?: \d\d:\d\d)?(?: to \d{4}-\d\d-\d\d)?\)")
"""A date that was written after a relative time: nobody said it."""
_FRAME: Final = re.compile(r"（问：|\(Asked: |选的是：|（选项：|Chosen: |\(options: |（指：|\(about: ")
"""The words in which what a short turn left out is quoted: nobody said them either."""
_CODE: Final = re.compile(r"\b[A-Za-z]{1,8}[-_]?\d{1,6}\b")
_WHEN: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}(?::\d\d| ?[ap]\.?m\b)|\bnoon\b|\bmidnight\b|"
    r"\b(?:jan|febr)uary\b|\b(?:march|april|may|june|july|august)\b|\b(?:septem|octo|novem|decem)ber\b|"
    r"(?:周|星期|礼拜)[一二三四五六日天]|[一二三四五六七八九十\d]+(?:点半?|月|号)",
    re.IGNORECASE,
)
"""Days of the week, times of day, dates."""

_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_LIGHT_HAN: Final = frozenset(
    "的了啊就都也是在我你您他她它们吧呢哦请给用和跟与把被这那要不没有无个一二两三四五六七八九十还又再上下来去到说好人天年月日号点很太过得着里家们改换成现今明后前以后"
)
"""Characters that tell nothing of what a text is about."""


class Facts(NamedTuple):
    """What the comparison needs of one text, read once."""

    words: frozenset[str]
    signs: frozenset[str]
    """Chinese characters that tell something."""
    cues: frozenset[str]
    numbers: frozenset[str]
    measures: frozenset[str]
    values: frozenset[str]
    """Numbers and names as they are said."""
    names: frozenset[str]
    """Names as they are said, and the things that they mean."""
    codes: frozenset[str]
    amounts: Mapping[str, frozenset[Fraction]]
    """Numbers by what they count: the scale of their unit, the word before or behind them."""
    times: frozenset[str]
    ended: bool
    """Whether it says that something is over."""
    restated: bool
    told_apart: bool


def facts_of(unit: MemoryUnit) -> Facts:
    """What a unit says; what was only filled in around it counts as unsaid."""
    return _read(_FRAME.sub(" ", _WRITTEN_DAY.sub("", unit.content)), unit.source_text or unit.content, unit.entities)


@lru_cache(maxsize=4_096)
def _read(text: str, said: str, entities: tuple[str, ...]) -> Facts:
    return Facts(
        words=distinct_terms(text),
        signs=frozenset(_HAN.findall(text)) - _LIGHT_HAN,
        cues=cues(KEEP_IN_MIND.sub("", said)),
        numbers=frozenset(_NUMBER.findall(text)),
        measures=frozenset(term for found in _MEASURED.findall(text) for term in terms(" ".join(found))),
        values=frozenset(_NUMBER.findall(said)) | _names(said),
        names=_names(text) | frozenset(entities),
        codes=frozenset(code.lower() for code in _CODE.findall(text)),
        amounts=_amounts(said),
        times=frozenset(match[0].casefold().removesuffix("s") for match in _WHEN.finditer(said)),
        ended=bool(ENDED.search(said)),
        restated=bool(RESTATED.search(said)),
        told_apart=bool(TOLD_APART.search(said)),
    )


def _amounts(said: str) -> Mapping[str, frozenset[Fraction]]:
    found: defaultdict[str, set[Fraction]] = defaultdict(set)
    for match in _HALF.finditer(said):
        found[match[1]].add(Fraction(1, 2))
    for match in _COUNTED.finditer(said):
        for number, scale in read_value(match[0]).amounts:
            label = scale or _measure_word(match["zh"] or "") or (match["en"] or "").casefold().removesuffix("s")
            if label or number != 1:  # "one" is a pronoun as often as a number
                found[label].add(number)
    for match in LABELLED.finditer(said):
        found[match[1].casefold()].add(Fraction(match[2]))
    return {label: frozenset(numbers) for label, numbers in found.items()}


def _measure_word(after: str) -> str:
    """What a Chinese number counts: its measure word, or the noun where that is the common one of anything."""
    word = after[1:] if after.startswith("个") else after[:1]
    return "" if word in _LIGHT_HAN else word


def _names(text: str) -> frozenset[str]:
    return frozenset(match.group().strip("“”\"'").lower() for match in _NAME.finditer(text))


def is_restated(unit: MemoryUnit) -> bool:
    """Whether its words say that it only repeats what held before ("still", "as always", "照旧")."""
    return facts_of(unit).restated
