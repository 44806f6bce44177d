"""What a new unit does to stored ones, as values that can be applied again after a conflict.

Every change is idempotent: applied to a unit that shows it already, it gives the unit back as it was.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from hindsight_langgraph.records import MemoryUnit, Record, Status


class Change(Record):
    """Confirm or retire one stored unit on behalf of a newer one."""

    unit_id: str
    verb: Literal["confirm", "retire"]
    by: MemoryUnit


def apply(change: Change, unit: MemoryUnit, *, now: datetime) -> MemoryUnit:
    """The unit after the change; the very same object when there is nothing to change."""
    return confirm(unit, change.by, now=now) if change.verb == "confirm" else retire(unit, change.by, now=now)


def confirm(unit: MemoryUnit, by: MemoryUnit, *, now: datetime) -> MemoryUnit:
    """Count that the same was said again, once for each saying (SPEC B7)."""
    if set(by.sources) <= set(unit.sources):
        return unit
    newest = by if by.moment > unit.moment else unit
    return unit.model_copy(
        update={
            "confirmations": unit.confirmations + 1 + by.confirmations,
            "sources": tuple(dict.fromkeys((*unit.sources, *by.sources))),
            "said_at": newest.said_at or unit.said_at,
            "confidence": min(1.0, max(unit.confidence, by.confidence)),
            "updated_at": max(now, unit.updated_at),
            "revision": unit.revision + 1,
        }
    )


def retire(unit: MemoryUnit, by: MemoryUnit, *, now: datetime) -> MemoryUnit:
    """Mark a unit as superseded and say by what and from when; it stays readable as history (SPEC A9)."""
    if unit.status is not Status.ACTIVE:
        return unit
    end = by.valid_from or by.moment
    return unit.model_copy(
        update={
            "status": Status.SUPERSEDED,
            "superseded_by": by.id,
            "valid_to": max(end, unit.valid_from) if unit.valid_from is not None else end,
            "updated_at": max(now, unit.updated_at),
            "revision": unit.revision + 1,
        }
    )
