"""CASES O20: a store that is down, slow or comes back costs the memory, never the turn."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import StoreUnavailable
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.nodes import RecallBeforePlan
from hindsight_langgraph.records import Scope
from tests.clock import FakeClock
from tests.nodes.agents import build, run_of
from tests.servers import Server

FACT = "I prefer window seats on trains."


def open_on(server: Server, path: Path, **options: Any) -> HindsightMemory:
    config = HindsightConfig(path=path, redis_url=server.url, retry_after_s=5, **options)
    return HindsightMemory.open(config=config, embeddings="hash", clock=FakeClock())


@pytest.fixture
def memory(stoppable_redis: Server, tmp_path: Path) -> Iterator[HindsightMemory]:
    with open_on(stoppable_redis, tmp_path / "memory") as opened:
        yield opened


def clock_of(memory: HindsightMemory) -> FakeClock:
    assert isinstance(memory.clock, FakeClock)
    return memory.clock


def say(graph: Any, text: str, thread: str = "t1") -> str:
    state = graph.invoke({"messages": [HumanMessage(text)]}, run_of("u1", thread))
    return str(state["messages"][-1].text)


def outage_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.message for r in caplog.records if "is down" in r.message]


def test_refused_from_the_start_the_turn_ends_with_an_answer_and_one_warning(
    stoppable_redis: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    stoppable_redis.stop()
    with caplog.at_level(logging.WARNING, logger="hindsight_langgraph"), open_on(stoppable_redis, tmp_path / "m") as memory:
        graph = build(memory)
        assert [say(graph, FACT), say(graph, "Which seats do I prefer?")] == ["ok", "ok"]
        memory.settle()
    assert len(outage_warnings(caplog)) == 1


def test_without_its_working_store_the_memory_still_writes_and_recalls(stoppable_redis: Server, tmp_path: Path):
    stoppable_redis.stop()
    with open_on(stoppable_redis, tmp_path / "m") as memory:
        memory.annotate([("user", FACT)], scope="u1")
        memory.settle()
        found = memory.recall("Which seats do I prefer?", scope="u1")
        assert "window" in found.text
        assert found.degraded


def test_killed_between_two_nodes_the_turn_goes_on(memory: HindsightMemory, stoppable_redis: Server):
    def agent(state: dict[str, Any]) -> dict[str, Any]:
        stoppable_redis.kill()
        return {"messages": [("assistant", "ok")]}

    assert say(build(memory, agent), FACT) == "ok"


def test_a_server_that_never_answers_is_waited_for_once_in_a_turn(stoppable_redis: Server, tmp_path: Path):
    with open_on(stoppable_redis, tmp_path / "m", timeout_s=1.0) as memory:
        waited: list[Any] = []
        working: Any = memory._runtime.working
        original = working.run  # the requests that reach the store, each of which waits for the timeout

        def run(op: Any) -> Any:
            waited.append(op)
            return original(op)

        working.run = run
        stoppable_redis.pause()
        assert say(build(memory), "Which seats do I prefer?") == "ok"
        assert len(waited) == 1


def test_what_comes_back_is_used_again_without_a_restart_and_what_was_missed_is_counted(
    memory: HindsightMemory, stoppable_redis: Server, caplog: pytest.LogCaptureFixture
):
    graph = build(memory)
    stoppable_redis.stop()
    with caplog.at_level(logging.WARNING, logger="hindsight_langgraph"):
        say(graph, FACT)
        memory.settle()
        stoppable_redis.start()
        clock_of(memory).advance(seconds=30)
        say(graph, "My locker number is 42.", "t2")
        memory.settle()
    assert [turn.text for turn in memory.read_session(scope=Scope(user_id="u1", session_id="t2"))][
        -1
    ] == "My locker number is 42."
    assert {"window" in unit.content for unit in memory.units(scope="u1")} == {True, False}
    back = [record.message for record in caplog.records if "is back after 30 s" in record.message]
    assert len(back) == 1
    assert "requests went unanswered" in back[0]


def test_turns_that_no_store_took_are_written_once_one_is_back(stoppable_redis: Server, tmp_path: Path):
    """Both stores down: the long-term store is held by another process's lock, Redis is stopped."""
    with open_on(stoppable_redis, tmp_path / "m") as memory:
        memory.annotate([("user", "hello there")], scope="u1")
        memory.settle()
        stoppable_redis.stop()
        failing = memory._runtime.outages["long-term store"]
        failing.failed(StoreUnavailable("unplugged"))
        memory.annotate([("user", FACT)], scope="u1")
        memory.settle()
        assert len(memory._runtime.backlog) == 1
        stoppable_redis.start()
        clock_of(memory).advance(seconds=30)
        memory.annotate([("user", "good morning")], scope="u1")
        memory.settle()
        assert len(memory._runtime.backlog) == 0
        assert any("window" in unit.content for unit in memory.units(scope="u1"))


def test_with_raise_an_outage_is_raised_to_who_asked_for_it(stoppable_redis: Server, tmp_path: Path):
    stoppable_redis.stop()
    with open_on(stoppable_redis, tmp_path / "m", on_error="raise") as memory:
        with pytest.raises(StoreUnavailable):
            memory.remember([("user", FACT)], scope="u1")
        with pytest.raises(StoreUnavailable):
            RecallBeforePlan(memory).invoke({"messages": [HumanMessage("seats?")]}, run_of("u1"))


def test_an_outcome_that_no_store_takes_does_not_break_the_agent(stoppable_redis: Server, tmp_path: Path):
    stoppable_redis.stop()
    with open_on(stoppable_redis, tmp_path / "m") as memory:
        memory.outcome(scope="u1", success=True)
        assert memory._runtime.outages["working store"].since is not None
