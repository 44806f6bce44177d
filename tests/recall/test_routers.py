"""Who sends a question to its region: the trained head, rules, a chat model, or a router of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.errors import ModelUnavailable
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.recall.recollection import Route
from hindsight_langgraph.records import Region
from tests.memory.opening import open_memory

QUESTION = "What is the port of Heron?"
MODEL = RecallConfig(router="model")


class Mine:
    """A router of one's own."""

    name = "mine"

    def __call__(self, text: str, vector: object, /) -> dict[Region, float]:
        return {Region.PROCEDURAL: 0.9}


def routed(path: Path, *, recall: RecallConfig = MODEL, **options: Any) -> tuple[Route, tuple[str, ...]]:
    with open_memory(path, recall=recall, **options) as memory:
        found = memory.recall(QUESTION, scope="u")
        return found.route, found.degraded


def test_a_memory_takes_a_router_of_ones_own(tmp_path: Path) -> None:
    route, _ = routed(tmp_path, recall=RecallConfig(), router=Mine())
    assert (route.best, route.by) == (Region.PROCEDURAL, "mine")


def test_the_chat_model_routes_where_it_is_asked_to(tmp_path: Path) -> None:
    chat = ScriptedChat(['{"episodic": 0.2, "semantic": 1.4, "procedural": 0}'])
    route, degraded = routed(tmp_path, chat_model=chat)
    assert (route.best, route.by, route.sure) == (Region.SEMANTIC, "model", True)
    assert route.scores == {Region.EPISODIC: 0.2, Region.SEMANTIC: 1.0, Region.PROCEDURAL: 0.0}
    assert chat.asked[0].messages[-1].text == QUESTION
    assert not degraded


@pytest.mark.parametrize("answer", ["I think it is a fact.", '{"where": 1}', '{"semantic": "high"}'])
def test_an_answer_that_names_no_region_leaves_it_to_the_rules(tmp_path: Path, answer: str) -> None:
    route, _ = routed(tmp_path, chat_model=ScriptedChat([answer]))
    assert (route.best, route.by) == (Region.SEMANTIC, "rules")


def test_a_chat_model_that_is_down_leaves_it_to_the_others_and_the_recall_says_so(tmp_path: Path) -> None:
    route, degraded = routed(tmp_path, chat_model=ScriptedChat([ModelUnavailable("no route")]))
    assert route.by == "rules"
    assert any("routed without it" in reason for reason in degraded)


def test_rules_alone_route_where_they_are_asked_to(tmp_path: Path) -> None:
    head, _ = routed(tmp_path / "a", recall=RecallConfig(), embeddings="local")
    rules, _ = routed(tmp_path / "b", recall=RecallConfig(router="rules"), embeddings="local")
    assert (head.by, rules.by) == ("head v1", "rules")
