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


@pytest.mark.parametrize("awaiting", [False, True])
def test_parallel_branches_read_one_recollection_and_are_taken_in_once(memory: HindsightMemory, awaiting: bool):
    shown: dict[str, str] = {}

    def branch(name: str) -> Any:
        def agent(state: MemoryState) -> dict[str, Any]:
            shown[name] = shown_in(memory.prompt(state["messages"], state.get("recollection")))
            return {"messages": [AIMessage(f"My {name} locker number is 42.", id=name)]}

        return agent

    builder = StateGraph(MemoryState)
    builder.add_node("recall", RecallBeforePlan(memory)).add_node("annotate", AnnotateAfterStep(memory))
    builder.add_edge(START, "recall")
    for name in ("left", "right"):
        builder.add_node(name, branch(name)).add_edge("recall", name)
    builder.add_edge(["left", "right"], "annotate")
    graph = builder.compile(checkpointer=InMemorySaver())
    asked: Any = {"messages": [HumanMessage(ASKED)]}
    asyncio.run(graph.ainvoke(asked, run_of("u1"))) if awaiting else graph.invoke(asked, run_of("u1"))
    memory.settle()
    assert all("window seats" in text for text in shown.values())
    assert set(shown) == {"left", "right"}
    steps = [step.id for step in memory.trajectory(scope=Scope(user_id="u1", session_id="t1")).steps]
    assert {"left", "right"} <= set(steps)
    assert len(steps) == len(set(steps))


@pytest.mark.parametrize("awaiting", [False, True])
def test_memory_nodes_in_each_of_two_parallel_branches_do_not_collide(memory: HindsightMemory, awaiting: bool):
    shown: list[str] = []

    def agent(state: MemoryState) -> dict[str, Any]:
        shown.append(shown_in(memory.prompt(state["messages"], state.get("recollection"))))
        return {"messages": [AIMessage("ok")]}

    builder = StateGraph(MemoryState)
    for side in ("left", "right"):
        builder.add_node(f"recall_{side}", RecallBeforePlan(memory)).add_node(side, agent)
        builder.add_node(f"annotate_{side}", AnnotateAfterStep(memory))
        builder.add_edge(START, f"recall_{side}").add_edge(f"recall_{side}", side).add_edge(side, f"annotate_{side}")
    graph = builder.compile()
    asked: Any = {"messages": [HumanMessage(ASKED)]}
    asyncio.run(graph.ainvoke(asked, run_of("u1"))) if awaiting else graph.invoke(asked, run_of("u1"))
    assert ["window seats" in text for text in shown] == [True, True]


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_subgraph_that_is_interrupted_and_resumed_has_its_memory(memory: HindsightMemory, awaiting: bool):
    shown: list[str] = []
    outer = StateGraph(MemoryState)
    outer.add_node("inner", looping(memory, shown)).add_edge(START, "inner")
    graph = outer.compile(checkpointer=InMemorySaver())
    asked: Any = {"messages": [HumanMessage(ASKED)]}
    resume: Command[Any] = Command(resume="yes")

    async def talk() -> Any:
        await graph.ainvoke(asked, run_of("u1"))
        return await graph.ainvoke(resume, run_of("u1"))

    state = asyncio.run(talk()) if awaiting else [graph.invoke(step, run_of("u1")) for step in (asked, resume)][-1]
    assert ["window seats" in text for text in shown] == [True, True]
    assert state["messages"][-1].text == "done"


async def test_the_nodes_stream_in_every_mode_and_answer_a_batch_on_a_running_loop(memory: HindsightMemory):
    graph = build(memory)
    for mode in ("values", "updates", "messages", "debug", "custom", "tasks", "checkpoints"):
        asked: Any = {"messages": [HumanMessage(f"My locker number in hall {mode} is 42.")]}
        assert [part async for part in graph.astream(asked, run_of("u1", mode), stream_mode=mode)] or mode == "custom"
    many: Any = [{"messages": [HumanMessage(f"My locker number is {n + 40}.")]} for n in range(4)]
    await graph.abatch(many, [run_of(f"user{n}", f"batch {n}") for n in range(4)])
    await memory.asettle()
    assert "hall values" in " ".join(unit.content for unit in await memory.aunits(scope="u1"))
    for n in range(4):
        assert all(str(n + 40) in unit.content for unit in await memory.aunits(scope=f"user{n}"))


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
