"""Puts the cosines of any embedding model on one scale."""

from __future__ import annotations

from typing import Final

from hindsight_langgraph.records import EmbeddingSpace

COSINE_FLOORS: Final = {"multilingual-e5-small-q4": 0.70}
"""Cosine of two unrelated texts, by model, where it is far from 0; e5 squeezes every pair into 0.7 to 1.0."""


def similarity(cosine: float, space: EmbeddingSpace) -> float:
    """A cosine on the scale that the thresholds of SPEC B and F mean: 0 for unrelated texts, 1 for equal ones."""
    floor = COSINE_FLOORS.get(space.model, 0.0)
    return max(0.0, (cosine - floor) / (1.0 - floor))
