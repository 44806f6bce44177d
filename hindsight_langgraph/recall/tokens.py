"""Estimate the tokens of a text without a tokenizer's tables.

A byte-pair tokenizer of a present-day model spends about one token a Chinese character, a token for six Latin letters of a word,
for three digits, and for each other sign. The estimate errs upwards, so that a budget is kept; a real tokenizer can be plugged in.
"""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"(?P<latin>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<cjk>[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])"
    r"|(?P<letters>[^\W\d_]+)|(?P<sign>[\x21-\x7e\u3000-\u303f\uff00-\uffef])|(?P<other>\S)"
)
_CHARS_PER_TOKEN = {"latin": 6, "digits": 3, "letters": 2}


def estimate_tokens(text: str) -> int:
    """About how many tokens a chat model reads `text` as; never less than 0."""
    total = 0
    for match in _PIECE.finditer(text):
        group = match.lastgroup or "other"
        size = _CHARS_PER_TOKEN.get(group)
        total += -(-len(match[0]) // size) if size else 1 + (group == "other")
    return total
