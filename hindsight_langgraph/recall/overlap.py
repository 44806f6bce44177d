"""Tell how much of a question's words the statements among the candidates hold, rare words counting more.

Index terms of Chinese are pairs of characters, and a pair seldom survives another wording (墙要刷什么色, 墙面改刷浅灰): here single
characters count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.recall.recollection import Cues
from hindsight_langgraph.records import MemoryUnit

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_FUNCTION: Final = frozenset("的了是我你他她它们这那么吗呢吧啊哪什怎多少几有在要和跟个一不现给到就也都还能会得")
"""Characters that name nothing by themselves."""


def shares(cues: Cues, held: Sequence[frozenset[str]]) -> list[float]:
    """The share of the question's words that each candidate holds, 0 to 1, by the pieces of each (`pieces_of`)."""
    asked, size = pieces(cues.text), sum(map(bool, held))
    rarity = {piece: _rarity(sum(piece in words for words in held), size) for piece in asked} if size else {}
    total = sum(rarity.values())
    return [sum(rarity[piece] for piece in asked & words) / total if total else 0.0 for words in held]


def pieces_of(unit: MemoryUnit) -> frozenset[str]:
    """What a statement holds; nothing for a turn kept whole, which is not weighed by it."""
    if unit.raw:
        return frozenset()
    triple = unit.triple
    stated = (triple.subject, triple.attribute.replace("_", " ")) if triple else ()
    return pieces(" ".join((unit.content, *unit.entities, *stated)))


def names_attribute(unit: MemoryUnit, topics: frozenset[str]) -> bool:
    """Whether the question has a word in common with the name of what a unit states of its subject."""
    return unit.triple is not None and not topics.isdisjoint(lexical.distinct_terms(unit.triple.attribute.replace("_", " ")))


def pieces(text: str) -> frozenset[str]:
    """Chinese characters that name something, and index terms of everything else."""
    characters = frozenset(_CHINESE.findall(text))
    others = lexical.distinct_terms(_CHINESE.sub(" ", text) if characters else text)
    return (characters - _FUNCTION) | others


def _rarity(holders: int, size: int) -> float:
    return math.log(1 + (size - holders + 0.5) / (holders + 0.5))
