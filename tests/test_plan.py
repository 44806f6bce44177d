"""Both drivers run a plan the same way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hindsight_langgraph.plan import Op, Plan, adrive, ask, drive, together
from tests.servers import PATIENCE_S


class Double(Op[int]):
    """Twice a number; a negative one is refused."""

    def __init__(self, n: int) -> None:
        self.n = n


def answer(op: Op[Any]) -> int:
    assert isinstance(op, Double)
    if op.n < 0:
        raise ValueError(f"{op.n} is negative")
    return 2 * op.n


async def aanswer(op: Op[Any]) -> int:
    await asyncio.sleep(0)
    return answer(op)


def run_sync(plan: Plan[Any]) -> Any:
    return drive(plan, answer)


def run_async(plan: Plan[Any]) -> Any:
    return asyncio.run(adrive(plan, aanswer))


drivers = pytest.mark.parametrize("run", [run_sync, run_async])


@drivers
def test_a_plan_receives_each_reply_and_returns_its_result(run: Callable[[Plan[Any]], Any]):
    def flow() -> Plan[int]:
        once = yield from ask(Double(3))
        return (yield from ask(Double(once)))

    assert run(flow()) == 12


@drivers
def test_an_error_is_raised_where_it_was_asked_for_and_can_be_caught(run: Callable[[Plan[Any]], Any]):
    def flow() -> Plan[str]:
        try:
            yield from ask(Double(-1))
        except ValueError as error:
            return str(error)
        return "no error"

    assert run(flow()) == "-1 is negative"


@drivers
def test_an_error_that_no_one_catches_reaches_the_caller(run: Callable[[Plan[Any]], Any]):
    def flow() -> Plan[None]:
        yield from ask(Double(-1))

    with pytest.raises(ValueError, match="-1 is negative"):
        run(flow())


@drivers
def test_one_failed_request_does_not_cost_the_others(run: Callable[[Plan[Any]], Any]):
    def flow() -> Plan[list[int | Exception]]:
        return (yield from together(Double(1), Double(-1), Double(2)))

    first, failed, last = run(flow())
    assert (first, last) == (2, 4)
    assert isinstance(failed, ValueError)


@drivers
def test_a_plan_without_requests_returns_at_once(run: Callable[[Plan[Any]], Any]):
    def flow() -> Plan[str]:
        yield from ()
        return "done"

    assert run(flow()) == "done"


async def test_independent_requests_are_awaited_at_once():
    both = asyncio.Barrier(2)

    async def meet(op: Op[Any]) -> int:
        await asyncio.wait_for(both.wait(), PATIENCE_S)
        return answer(op)

    def flow() -> Plan[list[int | Exception]]:
        return (yield from together(Double(1), Double(2)))

    assert await adrive(flow(), meet) == [2, 4]
