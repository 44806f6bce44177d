"""Ids that follow from what a unit is, so that a retry, replay, resume or fork writes it once (SPEC B9)."""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Sequence
from typing import Final

_NAMESPACE: Final = uuid.UUID("6f2c2c3a-6d0b-5f0e-9b57-1f3f8b0f7a41")
"""Never change it: every stored id follows from it."""


def same_text(text: str) -> str:
    """The text without what a retry may change by accident: width, case, blanks, the punctuation at its end."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(" .!?。！？~…")


def unit_id(owner: str, *, sources: Sequence[str], content: str) -> str:
    """The id of a unit: the same owner, source turns and content give the same one, on every machine.

    Two owners never share an id, and two turns that say the same thing do not either: that they do is found by comparing.
    """
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join((owner, *sources, "", same_text(content)))))
