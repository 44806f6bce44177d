"""A checkpointer that the memory watches: nothing of the graph changes, and the task is known (SPEC E1, A3)."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import RetryPolicy
from typing_extensions import TypedDict

from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.consolidation.activity import IDLE_QUEUE
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import PeekDue
from hindsight_langgraph.records import Scope
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

SCOPE = Scope(user_id="u1", session_id="t1")


class Work(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    goal: str
    constraints: Annotated[list[str], operator.add]


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        yield opened


def graph_on(saver: Any, agent: Any) -> Any:
    builder = StateGraph(Work)
    builder.add_node("agent", agent, retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.01, retry_on=ConnectionError))
    builder.add_edge(START, "agent")
    builder.add_edge("agent", END)
    return builder.compile(checkpointer=saver)


def working(state: Work) -> dict[str, Any]:
    return {
        "messages": [
            AIMessage("", tool_calls=[{"name": "shell", "args": {}, "id": "c1"}]),
            ToolMessage("disk full", tool_call_id="c1", name="shell", status="error"),
            AIMessage("The disk is full."),
        ],
        "goal": "free some space",
        "constraints": ["keep the photos"],
    }


@pytest.mark.parametrize("kind", ["own", "langgraph"])
def test_goal_constraints_tool_results_and_steps_are_known_without_a_change_to_the_graph(memory: HindsightMemory, kind: str):
    saver = memory.checkpointer() if kind == "own" else InMemorySaver()
    graph_on(memory.observe(saver), working).invoke({"messages": [HumanMessage("Clean up.")]}, run_of("u1"))
    memory.settle()
    task = memory.read_task(scope=SCOPE)
    assert task["goal"] == "free some space"
    assert task["constraints"] == ["keep the photos"]
    assert task["result:shell"] == {"text": "disk full", "error": True}
    kinds = [step.kind for step in memory.trajectory(scope=SCOPE).steps]
    assert kinds == [StepKind.GOAL, StepKind.TOOL, StepKind.MESSAGE]
    assert [item for item, _ in memory._runtime.working.run(PeekDue(queue=IDLE_QUEUE))] == ["user:u1"]


def test_a_node_that_is_tried_again_is_noted_once(memory: HindsightMemory):
    tries: list[int] = []

    def flaky(state: Work) -> dict[str, Any]:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("lost")
        return {"messages": [AIMessage("done")]}

    graph_on(memory.observe(InMemorySaver()), flaky).invoke({"messages": [HumanMessage("Go.")]}, run_of("u1"))
    memory.settle()
    assert [step.content for step in memory.trajectory(scope=SCOPE).steps] == ["Go.", "done"]


def test_a_failure_becomes_a_step_with_its_error_and_the_graph_fails_as_before(memory: HindsightMemory):
    def broken(state: Work) -> dict[str, Any]:
        raise ValueError("no such table")

    with pytest.raises(ValueError, match="no such table"):
        graph_on(memory.observe(InMemorySaver()), broken).invoke({"messages": [HumanMessage("Count.")]}, run_of("u1"))
    memory.settle()
    (failed,) = [step for step in memory.trajectory(scope=SCOPE).steps if step.kind is StepKind.ERROR]
    assert failed.error
    assert "no such table" in failed.content


def test_a_run_without_a_user_is_not_noted_and_not_disturbed(memory: HindsightMemory):
    graph = graph_on(memory.observe(InMemorySaver()), working)
    state = graph.invoke({"messages": [HumanMessage("Clean up.")]}, {"configurable": {"thread_id": "t1"}})
    memory.settle()
    assert state["messages"][-1].text == "The disk is full."
    assert memory.read_task(scope=SCOPE) == {}


def test_a_closed_memory_never_raises_into_the_graph(memory: HindsightMemory):
    graph = graph_on(memory.observe(InMemorySaver()), working)
    memory.close()
    assert graph.invoke({"messages": [HumanMessage("Clean up.")]}, run_of("u1"))["messages"]
