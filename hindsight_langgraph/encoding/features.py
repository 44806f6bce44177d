"""A turn as numbers, for the small heads: what its words do, and where an embedding is at hand, what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.encoding.cues import NAMES, cues, is_chinese
from hindsight_langgraph.encoding.split import weight
from hindsight_langgraph.records import Role, Turn

Vector = tuple[float, ...]
Features = NDArray[np.float64]

PREVIOUS_CUES: Final = ("question", "choice", "quantity")
"""What the turn before does that changes how this one reads."""
TURN_SCALE: Final = 4.0
PREVIOUS_SCALE: Final = 2.0
"""A unit vector has 384 small entries beside thirty flags of 0 and 1; measured best on the open dialogues."""
WORD_FEATURES: Final = (*NAMES, *(f"previous_{name}" for name in PREVIOUS_CUES), "length", "chinese")


def embedding_text(turn: Turn, *, text: str | None = None) -> str:
    """What of a turn is embedded for the heads: "role: text"."""
    return f"{turn.role}: {turn.text if text is None else text}"


def prompt_of(before: Sequence[Turn]) -> Turn | None:
    """The turn that the next one may answer: the one before, unless a user said that too."""
    return before[-1] if before and before[-1].role is not Role.USER else None


def word_features(text: str, previous: str) -> Features:
    """Flags for the cues of a text and of the turn before, and its length; one number per `WORD_FEATURES`."""
    own = cues(text)
    before: frozenset[str] = cues(previous) if previous else frozenset()
    length = min(weight(text) / 100.0, 3.0)
    flags = [float(name in own) for name in NAMES] + [float(name in before) for name in PREVIOUS_CUES]
    return np.array([*flags, length, float(is_chinese(text))])


def turn_features(words: Features, vector: Sequence[float], previous: Sequence[float] | None) -> Features:
    """Word features with the embedding of the turn and of the one before; zeros stand for a missing predecessor."""
    own = np.asarray(vector) * TURN_SCALE
    before = np.zeros_like(own) if previous is None else np.asarray(previous) * PREVIOUS_SCALE
    return np.concatenate([words, own, before])
