"""Tells a text that only repeats an earlier one from one that says something new (SPEC F2).

Embeddings cannot: "stick to pytest" and "switch to pytest" are as close as can be. What tells a repeat is that it says so itself
("as always", "照旧") of something that the earlier text names too, or that one of its sentences says nothing which that text lacks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from hindsight_langgraph.consolidation.values import Reading, read_value
from hindsight_langgraph.encoding.cues import cues
from hindsight_langgraph.encoding.updates import restated_clauses
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import Kind, MemoryUnit

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？\n])\s*")
_POLITE: Final = frozenset(terms("please thanks thank ok okay yes again still as ever always before and also just really"))
_NEWS: Final = frozenset({"decision", "correction"})
"""Cues of a text that also says something new."""
_SAYING: Final = 3
"""Terms that a sentence must have to say something."""
_STEM: Final = 4


def repeats(newer: MemoryUnit, older: MemoryUnit) -> bool:
    """Whether the newer text only says again what the older one said."""
    said, before = _said(newer), _said(older)
    if "forget" in cues(said) or not set(_NUMBER.findall(said)) <= set(_NUMBER.findall(before)):
        return False
    if newer.kind is Kind.DECISION and older.kind is not Kind.DECISION:
        return False  # who chooses among options names them again
    return _says_so(said, before) or (_is_wish(newer) and _is_wish(older) and _is_covered(said, before))


def _says_so(said: str, before: str) -> bool:
    stated = [sentence for sentence in _SENTENCE_END.split(said) if not sentence.rstrip().endswith(("?", "？"))]
    clauses = [clause for sentence in stated for clause in _restated(sentence)]
    if _NEWS & cues(_without(" ".join(stated), clauses)):
        return False
    old = read_value(before)
    named = set(terms(before)) - _POLITE
    return any(named & set(terms(clause)) for clause in clauses) and not any(_conflict(read_value(c), old) for c in clauses)


def _is_covered(said: str, before: str) -> bool:
    """Whether a sentence of one text has no word that the other lacks, and the same polarity."""
    words = _stems(before)
    for sentence in _SENTENCE_END.split(said):
        found = _stems(sentence)
        if len(found) >= _SAYING and all(_has(words, word) for word in found):
            return bool(read_value(sentence).negated) == bool(read_value(before).negated)
    return False


def _restated(sentence: str) -> list[str]:
    """Its clauses that repeat; the sentence itself where such a clause says nothing more ("…, as always")."""
    clauses = restated_clauses(sentence)
    telling = [clause for clause in clauses if set(terms(clause)) - _POLITE]
    return telling if telling or not clauses else [sentence]


def _without(text: str, clauses: Sequence[str]) -> str:
    for clause in clauses:
        text = text.replace(clause, "")
    return text


def _conflict(one: Reading, other: Reading) -> bool:
    """Whether one denies what the other says."""
    return bool(one.negated & other.words or other.negated & one.words)


def _is_wish(unit: MemoryUnit) -> bool:
    return bool({"preference", "instruction"} & cues(_said(unit))) or unit.kind is Kind.PREFERENCE


def _said(unit: MemoryUnit) -> str:
    return unit.source_text or unit.content


@lru_cache(maxsize=4_096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - _POLITE


def _has(words: frozenset[str], word: str) -> bool:
    """Whether a stem is among others: "quot" is "quotat"."""
    return word in words or (
        len(word) >= _STEM and any(other.startswith(word) or (len(other) >= _STEM and word.startswith(other)) for other in words)
    )
