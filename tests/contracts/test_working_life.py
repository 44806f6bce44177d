"""How every working store lives: loops, threads, cancelled calls, closing, sharing."""

from __future__ import annotations

import asyncio
import gc
import warnings

import pytest

from hindsight_langgraph.errors import StoreClosed, StoreRejected
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import AddCount, AppendLog, FoldFields, LogEntry, ReadFields, ReadLog, WorkingOp, WriteFields
from hindsight_langgraph.ports import WorkingStore
from tests.clock import NOON
from tests.contracts.conftest import OpenStore
from tests.contracts.working_driver import Driver

TASK = Key(owner="u1", kind=KeyKind.WORKING, name="t1")
LOG = Key(owner="u1", kind=KeyKind.SESSION, name="s1")


class Unheard(WorkingOp[None]):
    """A request that no store knows."""


def test_one_store_serves_two_loops_one_after_the_other(working: WorkingStore):
    async def count() -> int:
        return await working.arun(AddCount(key=TASK, name="n"))

    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        assert [asyncio.run(count()) for _ in range(3)] == [1, 2, 3]
        gc.collect()


def test_one_store_serves_two_loops_at_the_same_time(working: WorkingStore):
    async def count() -> int:
        return await working.arun(AddCount(key=TASK, name="n"))

    with asyncio.Runner() as first, asyncio.Runner() as second:
        assert [runner.run(count()) for runner in (first, second, first, second)] == [1, 2, 3, 4]


def test_a_blocking_call_works_while_a_loop_runs(working: WorkingStore):
    async def both() -> dict[str, bytes]:
        await working.arun(WriteFields(key=TASK, fields={"a": b"1"}))
        working.run(WriteFields(key=TASK, fields={"b": b"2"}))
        return await working.arun(ReadFields(key=TASK))

    assert asyncio.run(both()) == {"a": b"1", "b": b"2"}


def test_two_stores_over_the_same_data_see_each_other(open_working: OpenStore):
    one, two = open_working(), open_working()
    one.run(WriteFields(key=TASK, fields={"a": b"1"}))
    assert two.run(AddCount(key=TASK, name="n")) == 1
    assert one.run(ReadFields(key=TASK)) == {"a": b"1", "n": b"1"}


def test_a_cancelled_call_is_done_whole_or_not_at_all(working: WorkingStore):
    fields = {f"f{number}": b"x" * 1000 for number in range(200)}
    keys = [Key(owner="u1", kind=KeyKind.WORKING, name=f"t{number}") for number in range(12)]

    async def cancel_at(key: Key, delay_s: float) -> None:
        task = asyncio.create_task(working.arun(WriteFields(key=key, fields=fields)))
        await asyncio.sleep(delay_s)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def main() -> list[dict[str, bytes]]:
        for number, key in enumerate(keys):
            await cancel_at(key, number * 0.0005)
        # A call that was cut off must not leave its reply to the next one.
        assert await working.arun(AddCount(key=LOG, name="n")) == 1
        return [await working.arun(ReadFields(key=key)) for key in keys]

    # The end of the loop waits for the worker threads, so that what is read last is final.
    asyncio.run(main())
    assert all(held in ({}, fields) for held in (working.run(ReadFields(key=key)) for key in keys))


def test_a_cancelled_fold_is_done_whole_or_not_at_all(working: WorkingStore):
    before, after = {"a": b"1", "b": b"2"}, {"sum": b"s"}

    async def main() -> None:
        for delay_ms in range(6):
            key = Key(owner="u1", kind=KeyKind.WORKING, name=f"t{delay_ms}")
            await working.arun(WriteFields(key=key, fields=before))
            task = asyncio.create_task(working.arun(FoldFields(key=key, put=after, drop=before)))
            await asyncio.sleep(delay_ms / 3000)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    for delay_ms in range(6):
        key = Key(owner="u1", kind=KeyKind.WORKING, name=f"t{delay_ms}")
        assert working.run(ReadFields(key=key)) in (before, after)


def test_a_closed_store_says_so(driver: Driver):
    driver.ask(AddCount(key=TASK, name="n"))
    driver.store.close()
    driver.store.close()
    with pytest.raises(StoreClosed, match="open a new one"):
        driver.ask(AddCount(key=TASK, name="n"))


def test_a_store_closed_on_its_loop_leaves_nothing_open(working: WorkingStore):
    async def main() -> None:
        await working.arun(AddCount(key=TASK, name="n"))
        await working.aclose()
        await working.aclose()
        with pytest.raises(StoreClosed):
            await working.arun(AddCount(key=TASK, name="n"))

    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        asyncio.run(main())
        gc.collect()
    with pytest.raises(StoreClosed):
        working.run(AddCount(key=TASK, name="n"))


def test_a_store_that_was_never_used_closes(open_working: OpenStore):
    open_working().close()
    store = open_working()
    asyncio.run(store.aclose())
    with pytest.raises(StoreClosed):
        store.run(ReadFields(key=TASK))


def test_what_was_written_is_there_after_closing_and_opening_again(open_working: OpenStore):
    first = open_working()
    first.run(WriteFields(key=TASK, fields={"a": b"1"}))
    first.run(AppendLog(key=LOG, entries=(LogEntry(id="e", at=NOON, body=b"x"),)))
    first.close()
    second = open_working()
    assert second.run(ReadFields(key=TASK)) == {"a": b"1"}
    assert second.run(ReadLog(key=LOG)) == [LogEntry(id="e", at=NOON, body=b"x")]


def test_an_unknown_request_is_refused(driver: Driver):
    with pytest.raises(StoreRejected, match="Unheard"):
        driver.ask(Unheard())
