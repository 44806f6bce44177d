"""Estimate the tokens of a text without a tokenizer's tables.

A byte-pair tokenizer of a present-day model spends about one token a Chinese character, a token for six Latin letters of a word,
for three digits, and for each other sign. The estimate errs upwards, so that a budget is kept; a real tokenizer can be plugged in.
"""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"[A-Za-z]{1,6}|[0-9]{1,3}|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"|(?P<letters>[^\W\d_]+)|[\x21-\x7e\u3000-\u303f\uff00-\uffef]|(?P<other>\S)"
)
"""Every match is a token; letters of other scripts are one for two of them, and any other sign is two."""
_PER_TOKEN = 2


def estimate_tokens(text: str) -> int:
    """About how many tokens a chat model reads `text` as; never less than 0."""
    pieces = _PIECE.findall(text)
    return len(pieces) + sum(
        -(-len(letters) // _PER_TOKEN) - 1 if letters else 1 for letters, other in pieces if letters or other
    )
