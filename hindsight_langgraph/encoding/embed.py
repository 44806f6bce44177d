"""Embed texts without letting one that fails cost the others (CASES O15, O16)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hindsight_langgraph.encoding.features import Vector
from hindsight_langgraph.encoding.split import clip
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.ops import Embed
from hindsight_langgraph.plan import Plan, ask, together

EMBED_WEIGHT: Final = 800
"""Most weight of an embedded text: under 512 tokens in both languages, for code and numbers too."""


def embed_texts(texts: Iterable[str]) -> Plan[dict[str, Vector]]:
    """Vectors by text. Blank texts are never sent, long ones are cut; a text that could not be embedded is missing."""
    wanted = list(dict.fromkeys(text for text in texts if text.strip()))
    if not wanted:
        return {}
    sent = [clip(text, EMBED_WEIGHT) for text in wanted]
    try:
        vectors = yield from ask(Embed(texts=tuple(sent), purpose="document"))
    except ModelError:
        if len(sent) == 1:
            return {}
    else:
        return dict(zip(wanted, vectors, strict=True))
    replies = yield from together(*(Embed(texts=(text,), purpose="document") for text in sent))
    return {text: reply[0] for text, reply in zip(wanted, replies, strict=True) if not isinstance(reply, Exception)}
