"""A saver whose store is down, when durability may be lost (O20)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph

from hindsight_langgraph import HindsightConfig
from hindsight_langgraph.checkpointers import HindsightSaver, create_checkpointer
from hindsight_langgraph.errors import ConfigError, StoreUnavailable
from tests.checkpointers.made import Chat, DeltaChat, chat_graph, config, put, say
from tests.servers import Server

CONFIG = config(ns=None)


@pytest.fixture
def saver(stoppable_redis: Server) -> Iterator[HindsightSaver]:
    """One that goes on, and tries the store at each request. It is patient: a busy machine is no outage."""
    with HindsightSaver.from_url(stoppable_redis.url, when_down="continue", retry_after_s=0.001, timeout_s=60) as saver:
        yield saver


def texts(state: Any) -> list[str]:
    return [message.content for message in state["messages"]]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Ours alone: the threads of other libraries, such as LangSmith's, may log long after the test that started them."""
    ours = [record for record in caplog.records if record.name == "hindsight_langgraph"]
    return [record.getMessage() for record in ours if record.levelno >= logging.WARNING]


def interrupted_graph(saver: HindsightSaver, *happenings: Any) -> Any:
    """A graph of several steps; something happens to the store in each."""
    builder: Any = StateGraph(Chat)
    names = [f"step{n}" for n in range(len(happenings))]
    for name, happening in zip(names, happenings, strict=True):

        def step(_: Chat, name: str = name, happening: Any = happening) -> dict[str, Any]:
            happening()
            return {"messages": [AIMessage(name)]}

        builder.add_node(name, step)
    for one, next_one in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(one, next_one)
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("down", [Server.stop, Server.pause])
def test_a_turn_ends_with_an_answer_while_the_store_is_down_or_frozen(
    stoppable_redis: Server, caplog: pytest.LogCaptureFixture, down: Any
) -> None:
    down(stoppable_redis)
    with HindsightSaver.from_url(stoppable_redis.url, when_down="continue", retry_after_s=0.001, timeout_s=0.3) as saver:
        assert texts(say(chat_graph(saver), "hello")) == ["hello", "answer 1"]
    (warning,) = warnings(caplog)
    assert "checkpoint store is down" in warning
    assert "without durability" in warning


async def test_an_awaited_turn_ends_with_an_answer_as_well(stoppable_redis: Server, saver: HindsightSaver) -> None:
    stoppable_redis.stop()
    said = await chat_graph(saver).ainvoke({"messages": [HumanMessage("hello")]}, CONFIG, durability="sync")
    assert texts(said) == ["hello", "answer 1"]
    await saver.aclose()


def test_a_turn_on_a_delta_channel_ends_with_an_answer(stoppable_redis: Server, saver: HindsightSaver) -> None:
    graph = chat_graph(saver, DeltaChat)
    say(graph, "hello")
    stoppable_redis.stop()
    assert texts(say(graph, "again")) == ["again", "answer 1"]
    assert saver.get_delta_channel_history(config=config(), channels=["messages"]) == {"messages": {"writes": []}}


def test_a_store_that_dies_within_a_turn_costs_neither_the_answer_nor_what_was_stored(
    stoppable_redis: Server, saver: HindsightSaver
) -> None:
    say(chat_graph(saver), "hello")
    graph = interrupted_graph(saver, lambda: None, stoppable_redis.kill, lambda: None)
    assert texts(say(graph, "go on")) == ["hello", "answer 1", "go on", "step0", "step1", "step2"]
    stoppable_redis.start()
    assert texts(chat_graph(saver).get_state(CONFIG).values)[:3] == ["hello", "answer 1", "go on"]


def test_a_run_that_knows_its_history_is_stored_again_once_the_store_is_back(
    stoppable_redis: Server, saver: HindsightSaver, caplog: pytest.LogCaptureFixture
) -> None:
    say(chat_graph(saver), "hello")
    graph = interrupted_graph(saver, stoppable_redis.stop, lambda: None, stoppable_redis.start, lambda: None)
    said = texts(say(graph, "go on"))
    assert len(said) == 7
    assert texts(chat_graph(saver).get_state(CONFIG).values) == said
    down, back = warnings(caplog)
    assert "is down" in down
    assert "is back" in back
    assert "requests went unanswered" in back


def test_a_run_that_began_without_its_history_does_not_hide_it(stoppable_redis: Server, saver: HindsightSaver) -> None:
    say(chat_graph(saver), "hello")
    stoppable_redis.stop()
    graph = interrupted_graph(saver, lambda: None, stoppable_redis.start, lambda: None)
    assert texts(say(graph, "blind")) == ["blind", "step0", "step1", "step2"]
    assert texts(say(chat_graph(saver), "again")) == ["hello", "answer 1", "again", "answer 3"]


def test_a_new_thread_that_began_while_the_store_was_down_is_stored_once_it_is_back(
    stoppable_redis: Server, saver: HindsightSaver
) -> None:
    stoppable_redis.stop()
    graph = interrupted_graph(saver, lambda: None, stoppable_redis.start, lambda: None)
    said = texts(say(graph, "first"))
    assert texts(chat_graph(saver).get_state(CONFIG).values) == said


def test_while_it_is_left_alone_a_frozen_store_is_not_waited_for(stoppable_redis: Server) -> None:
    with HindsightSaver.from_url(stoppable_redis.url, when_down="continue", retry_after_s=600, timeout_s=0.3) as saver:
        asked: list[Any] = []
        original = saver._store.run  # the requests that reach the store

        def run(op: Any) -> Any:
            asked.append(op)
            return original(op)

        saver._store.run = run  # type: ignore[method-assign]
        stoppable_redis.pause()
        say(chat_graph(saver), "hello")
        say(chat_graph(saver), "again")
        assert len(asked) == 1


def test_what_a_caller_asks_for_by_name_still_raises(stoppable_redis: Server, saver: HindsightSaver) -> None:
    stoppable_redis.stop()
    for ask in (
        lambda: saver.delete_thread("t"),
        lambda: saver.prune(["t"]),
        lambda: saver.copy_thread("t", "u"),
        lambda: list(saver.list(CONFIG)),
        saver.setup,
    ):
        with pytest.raises(StoreUnavailable):
            ask()


def test_by_default_a_store_that_is_down_is_an_error(stoppable_redis: Server) -> None:
    with HindsightSaver.from_url(stoppable_redis.url) as saver:
        stoppable_redis.stop()
        with pytest.raises(StoreUnavailable):
            put(saver)


def test_any_other_choice_is_refused(stoppable_redis: Server) -> None:
    with pytest.raises(ConfigError, match="'raise' or 'continue'"):
        HindsightSaver.from_url(stoppable_redis.url, when_down="ignore")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(ValueError, match="checkpoint_when_down"):
        HindsightConfig(checkpoint_when_down="ignore")  # type: ignore[arg-type]  # that is the point


async def test_the_choice_is_a_setting_of_the_platform(stoppable_redis: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_CHECKPOINT_URL", stoppable_redis.url)
    monkeypatch.setenv("HINDSIGHT_CHECKPOINT_WHEN_DOWN", "continue")
    stoppable_redis.stop()
    async with create_checkpointer() as saver:
        said = await chat_graph(saver).ainvoke({"messages": [HumanMessage("hello")]}, CONFIG)
        assert texts(said) == ["hello", "answer 1"]
