"""CASES O14: the embedding model changes under an existing store (SPEC A11)."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from hindsight_langgraph.errors import ModelUnavailable
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.records import EmbeddingSpace
from tests.clock import FakeClock
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of


class Wider(HashEmbedder):
    """Another model with another dimension."""

    space = EmbeddingSpace(model="wider-640", dimension=640)


FACTS = [
    "I keep my canoe in hall 13.", "I'm allergic to peanuts.", "I live in Tartu.", "I prefer window seats on trains.",
    "My sister Ada is a vet.", "I work at the harbour office.", "I drink green tea.", "My blood type is B negative.",
    "I play the oboe.", "My bicycle is blue.",
]  # fmt: skip


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    with open_memory(tmp_path) as memory:
        memory.remember([("user", fact) for fact in FACTS], scope="u1")
        assert len(memory.units(scope="u1")) == 10
    return tmp_path


def test_the_message_names_both_models_and_sizes_and_the_turn_ends_with_an_answer(
    changed: Path, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING, logger="hindsight_langgraph"), open_memory(changed, embeddings=Wider()) as memory:
        found = memory.recall("Where do I keep my canoe?", scope="u1")
        state = build(memory).invoke({"messages": [HumanMessage("Where do I live?")]}, run_of("u1"))
        assert len(memory.units(scope="u1")) == 10
    assert state["messages"][-1].text == "ok"
    assert "hall 13" in found.text
    (reason,) = found.degraded
    for part in ("wider-640", "640 dimensions", "hash-512", "512 dimensions", "hindsight reembed"):
        assert part in reason
    assert [record.message for record in caplog.records].count(reason) == 1


def test_after_reembedding_recall_is_whole_again_and_nothing_is_lost(changed: Path):
    with open_memory(changed, embeddings=Wider()) as memory:
        memory.remember([("user", "My scarf is red, remember that.")], scope="u1")
        assert memory.reembed() == 10
        found = memory.recall("Where do I keep my canoe?", scope="u1")
        assert found.degraded == ()
        assert "hall 13" in found.text
        assert len(memory.units(scope="u1")) == 11
        assert memory.reembed() == 0


def test_what_was_written_while_the_model_was_down_is_embedded_later(tmp_path: Path):
    class Flaky(HashEmbedder):
        down = True

        def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[tuple[float, ...]]:
            if self.down:
                raise ModelUnavailable("quota")
            return super().embed(texts, purpose=purpose)

    embedder, clock = Flaky(), FakeClock()
    with open_memory(tmp_path, embeddings=embedder, clock=clock, retry_after_s=10) as memory:
        memory.remember([("user", FACTS[0])], scope="u1")
        assert "hall 13" in memory.recall("Where do I keep my canoe?", scope="u1").text
        embedder.down = False
        clock.advance(seconds=10)
        assert memory.reembed() == 1


def test_an_export_moves_to_another_store_and_twice_is_once(changed: Path, tmp_path: Path):
    with open_memory(changed) as memory:
        lines = list(memory.export_lines())
        before = {unit.id: unit for unit in memory.units(scope="u1")}
    with open_memory(tmp_path / "other") as memory:
        assert memory.import_lines(lines) == memory.import_lines(lines) == 10
        assert {unit.id: unit for unit in memory.units(scope="u1")} == before
        assert "hall 13" in memory.recall("Where do I keep my canoe?", scope="u1").text
