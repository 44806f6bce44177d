"""CASES O17 and O18: the host runs a node again, or several at once."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.nodes import AnnotateAfterStep, MemoryState, RecallBeforePlan
from hindsight_langgraph.records import Role, Scope, Turn
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

FACT = "I prefer window seats on trains."
SCOPE = Scope(user_id="u1", session_id="t1")


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        yield opened


def one_unit(memory: HindsightMemory) -> Any:
    memory.settle()
    (unit,) = memory.units(scope="u1")
    return unit


def compiled(node: Any, **options: Any) -> Any:
    builder = StateGraph(MemoryState)
    builder.add_node("step", node, **options)
    builder.add_edge(START, "step")
    builder.add_edge("step", END)
    return builder.compile(checkpointer=InMemorySaver())


def test_a_node_that_annotates_and_is_interrupted_leaves_one_record_and_still_pauses(memory: HindsightMemory):
    def step(state: MemoryState, config: RunnableConfig) -> dict[str, Any]:
        AnnotateAfterStep(memory).invoke(state, config)
        return {"messages": [AIMessage(interrupt("sure?"))]}

    graph = compiled(step)
    paused = graph.invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    assert paused["__interrupt__"][0].value == "sure?"
    first = one_unit(memory)
    graph.invoke(Command(resume="yes"), run_of("u1"))
    again = one_unit(memory)
    assert (again.id, again.confirmations) == (first.id, 0)
    steps = memory.trajectory(scope=SCOPE).steps
    assert [step.kind for step in steps] == [StepKind.GOAL]
    assert not any(step.error for step in steps)


def test_a_node_that_annotates_and_is_tried_again_leaves_one_record(memory: HindsightMemory):
    tries: list[int] = []

    def step(state: MemoryState, config: RunnableConfig) -> dict[str, Any]:
        AnnotateAfterStep(memory).invoke(state, config)
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("lost")
        return {"messages": [AIMessage("ok")]}

    policy = RetryPolicy(max_attempts=3, initial_interval=0.01, retry_on=ConnectionError)
    compiled(step, retry_policy=policy).invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    assert len(tries) == 2
    assert one_unit(memory).confirmations == 0


def test_three_branches_recall_and_annotate_in_one_step_without_an_error(memory: HindsightMemory):
    builder = StateGraph(MemoryState)
    for n in range(3):
        builder.add_node(f"recall{n}", RecallBeforePlan(memory))
        builder.add_node(f"work{n}", lambda state, n=n: {"messages": [AIMessage(f"result {n}")]})
        builder.add_node(f"annotate{n}", AnnotateAfterStep(memory))
        builder.add_edge(START, f"recall{n}")
        builder.add_edge(f"recall{n}", f"work{n}")
        builder.add_edge(f"work{n}", f"annotate{n}")
    state = builder.compile().invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    assert len(state["messages"]) == 4
    one_unit(memory)
    said = [step.content for step in memory.trajectory(scope=SCOPE).steps if step.kind is StepKind.MESSAGE]
    assert said == ["result 0", "result 1", "result 2"]


def test_two_branches_that_report_the_same_fact_leave_one_active_unit(memory: HindsightMemory):
    ready = threading.Barrier(2)

    def report(n: int) -> None:
        ready.wait()
        memory.remember([Turn(id=f"turn{n}", role=Role.USER, text="I like figs.")], scope=Scope(user_id="u1", session_id=f"s{n}"))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(report, range(2)))
    active = [unit for unit in memory.units(scope="u1") if unit.status == "active"]
    assert len(active) == 1
    assert active[0].confirmations == 1


def test_a_burst_of_fifty_turns_at_once_loses_nothing(memory: HindsightMemory):
    async def burst() -> None:
        await asyncio.gather(
            *(
                memory.aannotate([Turn(id=f"m{n}", role=Role.USER, text=f"Remember that box {n} holds item-{n}.")], scope=SCOPE)
                for n in range(50)
            )
        )

    asyncio.run(burst())
    assert memory.settle(timeout_s=120)
    said = " ".join(unit.content for unit in memory.units(scope="u1"))
    assert all(f"item-{n}." in said for n in range(50))
    assert len(memory.read_session(scope=SCOPE, budget=100_000)) == 50
    assert memory.health(scope="u1").pending == 0
