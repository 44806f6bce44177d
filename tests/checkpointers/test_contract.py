"""Rules of the checkpointer contract that LangGraph's suite does not test, on every store."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME

from hindsight_langgraph.checkpointers import HindsightSaver
from tests.checkpointers.made import META, checkpoint, config, ids, put, read

ODD = ["", "team-7:a.b#{x}|é", "a:b*c{d}|\0é", "%7Bx%7D", "\x01\x00\x01\x01", "中文?[x]", " ", "a/b\\c"]


def test_writes_that_come_before_their_checkpoint_are_kept(saver: HindsightSaver) -> None:
    made = checkpoint()
    saver.put_writes(config(checkpoint_id=made["id"]), [("c", "early")], "task")
    saver.put(config(), made, META, {})
    assert read(saver).pending_writes == [("task", "c", "early")]


def test_writes_come_in_the_order_in_which_a_step_applies_them(saver: HindsightSaver) -> None:
    at = put(saver)
    saver.put_writes(at, [("c", 3), ("c", 4)], "aaaa", task_path="~__pregel_pull, b")
    saver.put_writes(at, [("c", 1), ("c", 2)], "zzzz", task_path="~__pregel_pull, a")
    saver.put_writes(at, [("c", 0)], "mmmm")
    assert [value for _, _, value in read(saver).pending_writes or []] == [0, 1, 2, 3, 4]


def test_more_than_ten_writes_of_a_task_keep_their_order(saver: HindsightSaver) -> None:
    at = put(saver)
    saver.put_writes(at, [("c", n) for n in range(300)], "task")
    assert [value for _, _, value in read(saver).pending_writes or []] == list(range(300))


def test_the_first_write_of_a_place_wins(saver: HindsightSaver) -> None:
    at = put(saver)
    saver.put_writes(at, [("c", "first")], "task")
    saver.put_writes(at, [("c", "second"), ("d", "new")], "task")
    assert read(saver).pending_writes == [("task", "c", "first"), ("task", "d", "new")]


@pytest.mark.parametrize("channel", [ERROR, INTERRUPT, RESUME])
def test_a_special_write_replaces_the_one_before(saver: HindsightSaver, channel: str) -> None:
    at = put(saver)
    saver.put_writes(at, [(channel, "first")], "task")
    saver.put_writes(at, [(channel, "second")], "task")
    assert read(saver).pending_writes == [("task", channel, "second")]


def test_no_writes_leave_no_trace(saver: HindsightSaver) -> None:
    at = put(saver)
    saver.put_writes(at, [], "task")
    assert read(saver).pending_writes == []


def test_metadata_takes_in_the_scalars_of_the_config(saver: HindsightSaver) -> None:
    at = config(tenant="x", __hidden="no", checkpoint_map={"": "y"})
    at["metadata"] = {"user": "bob", "age": 7, "tags": ["not a scalar"]}
    put(saver, at=at, metadata={"score": 42})
    metadata = dict(read(saver).metadata)
    assert metadata == {**META, "score": 42, "user": "bob", "age": 7, "tenant": "x"}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"user": "bob"}, ["1", "3"]),
        ({"user": "bob", "score": 3}, ["3"]),
        ({"nested": {"a": [1]}}, ["2"]),
        ({"score": None}, []),
        ({"missing": None}, ["1", "2", "3"]),
        ({}, ["1", "2", "3"]),
    ],
)
def test_any_key_of_the_metadata_filters(saver: HindsightSaver, where: dict[str, Any], expected: list[str]) -> None:
    put(saver, id="1", metadata={"user": "bob", "score": 1})
    put(saver, id="2", metadata={"user": "eve", "score": 2, "nested": {"a": [1]}})
    put(saver, id="3", metadata={"user": "bob", "score": 3})
    assert sorted(ids(saver.list(config(), filter=where))) == expected


def test_a_filter_finds_what_lies_beyond_the_first_page(saver: HindsightSaver) -> None:
    for n in range(150):
        put(saver, id=f"{n:04}", metadata={"lucky": n == 3})
    assert ids(saver.list(config(), filter={"lucky": True}, limit=1)) == ["0003"]
    assert len(list(saver.list(config()))) == 150
    assert len(list(saver.list(config(), limit=100))) == 100


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (1, 1), (2, 2), (9, 3), (None, 3)])
def test_a_limit_is_met_exactly(saver: HindsightSaver, limit: int | None, expected: int) -> None:
    for _ in range(3):
        put(saver)
    assert len(list(saver.list(config(), limit=limit))) == expected
    assert len(list(saver.list(None, limit=limit))) == expected


def test_before_takes_the_ids_that_langgraph_makes(saver: HindsightSaver) -> None:
    made = [put(saver)["configurable"]["checkpoint_id"] for _ in range(4)]
    assert ids(saver.list(config(), before=config(checkpoint_id=made[2]))) == [made[1], made[0]]
    assert ids(saver.list(config(ns=None), before=config(checkpoint_id=made[2]), limit=1)) == [made[1]]
    assert ids(saver.list(config(), before=config(checkpoint_id=made[0]))) == []


def test_a_config_with_an_id_lists_that_checkpoint(saver: HindsightSaver) -> None:
    made = [put(saver)["configurable"]["checkpoint_id"] for _ in range(3)]
    assert ids(saver.list(config(checkpoint_id=made[1]))) == [made[1]]


def test_two_checkpoints_of_one_millisecond_come_newest_first(saver: HindsightSaver) -> None:
    made = [put(saver)["configurable"]["checkpoint_id"] for _ in range(20)]
    assert read(saver).checkpoint["id"] == made[-1]
    assert ids(saver.list(config(), limit=1)) == [made[-1]]
    assert ids(saver.list(config())) == made[::-1]


def test_the_root_namespace_is_exact(saver: HindsightSaver) -> None:
    names = ["", "n:1", "n:1|m:2", "n:1|m:20", "n:10"]
    for name in names:
        put(saver, {"c": name}, at=config(ns=name), id=f"id of {name}")
    for name in names:
        assert [found.checkpoint["channel_values"]["c"] for found in saver.list(config(ns=name))] == [name]
        assert read(saver, config(ns=name)).config["configurable"]["checkpoint_ns"] == name
    listed = [found.checkpoint["channel_values"]["c"] for found in saver.list(config(ns=None))]
    assert sorted(listed) == sorted(names)


def test_all_namespaces_are_paged_without_loss(saver: HindsightSaver) -> None:
    for n in range(100):
        for ns in ("", "child:1"):
            put(saver, at=config(ns=ns), id=f"{n:03}")
    listed = [(found.config["configurable"]["checkpoint_ns"], found.checkpoint["id"]) for found in saver.list(config(ns=None))]
    assert len(listed) == len(set(listed)) == 200
    assert [checkpoint_id for _, checkpoint_id in listed] == sorted((i for _, i in listed), reverse=True)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_thread_id_touches_that_thread_only(saver: HindsightSaver, odd: str) -> None:
    others = [thread for thread in ODD if thread != odd]
    for thread in ODD:
        at = put(saver, {"c": thread}, at=config(thread))
        saver.put_writes(at, [("w", thread)], "task")
    assert read(saver, config(odd)).checkpoint["channel_values"] == {"c": odd}
    assert [found.config["configurable"]["thread_id"] for found in saver.list(config(odd))] == [odd]
    saver.delete_thread(odd)
    assert saver.get_tuple(config(odd)) is None
    for thread in others:
        assert read(saver, config(thread)).pending_writes == [("task", "w", thread)]
    assert sorted(found.config["configurable"]["thread_id"] for found in saver.list(None)) == sorted(others)


@pytest.mark.parametrize("odd", ODD[1:])
def test_odd_names_of_everything_else_come_back(saver: HindsightSaver, odd: str) -> None:
    run_id = odd.replace("\0", "")  # LangGraph takes zero characters out of metadata
    at = config(ns=odd, checkpoint_id="parent" + odd)
    at = put(saver, {odd: [odd]}, at=at, id="id" + odd, metadata={odd: odd, "run_id": run_id})
    saver.put_writes(at, [(odd, odd)], odd, task_path=odd)
    found = read(saver, config(ns=odd))
    assert found.checkpoint["id"] == "id" + odd
    assert found.checkpoint["channel_values"] == {odd: [odd]}
    assert found.pending_writes == [(odd, odd, odd)]
    assert found.parent_config == config(ns=odd, checkpoint_id="parent" + odd)
    saver.delete_for_runs([run_id])
    assert saver.get_tuple(config(ns=odd)) is None


def test_an_id_that_begins_with_another_is_another(saver: HindsightSaver) -> None:
    for name in ("a", "a\0", "ab", "a\x01"):
        put(saver, {"c": name}, id=name)
    for name in ("a", "a\0", "ab", "a\x01"):
        assert read(saver, config(checkpoint_id=name)).checkpoint["channel_values"] == {"c": name}
    assert len(list(saver.list(config()))) == 4


def test_a_numeric_thread_id_comes_back_as_it_was(saver: HindsightSaver) -> None:
    put(saver, at=config(7))
    assert read(saver, config(7)).config["configurable"]["thread_id"] == 7


def test_a_channel_without_a_version_does_not_come_back(saver: HindsightSaver) -> None:
    made = checkpoint({"kept": 1, "dropped": 2})
    del made["channel_versions"]["dropped"]
    saver.put(config(), made, META, {"kept": 1})
    assert read(saver).checkpoint["channel_values"] == {"kept": 1}


def test_an_unchanged_channel_is_read_from_where_it_was_put(make_saver: Any) -> None:
    saver = make_saver()
    long = "x" * 1000
    at = put(saver, {"a": long, "b": 1})
    made = checkpoint({"a": long, "b": 2})
    made["channel_versions"] = {"a": 1, "b": 2}
    saver.put(at, made, META, {"b": 2})
    assert read(make_saver()).checkpoint["channel_values"] == {"a": long, "b": 2}


def test_putting_a_checkpoint_again_replaces_it(saver: HindsightSaver) -> None:
    put(saver, {"c": "old"}, id="1")
    put(saver, {"c": "new"}, id="1")
    assert [found.checkpoint["channel_values"]["c"] for found in saver.list(config())] == ["new"]


def test_a_checkpoint_is_whole_after_its_thread_was_deleted_by_another_process(make_saver: Any) -> None:
    first, second = make_saver(), make_saver()
    messages = [HumanMessage(f"m{n}" * 30, id=str(n)) for n in range(20)]
    at = put(first, {"messages": messages, "doc": "d" * 500})
    second.delete_thread("t")
    made = checkpoint({"messages": [*messages, AIMessage("more", id="x")], "doc": "d" * 500})
    made["channel_versions"] = {"messages": 2, "doc": 1}
    first.put(at, made, META, {"messages": 2})
    assert read(make_saver()).checkpoint["channel_values"] == made["channel_values"]


def test_versions_only_grow(saver: BaseCheckpointSaver[Any]) -> None:
    versions: list[Any] = [None]
    for _ in range(12):
        versions.append(saver.get_next_version(versions[-1], None))
    assert versions[1:] == sorted(set(versions[1:]))


def test_a_config_without_a_thread_is_an_error_that_says_so(saver: HindsightSaver) -> None:
    with pytest.raises(ValueError, match="thread_id"):
        saver.get_tuple({"configurable": {}})


def test_an_unknown_prune_strategy_is_an_error(saver: HindsightSaver) -> None:
    with pytest.raises(ValueError, match="keep_some"):
        saver.prune(["t"], strategy="keep_some")
