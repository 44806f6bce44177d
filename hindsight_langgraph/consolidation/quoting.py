"""Tells whether a text gives away what a memory says, so that what is forgotten does not live on in an echo of it (SPEC F7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import MemoryUnit

_TELLTALE: Final = re.compile(r"[\w.+-]+@[\w.-]+\w|(?<![\w.:-])(?:\d{4,}|[A-Za-z]{1,8}[-_]?\d[A-Za-z\d-]+)(?![\w:-])")
"""Addresses, codes and longer numbers: one of them gives a memory away, however it is put."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SENTENCE_END: Final = re.compile(r"[.!?。！？;；\n\"“”]+(?!\w)|\\n")
_MOST: Final = 0.75
_SHORT: Final = 3


def quotes(text: str, units: Iterable[MemoryUnit]) -> bool:
    """Whether one sentence of a text says what one of the units says: its words, its code or number, or its statement."""
    sentences = [(part, frozenset(terms(part))) for part in _SENTENCE_END.split(text) if part.strip()]
    telltales = _telltales(text)
    return any(_gives_away(unit, telltales, sentences) for unit in units)


def _gives_away(unit: MemoryUnit, telltales: frozenset[str], sentences: Sequence[tuple[str, frozenset[str]]]) -> bool:
    if telltales & _telltales(unit.content):
        return True
    said = _words(unit.content)
    least = len(said) if len(said) <= _SHORT else _MOST * len(said)
    return any((said and len(said & found) >= least) or _states(unit, found) for _, found in sentences)


def _states(unit: MemoryUnit, found: frozenset[str]) -> bool:
    """Whether the words hold the unit's value, and what it is the value of."""
    triple = unit.triple
    if triple is None:
        return False
    value, named = _words(triple.value), _words(f"{triple.subject} {triple.attribute.replace('_', ' ')}") - {"user"}
    return bool(value) and value <= found and bool(named & found)


@lru_cache(maxsize=1_024)
def _words(text: str) -> frozenset[str]:
    return frozenset(terms(text))


@lru_cache(maxsize=1_024)
def _telltales(text: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in _TELLTALE.finditer(text) if not _YEAR.fullmatch(match[0]))
