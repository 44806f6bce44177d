"""`attach_memory` on finished graphs: every way in and out leads through the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Overwrite, Send, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from hindsight_langgraph.attach import attach_memory
from hindsight_langgraph.errors import CallError
from hindsight_langgraph.injected import stripped
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.messages import RECOLLECTION_ID
from hindsight_langgraph.nodes import MemoryState
from tests.clock import FakeClock
from tests.doors.models import recorded_queries
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer on trains?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path) as opened:
        yield opened


class Seen:
    """An agent that keeps what it was shown and uses a tool once."""

    def __init__(self) -> None:
        self.prompts: list[list[Any]] = []

    def __call__(self, state: MessagesState) -> dict[str, Any]:
        self.prompts.append(list(state["messages"]))
        used = any(m.type == "ai" for m in state["messages"][-2:])
        return {"messages": [AIMessage("done" if used else "use the tool")]}

    @property
    def texts(self) -> str:
        return "\n".join(m.text for m in self.prompts[-1] if m.id == RECOLLECTION_ID)


def tools(state: MessagesState) -> dict[str, Any]:
    return {"messages": [AIMessage("the tool says 7")]}


def route(state: MessagesState) -> str:
    return "tools" if state["messages"][-1].text == "use the tool" else END


def plain_edges(seen: Seen) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("agent", seen)
    builder.add_node("last", lambda state: None)
    builder.add_edge(START, "agent")
    builder.add_edge("agent", "last")
    return builder


def path_map(seen: Seen) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("agent", seen)
    builder.add_node("tools", tools)
    builder.add_edge(START, "agent")
    builder.add_edge("tools", "agent")
    builder.add_conditional_edges("agent", route, {"tools": "tools", END: END})
    return builder


def branch_without_map(seen: Seen) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("agent", seen)
    builder.add_node("tools", tools)
    builder.add_edge(START, "agent")
    builder.add_edge("tools", "agent")
    builder.add_conditional_edges("agent", route)
    return builder


def start_branch(seen: Seen) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("agent", seen)
    builder.add_conditional_edges(START, lambda state: "agent")
    return builder


def goto(seen: Seen) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("agent", seen)
    builder.add_node("supervisor", lambda state: Command(goto="agent"), destinations=("agent",))
    builder.add_edge(START, "supervisor")
    return builder


def agent_goes_on(seen: Seen) -> Any:
    builder = StateGraph(MessagesState)

    def agent(state: MessagesState) -> Command[str]:
        return Command(goto="last", update=seen(state))

    builder.add_node("agent", agent, destinations=("last",))
    builder.add_node("last", lambda state: None)
    builder.add_edge(START, "agent")
    return builder


WIRINGS = [plain_edges, path_map, branch_without_map, start_branch, goto, agent_goes_on]


@pytest.mark.parametrize("wiring", WIRINGS, ids=lambda wiring: wiring.__name__)
def test_every_wiring_recalls_before_and_takes_in_after(memory: HindsightMemory, wiring: Callable[[Seen], Any]):
    seen = Seen()
    graph = attach_memory(wiring(seen), memory).compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [HumanMessage(FACT)]}, run_of("u1", "t1"))
    memory.settle()
    assert memory.units(scope="u1")
    state = graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1", "t2"))
    assert "window seats" in seen.texts
    assert RECOLLECTION_ID not in {m.id for m in state["messages"]}
    assert set(graph.get_state(run_of("u1", "t2")).values) == {"messages"}


@pytest.mark.parametrize("wiring", WIRINGS, ids=lambda wiring: wiring.__name__)
def test_every_wiring_does_so_under_ainvoke(memory: HindsightMemory, wiring: Callable[[Seen], Any]):
    seen = Seen()
    graph = attach_memory(wiring(seen), memory).compile()

    async def talk() -> None:
        await graph.ainvoke({"messages": [HumanMessage(FACT)]}, run_of("u1", "t1"))
        await memory.asettle()
        await graph.ainvoke({"messages": [HumanMessage(ASKED)]}, run_of("u1", "t2"))

    asyncio.run(talk())
    assert "window seats" in seen.texts


def test_another_user_is_shown_nothing_of_it(memory: HindsightMemory):
    seen = Seen()
    graph = attach_memory(path_map(seen), memory).compile()
    graph.invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u2"))
    assert "window" not in seen.texts


def test_the_drawn_graph_shows_the_memory_nodes(memory: HindsightMemory):
    drawn = attach_memory(path_map(Seen()), memory, before="agent", after="tools").compile().get_graph()
    assert {"agent", "agent.plan", "tools", "tools.annotate"} <= set(drawn.nodes)
    edges = {(edge.source, edge.target) for edge in drawn.edges}
    assert {("agent", "agent.plan"), ("tools", "tools.annotate"), ("tools.annotate", "agent"), ("agent.plan", "tools")} <= edges
    assert "memory = recall" in drawn.draw_mermaid()


@pytest.mark.parametrize("awaiting", [False, True])
def test_the_idle_pass_is_made_due_once_the_user_has_spoken(tmp_path: Path, clock: FakeClock, awaiting: bool):
    with open_memory(tmp_path, clock=clock) as memory:
        graph = attach_memory(path_map(Seen()), memory).compile()
        said: Any = {"messages": [HumanMessage(FACT)]}
        asyncio.run(graph.ainvoke(said, run_of("u1"))) if awaiting else graph.invoke(said, run_of("u1"))
        memory.settle()
        assert memory.run_due() == []
        clock.advance(hours=1)
        assert len(memory.run_due()) == 1


def test_recall_fires_once_a_message_and_not_on_every_loop(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    asked = recorded_queries(memory, monkeypatch)
    seen = Seen()
    attach_memory(path_map(seen), memory).compile().invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    assert len(seen.prompts) == 2
    assert [query.text for query in asked] == [ASKED]


def test_after_an_interrupt_in_the_node_itself_the_recollection_is_there_again(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    shown: list[str] = []

    def agent(state: MessagesState) -> dict[str, Any]:
        shown.append("\n".join(m.text for m in state["messages"] if m.id == RECOLLECTION_ID))
        return {"messages": [AIMessage(f"approved: {interrupt('may I?')}")]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    graph = attach_memory(builder, memory).compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    state = graph.invoke(Command(resume="yes"), run_of("u1"))
    assert ["window seats" in text for text in shown] == [True, True]
    assert state["messages"][-1].text == "approved: yes"


def test_a_send_keeps_its_own_input(memory: HindsightMemory):
    class Many(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]
        city: str

    def agent(state: Many) -> dict[str, Any]:
        return {"messages": [AIMessage(f"{state['city']}: {len(state['messages'])}")]}

    builder = StateGraph(Many)
    builder.add_node("agent", agent)
    builder.add_conditional_edges(
        START,
        lambda state: [Send("agent", {"messages": state["messages"], "city": city}) for city in ("Lyon", "Porto")],
        ["agent"],
    )
    graph = attach_memory(builder, memory).compile()
    state = graph.invoke({"messages": [HumanMessage("Weather?")], "city": ""}, run_of("u1"))
    assert sorted(m.text for m in state["messages"][1:]) == ["Lyon: 1", "Porto: 1"]


class Model(BaseModel):
    messages: Annotated[list[Any], add_messages] = []
    topic: str = "none"


@dataclass
class Data:
    messages: Annotated[list[Any], add_messages] = field(default_factory=list)
    topic: str = "none"


@pytest.mark.parametrize("schema", [Model, Data])
def test_a_state_that_is_a_model_or_a_dataclass_stays_one(memory: HindsightMemory, schema: Any):
    memory.remember([("user", FACT)], scope="u1")
    found: list[Any] = []

    def agent(state: Any) -> Any:
        found.append(state)
        state.messages.append(AIMessage("ok"))
        return state

    builder = StateGraph(schema)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    state = attach_memory(builder, memory).compile().invoke({"messages": [HumanMessage(ASKED)], "topic": "trains"}, run_of("u1"))
    assert isinstance(found[0], schema)
    assert found[0].topic == "trains"
    assert "window seats" in found[0].messages[0].text
    assert [m.text for m in state["messages"]] == [ASKED, "ok"]


def test_an_agent_that_answers_with_its_whole_prompt_persists_nothing_injected(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")

    class Plain(TypedDict):
        messages: list[Any]

    def agent(state: Plain) -> dict[str, Any]:
        return {"messages": [*state["messages"], {"role": "assistant", "content": f"saw {len(state['messages'])}"}]}

    builder = StateGraph(Plain)
    builder.add_node("agent", agent)
    builder.add_edge(START, "agent")
    graph = attach_memory(builder, memory).compile()
    state = graph.invoke({"messages": [{"role": "user", "content": ASKED}]}, run_of("u1"))
    assert [m["content"] for m in state["messages"]] == [ASKED, "saw 2"]


def test_whatever_form_an_answer_has_it_is_freed_of_what_was_injected():
    injected, own = HumanMessage("x", id=RECOLLECTION_ID), AIMessage("own", id="a")
    both = [injected, own]
    assert stripped({"messages": both, "n": 1}, "messages") == {"messages": [own], "n": 1}
    assert stripped(Command(update=[("messages", both)]), "messages").update == [("messages", [own])]
    sent = stripped(Command(goto=[Send("x", {"messages": both}), "y"]), "messages").goto
    assert sent == [Send("x", {"messages": [own]}), "y"]
    assert stripped([Command(update={"messages": both})], "messages")[0].update == {"messages": [own]}
    assert stripped({"messages": Overwrite(both)}, "messages")["messages"].value == [own]
    assert stripped({"messages": own}, "messages") == {"messages": own}
    assert stripped(None, "messages") is None


def test_a_node_that_is_a_graph_reads_the_recollection_and_persists_nothing_of_it(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    shown: list[str] = []

    def think(state: MemoryState) -> dict[str, Any]:
        found = state.get("recollection")
        shown.append(found.text if found else "")
        return {"messages": [AIMessage("ok")]}

    inner = StateGraph(MemoryState)
    inner.add_node("think", think)
    inner.add_edge(START, "think")
    builder = StateGraph(MessagesState)
    builder.add_node("agent", inner.compile())
    builder.add_edge(START, "agent")
    graph = attach_memory(builder, memory).compile(checkpointer=InMemorySaver())
    assert [name for name, _ in graph.get_subgraphs()] == ["agent.plan"]
    state = graph.invoke({"messages": [HumanMessage(ASKED)]}, run_of("u1"))
    assert "window seats" in shown[0]
    assert [m.text for m in state["messages"]] == [ASKED, "ok"]


def test_joins_defers_and_policies_are_kept(memory: HindsightMemory):
    builder = StateGraph(MessagesState)
    order: list[str] = []
    for name in ("a", "b", "agent", "end"):
        builder.add_node(name, lambda state, name=name: order.append(name))
    builder.add_edge(START, "a")
    builder.add_edge(START, "b")
    builder.add_edge(["a", "b"], "agent")
    builder.add_edge("agent", "end")
    attach_memory(builder, memory).compile().invoke({"messages": [HumanMessage("hi")]}, run_of("u1"))
    assert sorted(order[:2]) == ["a", "b"]
    assert order[2:] == ["agent", "end"]


def test_a_memory_that_is_down_costs_the_memory_and_not_the_run(tmp_path: Path):
    with open_memory(tmp_path, qdrant_url="http://127.0.0.1:9", redis_url="redis://127.0.0.1:9", timeout_s=0.2) as memory:
        state = attach_memory(path_map(Seen()), memory).compile().invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
    assert state["messages"][-1].text == "done"


def test_mistakes_say_what_to_do(memory: HindsightMemory):
    builder = path_map(Seen())
    with pytest.raises(CallError, match="no node 'planner'; it has agent, tools"):
        attach_memory(builder, memory, before="planner")
    with pytest.raises(CallError, match="messages_key"):
        attach_memory(builder, memory, messages_key="history")
    attach_memory(builder, memory)
    with pytest.raises(CallError, match="memory already"):
        attach_memory(builder, memory)
    with pytest.raises(CallError, match=r"before compile\(\)"):
        attach_memory(builder.compile(), memory)
