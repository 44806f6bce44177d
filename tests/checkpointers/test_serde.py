"""Every byte goes through the serializer that LangGraph or the caller gave."""

from __future__ import annotations

import copy
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send

from hindsight_langgraph.checkpoint_ops import ReadThread
from hindsight_langgraph.errors import StoreRejected
from tests.checkpointers.conftest import MakeSaver
from tests.checkpointers.made import chat_graph, config, put, read, say
from tests.servers import PATIENCE_S

CONFIG = config(ns=None)
KEY = b"0123456789abcdef"


def encrypted() -> EncryptedSerializer:
    return EncryptedSerializer.from_pycryptodome_aes(key=KEY)


def test_a_shallow_copy_with_another_serializer_works_beside_the_original(make_saver: MakeSaver) -> None:
    saver = make_saver()
    put(saver, {"messages": [HumanMessage(f"m{n}", id=str(n)) for n in range(20)]})
    read(saver)
    clone = copy.copy(saver)
    clone.serde = encrypted()
    put(clone, {"messages": [HumanMessage("secret words", id="s")]}, at=config("u"))
    assert read(clone, config("u")).checkpoint["channel_values"]["messages"] == [HumanMessage("secret words", id="s")]
    assert len(read(clone).checkpoint["channel_values"]["messages"]) == 20
    assert len(read(saver).checkpoint["channel_values"]["messages"]) == 20
    with pytest.raises(NotImplementedError, match="aes"):
        read(saver, config("u"))


def test_a_saver_with_an_allowlist_shares_the_store(make_saver: MakeSaver) -> None:
    saver = make_saver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    clone = saver.with_allowlist([("tests.checkpointers.test_serde", "Anything")])
    assert clone is not saver
    put(saver, {"c": [HumanMessage("hello")]})
    assert read(clone).checkpoint["channel_values"]["c"] == [HumanMessage("hello")]


def test_types_that_python_graphs_hold_come_back_exactly(make_saver: MakeSaver) -> None:
    import datetime as dt
    import decimal
    import uuid

    values = {
        "set": {1, 2},
        "tuple in list": [(1, "a")],
        "bytes": [b"a", b"b"],
        "date": [dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)] * 10,
        "decimal": decimal.Decimal("1.10"),
        "uuid": [uuid.UUID(int=7)] * 9,
        "send": [Send("node", {"x": [1]}), Send("node", {"x": [2]})],
        "none": None,
        "empty": [],
        "nested": {"a": {"b": ["c"] * 12}},
        "int keys": {1: ["a"], 2: ["b"]},
    }
    put(make_saver(), values)
    stock = JsonPlusSerializer()
    expected = {name: stock.loads_typed(stock.dumps_typed(value)) for name, value in values.items()}
    assert read(make_saver()).checkpoint["channel_values"] == expected


def test_an_encrypted_thread_holds_no_readable_word(make_saver: MakeSaver) -> None:
    saver = make_saver(serde=encrypted())
    graph = chat_graph(saver)
    for n in range(12):
        say(graph, f"PASSWORD {n}")
    stored = saver._store.run(ReadThread(thread="t", with_values=True))
    bodies = [row.body for row in stored.rows] + [w.body for writes in stored.writes.values() for w in writes]
    assert not [body for body in [*bodies, *stored.values.values()] if b"PASSWORD" in body or b"messages" in body]
    assert all(b"+aes\0" in body[:20] for body in [*bodies, *stored.values.values()])
    kept = chat_graph(make_saver(serde=encrypted())).get_state(CONFIG).values["messages"]
    assert [message.content for message in kept[::2]] == [f"PASSWORD {n}" for n in range(12)]


def test_an_encrypted_conversation_stores_each_message_of_a_run_once(make_saver: MakeSaver) -> None:
    saver = make_saver(serde=encrypted())
    graph = chat_graph(saver)
    sizes: list[int] = []
    for n in range(40):
        say(graph, f"question {n}")
        sizes.append(len(saver._store.run(ReadThread(thread="t")).keys))
    assert len({after - before for before, after in pairwise(sizes[20:])}) <= 2


def test_with_encrypted_only_a_plain_row_is_refused(make_saver: MakeSaver) -> None:
    put(make_saver(), {"c": ["planted"] * 20})
    assert read(make_saver(serde=encrypted())).checkpoint["channel_values"] == {"c": ["planted"] * 20}
    strict = make_saver(serde=encrypted(), encrypted_only=True)
    with pytest.raises(StoreRejected, match="not encrypted"):
        strict.get_tuple(config())
    with pytest.raises(StoreRejected, match="not encrypted"):
        list(strict.list(config()))
    put(strict, {"c": "sealed"}, at=config("u"))
    assert read(strict, config("u")).checkpoint["channel_values"] == {"c": "sealed"}


def test_with_encrypted_only_a_plain_write_is_refused(make_saver: MakeSaver) -> None:
    at = put(make_saver(serde=encrypted()), {"c": "sealed"})
    make_saver().put_writes(at, [("c", "planted")], "task")
    with pytest.raises(StoreRejected, match="not encrypted"):
        make_saver(serde=encrypted(), encrypted_only=True).get_tuple(config())


def test_a_serializer_of_the_callers_own_sees_every_value(make_saver: MakeSaver) -> None:
    class Reversing:
        def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
            kind, content = JsonPlusSerializer().dumps_typed(obj)
            return f"{kind}-reversed", content[::-1]

        def loads_typed(self, data: tuple[str, bytes]) -> Any:
            return JsonPlusSerializer().loads_typed((data[0].removesuffix("-reversed"), data[1][::-1]))

    at = put(make_saver(serde=Reversing()), {"messages": [AIMessage(f"m{n}", id=str(n)) for n in range(10)], "n": 1})
    make_saver(serde=Reversing()).put_writes(at, [("c", "w")], "task")
    found = read(make_saver(serde=Reversing()))
    assert [message.content for message in found.checkpoint["channel_values"]["messages"]] == [f"m{n}" for n in range(10)]
    assert found.pending_writes == [("task", "c", "w")]


STRICT = """
import sys
from typing import Any
from typing_extensions import TypedDict
from langgraph.graph import START, StateGraph
from hindsight_langgraph.checkpointers import HindsightSaver
from hindsight_langgraph.records import Kind, SparseVector, Triple

class State(TypedDict):
    facts: list[Any]
    vector: Any

def graph(saver):
    builder = StateGraph(State)
    builder.add_node("learn", lambda state: {
        "facts": [Triple(subject="user", attribute="likes", value="figs"), Kind("fact")],
        "vector": SparseVector(indices=(1,), values=(0.5,)),
    })
    builder.add_edge(START, "learn")
    return builder.compile(checkpointer=saver)

at = {"configurable": {"thread_id": "t"}}
with HindsightSaver.from_url(sys.argv[1]) as saver:
    graph(saver).invoke({"facts": []}, at)
with HindsightSaver.from_url(sys.argv[1]) as saver:
    values = graph(saver).get_state(at).values
    assert values["facts"] == [Triple(subject="user", attribute="likes", value="figs"), Kind("fact")], values
    assert type(values["facts"][0]) is Triple and type(values["facts"][1]) is Kind, values
    assert type(values["vector"]) is SparseVector, values
print("usable")
"""


def test_the_librarys_records_are_usable_after_a_reload_in_strict_mode(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", STRICT, f"sqlite:///{tmp_path}/strict.db"],
        env={"LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (run.stdout.strip(), run.returncode) == ("usable", 0), run.stderr
