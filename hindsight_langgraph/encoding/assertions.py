"""The triples that a text asserts, in either language."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hindsight_langgraph.encoding.attributes import canonical
from hindsight_langgraph.encoding.cues import is_chinese
from hindsight_langgraph.encoding.split import sentences
from hindsight_langgraph.encoding.triples import english_triples
from hindsight_langgraph.encoding.triples_zh import chinese_triples
from hindsight_langgraph.records import Triple

_NOT_ASSERTED: Final = re.compile(
    r"\bif (?:i|we|he|she|they|you)\b|\b(?:wish|would|might|could|imagine|suppose|pretend)\b|如果|要是|假如|希望|假设|万一",
    re.IGNORECASE,
)


@lru_cache(maxsize=2_048)
def triples(text: str) -> tuple[tuple[str, Triple], ...]:
    """The triples that a text asserts, each with its sentence; questions, wishes and conditions assert none."""
    found: list[tuple[str, Triple]] = []
    for sentence in sentences(text):
        if sentence.rstrip().endswith(("?", "？")) or _NOT_ASSERTED.search(sentence):
            continue
        read_off = chinese_triples(sentence) if is_chinese(sentence) else english_triples(sentence)
        found.extend((sentence.strip(), canonical(triple)) for triple in read_off)
    return tuple(found)
