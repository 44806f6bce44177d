"""What only the store on a server promises: failures are told apart, several processes may share it, clients end with their loops.

The server is the stand-in of `tests/qdrant_stand_in.py`, with faults put into its answers.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from hindsight_langgraph.backends.qdrant_server import QdrantLongTermStore
from hindsight_langgraph.errors import (
    ConfigError,
    HindsightError,
    StoreAuthError,
    StoreRejected,
    StoreUnavailable,
)
from hindsight_langgraph.ops import (
    AttachEmbeddings,
    CountUnits,
    DeleteUnits,
    Embed,
    FetchUnits,
    LongTermOp,
    Probe,
    PutUnits,
    ReviseUnits,
    ScanUnits,
    SearchUnits,
    UnembeddedUnits,
)
from hindsight_langgraph.plan import Op, drive
from hindsight_langgraph.records import EmbeddingSpace
from hindsight_langgraph.reembed import reembed
from tests.contracts.long_term import ALICE, SPACE, Asker, direction, indexed, make_unit, of, unit_id
from tests.qdrant_stand_in import Fault, StandIn, standing_in
from tests.servers import PATIENCE_S, reserved_port


@pytest.fixture
def server() -> Iterator[StandIn]:
    with standing_in() as opened:
        yield opened


@pytest.fixture(params=["sync", "async"])
async def ask(request, server: StandIn):
    asker = Asker(store=QdrantLongTermStore(server.url, SPACE, timeout_s=60), mode=request.param)
    yield asker
    await asker.close()


FAULTS: list[tuple[Fault, type[HindsightError], str]] = [
    (401, StoreAuthError, "HINDSIGHT_QDRANT_API_KEY"),
    (403, StoreAuthError, "HINDSIGHT_QDRANT_API_KEY"),
    (400, StoreRejected, "400"),
    (404, StoreRejected, "404"),
    (422, StoreRejected, "422"),
    (429, StoreUnavailable, "too many requests"),
    (500, StoreUnavailable, "500"),
    (503, StoreUnavailable, "try again later"),
    ("drop", StoreUnavailable, "no answer"),
]


@pytest.mark.parametrize(("fault", "expected", "said"), FAULTS, ids=[str(fault) for fault, _, _ in FAULTS])
async def test_a_fault_becomes_the_error_that_says_what_to_do_and_the_next_request_works(
    server: StandIn, ask: Asker, fault: Fault, expected: type[HindsightError], said: str
) -> None:
    await ask.put(indexed(1))
    server.faults.append(fault)
    with pytest.raises(expected, match=said) as caught:
        await ask(CountUnits(where=of()))
    assert server.url in str(caught.value)
    assert caught.value.__cause__ is not None
    assert await ask(CountUnits(where=of())) == {"": 1}


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_a_server_that_does_not_answer_in_time_is_unavailable_and_the_next_request_works(
    server: StandIn, mode: str
) -> None:
    hasty = Asker(store=QdrantLongTermStore(server.url, SPACE, timeout_s=0.5), mode=mode)
    await answered(hasty, PutUnits(units=(indexed(1),)))
    server.faults.append(1.5)
    with pytest.raises(StoreUnavailable, match=r"no answer|timed out|in time") as caught:
        await hasty(CountUnits(where=of()))
    assert server.url in str(caught.value)
    assert caught.value.__cause__ is not None
    assert await answered(hasty, CountUnits(where=of())) == {"": 1}
    await hasty.close()


async def answered(ask: Asker, op: LongTermOp[Any]) -> Any:
    """The first reply that comes in time: on a busy machine the store may be too hasty for a server that does its best."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return await ask(op)
        except StoreUnavailable:
            assert time.monotonic() < end


@pytest.mark.parametrize("fault", [503, "drop"])
async def test_a_fault_while_the_store_is_opened_is_gone_with_the_next_request(server: StandIn, ask: Asker, fault: Fault) -> None:
    server.faults.append(fault)
    with pytest.raises(StoreUnavailable):
        await ask.put(indexed(1))
    await ask.put(indexed(1))
    assert await ask(CountUnits(where=of())) == {"": 1}


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with reserved_port() as port:
        store = QdrantLongTermStore(f"http://127.0.0.1:{port}", SPACE, timeout_s=60)
        with pytest.raises(StoreUnavailable, match="no answer"):
            store.run(CountUnits(where=of()))
        with pytest.raises(StoreUnavailable, match="no answer"):
            await store.arun(CountUnits(where=of()))
        await store.aclose()


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
async def test_the_api_key_is_sent_and_a_wrong_one_is_an_auth_error() -> None:
    with standing_in(api_key="right") as server:
        right, wrong = (QdrantLongTermStore(server.url, SPACE, api_key=key) for key in ("right", "wrong"))
        assert await right.arun(CountUnits(where=of())) == {"": 0}
        with pytest.raises(StoreAuthError):
            await wrong.arun(CountUnits(where=of()))
        await right.aclose()
        await wrong.aclose()


async def test_nothing_is_sent_before_the_first_request(server: StandIn) -> None:
    store = QdrantLongTermStore(server.url, SPACE)
    assert server.requests == []
    assert await store.arun(CountUnits(where=of())) == {"": 0}
    await store.aclose()


async def test_a_search_of_several_probes_is_one_round_trip(server: StandIn, ask: Asker) -> None:
    await ask.put(indexed(1))
    server.requests.clear()
    await ask(SearchUnits(probes=(Probe(where=of(), limit=3, newest=True), Probe(where=of(), limit=3, dense=(1.0,) * 8))))
    assert len(server.requests) == 1


async def test_the_collection_is_made_for_tenants(server: StandIn, ask: Asker) -> None:
    await ask(CountUnits(where=of()))
    [name] = server.indexes
    assert name == "hindsight.live.8.small=2Fmodel-8"
    assert server.indexes[name]["owner"] == {"type": "keyword", "is_tenant": True}
    assert server.created[name]["hnsw_config"] == {"m": 0, "payload_m": 16, "ef_construct": 100}


async def test_a_collection_that_somebody_dropped_is_made_again_after_one_failure(server: StandIn, ask: Asker) -> None:
    await ask.put(indexed(1))
    server.local.delete_collection("hindsight.live.8.small=2Fmodel-8")
    server.indexes.clear()
    with pytest.raises(StoreRejected, match="404"):
        await ask(CountUnits(where=of()))
    await ask.put(indexed(2))
    assert await ask(CountUnits(where=of(), by="kind")) == {"fact": 1}


def test_ten_stores_that_open_an_empty_server_at_once_all_work(server: StandIn) -> None:
    stores = [QdrantLongTermStore(server.url, SPACE, timeout_s=60) for _ in range(10)]
    failures: list[BaseException] = []

    def put(number: int) -> None:
        try:
            stores[number].run(PutUnits(units=(indexed(number),)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted = stores[0].run(CountUnits(where=of()))
    for store in stores:
        store.close()
    assert failures == []
    assert counted == {"": 10}


def test_two_processes_that_revise_the_same_unit_do_not_both_win(server: StandIn) -> None:
    one, other = (QdrantLongTermStore(server.url, SPACE, timeout_s=60) for _ in range(2))
    one.run(PutUnits(units=(indexed(1),)))
    lost = [
        store.run(ReviseUnits(units=(make_unit(1, revision=1, content=content),)))
        for store, content in ((one, "a"), (other, "b"))
    ]
    one.close()
    other.close()
    assert lost == [[], [unit_id(1)]]


# --- re-embedding while others write: every interleaving of the steps of two requests ---------------------------------------

NEW = EmbeddingSpace(model="new", dimension=16)


def stepwise(store: QdrantLongTermStore, op: LongTermOp[Any], before: Callable[[], None] = lambda: None) -> Any:
    """Run a request, calling `before` ahead of each of its round trips."""

    def answer(request: Op[Any]) -> Any:
        before()
        return drive(store._calls(request), store._call)

    return drive(store._plans.answer(op), answer)


def forget(store: QdrantLongTermStore, before: Callable[[], None] = lambda: None) -> None:
    stepwise(store, DeleteUnits(where=of(ids=(unit_id(3),))), before)


def replace(store: QdrantLongTermStore, before: Callable[[], None] = lambda: None) -> None:
    stepwise(store, PutUnits(units=(indexed(3, dimension=16, content="replaced"),)), before)


def revise(store: QdrantLongTermStore, before: Callable[[], None] = lambda: None) -> None:
    lost = [unit_id(3)]
    while lost:
        [unit] = store.run(FetchUnits(where=of(ids=(unit_id(3),))))
        changed = {"content": "revised", "references": unit.references + 1, "revision": unit.revision + 1}
        lost = stepwise(store, ReviseUnits(units=(unit.model_copy(update=changed),)), before)


WRITES: dict[str, tuple[Callable[..., None], list[tuple[str, int]]]] = {
    "forget": (forget, []),
    "replace": (replace, [("replaced", 0)]),
    "revise": (revise, [("revised", 1)]),
}


@pytest.fixture
def moving(server: StandIn) -> Iterator[tuple[QdrantLongTermStore, QdrantLongTermStore, AttachEmbeddings]]:
    """Two processes with a new model over five units of an old one, and the request that moves all five."""
    old = QdrantLongTermStore(server.url, SPACE, timeout_s=60)
    old.run(PutUnits(units=tuple(indexed(n) for n in range(5))))
    one, other = (QdrantLongTermStore(server.url, NEW, timeout_s=60) for _ in range(2))
    other.run(CountUnits(where=of()))
    units = tuple(each.model_copy(update={"dense": direction(1, 16)}) for each in one.run(UnembeddedUnits()))
    yield one, other, AttachEmbeddings(units=units)
    for store in (old, one, other):
        store.close()


def check_what_is_left(store: QdrantLongTermStore, left: list[tuple[str, int]]) -> None:
    drive(reembed(), lambda op: [direction(1, 16) for _ in op.texts] if isinstance(op, Embed) else store.run(cast("Any", op)))
    found = [each.unit for each in store.run(ScanUnits(where=of())).units]
    assert [(unit.content, unit.references) for unit in found if unit.id == unit_id(3)] == left
    assert len(found) == 4 + len(left)
    assert store.run(CountUnits(where=of())) == {"": 4 + len(left)}
    assert store.mismatch is None


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("step", range(5))
def test_what_another_process_writes_between_any_two_steps_of_a_re_embedding_stands(moving: Any, step: int, write: str) -> None:
    one, other, move = moving
    does, left = WRITES[write]
    steps = iter(range(100))
    stepwise(one, move, lambda: does(other) if next(steps) == step else None)
    assert next(steps) > step
    check_what_is_left(one, left)


@pytest.mark.parametrize(
    ("write", "step"), [("replace", 0), ("replace", 1), *(("forget", n) for n in range(6)), *(("revise", n) for n in range(5))]
)
def test_a_write_stands_when_another_process_moves_the_unit_between_any_two_of_its_steps(
    moving: Any, step: int, write: str
) -> None:
    one, other, move = moving
    does, left = WRITES[write]
    steps = iter(range(100))
    does(other, lambda: stepwise(one, move) if next(steps) == step else None)
    assert next(steps) > step
    check_what_is_left(one, left)


def test_deployments_with_different_prefixes_do_not_see_each_other(server: StandIn) -> None:
    one, other = (QdrantLongTermStore(server.url, SPACE, prefix=prefix) for prefix in ("one", "one_more"))
    one.run(PutUnits(units=(indexed(1),)))
    assert other.run(CountUnits(where=of())) == {"": 0}
    assert other.run(DeleteUnits(where=of())) == 0
    assert one.run(CountUnits(where=of(ALICE))) == {"": 1}
    assert other.stale_spaces == ()
    one.close()
    other.close()


@pytest.mark.parametrize("prefix", ["", "a.b", "a/b", "前", "x" * 41])
def test_a_prefix_that_could_be_taken_for_something_else_is_refused(prefix: str) -> None:
    with pytest.raises(ConfigError, match="prefix"):
        QdrantLongTermStore("http://localhost:6333", SPACE, prefix=prefix)


def test_an_awaiting_client_is_closed_when_its_loop_ends(server: StandIn) -> None:
    store = QdrantLongTermStore(server.url, SPACE, timeout_s=60)

    async def fifty() -> list[dict[str, int]]:
        await store.arun(CountUnits(where=of()))
        return await asyncio.gather(*(store.arun(CountUnits(where=of())) for _ in range(50)))

    assert asyncio.run(fifty()) == [{"": 0}] * 50
    assert asyncio.run(fifty()) == [{"": 0}] * 50
    assert len(store._leases) == 1
    store.close()
