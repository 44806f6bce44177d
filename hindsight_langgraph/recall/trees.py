"""Evaluate a small ensemble of regression trees with numpy alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.errors import StoreCorrupt

LEAF: Final = -1
"""Stands in `feature` where a node is a leaf."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TreeEnsemble:
    """Trees as arrays, each [trees, nodes]; node 0 is a root, and a row goes left when its feature is at most the threshold."""

    names: tuple[str, ...]
    """Names of the features, in the order of a row."""
    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float32]
    """What a node is worth: a leaf's output, or for an inner node the mean of the training rows that came by."""
    depth: int

    def predict(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """One score a row, [n]; rows are [n, features]."""
        return np.asarray(self._walk(rows).sum(axis=1), dtype=np.float32)

    def _walk(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        trees: NDArray[np.intp] = np.arange(self.feature.shape[0], dtype=np.intp)
        node = np.zeros((len(rows), len(trees)), dtype=np.int16)
        for _ in range(self.depth):
            feature = self.feature[trees, node]
            goes_left = np.take_along_axis(rows, np.maximum(feature, 0).astype(np.intp), axis=1) <= self.threshold[trees, node]
            step = np.where(goes_left, self.left[trees, node], self.right[trees, node])
            node = np.where(feature == LEAF, node, step)
        return self.value[trees, node]

    def contributions(self, row: NDArray[np.float32]) -> dict[str, float]:
        """What each feature added to one row's score: the changes of value along its paths (Saabas 2014), largest first."""
        told: dict[str, float] = {}
        for tree in range(self.feature.shape[0]):
            node = 0
            while (feature := int(self.feature[tree, node])) != LEAF:
                side = self.left if row[feature] <= self.threshold[tree, node] else self.right
                after = int(side[tree, node])
                name = self.names[feature]
                told[name] = told.get(name, 0.0) + float(self.value[tree, after] - self.value[tree, node])
                node = after
        return dict(sorted(told.items(), key=lambda pair: -abs(pair[1])))

    def save(self, path: Path, *, version: int) -> None:
        """Write the trees with the version of their features."""
        np.savez_compressed(
            path,
            version=version,
            names=np.array(self.names),
            feature=self.feature,
            threshold=self.threshold,
            left=self.left,
            right=self.right,
            value=self.value,
            depth=self.depth,
        )

    @classmethod
    def read(cls, path: Path, *, version: int) -> Self:
        """Read trees.

        Raises:
            StoreCorrupt: not trees, or trees over other features than this version computes.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                found = int(stored["version"])
                trees = cls(
                    names=tuple(stored["names"].tolist()),
                    depth=int(stored["depth"]),
                    **{name: stored[name] for name in ("feature", "threshold", "left", "right", "value")},
                )
        except (OSError, KeyError, ValueError) as error:
            raise StoreCorrupt(f"{path} is not a ranker: {error}; fit one again") from error
        if found != version:
            raise StoreCorrupt(f"{path} has version {found}, this library computes the features of {version}; fit it again")
        return trees
