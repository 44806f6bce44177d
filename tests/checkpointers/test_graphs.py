"""Whole graphs on the saver: interrupts, sends, subgraphs, forks, delta channels, two writers."""

from __future__ import annotations

import operator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage, RemoveMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from hindsight_langgraph.checkpointers import HindsightSaver
from tests.checkpointers.conftest import MakeSaver
from tests.checkpointers.made import META, DeltaChat, chat_graph, config, ids, put, read, say

CONFIG = config(ns=None)


class Parts(TypedDict):
    x: int
    y: int
    seen: Annotated[list[str], operator.add]


def texts(values: Any) -> list[str]:
    return [message.content for message in values["messages"]]


def test_what_earlier_nodes_wrote_is_there_after_reopening(make_saver: MakeSaver) -> None:
    def build(saver: HindsightSaver) -> Any:
        builder = StateGraph(Parts)
        builder.add_node("one", lambda state: {"x": 1, "seen": ["one"]})
        builder.add_node("two", lambda state: {"y": 2, "seen": ["two"]})
        builder.add_edge(START, "one")
        builder.add_edge("one", "two")
        return builder.compile(checkpointer=saver)

    build(make_saver()).invoke({"seen": []}, CONFIG)
    assert build(make_saver()).get_state(CONFIG).values == {"x": 1, "y": 2, "seen": ["one", "two"]}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_an_interrupt_is_shown_and_resumed_once(make_saver: MakeSaver, durability: Any) -> None:
    def ask(state: Parts) -> dict[str, Any]:
        return {"seen": [interrupt(f"question {len(state['seen'])}")]}

    def build() -> Any:
        builder = StateGraph(Parts)
        builder.add_node("ask", ask)
        builder.add_edge(START, "ask")
        return builder.compile(checkpointer=make_saver())

    for turn in range(5):
        build().invoke({"seen": []}, CONFIG, durability=durability)
        (waiting,) = build().get_state(CONFIG).tasks[0].interrupts
        assert waiting.value == f"question {turn}"
        build().invoke(Command(resume=f"answer {turn}"), CONFIG, durability=durability)
        assert build().get_state(CONFIG).values["seen"] == [f"answer {n}" for n in range(turn + 1)]


def test_sends_of_which_one_interrupts_are_each_done_once(make_saver: MakeSaver) -> None:
    def work(state: dict[str, Any]) -> dict[str, Any]:
        return {"seen": [f"{state['who']}: {interrupt('go?')}" if state["who"] == "b" else state["who"]]}

    def build() -> Any:
        builder = StateGraph(Parts)
        builder.add_node("work", work)  # type: ignore[type-var]  # the input of a Send is any mapping
        builder.add_conditional_edges(START, lambda state: [Send("work", {"who": who}) for who in "abc"], ["work"])
        return builder.compile(checkpointer=make_saver())

    build().invoke({"seen": []}, CONFIG)
    assert [task.interrupts[0].value for task in build().get_state(CONFIG).tasks if task.interrupts] == ["go?"]
    build().invoke(Command(resume="yes"), CONFIG)
    assert build().get_state(CONFIG).values["seen"] == ["a", "b: yes", "c"]


def test_subgraphs_keep_to_their_own_namespaces(make_saver: MakeSaver) -> None:
    def leaf(state: Parts) -> dict[str, Any]:
        return {"seen": [f"leaf {interrupt('leaf?')}"]}

    def nested(inner: Any, name: str, **options: Any) -> Any:
        builder = StateGraph(Parts)
        builder.add_node(name, inner)
        builder.add_edge(START, name)
        return builder.compile(**options)

    saver = make_saver()
    builder = StateGraph(Parts)
    for name in ("left", "right"):
        builder.add_node(name, nested(nested(leaf, "leaf"), "middle"))
        builder.add_edge(START, name)
    graph: Any = builder.compile(checkpointer=saver)
    graph.invoke({"seen": []}, CONFIG)
    found = list(make_saver().list(CONFIG))
    places = {one.config["configurable"]["checkpoint_ns"] for one in found}
    assert {place.count("|") for place in places if place} == {0, 1}
    assert sorted({place.split(":")[0] for place in places}) == ["", "left", "right"]
    assert len({(one.config["configurable"]["checkpoint_ns"], one.checkpoint["id"]) for one in found}) == len(found)
    waiting = graph.get_state(CONFIG).interrupts
    graph.invoke(Command(resume={one.id: n for n, one in enumerate(waiting)}), CONFIG)
    assert sorted(graph.get_state(CONFIG).values["seen"]) == ["leaf 0", "leaf 1"]


def test_every_old_checkpoint_reads_as_it_was(make_saver: MakeSaver) -> None:
    saver = make_saver()
    graph = chat_graph(saver)
    expected: dict[str, list[str]] = {}
    for n in range(30):
        say(graph, f"question {n}")
        state = graph.get_state(CONFIG)
        expected[state.config["configurable"]["checkpoint_id"]] = texts(state.values)
    fresh = make_saver()
    for checkpoint_id, said in expected.items():
        assert texts(read(fresh, config(checkpoint_id=checkpoint_id)).checkpoint["channel_values"]) == said


def test_a_fork_from_the_past_leaves_the_other_branch_as_it_was(make_saver: MakeSaver) -> None:
    graph = chat_graph(make_saver())
    for n in range(12):
        say(graph, f"question {n}")
    history = list(graph.get_state_history(CONFIG))
    past = next(state for state in history if len(state.values.get("messages", [])) == 10 and not state.next)
    head = history[0]
    say(graph, "another way", past.config)
    fresh = chat_graph(make_saver())
    assert texts(fresh.get_state(CONFIG).values)[-2:] == ["another way", "answer 11"]
    assert len(fresh.get_state(CONFIG).values["messages"]) == 12
    assert fresh.get_state(head.config).values == head.values


def test_messages_that_were_removed_or_rewritten_are_so_after_reopening(make_saver: MakeSaver) -> None:
    graph = chat_graph(make_saver())
    for n in range(10):
        say(graph, f"question {n}")
    messages = graph.get_state(CONFIG).values["messages"]
    changes: list[Any] = [
        [RemoveMessage(messages[3].id)],
        [HumanMessage("rewritten", id=messages[6].id)],
        [RemoveMessage(message.id) for message in messages[8:12]],
        [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("summary"), *messages[14:]],
    ]
    for change in changes:
        graph.update_state(CONFIG, {"messages": change})
        expected = graph.get_state(CONFIG).values["messages"]
        assert chat_graph(make_saver()).get_state(CONFIG).values["messages"] == expected
    say(graph, "and on")
    assert texts(chat_graph(make_saver()).get_state(CONFIG).values)[0] == "summary"


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_fifty_turns_on_a_delta_channel_keep_all_messages(make_saver: MakeSaver, durability: str) -> None:
    graph = chat_graph(make_saver(), DeltaChat)
    for n in range(50):
        say(graph, f"question {n}", durability=durability)
    kept = texts(chat_graph(make_saver(), DeltaChat).get_state(CONFIG).values)
    assert kept == [text for n in range(50) for text in (f"question {n}", f"answer {2 * n + 1}")]


async def test_fifty_turns_on_a_delta_channel_keep_all_messages_when_awaited(make_saver: MakeSaver) -> None:
    async with make_saver() as saver:
        graph = chat_graph(saver, DeltaChat)
        for n in range(50):
            await graph.ainvoke({"messages": [HumanMessage(f"question {n}")]}, CONFIG, durability="async")
        assert len((await graph.aget_state(CONFIG)).values["messages"]) == 100


def test_a_delta_channel_survives_prune_copy_and_the_deletion_of_runs(make_saver: MakeSaver) -> None:
    saver = make_saver()
    graph = chat_graph(saver, DeltaChat)
    for n in range(60):
        say(graph, f"question {n}", config(ns=None, run_id=f"run {n}"))
    expected = texts(graph.get_state(CONFIG).values)
    saver.copy_thread("t", "copy")
    before = len(list(saver.list(config())))
    saver.prune(["t"])
    saver.delete_for_runs([f"run {n}" for n in range(59)])
    assert len(list(saver.list(config()))) < before
    for thread in ("t", "copy"):
        graph = chat_graph(make_saver(), DeltaChat)
        assert texts(graph.get_state(config(thread, ns=None)).values) == expected
        say(graph, "one more", config(thread, ns=None))
        assert len(graph.get_state(config(thread, ns=None)).values["messages"]) == len(expected) + 2


def test_the_history_of_a_delta_channel_is_that_of_the_default_walk(make_saver: MakeSaver) -> None:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    saver = make_saver()
    graph = chat_graph(saver, DeltaChat)
    for n in range(40):
        say(graph, f"question {n}")
    some = list(saver.list(config()))[::7]
    for at in [CONFIG, *(found.config for found in some), config(checkpoint_id="no such")]:
        channels = ["messages", "n", "no such"]
        fast = saver.get_delta_channel_history(config=at, channels=channels)
        assert fast == BaseCheckpointSaver.get_delta_channel_history(saver, config=at, channels=channels)
    assert saver.get_delta_channel_history(config=CONFIG, channels=[]) == {}


def test_two_writers_fork_a_thread_and_lose_nothing(make_saver: MakeSaver) -> None:
    first, second = chat_graph(make_saver()), chat_graph(make_saver())
    say(first, "hello")
    start = first.get_state(CONFIG).config
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda graph: say(graph[0], graph[1], start), [(first, "from one"), (second, "from two")]))
    states = list(chat_graph(make_saver()).get_state_history(CONFIG))
    ends = {tuple(texts(state.values)) for state in states if not state.next and len(state.values["messages"]) == 4}
    assert {end[2] for end in ends} == {"from one", "from two"}
    newest = max(state.config["configurable"]["checkpoint_id"] for state in states)
    assert first.get_state(CONFIG).config["configurable"]["checkpoint_id"] == newest


def test_two_writers_of_one_checkpoint_id_leave_one_of_the_two_whole(make_saver: MakeSaver) -> None:
    values = [{"messages": [HumanMessage(f"{who} {n}" * 20, id=f"{n}") for n in range(20)]} for who in ("one", "two")]
    savers = [make_saver(), make_saver()]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda work: put(work[0], work[1], id="same"), zip(savers, values, strict=True)))
    assert read(make_saver()).checkpoint["channel_values"] in values
    assert ids(make_saver().list(config())) == ["same"]


def test_an_empty_checkpoint_of_langgraph_comes_back(saver: HindsightSaver) -> None:
    made = empty_checkpoint()
    saver.put(config(), made, META, {})
    assert read(saver).checkpoint == made


def test_a_graph_streams_its_end(saver: HindsightSaver) -> None:
    graph = chat_graph(saver)
    assert [list(update) for update in graph.stream({"messages": [HumanMessage("hi")]}, CONFIG)] == [["agent"]]
    assert graph.get_state(CONFIG).next == ()
    assert END not in graph.get_state(CONFIG).values
