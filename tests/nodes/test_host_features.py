"""The nodes under what LangGraph does with a run: interrupts, caches, durability modes, retries, tasks, other state keys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import CachePolicy, Command, RetryPolicy, interrupt
from typing_extensions import TypedDict

from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import RECOLLECTION_ID
from hindsight_langgraph.nodes import AnnotateAfterStep, MemoryState, RecallBeforePlan, arecollect, recollect
from hindsight_langgraph.records import Scope
from hindsight_langgraph.scoping import scope_of
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path) as opened:
        opened.remember([("user", FACT)], scope="u1")
        yield opened


def shown_in(prompt: list[Any]) -> str:
    return "\n".join(m.text for m in prompt if m.id == RECOLLECTION_ID)


def looping(memory: HindsightMemory, shown: list[str], **compiled: Any) -> Any:
    """recall → agent → tools (which ask a person) → recall."""

    def agent(state: MemoryState) -> dict[str, Any]:
        shown.append(shown_in(memory.prompt(state["messages"], state.get("recollection"))))
        if state["messages"][-1].type == "tool":
            return {"messages": [AIMessage("done")]}
        return {"messages": [AIMessage("", tool_calls=[{"name": "book", "args": {}, "id": "c1"}])]}

    def tools(state: MemoryState) -> dict[str, Any]:
        return {"messages": [ToolMessage(interrupt("book?"), tool_call_id="c1", name="book")]}

    builder = StateGraph(MemoryState)
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_node("agent", agent)
    builder.add_node("tools", tools)
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    builder.add_conditional_edges("agent", lambda state: "tools" if state["messages"][-1].tool_calls else "annotate")
    builder.add_edge("tools", "recall")
    builder.add_edge("annotate", END)
    return builder.compile(checkpointer=InMemorySaver(), **compiled)


def test_a_run_that_is_resumed_recalls_what_the_interrupt_lost(memory: HindsightMemory):
    shown: list[str] = []
    graph = looping(memory, shown)
    graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    state = graph.invoke(Command(resume="yes"), run_of("u1"))
    assert ["window seats" in text for text in shown] == [True, True]
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "ai"]


def test_the_same_under_ainvoke(memory: HindsightMemory):
    shown: list[str] = []
    graph = looping(memory, shown)

    async def talk() -> None:
        await graph.ainvoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
        await graph.ainvoke(Command(resume="yes"), run_of("u1"))

    asyncio.run(talk())
    assert ["window seats" in text for text in shown] == [True, True]


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_node_that_is_interrupted_itself_may_recollect(memory: HindsightMemory, awaiting: bool):
    shown: list[str] = []

    def agent(state: MemoryState) -> dict[str, Any]:
        found = recollect(memory, state["messages"], state.get("recollection"), scope=scope_of())
        shown.append(shown_in(memory.prompt(state["messages"], found)))
        return {"messages": [AIMessage(interrupt("sure?"))]}

    async def aagent(state: MemoryState) -> dict[str, Any]:
        found = await arecollect(memory, state["messages"], state.get("recollection"), scope=scope_of())
        shown.append(shown_in(memory.prompt(state["messages"], found)))
        return {"messages": [AIMessage(interrupt("sure?"))]}

    graph = build(memory, aagent if awaiting else agent)

    async def talk() -> None:
        await graph.ainvoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
        await graph.ainvoke(Command(resume="yes"), run_of("u1"))

    if awaiting:
        asyncio.run(talk())
    else:
        graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
        graph.invoke(Command(resume="yes"), run_of("u1"))
    assert ["window seats" in text for text in shown] == [True, True]


def test_a_resumed_run_is_taken_in_once(memory: HindsightMemory):
    graph = looping(memory, [])
    graph.invoke({"messages": [HumanMessage("My locker number is 42.")]}, run_of("u1"))
    graph.invoke(Command(resume="yes"), run_of("u1"))
    memory.settle()
    assert sum("42" in unit.content for unit in memory.units(scope="u1")) == 1
    steps = memory.trajectory(scope=Scope(user_id="u1", session_id="t1")).steps
    assert len({step.id for step in steps}) == len(steps)


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_cached_recall_of_one_user_is_never_shown_to_another(memory: HindsightMemory, awaiting: bool):
    shown: list[str] = []
    handed_on: list[str] = []

    def agent(state: MemoryState) -> dict[str, Any]:
        found = state.get("recollection")
        handed_on.append(found.text if found else "")
        shown.append(shown_in(memory.prompt(state["messages"], found)))
        return {"messages": [AIMessage("ok")]}

    builder = StateGraph(MemoryState)
    builder.add_node("recall", RecallBeforePlan(memory), cache_policy=CachePolicy())
    builder.add_node("agent", agent)
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    graph = builder.compile(cache=InMemoryCache())
    for user in ("u1", "u2"):
        asked: Any = {"messages": [HumanMessage(ASKED, id="same")]}
        if awaiting:
            asyncio.run(graph.ainvoke(asked, run_of(user)))
        else:
            graph.invoke(asked, run_of(user))
    assert "window seats" in shown[0]
    assert "window seats" in handed_on[1]  # the cache does hand it on
    assert shown[1] == ""


def test_a_cached_agent_works_beside_the_nodes(memory: HindsightMemory):
    builder = StateGraph(MemoryState)
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_node("agent", lambda state: {"messages": [AIMessage("ok")]}, cache_policy=CachePolicy())
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    graph = builder.compile(cache=InMemoryCache())
    for _ in range(2):
        assert graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))["messages"][-1].text == "ok"


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_every_durability_mode_remembers_and_persists_nothing_injected(memory: HindsightMemory, durability: Any):
    saver = InMemorySaver()
    graph = build(memory, checkpointer=saver)
    graph.invoke({"messages": [HumanMessage("My locker number is 42.")]}, run_of("u1"), durability=durability)
    asyncio.run(graph.ainvoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"), durability=durability))
    memory.settle()
    assert any("42" in unit.content for unit in memory.units(scope="u1"))
    held = str([(t.checkpoint, t.pending_writes) for t in saver.list(run_of("u1"))])
    assert "recalled_memory" not in held
    assert "window seats" not in held


def test_a_node_that_is_retried_takes_the_step_in_once(memory: HindsightMemory):
    tries: list[int] = []

    class Flaky(AnnotateAfterStep):
        def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> dict[str, Any] | None:
            done = super().invoke(input, config, **kwargs)
            tries.append(1)
            if len(tries) == 1:
                raise ConnectionError("lost after it was done")
            return done

    builder = StateGraph(MemoryState)
    builder.add_node("annotate", Flaky(memory), retry_policy=RetryPolicy(initial_interval=0.01, jitter=False))
    builder.add_edge(START, "annotate")
    builder.compile().invoke({"messages": [HumanMessage("My locker number is 42.")]}, run_of("u1"))
    memory.settle()
    (unit,) = [unit for unit in memory.units(scope="u1") if "42" in unit.content]
    assert len(tries) == 2
    assert unit.confirmations == 0


def test_a_task_of_the_functional_api_may_call_the_nodes(memory: HindsightMemory):
    @task
    def recalled(messages: list[AnyMessage]) -> str:
        update = RecallBeforePlan(memory).invoke({"messages": messages})
        return "" if update is None else str(update["recollection"].text)

    @entrypoint(checkpointer=InMemorySaver())
    def agent(messages: list[AnyMessage]) -> str:
        text = recalled(messages).result()
        AnnotateAfterStep(memory).invoke({"messages": [*messages, AIMessage("ok")]})
        return text

    assert "window seats" in agent.invoke([HumanMessage(ASKED)], run_of("u1", "t1"))
    assert "window seats" not in agent.invoke([HumanMessage(ASKED)], run_of("u2", "t2"))
    agent.invoke([HumanMessage("My locker number is 42.")], run_of("u1", "t3"))
    memory.settle()
    assert any("42" in unit.content for unit in memory.units(scope="u1"))


def test_a_conversation_under_another_key_is_read(memory: HindsightMemory):
    found: list[Any] = []

    class Other(TypedDict):
        history: Annotated[list[AnyMessage], add_messages]

    class OtherWithMemory(Other):
        recollection: Any

    def agent(state: Any) -> dict[str, Any]:
        found.append(state.get("recollection"))
        return {"history": [AIMessage("ok")]}

    builder = StateGraph(Other)
    builder.add_node("recall", RecallBeforePlan(memory, messages_key="history"))
    builder.add_node("agent", agent, input_schema=OtherWithMemory)
    builder.add_node("annotate", AnnotateAfterStep(memory, messages_key="history"))
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    builder.add_edge("agent", "annotate")
    state = builder.compile().invoke({"history": [HumanMessage(ASKED)]}, run_of("u1"))
    assert "window seats" in found[0].text
    assert set(state) == {"history"}


def test_a_state_class_that_its_hints_cannot_resolve_is_read_all_the_same(memory: HindsightMemory):
    class Local(MemoryState):
        note: str

    found: list[Any] = []

    def agent(state: Local) -> dict[str, Any]:
        found.append(state.get("recollection"))
        return {"messages": [AIMessage("ok")], "note": "x"}

    build(memory, agent, schema=Local).invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    assert "window seats" in found[0].text
