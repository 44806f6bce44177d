"""Flows written once: a plan yields requests, a driver answers them.

A plan is a generator that does no I/O. It yields an `Op` (one request) or a `Together` (several independent ones), receives the
reply, and returns its result. `drive` runs a plan with a blocking answerer, `adrive` with an awaiting one; both raise a request's
error inside the plan, at the place that asked, so that a plan can catch it.

```python
def visits(thread: str) -> Plan[int]:
    seen = yield from ask(ReadCount(key=thread))
    yield from ask(WriteCount(key=thread, value=seen + 1))
    return seen + 1
```
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar, cast

R = TypeVar("R")
Reply = TypeVar("Reply")


class Op(Generic[Reply]):
    """One request; its type argument is the type of the reply.

    A plain class on purpose: as a frozen slots dataclass `Op[int]()` raises TypeError on Python 3.11 and 3.12.
    """

    __slots__ = ()


class Together:
    """Several requests that do not depend on each other; an awaiting driver runs them at once."""

    __slots__ = ("ops",)

    def __init__(self, ops: tuple[Op[Any], ...]) -> None:
        self.ops = ops


Plan = Generator[Op[Any] | Together, Any, R]
"""A flow that returns R."""


def ask(op: Op[Reply]) -> Plan[Reply]:
    """Ask for one thing; raises what answering it raised."""
    reply = yield op
    return cast("Reply", reply)


def replied(reply: R) -> Plan[R]:
    """A plan that asks nothing and ends in `reply`."""
    yield from ()
    return reply


def together(*ops: Op[Reply]) -> Plan[list[Reply | Exception]]:
    """Ask for several independent things at once.

    Returns:
        One entry a request, in order: its reply, or the exception that answering it raised, so that one failed channel does
        not cost the others.
    """
    replies = yield Together(ops)
    return cast("list[Reply | Exception]", replies)


def drive(plan: Plan[R], answer: Callable[[Op[Any]], Any]) -> R:
    """Run a plan to its end, answering each request with a blocking call."""
    try:
        request = next(plan)
        while True:
            try:
                if isinstance(request, Together):
                    reply: Any = [_settle(answer, op) for op in request.ops]
                else:
                    reply = answer(request)
            except Exception as error:
                request = plan.throw(error)
            else:
                request = plan.send(reply)
    except StopIteration as stop:
        return cast("R", stop.value)
    finally:
        plan.close()


async def adrive(plan: Plan[R], answer: Callable[[Op[Any]], Awaitable[Any]]) -> R:
    """Run a plan to its end, awaiting each answer; the requests of one `Together` run concurrently."""
    try:
        request = next(plan)
        while True:
            try:
                if isinstance(request, Together):
                    reply: Any = await asyncio.gather(*(_asettle(answer, op) for op in request.ops))
                else:
                    reply = await answer(request)
            except Exception as error:
                request = plan.throw(error)
            else:
                request = plan.send(reply)
    except StopIteration as stop:
        return cast("R", stop.value)
    finally:
        plan.close()


def _settle(answer: Callable[[Op[Any]], Any], op: Op[Any]) -> Any:
    try:
        return answer(op)
    except Exception as error:  # handed to the plan as a value
        return error


async def _asettle(answer: Callable[[Op[Any]], Awaitable[Any]], op: Op[Any]) -> Any:
    try:
        return await answer(op)
    except Exception as error:  # handed to the plan as a value
        return error
