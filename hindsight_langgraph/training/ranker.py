"""Fit the ranker's trees (extra `train`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.errors import MissingExtra
from hindsight_langgraph.recall.ranker import FEATURES
from hindsight_langgraph.recall.trees import LEAF, TreeEnsemble

TREES: Final = 160
SETTINGS: Final[dict[str, Any]] = {
    "objective": "lambdarank",
    "learning_rate": 0.05,
    "num_leaves": 12,
    "min_child_samples": 40,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.6,
    "reg_lambda": 5.0,
    "lambdarank_truncation_level": 15,
    "random_state": 0,
    "n_jobs": 1,
    "verbose": -1,
}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Group:
    """The candidates of one question."""

    source: str
    """The corpus, and the user within it, that the question is from."""
    rows: NDArray[np.float32]
    """[candidates, features] by `recall.ranker.rows`."""
    wanted: NDArray[np.int8]
    """1 for a candidate that answers, 0 otherwise."""


def train_ranker(groups: Sequence[Group], *, trees: int = TREES) -> TreeEnsemble:
    """Fit on groups that hold at least one answer.

    Raises:
        MissingExtra: LightGBM is not installed.
    """
    told = [group for group in groups if group.wanted.any()]
    model = _ranker(trees).fit(
        np.vstack([group.rows for group in told]),
        np.concatenate([group.wanted for group in told]),
        group=[len(group.wanted) for group in told],
    )
    return ensemble(model.booster_.dump_model()["tree_info"])


def ensemble(trees: Sequence[dict[str, Any]]) -> TreeEnsemble:
    """LightGBM's dumped trees as arrays."""
    flat = [_flatten(tree["tree_structure"]) for tree in trees]
    size = max(len(nodes) for nodes in flat)

    def column(place: int, kind: type[np.generic]) -> NDArray[Any]:
        table = np.zeros((len(flat), size), dtype=kind)
        for i, nodes in enumerate(flat):
            table[i, : len(nodes)] = [node[place] for node in nodes]
        return table

    return TreeEnsemble(
        names=FEATURES,
        feature=column(0, np.int16),
        threshold=column(1, np.float32),
        left=column(2, np.int16),
        right=column(3, np.int16),
        value=column(4, np.float32),
        depth=max(_depth(tree["tree_structure"]) for tree in trees),
    )


Node = tuple[int, float, int, int, float]


def _flatten(root: dict[str, Any]) -> list[Node]:
    nodes: list[Node] = []

    def visit(node: dict[str, Any]) -> int:
        place = len(nodes)
        if "leaf_value" in node:
            nodes.append((LEAF, 0.0, 0, 0, node["leaf_value"]))
            return place
        nodes.append((0, 0.0, 0, 0, 0.0))
        left, right = visit(node["left_child"]), visit(node["right_child"])
        nodes[place] = (node["split_feature"], node["threshold"], left, right, node["internal_value"])
        return place

    visit(root)
    return nodes


def _depth(node: dict[str, Any]) -> int:
    return 0 if "leaf_value" in node else 1 + max(_depth(node["left_child"]), _depth(node["right_child"]))


def _ranker(trees: int) -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtra("training needs LightGBM: pip install 'langgraph-hindsight[train]'") from error
    return lightgbm.LGBMRanker(n_estimators=trees, **SETTINGS)
