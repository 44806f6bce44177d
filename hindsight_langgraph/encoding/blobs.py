"""Take encoded bytes out of a text: a data URI or a long base64 run says nothing to a reader (SPEC A12, CASES O16)."""

from __future__ import annotations

import re
from typing import Final

_DATA_URI: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/=_-]*)", re.IGNORECASE)
_SHORTEST_RUN: Final = 160
_RUN: Final = re.compile(rf"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{{{_SHORTEST_RUN},}}={{0,2}}")


def without_blobs(text: str) -> str:
    """The text with each blob replaced by a note of its length, such as "[image/png, 5120 characters removed]"."""
    text = _DATA_URI.sub(lambda match: f"[{match[1]}, {len(match[2])} characters removed]", text)
    if len(text) < _SHORTEST_RUN:
        return text
    return _RUN.sub(lambda match: f"[{len(match[0])} characters removed]", text)
