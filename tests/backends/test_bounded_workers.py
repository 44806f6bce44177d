"""Threads that bound a wait."""

from __future__ import annotations

import asyncio
import contextlib
import threading

import pytest

from hindsight_langgraph.backends.bounded_workers import BoundedWorkers

THREADS = 16


def test_a_call_gives_its_result_or_its_error():
    workers = BoundedWorkers(timeout_s=5)
    assert workers.call(lambda: 7) == 7
    assert asyncio.run(workers.acall(lambda: 8)) == 8
    with pytest.raises(KeyError):
        workers.call(lambda: int(str({}.popitem())))
    workers.close()


def test_who_asked_goes_on_while_the_call_hangs():
    workers = BoundedWorkers(timeout_s=0.05)
    go_on = threading.Event()
    with pytest.raises(TimeoutError):
        workers.call(go_on.wait)
    with pytest.raises(TimeoutError):
        asyncio.run(workers.acall(go_on.wait))
    go_on.set()
    workers.close()


def test_a_call_that_nobody_waits_for_any_more_is_not_begun():
    workers = BoundedWorkers(timeout_s=0.05)
    go_on, begun = threading.Event(), threading.Event()
    hanging: list[int] = []

    def hang() -> None:
        hanging.append(1)
        go_on.wait()

    while len(hanging) < THREADS:  # on a busy machine some are given up before a thread begins them
        with pytest.raises(TimeoutError):
            workers.call(hang)
    with pytest.raises(TimeoutError):
        workers.call(begun.set)
    with pytest.raises(TimeoutError):
        asyncio.run(workers.acall(begun.set))
    go_on.set()
    while not _answered(workers):
        pass
    assert not begun.is_set()  # first come, first served: the two before would have begun
    workers.close()


def _answered(workers: BoundedWorkers) -> bool:
    with contextlib.suppress(TimeoutError):
        return workers.call(lambda: True)
    return False
