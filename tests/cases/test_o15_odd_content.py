"""CASES O15: message content that is not a non-empty string."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from hindsight_langgraph.models.embedders import HashEmbedder
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of


class RefusesBlank(HashEmbedder):
    """Refuses what a hosted model refuses: a blank input."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[tuple[float, ...]]:
        assert texts
        assert all(text.strip() for text in texts), f"blank text among {texts}"
        self.seen += texts
        return super().embed(texts, purpose=purpose)


MESSAGES = [
    HumanMessage(
        [{"type": "text", "text": "I keep bees"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    ),
    AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "c1"}]),
    ToolMessage(["hive ", {"type": "text", "text": "seen"}], tool_call_id="c1", name="look"),
    HumanMessage("  \n"),
    HumanMessage([]),
    HumanMessage("🐝🐝🐝"),
]


@pytest.fixture
def embedder() -> RefusesBlank:
    return RefusesBlank()


def test_odd_content_goes_through_recall_annotate_and_consolidate(tmp_path: Path, embedder: RefusesBlank):
    with open_memory(tmp_path, embeddings=embedder) as memory:
        graph = build(memory)
        for message in MESSAGES:
            graph.invoke({"messages": [message]}, run_of("u1"))
        memory.settle()
        memory.consolidate(scope="u1")
        kept = memory.units(scope="u1")
        assert any("bees" in unit.content for unit in kept)
        assert not any("AAAA" in unit.model_dump_json() for unit in kept)
        assert not any("AAAA" in text for text in embedder.seen)


def test_the_query_is_what_was_said_never_blank(tmp_path: Path, embedder: RefusesBlank):
    with open_memory(tmp_path, embeddings=embedder) as memory:
        graph = build(memory)
        graph.invoke({"messages": [MESSAGES[0]]}, run_of("u1", "a"))
        graph.invoke({"messages": [MESSAGES[5]]}, run_of("u1", "b"))
        graph.invoke({"messages": [MESSAGES[3]]}, run_of("u1", "c"))
        assert memory.recall("", scope="u1").items == ()
    assert "🐝🐝🐝" in " ".join(embedder.seen)


def test_a_directory_of_the_memory_holds_no_bytes_of_an_image(tmp_path: Path, embedder: RefusesBlank):
    secret = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo"
    with open_memory(tmp_path, embeddings=embedder) as memory:
        memory.annotate(
            [ToolMessage(f"I saved data:image/png;base64,{secret}== for you", tool_call_id="c", name="shot")], scope="u1"
        )
        memory.settle()
    for file in (tmp_path / "memory").rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes(), file
