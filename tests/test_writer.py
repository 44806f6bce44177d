"""The thread that writes in the background."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from hindsight_langgraph.writer import Writer
from tests.servers import PATIENCE_S

Settle = Callable[[Writer, float], bool]
WAYS: dict[str, Settle] = {
    "blocking": lambda writer, timeout_s: writer.settle("u1", timeout_s),
    "awaiting": lambda writer, timeout_s: asyncio.run(writer.asettle("u1", timeout_s)),
}


@pytest.mark.parametrize("settle", WAYS.values(), ids=WAYS)
def test_what_a_job_hands_on_is_waited_for_with_it(settle: Settle):
    writer, go_on, done = Writer(name="test"), threading.Event(), list[str]()

    def hand_on() -> None:
        writer.submit("u1", finish)
        done.append("handed on")

    def finish() -> None:
        go_on.wait()
        done.append("finished")

    writer.submit("u1", hand_on)
    assert not settle(writer, 0.2)
    go_on.set()
    assert settle(writer, PATIENCE_S)
    assert done == ["handed on", "finished"]
    assert writer.close(PATIENCE_S)
