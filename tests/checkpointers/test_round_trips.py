"""How often the saver asks Redis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from hindsight_langgraph.checkpointers import HindsightSaver
from tests.checkpointers.made import META, DeltaChat, chat_graph, checkpoint, config, put, say
from tests.servers import Server

CONFIG = config(ns=None)
MESSAGES = [HumanMessage(f"m{n}" * 40, id=str(n)) for n in range(40)]


class Counted:
    """A saver with the requests that it made since `count` was last read."""

    def __init__(self, url: str) -> None:
        self.saver = HindsightSaver.from_url(url, prefix="trips")
        self._requests: list[str] = []
        link = self.saver._store._link  # type: ignore[attr-defined]  # a Redis store has one
        original = link.run

        def run(op: Any) -> Any:
            self._requests.append(type(op).__name__)
            return original(op)

        link.run = run

    @property
    def count(self) -> int:
        made = len(self._requests)
        self._requests.clear()
        return made


@pytest.fixture
def counted(redis8: Server) -> Iterator[Counted]:
    with redis8.client() as client:
        client.flushall()
    counted = Counted(redis8.url)
    yield counted
    counted.saver.close()


def test_put_and_put_writes_ask_once(counted: Counted) -> None:
    at = put(counted.saver, {"messages": MESSAGES, "doc": "d" * 500})
    assert counted.count == 1
    counted.saver.put_writes(at, [("messages", MESSAGES[:2]), ("doc", "e" * 500)], "task")
    assert counted.count == 1
    made = checkpoint({"messages": [*MESSAGES, HumanMessage("more")], "doc": "d" * 500}, version=2)
    counted.saver.put(at, made, META, {"messages": 2})
    assert counted.count == 1


def test_get_tuple_asks_once_for_what_is_known_and_twice_for_what_is_not(counted: Counted, redis8: Server) -> None:
    at = put(counted.saver, {"messages": MESSAGES, "doc": "d" * 500})
    counted.saver.put_writes(at, [("messages", MESSAGES[:2])], "task")
    assert counted.count == 2
    counted.saver.get_tuple(CONFIG)
    assert counted.count == 1
    cold = Counted(redis8.url)
    cold.saver.get_tuple(CONFIG)
    assert cold.count == 2
    cold.saver.close()


def test_a_put_that_builds_on_what_is_gone_asks_twice(counted: Counted) -> None:
    at = put(counted.saver, {"messages": MESSAGES})
    counted.saver.delete_thread("t")
    assert counted.count == 2
    made = checkpoint({"messages": [*MESSAGES, HumanMessage("more")]}, version=2)
    counted.saver.put(at, made, META, {"messages": 2})
    assert counted.count == 2


def test_the_history_of_a_hundred_checkpoints_takes_a_few_requests(counted: Counted, redis8: Server) -> None:
    graph = chat_graph(counted.saver, DeltaChat)
    for n in range(30):
        say(graph, f"question {n}")
    cold = Counted(redis8.url)
    history = cold.saver.get_delta_channel_history(config=CONFIG, channels=["messages"])
    assert len(history["messages"]["writes"]) == 60
    assert cold.count <= 4
    list(cold.saver.list(CONFIG))
    assert cold.count <= 6
    cold.saver.close()
