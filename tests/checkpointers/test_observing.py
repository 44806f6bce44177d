"""ObservingSaver: the saver inside is unchanged, and each thing that it stores is shown once."""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability, DetectedCapabilities
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from hindsight_langgraph.checkpointers import HindsightSaver, Observation, ObservingSaver
from tests.checkpointers.conftest import MakeSaver
from tests.checkpointers.made import META, Chat, chat_graph, checkpoint, config, put, say
from tests.checkpointers.savers import sync_as_async

CONFIG = config(ns=None, user_id="u1")
CAPABILITIES = [capability.value for capability in Capability]


class Seen(list[Observation]):
    """Keeps what it is shown."""

    def __call__(self, observation: Observation) -> None:
        self.append(observation)

    @property
    def said(self) -> list[Any]:
        return [message.content for one in self for message in one.messages]


async def same_result(plain: BaseCheckpointSaver[Any], observed: BaseCheckpointSaver[Any], capability: str) -> None:
    results = []
    for saver in (plain, observed):

        @checkpointer_test(name="any")
        async def factory(saver: BaseCheckpointSaver[Any] = saver) -> AsyncIterator[BaseCheckpointSaver[Any]]:
            yield saver

        result = (await validate(factory, capabilities={capability})).results[capability]
        results.append((result.detected, result.passed, result.tests_passed, result.tests_failed))
    assert results[0] == results[1]
    assert results[1][3] == 0


@pytest.mark.parametrize("capability", CAPABILITIES)
async def test_an_observed_memory_saver_conforms_as_it_does_alone(capability: str) -> None:
    await same_result(InMemorySaver(), ObservingSaver(InMemorySaver(), Seen()), capability)


@pytest.mark.parametrize("capability", CAPABILITIES)
async def test_an_observed_hindsight_saver_conforms_as_it_does_alone(make_saver: MakeSaver, capability: str) -> None:
    async with make_saver() as plain, ObservingSaver(make_saver(fresh_store=True), Seen()) as observed:  # type: ignore[attr-defined]  # made for the inner class
        await same_result(plain, observed, capability)
        assert DetectedCapabilities.from_instance(observed).missing == frozenset()


@pytest.mark.parametrize("capability", CAPABILITIES)
async def test_the_blocking_half_conforms_as_well(tmp_path: Path, capability: str) -> None:
    with (
        HindsightSaver.from_url(f"sqlite:///{tmp_path}/a.db") as plain,
        HindsightSaver.from_url(f"sqlite:///{tmp_path}/b.db") as inner,
    ):
        await same_result(sync_as_async(plain), sync_as_async(ObservingSaver(inner, Seen())), capability)


def test_what_the_inner_saver_cannot_stays_undetected_and_raises_the_same(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "x.db")) as inner:
        observed = ObservingSaver(inner, Seen())
        assert DetectedCapabilities.from_instance(observed) == DetectedCapabilities.from_instance(inner)
        with pytest.raises(NotImplementedError):
            observed.prune(["t"])
        with pytest.raises(NotImplementedError):
            asyncio.run(observed.aget_tuple(config()))
    assert DetectedCapabilities.from_instance(ObservingSaver(InMemorySaver(), Seen())).missing == {
        Capability.COPY_THREAD,
        Capability.DELETE_FOR_RUNS,
        Capability.PRUNE,
    }


def test_a_graph_shows_its_messages_once_with_whose_they_are() -> None:
    seen = Seen()
    graph = chat_graph(ObservingSaver(InMemorySaver(), seen))
    say(graph, "hello", config(ns=None, user_id="u1", run_id="r1"))
    say(graph, "again", config(ns=None, user_id="u1", run_id="r2"))
    assert seen.said == ["hello", "answer 1", "again", "answer 3"]
    assert {(one.user_id, one.thread_id, one.ns, one.run_id) for one in seen} == {("u1", "t", "", "r1"), ("u1", "t", "", "r2")}
    checkpoints = [one for one in seen if one.source]
    assert [(one.source, one.step) for one in checkpoints] == [
        ("input", -1), ("loop", 0), ("loop", 1), ("input", 2), ("loop", 3), ("loop", 4),
    ]  # fmt: skip
    assert checkpoints[-1].changed["n"] == 2
    assert [channel for one in seen for channel, _ in one.writes if not channel.startswith("branch")] == [
        "messages",
        "messages",
        "n",
    ] * 2
    assert len({one.id for one in seen}) == len(seen)


async def test_an_awaited_graph_shows_the_same(make_saver: MakeSaver) -> None:
    seen = Seen()
    async with ObservingSaver(make_saver(), seen) as saver:  # type: ignore[attr-defined]  # made for the inner class
        graph = chat_graph(saver)
        await graph.ainvoke({"messages": [HumanMessage("hello")]}, CONFIG)
    assert seen.said == ["hello", "answer 1"]


def test_after_a_restart_old_messages_are_not_new(make_saver: MakeSaver) -> None:
    say(chat_graph(make_saver()), "before", CONFIG)
    seen = Seen()
    say(chat_graph(ObservingSaver(make_saver(), seen)), "after", CONFIG)
    assert seen.said == ["after", "answer 3"]


def test_a_replay_and_a_fork_show_only_what_is_new() -> None:
    seen = Seen()
    graph = chat_graph(ObservingSaver(InMemorySaver(), seen))
    for n in range(3):
        say(graph, f"question {n}", CONFIG)
    history = list(graph.get_state_history(CONFIG))
    seen.clear()
    graph.invoke(None, history[3].config)
    assert seen.said == []
    past = next(state for state in history if len(state.values.get("messages", [])) == 2 and not state.next)
    say(graph, "another way", past.config)
    assert seen.said == ["another way", "answer 3"]


def test_a_checkpoint_or_a_write_that_is_stored_twice_is_shown_once() -> None:
    seen = Seen()
    saver = ObservingSaver(InMemorySaver(), seen)
    for _ in range(2):
        at = put(saver, {"messages": [HumanMessage("hello", id="1")]}, id="c1")
        saver.put_writes(at, [("a", 1), ("b", 2)], "task")
    saver.put_writes(at, [("a", 1), ("b", 2), ("c", 3)], "task")
    assert [one.writes for one in seen] == [(), (("a", 1), ("b", 2)), (("c", 3),)]


def test_a_node_that_is_tried_again_shows_its_error_and_its_result_once() -> None:
    tries: list[int] = []

    def flaky(state: Chat) -> dict[str, Any]:
        tries.append(1)
        if len(tries) in {1, 2, 3}:
            raise ConnectionError(f"try {len(tries)}")
        return {"messages": [ToolMessage("done", tool_call_id="c")]}

    seen = Seen()
    builder = StateGraph(Chat)
    builder.add_node("flaky", flaky, retry_policy=RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False))
    builder.add_edge(START, "flaky")
    graph: Any = builder.compile(checkpointer=ObservingSaver(InMemorySaver(), seen))
    with pytest.raises(ConnectionError):
        say(graph, "go", CONFIG)
    graph.invoke(None, CONFIG)
    assert len(tries) == 4
    assert [error for one in seen for error in one.errors] == ["ConnectionError: try 2"]
    assert seen.said == ["go", "done"]


def test_an_interrupted_node_shows_its_result_once() -> None:
    def ask(state: Chat) -> dict[str, Any]:
        return {"messages": [AIMessage(interrupt("?"))]}

    seen = Seen()
    builder = StateGraph(Chat)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    graph: Any = builder.compile(checkpointer=ObservingSaver(InMemorySaver(), seen))
    say(graph, "go", CONFIG)
    graph.invoke(Command(resume="yes"), CONFIG)
    assert seen.said == ["go", "yes"]


def test_an_observer_that_raises_costs_nothing_and_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    def failing(observation: Observation) -> None:
        raise RuntimeError("observer broke")

    with caplog.at_level(logging.WARNING):
        graph = chat_graph(ObservingSaver(InMemorySaver(), failing))
        for n in range(3):
            say(graph, f"question {n}", CONFIG)
    assert len(graph.get_state(CONFIG).values["messages"]) == 6
    assert len([record for record in caplog.records if "observer" in record.message]) == 1


def test_what_was_not_stored_is_not_shown() -> None:
    class Failing(InMemorySaver):
        def put(self, *args: Any, **named: Any) -> Any:
            raise OSError("disk full")

    seen = Seen()
    with pytest.raises(OSError, match="disk full"):
        put(ObservingSaver(Failing(), seen))
    assert seen == []


def test_a_copy_with_another_serializer_leaves_the_original_alone() -> None:
    seen = Seen()
    saver = ObservingSaver(InMemorySaver(), seen)
    clone = copy.copy(saver)
    other = JsonPlusSerializer(allowed_msgpack_modules=None)
    clone.serde = other
    assert clone.serde is other
    assert saver.serde is not other
    listed = clone.with_allowlist([("a", "B")])
    assert listed is not clone
    assert listed.serde is not other
    listed.put(config(), checkpoint({"c": 1}), META, {"c": 1})
    assert saver.get_tuple(config()) is not None
    assert len(seen) == 1


def test_what_else_the_inner_saver_has_is_reached_through_it() -> None:
    saver: Any = ObservingSaver(InMemorySaver(), Seen())
    assert saver.storage is saver.inner.storage
    assert not hasattr(saver, "no_such_thing")
    assert saver.config_specs == []
    assert isinstance(saver.get_next_version(None, None), str)
