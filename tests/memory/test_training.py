"""Learning to search for what helped: an adapter of the query, checked before it is used (SPEC E6)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hindsight_langgraph.annotation.examples import Example
from hindsight_langgraph.cli import app
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.errors import CallError, ConfigError
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.query_adapter import AdapterShelf, QueryAdapter
from hindsight_langgraph.recall.recollection import Dropped, Item, Recollection
from hindsight_langgraph.records import EmbeddingSpace
from hindsight_langgraph.training.adapter import LEAST_EXAMPLES, Contrast, export_triplets, fit_adapter, reciprocal_rank
from tests.memory.opening import open_memory

SPACE = EmbeddingSpace(model="made-up", dimension=8)


def unit(vector: Any) -> Any:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def contrasts(count: int, *, learnable: bool) -> list[Contrast]:
    """Queries whose positive lies where a fixed rotation of the query points, or anywhere at all."""
    rng = np.random.default_rng(7)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    made = []
    for i in range(count):
        query = unit(rng.normal(size=8))
        positive = unit(turn @ query if learnable else rng.normal(size=8))
        made.append(
            Contrast(query=query, candidates=np.stack([positive, *(unit(rng.normal(size=8)) for _ in range(9))]), group=str(i))
        )
    return made


def test_what_can_be_learnt_is_learnt_for_queries_that_were_not_seen():
    fit = fit_adapter(contrasts(200, learnable=True), space=SPACE)
    assert fit.helps
    assert fit.after > fit.before + 0.2


def test_what_cannot_be_learnt_is_refused_and_the_embedding_stays_as_it_is():
    fit = fit_adapter(contrasts(60, learnable=False), space=SPACE)
    unseen = contrasts(400, learnable=False)[200:]
    assert (
        not fit.helps
        or reciprocal_rank(fit.adapter.matrix, unseen) < reciprocal_rank(np.zeros((8, 8), dtype=np.float32), unseen) + 0.05
    )


def test_too_few_examples_are_an_error_that_says_how_many_are_needed():
    with pytest.raises(CallError, match=str(LEAST_EXAMPLES)):
        fit_adapter(contrasts(LEAST_EXAMPLES - 1, learnable=True), space=SPACE)


def test_an_adapted_query_has_unit_length_and_a_zero_adapter_changes_nothing():
    query = unit(np.arange(1, 9, dtype=np.float32))
    nothing = QueryAdapter(space=SPACE, matrix=np.zeros((8, 8), dtype=np.float32))
    assert nothing.apply(query.tolist()) == pytest.approx(query.tolist())
    moved = QueryAdapter(space=SPACE, matrix=np.ones((8, 8), dtype=np.float32)).apply(query.tolist())
    assert np.linalg.norm(moved) == pytest.approx(1.0)


def test_versions_are_kept_and_going_back_ends_at_none(tmp_path: Path):
    shelf = AdapterShelf(tmp_path / "adapters")
    first, second = (QueryAdapter(space=SPACE, matrix=np.full((8, 8), x, dtype=np.float32)) for x in (0.5, 0.25))
    assert (shelf.load(SPACE), shelf.add(first), shelf.add(second)) == (None, 1, 2)
    loaded = shelf.load(SPACE)
    assert loaded is not None
    assert loaded.matrix[0, 0] == 0.25
    assert (shelf.back(), shelf.back(), shelf.back()) == (1, None, None)
    assert shelf.numbers == [1, 2]


def test_an_adapter_of_another_embedding_model_is_not_used(tmp_path: Path):
    shelf = AdapterShelf(tmp_path)
    shelf.add(QueryAdapter(space=SPACE, matrix=np.zeros((8, 8), dtype=np.float32)))
    assert shelf.load(EmbeddingSpace(model="another", dimension=8)) is None


def test_a_damaged_adapter_is_an_error_that_says_what_to_run(tmp_path: Path):
    shelf = AdapterShelf(tmp_path)
    shelf.add(QueryAdapter(space=SPACE, matrix=np.zeros((8, 8), dtype=np.float32)))
    (tmp_path / "adapter-1.npz").write_bytes(b"nonsense")
    with pytest.raises(ConfigError, match="hindsight train --back"):
        shelf.load(SPACE)


def test_triplets_are_what_sentence_transformers_reads():
    example = Example(query="q", positive="p", hard_negatives=("h",), random_negatives=("r",))
    assert [json.loads(line) for line in export_triplets([example])] == [
        {"anchor": "q", "positive": "p", "negative": "h"}, {"anchor": "q", "positive": "p", "negative": "r"},
    ]  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        yield opened


def examples(*, scope: str) -> list[Example]:
    """Questions in words that their answers do not share."""
    pairs = [("fever", "thermometer"), ("hunger", "kitchen"), ("rain", "umbrella"), ("dark", "lantern")]
    return [
        Example(
            query=f"What helps against {trouble} on day {i}?", positive=f"Take the {help_}.", case=str(i),
            hard_negatives=tuple(f"Against {trouble} nothing was done on day {i}." for _ in range(2)),
            random_negatives=tuple(f"Take the {other}." for _, other in pairs if other != help_),
        )
        for i in range(60) for trouble, help_ in pairs[i % 4 : i % 4 + 1]
    ]  # fmt: skip


def test_what_was_learnt_is_used_at_once_and_after_reopening_and_can_be_undone(
    memory: HindsightMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(memory, "training_set", examples)
    trained = memory.train(scopes=["u1"])
    assert trained.version == 1
    assert trained.after > trained.before
    assert memory._settings.recalling.adapter is not None
    memory.close()
    with open_memory(tmp_path) as again:
        assert again._settings.recalling.adapter is not None
        assert again.untrain() is None
        assert again._settings.recalling.adapter is None


def told(found: Recollection, term: str) -> dict[str, float]:
    """A term of every candidate by its text."""
    candidates: list[Item | Dropped] = [*found.items, *found.dropped]
    return {candidate.unit.content: candidate.terms[term] for candidate in candidates}


def turned_round(memory: HindsightMemory) -> HindsightMemory:
    """The memory with an adapter that finds what is least like the question."""
    memory._shelves.adapters.add(QueryAdapter(space=memory.space, matrix=-2 * np.eye(memory.space.dimension, dtype=np.float32)))
    memory._use_learned()
    return memory


def test_an_adapter_is_asked_beside_the_embedding_as_it_is(memory: HindsightMemory):
    memory.remember([("user", "I prefer green tea."), ("user", "I prefer trains to planes.")], scope="u1")
    plain = memory.recall("What tea do I prefer?", scope="u1")
    turned = turned_round(memory).recall("What tea do I prefer?", scope="u1")
    assert set(told(plain, "adapted").values()) == {0.0}
    assert told(turned, "adapted") == {"I prefer green tea.": pytest.approx(0.869, abs=1e-3), "I prefer trains to planes.": 1.0}
    assert told(turned, "cosine") == pytest.approx(told(plain, "cosine"))


def test_a_preset_with_one_likeness_takes_the_adapted_one(tmp_path: Path):
    with open_memory(tmp_path, recall=RecallConfig(preset="balanced")) as memory:
        memory.remember([("user", "I prefer green tea."), ("user", "I prefer trains to planes.")], scope="u1")
        plain = told(memory.recall("What tea do I prefer?", scope="u1"), "cosine")
        turned = told(turned_round(memory).recall("What tea do I prefer?", scope="u1"), "cosine")
    assert turned == pytest.approx({text: -cosine for text, cosine in plain.items()})


def test_an_adapter_changes_no_stored_vector(memory: HindsightMemory):
    memory.remember([("user", "I prefer green tea.")], scope="u1")
    before = list(memory.export_lines(scope="u1"))
    turned_round(memory).recall("What do I prefer to drink?", scope="u1")
    assert [json.loads(line).get("dense") for line in memory.export_lines(scope="u1")] == [
        json.loads(line).get("dense") for line in before
    ]


def test_the_awaiting_twins_say_the_same(memory: HindsightMemory):
    async def run() -> None:
        with pytest.raises(CallError, match="too few"):
            await memory.atrain(scopes=["u1"])
        assert await memory.auntrain() is None

    asyncio.run(run())


def test_the_command_says_that_there_is_too_little_to_learn_from_exports_and_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    path, out = str(tmp_path / "memory"), tmp_path / "triplets.jsonl"
    runner = CliRunner()
    refused = runner.invoke(app, ["train", "--path", path, "--user", "u1"])
    assert isinstance(refused.exception, CallError)
    exported = runner.invoke(app, ["train", "--path", path, "--user", "u1", "--export", str(out)])
    assert (exported.exit_code, out.read_text()) == (0, "")
    assert "embedding as it is" in runner.invoke(app, ["train", "--path", path, "--back"]).output
