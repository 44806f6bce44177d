"""One saver for many threads, tasks and event loops."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from hindsight_langgraph.checkpointers import HindsightSaver
from hindsight_langgraph.errors import StoreClosed
from tests.checkpointers.conftest import MakeSaver
from tests.checkpointers.made import META, chat_graph, checkpoint, config, ids, put, read, say

CONFIG = config(ns=None)


def test_writes_from_many_threads_are_all_there(saver: HindsightSaver) -> None:
    at = put(saver)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: saver.put_writes(at, [("c", f"{n} a"), ("c", f"{n} b")], f"task {n:03}"), range(100)))
    assert [value for _, _, value in read(saver).pending_writes or []] == [f"{n} {x}" for n in range(100) for x in "ab"]


def test_threads_of_one_process_work_on_their_own_conversations(saver: HindsightSaver) -> None:
    def converse(name: str) -> int:
        graph = chat_graph(saver)
        for n in range(5):
            say(graph, f"{name} {n}", config(name, ns=None))
        return len(graph.get_state(config(name, ns=None)).values["messages"])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(converse, [f"thread {n}" for n in range(16)])) == [10] * 16


def test_savers_of_two_processes_extend_one_conversation_in_turn(make_saver: MakeSaver) -> None:
    graphs = [chat_graph(make_saver()), chat_graph(make_saver())]
    for n in range(20):
        say(graphs[n % 2], f"question {n}")
    assert len(chat_graph(make_saver()).get_state(CONFIG).values["messages"]) == 40


async def test_tasks_of_one_loop_share_the_saver(make_saver: MakeSaver) -> None:
    async with make_saver() as saver:
        at = await saver.aput(config(), checkpoint(), META, {})
        await asyncio.gather(*(saver.aput_writes(at, [("c", n)], f"task {n:03}") for n in range(50)))
        found = await saver.aget_tuple(config())
        assert found is not None
        assert [value for _, _, value in found.pending_writes or []] == list(range(50))


def test_one_saver_serves_one_loop_after_another_and_a_blocking_caller_between(make_saver: MakeSaver) -> None:
    saver = make_saver()
    graph = chat_graph(saver)

    async def turn(text: str) -> None:
        await graph.ainvoke({"messages": [HumanMessage(text)]}, CONFIG)

    asyncio.run(turn("first loop"))
    say(graph, "no loop")
    asyncio.run(turn("second loop"))
    assert len(graph.get_state(CONFIG).values["messages"]) == 6


def test_two_loops_at_once_share_one_saver(make_saver: MakeSaver) -> None:
    saver = make_saver()

    async def work(name: str) -> list[str]:
        for n in range(5):
            await saver.aput(config(name), checkpoint(id=str(n)), META, {})
        found = [one async for one in saver.alist(config(name))]
        return ids(found)

    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda name: asyncio.run(work(name)), ["one", "two"]))
    assert both == [["4", "3", "2", "1", "0"]] * 2


async def test_a_blocking_call_works_while_a_loop_runs(make_saver: MakeSaver) -> None:
    async with make_saver() as saver:
        graph = chat_graph(saver)
        await graph.ainvoke({"messages": [HumanMessage("awaited")]}, CONFIG)
        say(graph, "blocking")
        assert len((await graph.aget_state(CONFIG)).values["messages"]) == 4


async def test_a_saver_is_made_without_a_running_loop_and_used_in_one(make_saver: MakeSaver) -> None:
    saver = await asyncio.to_thread(make_saver)
    async with saver:
        await saver.asetup()
        await saver.aput(config(), checkpoint({"c": 1}), META, {"c": 1})
        assert [found.checkpoint["channel_values"] async for found in saver.alist(None)] == [{"c": 1}]


@pytest.mark.parametrize("steps", range(8))
async def test_a_cancelled_put_leaves_a_whole_checkpoint_or_none(make_saver: MakeSaver, steps: int) -> None:
    async with make_saver() as saver:
        values: dict[str, Any] = {"messages": [HumanMessage(f"m{n}" * 50, id=str(n)) for n in range(30)], "doc": "d" * 5000}
        await saver.aput(config(), checkpoint({"c": "first"}, id="1"), META, {"c": 1})
        task = asyncio.create_task(saver.aput(config(checkpoint_id="1"), checkpoint(values, id="2"), META, {"messages": 1}))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        found = await saver.aget_tuple(config())
        assert found is not None
        assert found.checkpoint["channel_values"] in ({"c": "first"}, values)
        await saver.aput(config(), checkpoint({"c": "after"}, id="3"), META, {"c": 1})
        after = await saver.aget_tuple(config())
        assert after is not None
        assert after.checkpoint["channel_values"] == {"c": "after"}


def test_pruning_while_another_writes_loses_nothing(make_saver: MakeSaver) -> None:
    writer, pruner = make_saver(), make_saver()
    graph = chat_graph(writer)

    def write() -> None:
        for n in range(30):
            say(graph, f"question {n}")

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        while not writing.done():
            pruner.prune(["t"])
        writing.result()
    assert len(chat_graph(make_saver()).get_state(CONFIG).values["messages"]) == 60


def test_a_saver_that_is_closed_between_two_runs_of_a_loop_leaves_nothing_open(make_saver: MakeSaver) -> None:
    saver = make_saver()
    with asyncio.Runner() as runner:
        runner.run(saver.aput(config(), checkpoint(), META, {}))
        saver.close()
        gc.collect()
        runner.run(asyncio.sleep(0))
    gc.collect()
    with pytest.raises(StoreClosed):
        read(saver)


async def test_a_saver_that_another_thread_closes_releases_the_client_of_this_loop(make_saver: MakeSaver) -> None:
    saver = make_saver()
    await saver.aput(config(), checkpoint(), META, {})
    await asyncio.to_thread(saver.close)
    with pytest.raises(StoreClosed):
        await saver.aget_tuple(config())
