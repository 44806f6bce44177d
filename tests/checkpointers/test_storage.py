"""What is stored: equal values once, lists as what changed, nothing that no checkpoint refers to."""

from __future__ import annotations

import gc
import math
import random
import string
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from hindsight_langgraph.checkpoint_lists import DIGEST_BYTES
from hindsight_langgraph.checkpoint_ops import ReadThread, ThreadContent
from hindsight_langgraph.checkpointers import HindsightSaver
from hindsight_langgraph.checkpointers.values import named
from tests.checkpointers.conftest import MakeSaver
from tests.checkpointers.made import META, DeltaChat, chat_graph, checkpoint, config, put, read, say
from tests.servers import Server

CONFIG = config(ns=None)


def content(saver: HindsightSaver, thread: str = "t") -> ThreadContent:
    return saver._store.run(ReadThread(thread=thread, with_values=True))


def orphans(saver: HindsightSaver, thread: str = "t") -> set[bytes]:
    """Objects that no checkpoint or write leads to, and list nodes that only serve other nodes."""
    stored = content(saver, thread)
    flows = saver._flows
    refs = [ref for row in stored.rows for ref in flows.open(thread, row).refs.values()]
    refs += [flows.codec.loads(write.body)[2] for writes in stored.writes.values() for write in writes]
    names = {name for ref in refs for name in named(ref)}
    for name in [name for name in names if name[:1] == b"l"]:
        tail = stored.nodes[name][28:]
        names |= {b"v" + tail[at : at + DIGEST_BYTES] for at in range(0, len(tail), DIGEST_BYTES)}
    assert names <= stored.keys, "a checkpoint refers to what is gone"
    return set(stored.keys - names)


def converse(saver: HindsightSaver, turns: int, **options: Any) -> Any:
    graph = chat_graph(saver, **options)
    for n in range(turns):
        say(graph, f"question {n} " + "x" * 100, config(ns=None, run_id=f"run {n}"))
    return graph


def test_equal_values_are_stored_once(saver: HindsightSaver) -> None:
    long = "the same text " * 50
    at = put(saver, {"a": long, "b": long, "list": [long, long]})
    saver.put_writes(at, [("c", long), ("d", [long])], "task")
    put(saver, {"a": long}, at=config(ns="child:1"))
    assert len(content(saver).values) == 1
    assert read(saver).checkpoint["channel_values"] == {"a": long, "b": long, "list": [long, long]}


def test_a_longer_list_adds_only_its_new_items(saver: HindsightSaver) -> None:
    messages: list[Any] = [HumanMessage(f"message {n}" * 20, id=str(n)) for n in range(50)]
    at = put(saver, {"messages": messages})
    before = content(saver)
    put(saver, {"messages": [*messages, AIMessage("new" * 50, id="new")]}, at=at, version=2)
    after = content(saver)
    assert len(after.values) == len(before.values) + 1
    (node,) = [body for key, body in after.nodes.items() if key not in before.nodes]
    assert len(node) < 100


def test_a_conversation_grows_with_what_is_said_in_it(tmp_path: Path, redis8: Server) -> None:
    """200 turns of two messages of 500 random characters: at most 1.2 MB in SQLite, 1.5 MB of keys in Redis."""
    file = tmp_path / "grow.db"
    with redis8.client() as client:
        for url, limit in ((f"sqlite:///{file}", 1_200_000), (redis8.url, 1_500_000)):

            def size(saver: HindsightSaver, url: str = url) -> int:
                if url == redis8.url:
                    return sum(int(client.memory_usage(key, samples=0) or 0) for key in client.scan_iter(match="grow:*"))
                saver._store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[attr-defined]
                return file.stat().st_size

            with HindsightSaver.from_url(url, prefix="grow") as saver:
                sizes = dict(_growing(saver, size))
            slope = math.log(sizes[200] / sizes[20]) / math.log(200 / 20)
            assert sizes[200] <= limit, sizes
            assert slope <= 1.1, sizes


def _growing(saver: HindsightSaver, size: Any) -> Iterator[tuple[int, int]]:
    chars = random.Random(7)

    def text() -> str:
        return "".join(chars.choices(string.ascii_lowercase + "     ", k=500))

    graph = chat_graph(saver)
    graph.nodes["agent"].bound.func = lambda state: {"messages": [AIMessage(text())], "n": state.get("n", 0) + 1}
    for turn in range(1, 201):
        say(graph, text())
        if turn in {20, 200}:
            yield turn, size(saver)


def test_prune_leaves_the_newest_checkpoint_and_no_orphan(make_saver: MakeSaver) -> None:
    saver = make_saver()
    graph = converse(saver, 30)
    expected = graph.get_state(CONFIG).values
    saver.prune(["t"])
    assert len(list(saver.list(CONFIG))) == 1
    assert orphans(saver) == set()
    assert chat_graph(make_saver()).get_state(CONFIG).values == expected
    say(graph, "and on")
    assert len(chat_graph(make_saver()).get_state(CONFIG).values["messages"]) == 62


def test_the_deletion_of_runs_leaves_the_others_as_they_were_and_no_orphan(make_saver: MakeSaver) -> None:
    saver = make_saver()
    converse(saver, 30)
    gone = {f"run {n}" for n in (0, 7, 8, 9, 20, 29)}
    kept = {found.checkpoint["id"]: found for found in saver.list(CONFIG) if found.metadata.get("run_id") not in gone}
    saver.delete_for_runs(sorted(gone))
    assert orphans(saver) == set()
    fresh = make_saver()
    assert {found.checkpoint["id"]: found for found in fresh.list(CONFIG)} == kept


def test_the_deletion_of_a_thread_leaves_nothing_of_it(make_saver: MakeSaver) -> None:
    saver = make_saver()
    converse(saver, 5)
    saver.copy_thread("t", "other")
    saver.delete_thread("t")
    gone = content(saver)
    assert (gone.rows, gone.writes, gone.keys) == ((), {}, frozenset())
    assert orphans(saver, "other") == set()
    assert len(chat_graph(make_saver()).get_state(config("other", ns=None)).values["messages"]) == 10


def test_prune_drops_writes_whose_checkpoint_never_came(saver: HindsightSaver) -> None:
    at = put(saver, id="5")
    saver.put_writes(config(checkpoint_id="3"), [("c", "never put" * 20)], "task")
    saver.put_writes(config(checkpoint_id="7"), [("c", "on its way" * 20)], "task")
    saver.put_writes(at, [("c", "kept" * 20)], "task")
    saver.prune(["t"])
    assert set(content(saver).writes) == {("", "5"), ("", "7")}
    assert orphans(saver) == set()


def test_prune_keeps_what_a_delta_channel_needs_and_no_orphan(saver: HindsightSaver) -> None:
    graph = converse(saver, 20, state=DeltaChat)
    expected = graph.get_state(CONFIG).values
    saver.prune(["t"])
    assert orphans(saver) == set()
    assert graph.get_state(CONFIG).values == expected


def test_a_copy_goes_on_by_itself(make_saver: MakeSaver) -> None:
    saver = make_saver()
    converse(saver, 12)
    saver.copy_thread("t", "copy")
    say(chat_graph(saver), "only here", config("copy", ns=None))
    assert orphans(saver, "copy") == set()
    fresh = chat_graph(make_saver())
    assert len(fresh.get_state(CONFIG).values["messages"]) == 24
    assert len(fresh.get_state(config("copy", ns=None)).values["messages"]) == 26


def test_what_a_caller_changes_in_place_is_stored_as_it_is_now(make_saver: MakeSaver) -> None:
    saver = make_saver()
    messages: list[Any] = [AIMessage(f"m{n}", id=str(n), response_metadata={"tokens": [n]}) for n in range(20)]
    at = put(saver, {"messages": messages})
    messages[3].content = "changed"
    messages[5].response_metadata["tokens"].append(99)
    messages[7].response_metadata["tokens"] = True
    at = put(saver, {"messages": [*messages, HumanMessage("more", id="x")]}, at=at, version=2)
    kept = read(make_saver()).checkpoint["channel_values"]["messages"]
    assert kept == [*messages, HumanMessage("more", id="x")]
    assert kept[7].response_metadata["tokens"] is True


def test_what_a_caller_changes_in_what_it_read_is_not_read_by_the_next(saver: HindsightSaver) -> None:
    messages = [
        AIMessage(
            f"m{n}", id=str(n), additional_kwargs={"a": {"b": [1]}}, tool_calls=[{"name": "f", "args": {"x": [1]}, "id": "c"}]
        )
        for n in range(20)
    ]
    put(saver, {"messages": messages})
    for _ in range(3):
        values = read(saver).checkpoint["channel_values"]["messages"]
        assert values == messages
        values[0].content = "changed"
        values[1].additional_kwargs["a"]["b"].append(2)
        values[2].tool_calls[0]["args"]["x"].clear()
        values[3].response_metadata["new"] = 1
        values.pop()


def test_messages_that_were_read_from_memory_are_those_that_are_read_from_the_store(make_saver: MakeSaver) -> None:
    messages = [
        HumanMessage("plain", id="1"),
        AIMessage(
            [{"type": "text", "text": "parts"}],
            id="2",
            name="n",
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        ),
        ToolMessage("result", tool_call_id="c", artifact={"rows": [1, 2]}, status="error", id="3"),
        HumanMessage("extra", id="4", custom="field", other=[1, {"deep": None}]),
        *[AIMessage(f"m{n}", id=f"m{n}") for n in range(20)],
    ]
    saver = make_saver()
    put(saver, {"messages": messages})
    for reader in (saver, saver, make_saver()):
        kept = read(reader).checkpoint["channel_values"]["messages"]
        assert kept == messages
        assert [type(message) for message in kept] == [type(message) for message in messages]
        assert [message.model_dump() for message in kept] == [message.model_dump() for message in messages]
        assert [message.model_fields_set for message in kept] == [
            message.model_fields_set for message in read(make_saver()).checkpoint["channel_values"]["messages"]
        ]


def test_what_was_put_or_read_is_not_kept_in_memory(saver: HindsightSaver) -> None:
    put(saver, {"messages": [HumanMessage(f"m{n}", id=str(n)) for n in range(20)]})
    messages = [*read(saver).checkpoint["channel_values"]["messages"], HumanMessage("more", id="x")]
    put(saver, {"messages": messages}, version=2)
    held = [weakref.ref(message) for message in messages]
    del messages
    gc.collect()
    assert [one for one in held if one() is not None] == []


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
items = st.text(max_size=5) | st.dictionaries(st.text(max_size=5), plain, max_size=3) | st.binary(max_size=5)


texts = st.text(max_size=8)
ids = st.none() | texts
fields = st.sampled_from(["content", "id", "name", "tool_call_id", "custom"])
metadata = st.dictionaries(st.text(max_size=3), st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0]), max_size=2)
said = st.one_of(
    st.builds(HumanMessage, texts, id=ids, name=ids),
    st.builds(AIMessage, texts, id=ids, response_metadata=metadata, tool_calls=st.just([])),
    st.builds(ToolMessage, texts, tool_call_id=texts, status=st.sampled_from(["success", "error"]), id=ids),
    st.builds(HumanMessage, texts, custom=texts),
    st.dictionaries(texts, metadata, max_size=2),
    texts,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('law')}/law.db"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    versions=st.lists(
        st.tuples(st.integers(0, 80), st.integers(0, 80), st.lists(items, max_size=12), plain), min_size=1, max_size=12
    )
)
def test_any_history_of_a_list_reads_back_exactly(file: str, versions: list[tuple[int, int, list[Any], Any]]) -> None:
    """Each version cuts a piece out of the one before and puts other items there."""
    expected: dict[str, Any] = {}
    with HindsightSaver.from_url(file) as saver:
        saver.delete_thread("t")
        current: list[Any] = [f"item {n}" for n in range(60)]
        at = config()
        for version, (start, length, new, other) in enumerate(versions, 1):
            current = [*current[:start], *new, *current[start + length :]]
            made = checkpoint({"list": current, "other": other, "nested": {"inner": current}}, version=version)
            at = saver.put(at, made, META, dict(made["channel_versions"]))
            expected[made["id"]] = made["channel_values"]
            assert repr(read(saver).checkpoint["channel_values"]) == repr(made["channel_values"])
    with HindsightSaver.from_url(file) as saver:
        for checkpoint_id, values in expected.items():
            kept = read(saver, config(checkpoint_id=checkpoint_id)).checkpoint["channel_values"]
            assert repr(kept) == repr(values)
        keep = sorted(expected)[::2]
        stored = content(saver)
        flows = saver._flows
        flows_plan = flows._sweep("t", lambda known: {at for at in known if at[1] in keep})
        saver._run(flows_plan)
        assert orphans(saver) == set()
        assert stored.rows
        for checkpoint_id in keep:
            kept = read(saver, config(checkpoint_id=checkpoint_id)).checkpoint["channel_values"]
            assert repr(kept) == repr(expected[checkpoint_id])


def exactly(messages: list[Any]) -> list[Any]:
    """All that can be told of messages; 1, 1.0 and True are not the same."""
    return [
        (type(one), repr(one.__dict__), repr(one.__pydantic_extra__), one.model_fields_set)
        if isinstance(one, BaseMessage)
        else repr(one)
        for one in messages
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    turns=st.lists(
        st.tuples(st.lists(said, max_size=6), st.lists(st.tuples(st.integers(0, 99), fields, texts, metadata), max_size=2)),
        min_size=1,
        max_size=8,
    )
)
def test_any_history_of_messages_that_are_changed_in_place_reads_as_the_store_has_it(file: str, turns: list[Any]) -> None:
    """Each turn reads the messages, changes some of them in place and adds others; a saver that knows nothing reads the same."""
    with HindsightSaver.from_url(file) as saver:
        saver.delete_thread("t")
        current: list[Any] = [HumanMessage(f"m{n}", id=str(n)) for n in range(12)]
        at = put(saver, {"messages": current})
        for version, (new, changes) in enumerate(turns, 2):
            current = read(saver).checkpoint["channel_values"]["messages"]
            for place, field, text, more in changes:
                changed = current[place % len(current)]
                if isinstance(changed, BaseMessage):
                    setattr(changed, field, text)
                    changed.response_metadata.update(more)
            current = [*current, *new]
            at = put(saver, {"messages": current}, at=at, version=version)
            with HindsightSaver.from_url(file) as fresh:
                stored = exactly(read(fresh).checkpoint["channel_values"]["messages"])
            assert exactly(read(saver).checkpoint["channel_values"]["messages"]) == stored
            assert exactly(read(saver).checkpoint["channel_values"]["messages"]) == stored
            assert read(saver).checkpoint["channel_values"]["messages"] == current
