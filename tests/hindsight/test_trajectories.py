"""The trajectory of a task as real graphs leave it: parallel calls and branches, subgraphs, interrupts, retries, cancelled calls (SPEC E1)."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

from hindsight_langgraph.annotation.trajectory import Step, StepKind
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.middleware import HindsightMiddleware
from hindsight_langgraph.nodes import AnnotateAfterStep, MemoryState, RecallBeforePlan
from hindsight_langgraph.records import Scope
from tests.clock import FakeClock
from tests.doors.models import Scripted, saying
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

SCOPE = Scope(user_id="u1", session_id="t1")


class Work(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    found: Annotated[list[str], operator.add]


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


def steps_of(memory: HindsightMemory, *kinds: StepKind) -> list[Step]:
    memory.settle()
    found = memory.trajectory(scope=SCOPE).steps
    return [step for step in found if step.kind in kinds or not kinds]


def asking(text: str = "Do it.") -> Any:
    return {"messages": [HumanMessage(text)]}


def calls(*asked: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{i}"} for i, (name, args) in enumerate(asked)])


# --- middleware --------------------------------------------------------------------------------------------------------------


@tool
def depth(lake: str) -> str:
    """Depth of a lake."""
    if lake == "Nowhere":
        raise ValueError("no such lake")
    return f"{lake}: 40 m"


def agent_of(memory: HindsightMemory, model: Scripted, tools: list[Any], *others: Any) -> Any:
    return create_agent(model, tools, middleware=[HindsightMiddleware(memory), *others], checkpointer=InMemorySaver())


def test_calls_that_ran_at_once_are_steps_of_one_group(memory: HindsightMemory):
    model = saying(calls(("depth", {"lake": "Ammer"}), ("depth", {"lake": "Walchen"})), "40 m each.")
    agent_of(memory, model, [depth]).invoke(asking(), run_of("u1"))
    tools = steps_of(memory, StepKind.TOOL)
    assert sorted(step.arguments for step in tools) == ['{"lake":"Ammer"}', '{"lake":"Walchen"}']
    assert len({step.group for step in tools}) == 1
    assert tools[0].group


def test_each_call_and_answer_tells_how_long_it_took(memory: HindsightMemory, clock: FakeClock):
    @tool
    def slow(seconds: int) -> str:
        """Waits."""
        clock.advance(seconds=seconds)
        return "done"

    model = saying(calls(("slow", {"seconds": 7})), "Done.")
    agent_of(memory, model, [slow]).invoke(asking(), run_of("u1"))
    (call,), (answer,) = steps_of(memory, StepKind.TOOL), steps_of(memory, StepKind.MESSAGE)
    assert call.took_s == 7
    assert answer.took_s == 0


def test_a_call_that_is_tried_again_by_middleware_is_one_step_with_the_time_of_all_tries(
    memory: HindsightMemory, clock: FakeClock
):
    tries: list[int] = []

    @tool
    def flaky() -> str:
        """Fails at first."""
        tries.append(1)
        clock.advance(seconds=2)
        if len(tries) < 3:
            raise ConnectionError("lost")
        return "there"

    retry = ToolRetryMiddleware(max_retries=3, initial_delay=0.001, jitter=False)
    model = saying(calls(("flaky", {})), "There.")
    agent_of(memory, model, [flaky], retry).invoke(asking(), run_of("u1"))
    (call,) = steps_of(memory, StepKind.TOOL)
    assert (call.content, call.error, call.took_s) == ("there", False, 6)


def test_a_call_that_waits_for_approval_is_one_step_after_it(memory: HindsightMemory):
    approval = HumanInTheLoopMiddleware(interrupt_on={"depth": True})
    agent = agent_of(memory, saying(calls(("depth", {"lake": "Ammer"})), "40 m."), [depth], approval)
    agent.invoke(asking(), run_of("u1"))
    assert steps_of(memory, StepKind.TOOL) == []
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), run_of("u1"))
    kinds = [step.kind for step in steps_of(memory) if step.kind is not StepKind.RECALL]
    assert kinds == [StepKind.GOAL, StepKind.TOOL, StepKind.MESSAGE]


def test_a_call_that_was_refused_by_a_person_is_a_failed_step(memory: HindsightMemory):
    approval = HumanInTheLoopMiddleware(interrupt_on={"depth": True})
    agent = agent_of(memory, saying(calls(("depth", {"lake": "Ammer"})), "As you like."), [depth], approval)
    agent.invoke(asking(), run_of("u1"))
    agent.invoke(Command(resume={"decisions": [{"type": "reject", "message": "not that lake"}]}), run_of("u1"))
    (call,) = steps_of(memory, StepKind.TOOL)
    assert call.error
    assert "not that lake" in call.content


def test_a_call_that_is_cancelled_is_a_step_that_says_so_and_the_task_stays_open(memory: HindsightMemory):
    began = asyncio.Event()

    @tool
    async def endless() -> str:
        """Never answers."""
        began.set()
        await asyncio.sleep(3_600)
        return "never"

    async def run() -> None:
        agent = agent_of(memory, saying(calls(("endless", {}))), [endless])
        running = asyncio.create_task(agent.ainvoke(asking(), run_of("u1")))
        await began.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(run())
    (call,) = steps_of(memory, StepKind.TOOL)
    assert (call.tool, call.error, call.cancelled) == ("endless", True, True)
    assert memory.trajectory(scope=SCOPE).outcome is None


def test_a_cancelled_step_function_says_so(memory: HindsightMemory):
    began = asyncio.Event()

    @memory.step(scope=SCOPE)
    async def endless(question: str) -> str:
        began.set()
        await asyncio.sleep(3_600)
        return question

    async def run() -> None:
        running = asyncio.create_task(endless("Wait."))
        await began.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(run())
    (call,) = steps_of(memory, StepKind.TOOL)
    assert (call.tool, call.cancelled) == ("endless", True)


@pytest.mark.parametrize("awaiting", [False, True])
def test_a_step_function_tells_how_long_it_took(memory: HindsightMemory, clock: FakeClock, awaiting: bool):
    if awaiting:

        @memory.step(scope=SCOPE)
        async def aanswer(question: str) -> str:
            clock.advance(seconds=3)
            return question.upper()

        asyncio.run(aanswer("Loud."))
    else:

        @memory.step(scope=SCOPE)
        def answer(question: str) -> str:
            clock.advance(seconds=3)
            return question.upper()

        answer("Loud.")
    (said,) = steps_of(memory, StepKind.MESSAGE)
    assert said.took_s == 3


# --- nodes -------------------------------------------------------------------------------------------------------------------


def branching(memory: HindsightMemory) -> Any:
    """Two calls in branches of their own, joined before the step is taken in."""

    def plan(state: MemoryState) -> dict[str, Any]:
        return {
            "messages": [AIMessage("Both at once.", id="plan", tool_calls=calls(("a", {"x": 1}), ("b", {"x": 2})).tool_calls)]
        }

    def branch(name: str, number: int) -> Any:
        def run(state: MemoryState) -> dict[str, Any]:
            return {"messages": [ToolMessage(f"{name} done", tool_call_id=f"c{number}", id=f"result-{name}")]}

        return run

    builder = StateGraph(MemoryState)
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_node("plan", plan)
    builder.add_node("a", branch("a", 0))
    builder.add_node("b", branch("b", 1))
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "plan")
    builder.add_edge("plan", "a")
    builder.add_edge("plan", "b")
    builder.add_edge(["a", "b"], "annotate")
    builder.add_edge("annotate", END)
    return builder.compile(checkpointer=InMemorySaver())


def test_branches_that_ran_at_once_are_steps_of_one_group_each_with_its_own_arguments(memory: HindsightMemory):
    branching(memory).invoke(asking(), run_of("u1"))
    tools = steps_of(memory, StepKind.TOOL)
    assert [(step.tool, step.arguments, step.group) for step in tools] == [("a", '{"x":1}', "plan"), ("b", '{"x":2}', "plan")]


def test_the_workers_of_a_send_are_each_a_step(memory: HindsightMemory):
    def worker(given: dict[str, Any]) -> dict[str, Any]:
        return {
            "messages": [ToolMessage(f"part {given['n']}", tool_call_id=f"c{given['n']}", name="part", id=f"part{given['n']}")]
        }

    builder: Any = StateGraph(MemoryState)
    builder.add_node("worker", worker)
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_conditional_edges(START, lambda _: [Send("worker", {"n": n}) for n in range(3)], ["worker"])
    builder.add_edge("worker", "annotate")
    builder.add_edge("annotate", END)
    builder.compile(checkpointer=InMemorySaver()).invoke(asking(), run_of("u1"))
    assert [step.content for step in steps_of(memory, StepKind.TOOL)] == ["part 0", "part 1", "part 2"]


def test_what_a_subgraph_did_is_part_of_its_parents_task_once(memory: HindsightMemory):
    inner = StateGraph(MemoryState)
    inner.add_node("work", lambda state: {"messages": [AIMessage("inner work", id="inner")]})
    inner.add_node("annotate", AnnotateAfterStep(memory))
    inner.add_edge(START, "work")
    inner.add_edge("work", "annotate")
    outer = StateGraph(MemoryState)
    outer.add_node("recall", RecallBeforePlan(memory))
    outer.add_node("inner", inner.compile())
    outer.add_node("after", lambda state: {"messages": [AIMessage("outer end", id="outer")]})
    outer.add_node("annotate", AnnotateAfterStep(memory))
    for one, other in ((START, "recall"), ("recall", "inner"), ("inner", "after"), ("after", "annotate"), ("annotate", END)):
        outer.add_edge(one, other)
    outer.compile(checkpointer=InMemorySaver()).invoke(asking(), run_of("u1"))
    assert [step.content for step in steps_of(memory, StepKind.MESSAGE)] == ["inner work", "outer end"]


def test_an_interrupt_in_the_middle_leaves_one_task_whose_steps_stand_once(memory: HindsightMemory):
    def ask(state: MemoryState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"you said {interrupt('sure?')}", id="answered")]}

    builder = StateGraph(MemoryState)
    builder.add_node("before", lambda state: {"messages": [AIMessage("Looking.", id="before")]})
    builder.add_node("taken", AnnotateAfterStep(memory))
    builder.add_node("ask", ask)
    builder.add_node("annotate", AnnotateAfterStep(memory))
    for one, other in ((START, "before"), ("before", "taken"), ("taken", "ask"), ("ask", "annotate"), ("annotate", END)):
        builder.add_edge(one, other)
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    graph.invoke(asking(), run_of("u1"))
    graph.invoke(Command(resume="yes"), run_of("u1"))
    assert [step.content for step in steps_of(memory)] == ["Do it.", "Looking.", "you said yes"]


def test_a_node_that_is_tried_again_leaves_its_step_once(memory: HindsightMemory):
    tries: list[int] = []

    def flaky(state: MemoryState) -> dict[str, Any]:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("lost")
        return {"messages": [ToolMessage("there", tool_call_id="c0", name="fetch")]}

    builder = StateGraph(MemoryState)
    builder.add_node("flaky", flaky, retry_policy=RetryPolicy(max_attempts=3, initial_interval=0.001, retry_on=ConnectionError))
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_edge(START, "flaky")
    builder.add_edge("flaky", "annotate")
    builder.compile(checkpointer=InMemorySaver()).invoke(asking(), run_of("u1"))
    assert [(step.content, step.error) for step in steps_of(memory, StepKind.TOOL)] == [("there", False)]


def test_a_call_that_a_new_message_overtook_is_a_cancelled_step(memory: HindsightMemory):
    builder = StateGraph(MemoryState)
    builder.add_node("answer", lambda state: {"messages": [AIMessage("As PDF then.", id="done")]})
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_edge(START, "answer")
    builder.add_edge("answer", "annotate")
    left: Any = {
        "messages": [
            HumanMessage("Export it.", id="ask"),
            AIMessage("", id="plan", tool_calls=[{"name": "export", "args": {"to": "csv"}, "id": "c0"}]),
            HumanMessage("Wait, as PDF.", id="again"),
        ]
    }
    builder.compile().invoke(left, run_of("u1"))
    (call,) = steps_of(memory, StepKind.TOOL)
    assert (call.tool, call.arguments, call.cancelled) == ("export", '{"to":"csv"}', True)


# --- an observed checkpointer -----------------------------------------------------------------------------------------------


def test_an_observed_graph_tells_the_branch_and_the_run_of_each_step(memory: HindsightMemory):
    inner = StateGraph(Work)
    inner.add_node("work", lambda state: {"messages": [AIMessage("inner work", id="inner")]})
    inner.add_edge(START, "work")
    outer = StateGraph(Work)
    outer.add_node("inner", inner.compile(checkpointer=True))
    outer.add_edge(START, "inner")
    graph: Any = outer.compile(checkpointer=memory.observe(InMemorySaver()))
    graph.invoke(asking(), {**run_of("u1"), "metadata": {"run_id": "r1"}})
    (said,) = steps_of(memory, StepKind.MESSAGE)
    assert (said.content, said.branch.partition(":")[0], said.run_id) == ("inner work", "inner", "r1")


def test_an_observed_graph_tells_how_long_a_step_took_and_not_how_long_a_person_did(memory: HindsightMemory):
    def quick(state: Work) -> dict[str, Any]:
        return {"messages": [AIMessage("quick", id="quick")]}

    def ask(state: Work) -> dict[str, Any]:
        return {"messages": [AIMessage(f"you said {interrupt('sure?')}", id="asked")]}

    builder = StateGraph(Work)
    builder.add_node("quick", quick)
    builder.add_node("ask", ask)
    builder.add_edge(START, "quick")
    builder.add_edge("quick", "ask")
    graph: Any = builder.compile(checkpointer=memory.observe(InMemorySaver()))
    graph.invoke(asking(), run_of("u1"))
    graph.invoke(Command(resume="yes"), run_of("u1"))
    took = {step.content: step.took_s for step in steps_of(memory, StepKind.MESSAGE)}
    assert took["quick"] is not None
    assert 0 <= took["quick"] < 60
    assert took["you said yes"] is None
