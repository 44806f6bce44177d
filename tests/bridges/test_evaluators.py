"""The evaluators, called by `langsmith.evaluate` itself, without network."""

from __future__ import annotations

import uuid
import warnings
from pathlib import Path

import pytest
from langsmith import evaluate
from langsmith.schemas import Example

from hindsight_langgraph.evaluators import forbidden_shown, recall_at, recall_target, tokens
from tests.bridges.conftest import connect
from tests.clock import NOON
from tests.langsmith_stand_in import serving
from tests.memory.opening import open_memory


def example(query: str, user: str, *, expected: list[str], forbidden: list[str]) -> Example:
    return Example(
        id=uuid.uuid4(), dataset_id=uuid.UUID(int=1), created_at=NOON, inputs={"query": query, "user_id": user},
        outputs={"expected": expected, "forbidden": forbidden},
    )  # fmt: skip


def test_evaluate_scores_recall_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with serving() as stand_in, open_memory(tmp_path) as memory:
        connect(monkeypatch, stand_in.url, tracing="false")
        memory.remember([("user", "I prefer window seats on trains.")], scope="u1")
        data = [
            example("Which seats do I prefer on trains?", "u1", expected=["window seats"], forbidden=["aisle"]),
            example("Which seats do I prefer on trains?", "u1", expected=["window", "balcony"], forbidden=["WINDOW"]),
            example("Which seats do I prefer on trains?", "u2", expected=["window seats"], forbidden=["window"]),
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # evaluating without uploading is in beta
            results = list(
                evaluate(
                    recall_target(memory), data=data, evaluators=[recall_at(5), forbidden_shown, tokens], upload_results=False
                )
            )
    scores = {
        str(row["example"].id): {result.key: result.score for result in row["evaluation_results"]["results"]} for row in results
    }
    found = [scores[str(one.id)] for one in data]
    assert [row["recall@5"] for row in found] == [1, 0.5, 0]
    assert [row["forbidden_shown"] for row in found] == [0, 1, 0]
    assert [bool(row["tokens"]) for row in found] == [True, True, False]


def test_where_nothing_is_expected_there_is_no_recall_to_score():
    assert recall_at(3)({"ranking": []}, {})["score"] is None
