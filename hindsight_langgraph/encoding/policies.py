"""What may be written, by kind of memory: keep it, ask first, or drop it.

A unit that is to be asked about is held in the working store, out of reach of recall, until it is approved or rejected. A rejected one
is never written again, however often its turn is replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from hindsight_langgraph import keys
from hindsight_langgraph.codec import decode_unit, encode_unit
from hindsight_langgraph.ops import AppendLog, DropEntries, LogEntry, ReadLog, WriteFields
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Kind, MemoryUnit, Scope

Policy = Literal["keep", "ask", "drop"]


class Sorted(NamedTuple):
    """Units by what the policy of their kind says."""

    keep: list[MemoryUnit]
    ask: list[MemoryUnit]
    drop: list[MemoryUnit]


def by_policy(units: Sequence[MemoryUnit], policies: Mapping[Kind, Policy]) -> Sorted:
    """Sort units; a kind without a policy is kept."""
    sorted_units = Sorted([], [], [])
    for unit in units:
        getattr(sorted_units, policies.get(unit.kind, "keep")).append(unit)
    return sorted_units


def hold(scope: Scope, units: Sequence[MemoryUnit], *, now: datetime) -> Plan[None]:
    """Keep units until they are decided about; one that is held already is left alone."""
    entries = tuple(LogEntry(id=unit.id, at=now, body=encode_unit(unit)) for unit in units)
    if entries:
        yield from ask(AppendLog(key=keys.held(scope), entries=entries))


def read_held(scope: Scope) -> Plan[list[MemoryUnit]]:
    """The owner's units that wait for a decision, oldest first."""
    entries = yield from ask(ReadLog(key=keys.held(scope), oldest_first=True))
    return [decode_unit(entry.body) for entry in entries]


def release(scope: Scope, ids: Sequence[str]) -> Plan[int]:
    """Hold units no longer. Returns how many of them were held."""
    return (yield from ask(DropEntries(key=keys.held(scope), ids=tuple(ids)))) if ids else 0


def reject(scope: Scope, ids: Sequence[str], *, now: datetime) -> Plan[int]:
    """Let held units go, and remember their ids so that a replay never brings them again. Returns how many were held."""
    waiting = {unit.id for unit in (yield from read_held(scope))}
    gone = [unit_id for unit_id in ids if unit_id in waiting]
    if gone:
        yield from ask(WriteFields(key=keys.tombstones(scope), fields={unit_id: now.isoformat().encode() for unit_id in gone}))
    return (yield from release(scope, gone))
