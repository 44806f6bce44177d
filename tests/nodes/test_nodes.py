"""The three nodes in real compiled graphs, blocking and awaiting."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.errors import CallError, MissingUser
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import RECOLLECTION_ID
from hindsight_langgraph.nodes import AnnotateAfterStep, MemoryState, RecallBeforePlan, Recalled
from hindsight_langgraph.nodes.annotate import latest_exchange
from hindsight_langgraph.nodes.recall import query_of
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import Role, Scope, Turn
from tests.memory.opening import open_memory
from tests.nodes.agents import answer_ok, build, run_of

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        yield opened


def seen_by_agent(memory: HindsightMemory) -> tuple[Any, list[list[Any]]]:
    prompts: list[list[Any]] = []

    def agent(state: MemoryState) -> dict[str, Any]:
        prompts.append(memory.prompt(state["messages"], state.get("recollection")))
        return {"messages": [AIMessage("ok")]}

    return build(memory, agent), prompts


def test_what_was_said_in_one_thread_is_recalled_in_another_and_never_persisted(memory: HindsightMemory):
    graph, prompts = seen_by_agent(memory)
    graph.invoke({"messages": [HumanMessage(FACT)]}, run_of("u1", "t1"))
    state = graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1", "t2"))
    assert "window seats" in prompts[1][-2].text
    assert prompts[1][-1].text == ASKED
    assert [m.text for m in state["messages"]] == [ASKED, "ok"]
    saved = graph.get_state(run_of("u1", "t2")).values
    assert RECOLLECTION_ID not in {m.id for m in saved["messages"]}
    assert "recollection" not in saved


def test_the_same_under_ainvoke(memory: HindsightMemory):
    graph, prompts = seen_by_agent(memory)

    async def talk() -> None:
        await graph.ainvoke({"messages": [HumanMessage(FACT)]}, run_of("u1", "t1"))
        await graph.ainvoke({"messages": [HumanMessage(ASKED)]}, run_of("u1", "t2"))

    asyncio.run(talk())
    assert "window seats" in prompts[1][-2].text


def test_another_users_run_recalls_nothing_of_it(memory: HindsightMemory):
    graph, prompts = seen_by_agent(memory)
    graph.invoke({"messages": [HumanMessage(FACT)]}, run_of("u1", "t1"))
    graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u2", "t1"))
    assert [m.text for m in prompts[1] if m.type == "human"][-1] == ASKED
    assert not any("window" in m.text for m in prompts[1] if m.id == RECOLLECTION_ID)


class Reading(Recalled):
    messages: Annotated[list[AnyMessage], add_messages]


class Plain(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    topic: str


def test_a_graph_keeps_its_own_schema_and_a_node_reads_the_recollection_by_annotation(memory: HindsightMemory):
    found: list[Any] = []

    def agent(state: Reading) -> dict[str, Any]:
        found.append(state.get("recollection"))
        return {"messages": [AIMessage("ok")]}

    graph = build(memory, agent, schema=Plain)
    graph.invoke({"messages": [HumanMessage(FACT)], "topic": "x"}, run_of("u1", "t1"))
    state = graph.invoke({"messages": [HumanMessage(ASKED)], "topic": "y"}, run_of("u1", "t2"))
    assert found[1].query.text == ASKED
    assert found[1].items
    assert set(state) == {"messages", "topic"}


def test_a_run_without_a_user_is_an_error_that_says_how_to_name_one(memory: HindsightMemory):
    graph = build(memory)
    with pytest.raises(MissingUser, match="user_id"):
        graph.invoke({"messages": [HumanMessage(FACT)]}, {"configurable": {"thread_id": "t1"}})
    with pytest.raises(MissingUser, match="user_id"):
        graph.invoke({"messages": [HumanMessage(FACT)]}, run_of("  "))


@dataclass
class Context:
    user_id: str


def test_the_user_may_come_from_the_runs_context(memory: HindsightMemory):
    builder = StateGraph(MemoryState, context_schema=Context)
    builder.add_node("annotate", AnnotateAfterStep(memory))
    builder.add_edge(START, "annotate")
    graph = builder.compile()
    graph.invoke({"messages": [HumanMessage(FACT)]}, context=Context(user_id="carla"))
    memory.settle()
    assert memory.units(scope="carla")


def test_the_user_id_is_read_at_each_call_not_when_the_graph_is_built(memory: HindsightMemory):
    graph = build(memory)
    for user in ("u1", "u2"):
        graph.invoke({"messages": [HumanMessage(f"I am called {user.upper()} and I like plums.")]}, run_of(user))
    memory.settle()
    assert {unit.owner for unit in memory.units(scope="u1")} == {"user:u1"}
    assert {unit.owner for unit in memory.units(scope="u2")} == {"user:u2"}


def test_a_state_without_messages_says_which_key_is_missing(memory: HindsightMemory):
    class Odd(TypedDict):
        history: list[AnyMessage]

    builder = StateGraph(Odd)
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_edge(START, "recall")
    with pytest.raises(CallError, match="messages_key"):
        builder.compile().invoke({"history": []}, run_of("u1"))


def test_annotating_the_same_messages_again_changes_nothing(memory: HindsightMemory):
    graph = build(memory)
    message = HumanMessage(FACT, id="m1")
    for _ in range(3):
        graph.invoke({"messages": [message]}, run_of("u1"))
    memory.settle()
    (unit,) = memory.units(scope="u1")
    assert unit.confirmations == 0
    steps = memory.trajectory(scope=Scope(user_id="u1", session_id="t1")).steps
    assert sum(step.kind is StepKind.GOAL for step in steps) == 1


def test_steps_tools_and_failures_become_the_tasks_trajectory(memory: HindsightMemory):
    def agent(state: MemoryState) -> dict[str, Any]:
        call = AIMessage("", tool_calls=[{"name": "shell", "args": {"cmd": "ls"}, "id": "c1"}])
        return {
            "messages": [
                call,
                ToolMessage("no such file", tool_call_id="c1", name="shell", status="error"),
                AIMessage("It failed."),
            ]
        }

    scope = Scope(user_id="u1", session_id="t1")
    build(memory, agent).invoke({"messages": [HumanMessage("List the files.")]}, run_of("u1"))
    memory.outcome(scope=scope, success=False, feedback="wrong folder")
    kept = memory.trajectory(scope=scope)
    assert [(step.kind, step.error) for step in kept.steps] == [
        (StepKind.GOAL, False),
        (StepKind.TOOL, True),
        (StepKind.MESSAGE, False),
    ]
    assert kept.outcome is not None
    assert kept.outcome.success is False
    assert memory.read_task(scope=scope)["result:shell"] == {"text": "no such file", "error": True}


def test_the_nodes_stream_in_every_mode(memory: HindsightMemory):
    graph = build(memory)
    for mode in ("values", "updates", "messages", "debug", "custom", "tasks", "checkpoints"):
        list(graph.stream({"messages": [HumanMessage(FACT)]}, run_of("u1", mode), stream_mode=mode))
    memory.settle()
    assert memory.units(scope="u1")


def test_a_batch_of_users_is_kept_apart(memory: HindsightMemory):
    graph = build(memory)
    users = [f"user{n}" for n in range(8)]
    graph.batch(
        [{"messages": [HumanMessage(f"My locker number is {n + 40}.")]} for n in range(8)], [run_of(user) for user in users]
    )
    memory.settle()
    for n, user in enumerate(users):
        assert str(n + 40) in " ".join(unit.content for unit in memory.units(scope=user))


def turn(role: Role, text: str, *, error: bool = False) -> Turn:
    return Turn(id=f"{role}-{text}", role=role, text=text, error=error)


class Looping(MemoryState):
    """A conversation, and what the agent is at."""

    goal: str
    sub_step: str


def looping(memory: HindsightMemory, steps: list[dict[str, Any]]) -> tuple[Any, list[Recollection]]:
    """A graph whose agent goes round once for each step, recall first, and what it had at hand each time."""
    seen: list[Recollection] = []

    def agent(state: Looping) -> dict[str, Any]:
        assert state["recollection"] is not None
        seen.append(state["recollection"])
        return steps[len(seen) - 1] if len(seen) <= len(steps) else {"messages": [AIMessage("done")]}

    builder = StateGraph(Looping)
    builder.add_node("recall", RecallBeforePlan(memory))
    builder.add_node("agent", agent)
    builder.add_edge(START, "recall")
    builder.add_edge("recall", "agent")
    builder.add_conditional_edges("agent", lambda _: "recall" if len(seen) <= len(steps) else END)
    return builder.compile(), seen


def tool_said(text: str, *, status: Literal["success", "error"] = "success") -> list[AnyMessage]:
    number = f"{text}-{status}"
    call = AIMessage("", tool_calls=[{"name": "deploy", "args": {}, "id": number}])
    return [call, ToolMessage(text, tool_call_id=number, name="deploy", status=status)]


@pytest.mark.parametrize(
    ("step", "fires"),
    [
        ({"messages": [AIMessage("let me see")]}, False),
        ({"messages": tool_said("deployed")}, False),
        ({"messages": tool_said("disk full", status="error")}, True),
        ({"messages": [HumanMessage("Stop. Which port is free?")]}, True),
        ({"goal": "write the quarterly invoice"}, True),
        ({"goal": "deploy Heron to the staging"}, False),
        ({"sub_step": "migrate the tables"}, True),
        ({"recollection": None}, True),
    ],
)
def test_recall_fires_where_something_calls_for_it_and_not_on_every_loop(
    memory: HindsightMemory, step: dict[str, Any], fires: bool
):
    graph, seen = looping(memory, [step, {"messages": [AIMessage("and on")]}])
    begun = {"messages": [HumanMessage("Deploy Heron.")], "goal": "deploy Heron to staging", "sub_step": "build the image"}
    graph.invoke(begun, run_of("u1"))
    assert [seen[1] is not seen[0], seen[2] is not seen[1]] == [fires, False]


def test_the_question_to_the_memory_is_the_task_and_not_the_bare_words(memory: HindsightMemory):
    graph, seen = looping(memory, [{"messages": tool_said("disk full", status="error")}])
    graph.invoke({"messages": [HumanMessage("Go on.")], "goal": "deploy Heron", "sub_step": "build the image"}, run_of("u1"))
    assert seen[0].query == Query(text="Go on.", goal="deploy Heron", sub_step="build the image")
    assert seen[1].query.last_result == "disk full"


def test_a_secret_in_the_message_does_not_make_every_loop_recall(memory: HindsightMemory):
    graph, seen = looping(memory, [{"messages": [AIMessage("let me see")]}])
    graph.invoke(
        {"messages": [HumanMessage("Use the key sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCD to deploy.")]}, run_of("u1")
    )
    assert "sk-proj" not in seen[0].query.text
    assert seen[1] is seen[0]


def test_a_goal_of_the_graphs_own_kind_is_left_alone(memory: HindsightMemory):
    assert query_of(memory, [turn(Role.USER, "hi")], state={"goal": {"id": 4}}) == Query(text="hi")


def test_nobody_asking_calls_for_no_recall(memory: HindsightMemory):
    assert query_of(memory, []) is None
    assert query_of(memory, [turn(Role.SYSTEM, "x")]) is None


def test_an_exchange_begins_where_the_user_last_began_to_speak():
    old, a, b, answer = (turn(Role.USER, "old"), turn(Role.USER, "a"), turn(Role.USER, "b"), turn(Role.ASSISTANT, "answer"))
    reply = turn(Role.ASSISTANT, "reply")
    assert latest_exchange([old, reply, a, b, answer]) == [a, b, answer]
    assert latest_exchange([reply]) == [reply]


def test_a_subgraph_shares_the_memory_of_its_parent(memory: HindsightMemory):
    inner = build(memory, checkpointer=None)
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    outer.compile().invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    memory.settle()
    assert memory.units(scope="u1")


def test_a_node_is_callable_outside_a_graph_with_a_config(memory: HindsightMemory):
    RecallBeforePlan(memory)({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    update = RecallBeforePlan(memory).invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    assert update is not None
    assert update["recollection"].items == ()
    assert answer_ok({"messages": []})["messages"]
