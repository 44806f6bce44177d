"""Requests to the process that the memory runs in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hindsight_langgraph.plan import Op, Plan
from hindsight_langgraph.records import Scope, Turn

Reply = TypeVar("Reply")


class BackgroundOp(Op[Reply], Generic[Reply]):
    """A request to the process that the memory runs in."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Later(BackgroundOp[None]):
    """Run a plan off the answer's path; whoever waits for `owner` waits for it too."""

    owner: str
    plan: Callable[[], Plan[object]]
    slow: bool = False
    """True for work that may take seconds; it runs apart, so that no write waits behind it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settle(BackgroundOp[bool]):
    """Wait until the background work of one owner (of all, for None) is done. Reply: whether it was in time."""

    owner: str | None
    timeout_s: float
    idle: bool = False
    """Wait for consolidation too, which no answer waits for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Keep(BackgroundOp[None]):
    """Hold turns in the process because no store takes them; the oldest are let go, and counted, past a limit."""

    scope: Scope
    turns: tuple[Turn, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TakeKept(BackgroundOp[list[tuple[Scope, tuple[Turn, ...]]]]):
    """Take back everything that is held for an owner; the caller keeps again what it cannot place."""

    owner: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Notify(BackgroundOp[None]):
    """Tell the memory's listeners of something that was done."""

    event: object


@dataclass(frozen=True, kw_only=True, slots=True)
class StaleEmbeddings(BackgroundOp[str]):
    """What is wrong when the store holds units of another embedding model (SPEC A11); blank when nothing is. Warned of once."""
