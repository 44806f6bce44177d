"""The right to consolidate one owner: one run at a time, and a run that died blocks nobody for long (SPEC F9)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.ops import AppendLog, DropEntries, LogEntry, ReadLog
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Scope

_HELD: Final = "run"


def take(scope: Scope, token: str, *, now: datetime, lease_s: float) -> Plan[bool]:
    """Take the lease, or keep it for `lease_s` seconds more if `token` has it. Returns False when another run has it.

    The entry is written only where none is, in one atomic step, and lives as long as the lease.
    """
    held = yield from _holder(scope)
    if held not in {None, token}:
        return False
    entry = LogEntry(id=_HELD, at=now, body=token.encode())
    yield from ask(AppendLog(key=keys.consolidating(scope), entries=(entry,), ttl_s=lease_s))
    return (yield from _holder(scope)) == token


def release(scope: Scope, token: str) -> Plan[None]:
    """Give the lease back, if `token` still has it."""
    if (yield from _holder(scope)) == token:
        yield from ask(DropEntries(key=keys.consolidating(scope), ids=(_HELD,)))


def _holder(scope: Scope) -> Plan[str | None]:
    entries = yield from ask(ReadLog(key=keys.consolidating(scope), limit=1))
    return entries[0].body.decode() if entries else None
