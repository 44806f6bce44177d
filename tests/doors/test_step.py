"""`@memory.step` on plain functions, nodes and functional-API tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from hindsight_langgraph.errors import CallError, MissingUser
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import RECOLLECTION_ID
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.records import Scope
from tests.doors.models import recorded_queries
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path) as opened:
        yield opened


def test_a_plain_function_is_shown_what_it_was_told_before(memory: HindsightMemory):
    shown: list[str] = []

    @memory.step(scope="u1")
    def answer(question: str) -> str:
        shown.append(question)
        return "ok"

    assert answer(FACT) == "ok"
    answer(ASKED)
    assert shown[0] == FACT
    assert "window seats" in shown[1]
    assert shown[1].endswith(ASKED)
    assert answer.__name__ == "answer"


def test_an_awaiting_function_too(memory: HindsightMemory):
    shown: list[list[Any]] = []

    @memory.step(scope="u1")
    async def answer(messages: list[Any]) -> AIMessage:
        shown.append(messages)
        return AIMessage("ok")

    async def talk() -> None:
        await answer([HumanMessage(FACT)])
        await answer([HumanMessage(ASKED)])

    asyncio.run(talk())
    assert [m.id for m in shown[1]] == [RECOLLECTION_ID, None]
    assert "window seats" in shown[1][0].text


def test_a_task_of_the_functional_api_reads_its_user_from_the_run(memory: HindsightMemory):
    shown: list[list[Any]] = []

    @task
    @memory.step
    def call_model(messages: list[AnyMessage]) -> AIMessage:
        shown.append(messages)
        return AIMessage("ok")

    @entrypoint(checkpointer=InMemorySaver())
    def agent(messages: list[AnyMessage]) -> list[AnyMessage]:
        return [*messages, call_model(messages).result()]

    agent.invoke([HumanMessage(FACT)], run_of("u1", "t1"))
    answer: Any = agent.invoke([HumanMessage(ASKED)], run_of("u1", "t2"))
    agent.invoke([HumanMessage(ASKED)], run_of("u2", "t3"))
    assert "window seats" in shown[1][0].text
    assert [m.text for m in answer] == [ASKED, "ok"]
    assert not any("window" in m.text for m in shown[2])


def test_an_awaiting_task_too(memory: HindsightMemory):
    shown: list[list[Any]] = []

    @task
    @memory.step
    async def call_model(messages: list[AnyMessage]) -> AIMessage:
        shown.append(messages)
        return AIMessage("ok")

    @entrypoint(checkpointer=InMemorySaver())
    async def agent(messages: list[AnyMessage]) -> AIMessage:
        return await call_model(messages)

    async def talk() -> None:
        await agent.ainvoke([HumanMessage(FACT)], run_of("u1", "t1"))
        await agent.ainvoke([HumanMessage(ASKED)], run_of("u1", "t2"))

    asyncio.run(talk())
    assert "window seats" in shown[1][0].text


def test_a_task_that_was_done_is_not_taken_in_again_after_an_interrupt(memory: HindsightMemory):
    calls: list[int] = []

    @task
    @memory.step
    def call_model(messages: list[AnyMessage]) -> AIMessage:
        calls.append(1)
        return AIMessage("ok")

    @entrypoint(checkpointer=InMemorySaver())
    def agent(messages: list[AnyMessage]) -> str:
        answer: Any = call_model(messages).result()
        return f"{answer.content} {interrupt('sure?')}"

    agent.invoke([HumanMessage(FACT)], run_of("u1"))
    assert agent.invoke(Command(resume="yes"), run_of("u1")) == "ok yes"
    memory.settle()
    assert len(calls) == 1
    (unit,) = memory.units(scope="u1")
    assert unit.confirmations == 0


def test_a_function_may_ask_for_the_recollection_itself(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    given: list[Any] = []

    @memory.step
    def agent(state: MessagesState, recollection: Recollection | None = None) -> dict[str, Any]:
        given.append((recollection, list(state["messages"])))
        return {"messages": [AIMessage("ok")]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    builder.compile().invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    recollection, messages = given[0]
    assert "window seats" in recollection.text
    assert [m.text for m in messages] == [ASKED]


def test_as_a_node_it_persists_nothing_injected(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")

    @memory.step
    def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [*state["messages"], AIMessage(f"saw {len(state['messages'])}")]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    state = builder.compile().invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    assert [m.text for m in state["messages"]] == [ASKED, "saw 2"]


def test_a_loop_over_one_message_recalls_once(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    asked = recorded_queries(memory, monkeypatch)

    @memory.step(scope="u1")
    def think(messages: list[Any]) -> AIMessage:
        return AIMessage("thinking", id=f"a{len(messages)}")

    conversation: list[Any] = [HumanMessage(ASKED, id="h1")]
    for _ in range(3):
        conversation.append(think(conversation))
    assert [query.text for query in asked] == [ASKED]


def test_a_failure_is_remembered_and_raised(memory: HindsightMemory):
    @memory.step(scope="u1")
    def book(question: str) -> str:
        raise ValueError("no such station")

    with pytest.raises(ValueError, match="no such station"):
        book("Book a train to Atlantis.")
    steps = memory.trajectory(scope="u1").steps
    assert [step.content for step in steps if step.error] == ["ValueError: no such station"]


@dataclass
class State:
    messages: list[Any]
    city: str = "Lyon"


def test_a_dataclass_and_a_config_are_taken(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    seen: list[State] = []

    @memory.step
    def answer(state: State, config: Any = None) -> None:
        seen.append(state)

    given = State(messages=[HumanMessage(ASKED)])
    answer(given, config=run_of("u1"))
    assert "window seats" in seen[0].messages[0].text
    assert seen[0].city == "Lyon"
    assert len(given.messages) == 1


def test_mistakes_say_what_to_do(memory: HindsightMemory):
    @memory.step
    def answer(question: Any) -> str:
        return "ok"

    with pytest.raises(MissingUser, match="user_id"):
        answer("hi")
    with pytest.raises(CallError, match="without 'messages'"):
        memory.step(scope="u1")(lambda value: value)(7)

    with pytest.raises(CallError, match="takes a function"):

        @memory.step
        def words(question: str) -> Iterator[str]:
            yield question


def test_a_memory_that_is_down_costs_the_memory_and_not_the_answer(tmp_path: Path):
    with open_memory(tmp_path, qdrant_url="http://127.0.0.1:9", redis_url="redis://127.0.0.1:9", timeout_s=0.2) as memory:
        assert memory.step(scope=Scope(user_id="u1"))(lambda question: "ok")(FACT) == "ok"
