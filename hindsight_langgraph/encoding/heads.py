"""Small linear heads that judge turns and pairs of units; they ship as data and are trained by `training/heads.py`.

Heads belong to one embedding space. For any other space the heads over words alone are taken, which need none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.records import EmbeddingSpace

HEADS_VERSION: Final = 2
"""Goes up with the stored form or the features; heads of another version are refused."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LinearHead:
    """Logistic regression: one label gives a probability, several compete for it."""

    labels: tuple[str, ...]
    weights: NDArray[np.float64]
    """Shape (labels, features)."""
    bias: NDArray[np.float64]
    threshold: float = 0.5
    """From which probability a single label counts."""

    def probabilities(self, features: NDArray[np.float64]) -> dict[str, float]:
        """Probability of each label.

        Raises:
            ConfigError: `features` has another length than the head was trained on.
        """
        if features.shape != (self.weights.shape[1],):
            raise ConfigError(f"the head reads {self.weights.shape[1]} features and got {features.shape[0]}; train it anew")
        scores = self.weights @ features + self.bias
        if len(self.labels) == 1:
            odds = 1.0 / (1.0 + np.exp(-scores))
        else:
            odds = np.exp(scores - scores.max())
            odds /= odds.sum()
        return dict(zip(self.labels, odds.tolist(), strict=True))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Heads:
    """The heads of one embedding space; `space` None reads words only."""

    space: EmbeddingSpace | None
    gate: LinearHead
    """Is a turn worth remembering?"""
    kind: LinearHead
    """What kind of memory is it?"""
    update: LinearHead
    """Does a new unit replace an older one?"""
    dialogues: tuple[str, ...] = ()
    """Names of the labelled dialogues that they learnt from; nothing else may be measured on those."""
    words: Heads | None = None
    """Heads over words alone, for texts that could not be embedded; None when these are such heads."""

    def reading(self, vector: Sequence[float] | None) -> Heads:
        """The heads that can judge a text with this vector, or without one."""
        return self if vector is not None or self.words is None else self.words

    def to_json(self) -> str:
        """The stored form, weights rounded to four digits."""
        space = None if self.space is None else self.space.model_dump()
        heads = {name: _head_to_dict(getattr(self, name)) for name in ("gate", "kind", "update")}
        learnt = {"version": HEADS_VERSION, "space": space, "dialogues": self.dialogues, **heads}
        return json.dumps(learnt, separators=(",", ":"))


def read_heads(stored: str, *, name: str = "heads") -> Heads:
    """Heads from their stored form.

    Raises:
        ConfigError: not heads, or of another version.
    """
    try:
        document = json.loads(stored)
        version = document["version"]
        if version != HEADS_VERSION:
            raise ConfigError(f"{name} has version {version}, this library reads {HEADS_VERSION}; run `hindsight train-heads`")
        space = document["space"]
        return Heads(
            space=None if space is None else EmbeddingSpace.model_validate(space),
            dialogues=tuple(document.get("dialogues", ())),
            gate=_head_from_dict(document["gate"]),
            kind=_head_from_dict(document["kind"]),
            update=_head_from_dict(document["update"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{name} is not a heads file: {error}; run `hindsight train-heads`") from error


def heads_name(space: EmbeddingSpace | None) -> str:
    """The file name of the heads of a space."""
    if space is None:
        return "heads-words.json"
    return f"heads-{re.sub(r'[^a-z0-9]+', '-', space.model.lower()).strip('-')}-{space.dimension}.json"


@lru_cache(maxsize=8)
def load_heads(space: EmbeddingSpace | None, *, directory: Path | None = None) -> Heads:
    """The heads of a space: the user's own from `directory`, else those that ship, else the ones over words alone."""
    own = directory / heads_name(space) if directory else None
    if own is not None and own.is_file():
        return _complete(read_heads(own.read_text(encoding="utf-8"), name=str(own)))
    shipped = files("hindsight_langgraph") / "data" / heads_name(space)
    if shipped.is_file():
        return _complete(read_heads(shipped.read_text(encoding="utf-8"), name=heads_name(space)))
    return load_heads(None, directory=directory)


def _complete(heads: Heads) -> Heads:
    return heads if heads.space is None else replace(heads, words=load_heads(None))


def _head_to_dict(head: LinearHead) -> dict[str, Any]:
    return {
        "labels": list(head.labels),
        "threshold": round(head.threshold, 4),
        "bias": [round(float(value), 4) for value in head.bias],
        "weights": [[round(float(value), 4) for value in row] for row in head.weights],
    }


def _head_from_dict(stored: Mapping[str, Any]) -> LinearHead:
    return LinearHead(
        labels=tuple(str(label) for label in stored["labels"]),
        weights=np.array(stored["weights"], dtype=np.float64),
        bias=np.array(stored["bias"], dtype=np.float64),
        threshold=float(stored["threshold"]),
    )
