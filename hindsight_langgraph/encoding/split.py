"""Split a text at sentence ends, and where its topic shifts (SPEC B2).

Every cut is lossless: the parts of a text, joined, are the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import Turn

SEGMENT_CHARS: Final = 600
"""A turn up to this length is judged whole; a longer one by its segments. Chinese characters count threefold."""
WEIGHT_CJK: Final = 3
SHIFT: Final = 0.02
"""Neighbouring sentences that share less than this part of their words belong to two topics."""

_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s)\s*|[。！？；]+[”’」』）)]*\s*|\n+\s*")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[A-Za-z]|mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|no|fig)\.\s*$", re.IGNORECASE)
_SOFT_END = re.compile(r"[,;:，、：]\s*|\s+")

Similarity = Callable[[str, str], float]


def sentences(text: str) -> list[str]:
    """The sentences of a text with the blanks that follow them; a decimal point or an abbreviation ends none."""
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if match.group().startswith(".") and _ABBREVIATION.search(text[start : match.end()]):
            continue
        found.append(text[start : match.end()])
        start = match.end()
    if start < len(text):
        found.append(text[start:])
    return found


def weight(text: str) -> int:
    """Length of a text for the limits of models: a Chinese character weighs about as much as three letters."""
    if text.isascii():
        return len(text)
    return sum(WEIGHT_CJK if char >= "\u2e80" else 1 for char in text)


def shared_words(one: str, other: str) -> float:
    """Part of the words of the shorter text that the other one has too, from 0 to 1."""
    left, right = set(terms(one)), set(terms(other))
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def segments(text: str, *, limit: int = SEGMENT_CHARS, similarity: Similarity = shared_words) -> list[str]:
    """Neighbouring sentences of one topic together, each segment at most `limit` heavy.

    Args:
        text: any text; one that weighs no more than `limit` is one segment.
        limit: most weight of a segment (see `weight`).
        similarity: of two neighbouring sentences, from 0 to 1; under `SHIFT` the topic shifts.
    """
    if weight(text) <= limit:
        return [text] if text else []
    found: list[str] = []
    last = ""
    for part in (piece for sentence in sentences(text) for piece in _hard_cut(sentence, limit)):
        fits = bool(found) and weight(found[-1]) + weight(part) <= limit
        if fits and (weight(found[-1]) < limit // 4 or similarity(last, part) >= SHIFT):
            found[-1] += part
        else:
            found.append(part)
        last = part
    return found


def pieces(turn: Turn, *, limit: int) -> list[Turn]:
    """A long turn as several of at most `limit` characters each, every one with its speaker, its moment and its id (CASES O08, O16)."""
    if len(turn.text) <= limit:
        return [turn]
    texts: list[str] = []
    for part in (piece for sentence in sentences(turn.text) for piece in _hard_cut(sentence, limit)):
        if texts and len(texts[-1]) + len(part) <= limit:
            texts[-1] += part
        else:
            texts.append(part)
    return [turn.model_copy(update={"text": text}) for text in texts]


def clip(text: str, limit: int) -> str:
    """The beginning of a text, at most `limit` heavy; the cut is visible."""
    if weight(text) <= limit:
        return text
    mark = weight("…")
    if limit < mark:
        return ""
    kept, left = 0, limit - mark
    for char in text:
        left -= weight(char)
        if left < 0:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def _hard_cut(sentence: str, limit: int) -> Sequence[str]:
    """A sentence in parts of at most `limit` weight, cut at a comma or blank where one is near."""
    if weight(sentence) <= limit:
        return [sentence]
    size = limit if sentence.isascii() else max(1, limit // WEIGHT_CJK)
    parts: list[str] = []
    rest = sentence
    while len(rest) > size:
        ends = [match.end() for match in _SOFT_END.finditer(rest, size // 2, size)]
        cut = ends[-1] if ends else size
        parts.append(rest[:cut])
        rest = rest[cut:]
    return [*parts, rest] if rest else parts
