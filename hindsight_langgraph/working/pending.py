"""Turns that were accepted and not yet turned into units: the promise that nothing acknowledged is lost (SPEC B4).

A turn is kept here before anything else happens to it, and taken out only once its units are stored. What a crash, an outage or a
failed extraction leaves behind is found again by the next write, recall or idle pass of its owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from pydantic import Field

from hindsight_langgraph import keys
from hindsight_langgraph.ops import AppendLog, DropEntries, LogEntry, ReplaceEntry
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Record, Scope, Turn
from hindsight_langgraph.working.logs import read_log
from hindsight_langgraph.working.session import in_order


class PendingTurn(Record):
    """A turn that waits, with the scope that it was said in and how often writing it has failed."""

    turn: Turn
    scope: Scope
    attempts: int = Field(default=0, ge=0)
    redactions: Mapping[str, int] = Field(default_factory=dict[str, int])
    """How many secrets of each sort were taken out of it."""

    @property
    def entry_id(self) -> str:
        """Unique among an owner's pending turns: two threads may use one message id."""
        return f"{self.scope.session_id}\0{self.turn.id}"


def accept(
    scope: Scope, turns: Sequence[Turn], *, now: datetime, redactions: Mapping[str, Mapping[str, int]] = MappingProxyType({})
) -> Plan[None]:
    """Keep turns until they are written; from here on they are acknowledged.

    Args:
        scope: whose turns.
        turns: free of secrets.
        now: the present moment.
        redactions: by turn, how many secrets of each sort were taken out.
    """
    waiting = [PendingTurn(turn=turn, scope=scope, redactions=redactions.get(turn.id, {})) for turn in turns]
    entries = tuple(
        LogEntry(id=p.entry_id, at=moment, body=p.model_dump_json(exclude_defaults=True).encode())
        for p, (_, moment) in zip(waiting, in_order(turns, now), strict=True)
    )
    if entries:
        yield from ask(AppendLog(key=keys.pending(scope), entries=entries))


def read_pending(scope: Scope) -> Plan[list[PendingTurn]]:
    """Everything that waits for this owner, oldest first."""
    return (yield from read_log(keys.pending(scope), PendingTurn, what=f"a pending turn of {scope.owner}"))


def finish(scope: Scope, done: Sequence[PendingTurn]) -> Plan[None]:
    """Take turns out: their units are stored."""
    if done:
        yield from ask(DropEntries(key=keys.pending(scope), ids=tuple(p.entry_id for p in done)))


def count_attempt(scope: Scope, failed: Sequence[PendingTurn]) -> Plan[None]:
    """Leave turns pending, with one attempt more on their account."""
    for waiting in failed:
        again = waiting.model_copy(update={"attempts": waiting.attempts + 1})
        yield from ask(
            ReplaceEntry(key=keys.pending(scope), id=again.entry_id, body=again.model_dump_json(exclude_defaults=True).encode())
        )
