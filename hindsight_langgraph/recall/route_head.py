"""Classify a query by region with a small trained head on its embedding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.recall import phrases
from hindsight_langgraph.records import Region

HEAD_VERSION: Final = 1
"""Goes up when the features change; a head of another version is not used."""
KEYWORD_SHARE, EMBEDDING_SHARE = 0.5, 3.0
"""How far keywords and embedding are stretched before the classifier, so that its penalty treats them alike."""
SHORT: Final = 12

_FIRST_PERSON = re.compile(r"\b(?:i|my|me|we|our|us)\b|我|咱", re.IGNORECASE)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


def keyword_features(text: str) -> NDArray[np.float32]:
    """Which signals of the rules a query carries, with four facts of its form; each 0 or 1, always in the same order."""
    patterns = [p for region in Region for p in phrases.REGIONS[region]]
    patterns += [phrases.PAST, phrases.HISTORY, *(pattern for _, pattern in phrases.QUESTIONS)]
    form = [len(text) < SHORT, "?" in text or "？" in text, bool(_CHINESE.search(text)), bool(_FIRST_PERSON.search(text))]
    return np.array([*(bool(p.search(text)) for p in patterns), *form], dtype=np.float32)


def features(text: str, vector: Sequence[float] | NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the classifier sees: the centred embedding, then the keywords."""
    centred = (np.asarray(vector, dtype=np.float32) - mean) * EMBEDDING_SHARE
    return np.concatenate([centred, keyword_features(text) * KEYWORD_SHARE])


@dataclass(frozen=True, kw_only=True, slots=True)
class LinearRouteHead:
    """A multinomial logistic classifier; `hindsight train-router` fits one for another embedding model."""

    name: str
    model: str
    """The embedding model whose query vectors it reads."""
    regions: tuple[Region, ...]
    mean: NDArray[np.float32]
    """Mean training embedding, [dimension]."""
    weights: NDArray[np.float32]
    """[regions, dimension + keywords]."""
    bias: NDArray[np.float32]

    def __call__(self, text: str, vector: Sequence[float] | None, /) -> dict[Region, float] | None:
        """Probabilities of the regions; None without a vector, or with one of another model's length."""
        if vector is None or len(vector) != len(self.mean):
            return None
        logits = self.weights @ features(text, vector, self.mean) + self.bias
        odds = np.exp(logits - logits.max())
        return {region: float(value) for region, value in zip(self.regions, odds / odds.sum(), strict=True)}

    def save(self, path: Path) -> None:
        """Write the head with its version."""
        np.savez_compressed(
            path,
            version=HEAD_VERSION,
            model=self.model,
            regions=np.array(self.regions),
            mean=self.mean.astype(np.float16),
            weights=self.weights.astype(np.float16),
            bias=self.bias,
        )


def read_head(path: Path) -> LinearRouteHead:
    """Read a head.

    Raises:
        StoreCorrupt: not a head, or one whose features this version does not compute.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            version = int(stored["version"])
            head = LinearRouteHead(
                name=f"head v{version}",
                model=str(stored["model"]),
                regions=tuple(Region(name) for name in stored["regions"].tolist()),
                mean=stored["mean"].astype(np.float32),
                weights=stored["weights"].astype(np.float32),
                bias=stored["bias"].astype(np.float32),
            )
    except (OSError, KeyError, ValueError) as error:
        raise StoreCorrupt(f"{path} is not a route head: {error}; fit one with `hindsight train-router`") from error
    if version != HEAD_VERSION:
        raise StoreCorrupt(f"{path} has version {version}, this library computes the features of {HEAD_VERSION}; fit it again")
    return head


def head_name(model: str) -> str:
    """The file name of the head of an embedding model."""
    return f"route_head.{re.sub(r'[^A-Za-z0-9.-]+', '-', model)}.npz"


def shipped_head(model: str, *, directory: Path | None = None) -> LinearRouteHead | None:
    """The user's own head for an embedding model, else the one that ships, else None: then the rules decide."""
    if directory is not None and (directory / head_name(model)).is_file():
        return read_head(directory / head_name(model))
    place = resources.files("hindsight_langgraph") / "data" / head_name(model)
    with resources.as_file(place) as path:
        return read_head(path) if path.exists() else None
