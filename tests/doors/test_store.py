"""`memory.as_store()` beside LangGraph's `InMemoryStore`: the same requests, the same answers, then what only ours does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from hindsight_langgraph.errors import CallError, MissingUser, StoreRejected, StoreUnavailable
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.ops import DeleteKeys, PutUnits
from tests.clock import FakeClock
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of

FACT = "I prefer window seats on trains."
VALUES: dict[tuple[tuple[str, ...], str], dict[str, Any]] = {
    (("u", "bob", "sem"), "a"): {"text": "Bob likes tea", "n": 1, "tag": "x", "d": {"e": 1, "f": [1, 2]}},
    (("u", "bob", "sem"), "b"): {"text": "Bob drives a car", "n": 5, "tag": "y", "d": {"e": 2}},
    (("u", "bob"), "c"): {"text": "Bob sleeps", "n": 7},
    (("u", "eve"), "c"): {"text": "Eve drives a fast car", "n": 9, "tag": "x"},
    (("us", "er1"), "d"): {"text": "nobody", "n": 0},
    (("us", "er10"), "d"): {"text": "somebody", "n": 0},
}


class Hashed(Embeddings):
    """Our embedder as LangChain's, so that both stores rank by the same vectors."""

    inner = HashEmbedder()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [list(vector) for vector in self.inner.embed(tuple(texts), purpose="document")]

    def embed_query(self, text: str) -> list[float]:
        return list(self.inner.embed((text,), purpose="query")[0])


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


@pytest.fixture
def stores(memory: HindsightMemory) -> tuple[BaseStore, BaseStore]:
    """Ours and LangGraph's, with the same items."""
    theirs = InMemoryStore(index={"dims": HashEmbedder.space.dimension, "embed": Hashed(), "fields": ["text"]})
    ours = memory.as_store(scope="u1")
    for store in (ours, theirs):
        store.batch([PutOp(namespace, key, value) for (namespace, key), value in VALUES.items()])
    return ours, theirs


def plain(result: Any) -> Any:
    """A result without its times; scores as what they rank, not as what another text gives them."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    if hasattr(result, "value"):
        return (result.namespace, result.key, result.value)
    return result


def unordered(result: Any) -> Any:
    return sorted(map(repr, plain(result)))


SEARCHES: list[SearchOp] = [
    SearchOp(()),
    SearchOp(("u",)),
    SearchOp(("u", "bob")),
    SearchOp(("us", "er1")),
    SearchOp(("nobody",)),
    SearchOp(("u",), filter={"tag": "x"}),
    SearchOp(("u",), filter={"tag": {"$eq": "x"}}),
    SearchOp(("u",), filter={"tag": {"$ne": "x"}}),
    SearchOp(("u",), filter={"n": {"$gt": 5}}),
    SearchOp(("u",), filter={"n": {"$gte": 5, "$lt": 9}}),
    SearchOp(("u",), filter={"n": {"$lte": 1}}),
    SearchOp(("u", "bob", "sem"), filter={"d": {"e": 1}}),
    SearchOp(("u", "bob", "sem"), filter={"d": {"f": [1, 2]}}),
    SearchOp(("u",), filter={"missing": None}),
    SearchOp(("u",), filter={"tag": "x", "n": 9}),
]


@pytest.mark.parametrize("op", SEARCHES, ids=str)
def test_a_search_by_prefix_and_filter_finds_the_same(stores: tuple[BaseStore, BaseStore], op: SearchOp):
    ours, theirs = stores
    expected = unordered(theirs.batch([op])[0])
    assert unordered(ours.batch([op])[0]) == expected
    assert unordered(asyncio.run(ours.abatch([op]))[0]) == expected


@pytest.mark.parametrize(("limit", "offset"), [(2, 0), (2, 1), (10, 2), (0, 0), (1, 9)])
def test_a_search_by_meaning_ranks_the_same_page_by_page(stores: tuple[BaseStore, BaseStore], limit: int, offset: int):
    ours, theirs = stores
    op = SearchOp(("u",), query="car", limit=limit, offset=offset)
    found, expected = ours.batch([op])[0], theirs.batch([op])[0]
    assert isinstance(found, list)
    assert len(found) == len(expected)  # type: ignore[arg-type]
    first = ours.search(("u",), query="drives a car", limit=2)
    assert [item.key for item in first] == [item.key for item in theirs.search(("u",), query="drives a car", limit=2)]
    assert all(item.score is not None for item in first)


def test_pages_neither_repeat_nor_leave_out(stores: tuple[BaseStore, BaseStore]):
    ours, _ = stores
    for query in (None, "car"):
        pages = [item for offset in range(0, 6, 2) for item in ours.search((), query=query, limit=2, offset=offset)]
        assert unordered(pages) == unordered(ours.search((), limit=10))


LISTS: list[ListNamespacesOp] = [
    ListNamespacesOp(),
    ListNamespacesOp(max_depth=1),
    ListNamespacesOp(max_depth=2, limit=2, offset=1),
    ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("u",)),)),
    ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("u", "*", "sem")),)),
    ListNamespacesOp(match_conditions=(MatchCondition("suffix", ("sem",)), MatchCondition("prefix", ("u",)))),
    ListNamespacesOp(match_conditions=(MatchCondition("suffix", ("bob", "*")),)),
]


@pytest.mark.parametrize("op", LISTS, ids=str)
def test_namespaces_are_listed_the_same(stores: tuple[BaseStore, BaseStore], op: ListNamespacesOp):
    ours, theirs = stores
    expected = theirs.batch([op])[0]
    assert ours.batch([op])[0] == expected
    assert asyncio.run(ours.abatch([op]))[0] == expected


def test_one_batch_reads_before_it_writes_and_the_last_put_counts(stores: tuple[BaseStore, BaseStore]):
    for store in stores:
        results = store.batch(
            [
                PutOp(("q",), "1", {"v": 1}),
                GetOp(("q",), "1"),
                PutOp(("q",), "1", {"v": 2}),
                PutOp(("u", "eve"), "c", None),
                GetOp(("u", "eve"), "c"),
            ]
        )
        assert plain(results) == [None, None, None, None, (("u", "eve"), "c", VALUES[("u", "eve"), "c"])]
        assert plain(store.get(("q",), "1")) == (("q",), "1", {"v": 2})
        assert store.get(("u", "eve"), "c") is None


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x"), (1,)])
def test_a_wrong_namespace_is_refused_alike(stores: tuple[BaseStore, BaseStore], namespace: Any):
    for store in stores:
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {"v": 1})


def test_an_unknown_operator_is_refused_alike(stores: tuple[BaseStore, BaseStore]):
    for store in stores:
        with pytest.raises(ValueError, match=r"\$in"):
            store.search(("u",), filter={"tag": {"$in": ["x"]}})


def test_get_put_and_delete_answer_alike_blocking_and_awaiting(stores: tuple[BaseStore, BaseStore]):
    async def awaiting(store: BaseStore) -> list[Any]:
        await store.aput(("w",), "k", {"text": "awaited"})
        first = plain(await store.aget(("w",), "k"))
        found = plain(await store.asearch(("w",)))
        await store.adelete(("w",), "k")
        return [first, found, await store.aget(("w",), "k"), await store.alist_namespaces(prefix=("us",))]

    ours, theirs = stores
    assert asyncio.run(awaiting(ours)) == asyncio.run(awaiting(theirs))
    for store in stores:
        store.put(("w",), "5", {"text": "x"})
        store.put(("w",), "5", {"text": "y"})
        assert plain(store.get(("w",), "5")) == (("w",), "5", {"text": "y"})
        assert store.get(("w",), "missing") is None
        store.delete(("w",), "missing")


def test_an_item_kept_out_of_the_index_comes_last_and_without_a_score(stores: tuple[BaseStore, BaseStore]):
    for store in stores:
        store.put(("hidden",), "h", {"text": "a car"}, index=False)
        store.put(("hidden",), "s", {"text": "a boat"})
        found = store.search(("hidden",), query="a car")
        assert [item.key for item in found] == ["s", "h"]
        assert found[1].score is None


def test_named_fields_are_what_an_item_is_found_by(memory: HindsightMemory):
    store = memory.as_store(scope="u1")
    store.put(("n",), "a", {"title": "gardening", "text": "steam engines"}, index=["title"])
    store.put(("n",), "b", {"title": "steam engines", "text": "gardening"}, index=["title"])
    assert store.search(("n",), query="gardening")[0].key == "a"


def test_a_value_that_is_no_json_object_is_refused(memory: HindsightMemory):
    store = memory.as_store(scope="u1")
    with pytest.raises(CallError, match="pass a dict"):
        store.put(("n",), "a", "text")  # type: ignore[arg-type]
    with pytest.raises(CallError, match="no JSON object"):
        store.put(("n",), "a", {"x": object()})


def test_times_are_kept_as_they_should_be(memory: HindsightMemory, clock: FakeClock):
    store = memory.as_store(scope="u1")
    store.put(("n",), "a", {"v": 1})
    first = store.get(("n",), "a")
    clock.advance(hours=1)
    store.put(("n",), "a", {"v": 2})
    second = store.get(("n",), "a")
    assert first is not None
    assert second is not None
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_an_item_expires_unless_it_is_read(memory: HindsightMemory, clock: FakeClock):
    store = memory.as_store(scope="u1")
    for key in ("read", "unread", "peeked"):
        store.put(("n",), key, {"text": key}, ttl=10)
    store.put(("n",), "lasting", {"text": "lasting"})
    clock.advance(minutes=9)
    assert store.get(("n",), "read") is not None
    assert store.get(("n",), "peeked", refresh_ttl=False) is not None
    clock.advance(minutes=9)
    assert {item.key for item in store.search(("n",))} == {"read", "lasting"}
    assert store.get(("n",), "unread") is None
    assert len(memory.units(scope="u1")) == 2


def test_a_namespace_whose_items_have_expired_is_not_listed(memory: HindsightMemory, clock: FakeClock):
    store = memory.as_store(scope="u1")
    store.put(("n",), "a", {"text": "x"}, ttl=1)
    clock.advance(minutes=2)
    assert store.list_namespaces() == []


def test_what_the_memory_remembered_is_read_under_its_user(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="ann@example.com")
    store = memory.as_store(scope="ann@example.com")
    (item,) = store.search(("memories",), query="seats on trains")
    assert item.namespace == ("memories", "ann@example%2Ecom")
    assert item.value["content"] == FACT
    assert plain(store.get(item.namespace, item.key)) == plain(item)
    assert store.list_namespaces() == [item.namespace]
    store.delete(item.namespace, item.key)
    assert memory.units(scope="ann@example.com") == []


def test_what_is_put_is_recalled_as_memory_and_is_neither_merged_nor_superseded(memory: HindsightMemory):
    store = memory.as_store(scope="u1")
    for key in ("a", "b"):
        store.put(("notes",), key, {"text": "The locker number is 42."})
    assert "42" in memory.recall("What is the locker number?", scope="u1").text
    memory.consolidate(scope="u1")
    memory.remember([("user", "The locker number is 43.")], scope="u1")
    assert {item.key for item in store.search(("notes",))} == {"a", "b"}


def test_an_expired_item_is_not_recalled_as_current(memory: HindsightMemory, clock: FakeClock):
    memory.as_store(scope="u1").put(("notes",), "a", {"text": "The locker number is 42."}, ttl=1)
    clock.advance(minutes=2)
    found = memory.recall("What is the locker number?", scope="u1")
    assert all("no longer true" in line for line in found.text.splitlines() if "42" in line)


def graph_of(memory: HindsightMemory, node: Any) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile(store=memory.as_store())


def test_a_compiled_graph_reads_and_writes_through_its_runtime(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")

    def node(state: MessagesState, runtime: Runtime[Any]) -> dict[str, Any]:
        assert runtime.store is not None
        found = runtime.store.search(("memories", "u1"), query="Which seats on trains?")
        runtime.store.put(("memories", "u1"), "extra", {"content": "The user asked about seats."})
        return {"messages": [AIMessage(found[0].value["content"])]}

    state = graph_of(memory, node).invoke({"messages": [HumanMessage("?")]}, run_of("u1"))
    assert state["messages"][-1].text == FACT
    assert {unit.content for unit in memory.units(scope="u1")} == {FACT, "The user asked about seats."}


def test_an_awaiting_node_too(memory: HindsightMemory):
    async def node(state: MessagesState, runtime: Runtime[Any]) -> None:
        assert runtime.store is not None
        await runtime.store.aput(("notes",), "a", {"text": "x"})

    asyncio.run(graph_of(memory, node).ainvoke({"messages": [HumanMessage("?")]}, run_of("u1")))
    assert plain(memory.as_store(scope="u1").get(("notes",), "a")) == (("notes",), "a", {"text": "x"})


def test_two_users_never_share_an_item_whatever_namespace_they_name(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    found: list[Any] = []

    def node(state: MessagesState, runtime: Runtime[Any]) -> None:
        store = runtime.store
        assert store is not None
        found.append([plain(store.get(("shared",), "k")), *plain(store.search(())), *plain(store.search(("memories", "u1")))])
        store.put(("shared",), "k", {"text": f"of {len(found)}"})

    graph = graph_of(memory, node)
    for user in ("u1", "u2", "u1"):
        graph.invoke({"messages": [HumanMessage("?")]}, run_of(user))
    assert found[1] == [None]
    assert found[2][0] == (("shared",), "k", {"text": "of 1"})
    assert memory.as_store(scope="u2").search(("memories", "u1")) == []


def test_outside_a_run_a_user_must_be_named(memory: HindsightMemory):
    with pytest.raises(MissingUser):
        memory.as_store().get(("n",), "a")


def test_an_item_that_is_forgotten_may_be_put_again_and_forgets_no_other(memory: HindsightMemory):
    store = memory.as_store(scope="u1")
    store.put(("notes",), "a", {"text": "The locker number is 42."})
    store.put(("notes",), "b", {"text": "The blue folder is on the shelf."})
    (unit,) = [unit for unit in memory.units(scope="u1") if "42" in unit.content]
    assert memory.forget([unit.id], scope="u1") == 1
    assert [item.key for item in store.search(("notes",))] == ["b"]
    assert "blue folder" in memory.recall("Where is the blue folder?", scope="u1").text
    store.put(("notes",), "a", {"text": "The locker number is 42."})
    assert "42" in memory.recall("What is the locker number?", scope="u1").text


def test_erasing_a_user_erases_the_items(memory: HindsightMemory):
    store = memory.as_store(scope="u1")
    store.put(("n",), "a", {"text": "x"})
    memory.erase(scope="u1")
    assert store.search(()) == []


def test_what_is_exported_and_imported_is_the_same_store(memory: HindsightMemory, tmp_path: Path):
    memory.as_store(scope="u1").put(("n",), "a", {"text": "x", "deep": {"y": [1, None]}})
    lines = list(memory.export_lines(scope="u1"))
    with open_memory(tmp_path / "other") as other:
        other.import_lines(lines)
        item = other.as_store(scope="u1").get(("n",), "a")
    assert item is not None
    assert json.dumps(item.value) == '{"text": "x", "deep": {"y": [1, null]}}'


def test_while_the_store_is_down_reads_find_nothing_and_puts_wait(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    store = memory.as_store(scope="u1")
    runtime = memory._runtime
    answer = runtime._call

    def down(op: Any) -> Any:
        if isinstance(op, DeleteKeys):
            return answer(op)
        raise StoreUnavailable("down")

    with monkeypatch.context() as patch:
        patch.setattr(runtime, "_call", down)
        assert store.get(("n",), "a") is None
        assert store.search(("n",), query="x") == []
        assert store.list_namespaces() == []
        store.put(("n",), "a", {"text": "x"})
    for outage in runtime.outages.values():
        outage.answered()
    assert store.get(("n",), "a") is not None


def test_a_put_that_fails_leaves_the_item_as_it_was_and_is_done_later(memory: HindsightMemory, monkeypatch: pytest.MonkeyPatch):
    store = memory.as_store(scope="u1")
    store.put(("n",), "a", {"v": 1})
    runtime = memory._runtime
    answer = runtime._call

    def full(op: Any) -> Any:
        if isinstance(op, PutUnits):
            raise StoreRejected("the disk is full")
        return answer(op)

    with monkeypatch.context() as patch:
        patch.setattr(runtime, "_call", full)
        store.put(("n",), "a", {"v": 2})
        assert plain(store.get(("n",), "a")) == (("n",), "a", {"v": 1})
    assert plain(store.batch([])) == []
    assert plain(store.get(("n",), "a")) == (("n",), "a", {"v": 2})


def test_with_on_error_raise_an_outage_is_raised(tmp_path: Path):
    with open_memory(tmp_path, qdrant_url="http://127.0.0.1:9", timeout_s=0.2, on_error="raise") as memory:
        store = memory.as_store(scope="u1")
        with pytest.raises(StoreUnavailable):
            store.put(("n",), "a", {"text": "x"})
        with pytest.raises(StoreUnavailable):
            store.get(("n",), "a")
