"""The learned ranker, read without its library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.recall.channels import Candidate
from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.ranker import FEATURES, RANKER_VERSION, Ranker, read_ranker, rows
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.recall.trees import LEAF, TreeEnsemble
from tests.recall.stores import NOW, unit

CUES = read_cues(Query(text="Which port?"), now=NOW)


def stump(feature: str, threshold: float = 0.5) -> TreeEnsemble:
    """One tree: 1 above the threshold, -1 at or below it."""
    return TreeEnsemble(
        names=FEATURES,
        feature=np.array([[FEATURES.index(feature), LEAF, LEAF]], dtype=np.int16),
        threshold=np.array([[threshold, 0, 0]], dtype=np.float32),
        left=np.array([[1, 0, 0]], dtype=np.int16),
        right=np.array([[2, 0, 0]], dtype=np.int16),
        value=np.array([[0.25, -1.0, 1.0]], dtype=np.float32),
        depth=1,
    )


def scored(id_: str, score: float, **terms: float) -> Scored:
    return Scored(candidate=Candidate(unit=unit(id_, "x"), channels={}), terms=dict(terms), score=score)


def test_the_trees_say_what_the_library_that_grew_them_says() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    from hindsight_langgraph.training.ranker import ensemble

    rng = np.random.default_rng(0)
    table = rng.normal(size=(600, len(FEATURES))).astype(np.float32)
    wanted = (table[:, 0] + table[:, 3] > 1).astype(int)
    model = lightgbm.LGBMRanker(n_estimators=20, num_leaves=7, verbose=-1, n_jobs=1, random_state=0).fit(
        table, wanted, group=[20] * 30
    )
    trees = ensemble(model.booster_.dump_model()["tree_info"])
    np.testing.assert_allclose(trees.predict(table), model.predict(table), rtol=1e-4, atol=1e-5)


def test_what_the_features_added_sums_to_the_score() -> None:
    trees = stump("entity")
    row = rows([scored("a", 0.1, entity=1.0)], CUES)[0]
    assert trees.contributions(row) == {"entity": pytest.approx(0.75)}


def test_the_ranker_lifts_what_its_trees_prefer_and_says_by_how_much() -> None:
    found = Ranker(trees=stump("entity")).rerank(
        [scored("a", 0.30, entity=0.0), scored("b", 0.29, entity=1.0), scored("c", 0.1)], CUES
    )
    assert [s.unit.id for s in found] == ["b", "a", "c"]
    assert (found[0].terms["ranker"], found[0].terms["linear"]) == (1.0, 0.29)


def test_the_ranker_keeps_the_range_of_the_weighted_sum() -> None:
    found = Ranker(trees=stump("entity")).rerank([scored("a", 0.30, entity=1.0), scored("b", 0.1)], CUES)
    assert [s.score for s in found] == pytest.approx([0.30, 0.1])


def test_one_candidate_needs_no_ranking() -> None:
    assert Ranker(trees=stump("entity")).rerank([scored("a", 0.3)], CUES)[0].score == 0.3


def test_a_ranker_survives_being_saved(tmp_path: Path) -> None:
    trees, row = stump("dense"), rows([scored("a", 0.3, dense=0.9)], CUES)
    trees.save(tmp_path / "r.npz", version=RANKER_VERSION)
    assert read_ranker(tmp_path / "r.npz").trees.predict(row) == trees.predict(row)


def test_a_ranker_over_other_features_is_refused(tmp_path: Path) -> None:
    stump("dense").save(tmp_path / "r.npz", version=RANKER_VERSION + 1)
    with pytest.raises(StoreCorrupt, match="fit it again"):
        read_ranker(tmp_path / "r.npz")
