"""What each change makes of the units that it is about, as they are stored at the moment of applying it.

Pure and idempotent: a change that was applied already, or that no longer fits what is stored, gives the units back as they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from hindsight_langgraph.consolidation.changes import Adjust, Change, Link, Merge, Read, Retire
from hindsight_langgraph.encoding.changes import confirm, retire
from hindsight_langgraph.records import MemoryUnit, Status

Stored = Mapping[str, MemoryUnit]


def first_steps(change: Change, stored: Stored, *, now: datetime) -> list[MemoryUnit]:
    """What must be readable before anything leaves recall: the unit that takes over, with its pointer back."""
    match change:
        case Merge(kept=kept, gone=gone) if fits(change, stored):
            taken = absorb(stored[kept], stored[gone], now=now)
            return [] if taken is stored[kept] else [taken]
        case Retire(old=old, new=new) if fits(change, stored) and old not in stored[new].supersedes:
            return [_changed(stored[new], now=now, supersedes=(*stored[new].supersedes, old))]
        case _:
            return []


def last_steps(change: Change, stored: Stored, *, now: datetime) -> list[MemoryUnit]:
    """What follows once the first steps are stored."""
    match change:
        case Merge(kept=kept, gone=gone) if fits(change, stored):
            return [retire(stored[gone], stored[kept], now=now)]
        case Retire(old=old, new=new) if fits(change, stored):
            return [retire(stored[old], stored[new], now=now)]
        case Link(first=first, second=second) if {first, second} <= set(stored):
            one, other = stored[first], stored[second]
            return [
                _changed(unit, now=now, related=(*unit.related, to))
                for unit, to in ((one, second), (other, first))
                if to not in unit.related
            ]
        case Adjust(unit=unit_id) if fits(change, stored):
            values = {"importance": change.importance, "tier": change.tier}
            return [_changed(stored[unit_id], now=now, **{name: value for name, value in values.items() if value is not None})]
        case Read(unit=unit_id, triple=triple) if fits(change, stored):
            unit = stored[unit_id]
            read = {"triple": triple} if triple is not None else {"tags": (*unit.tags, Read.NOTHING)}
            return [_changed(unit, now=now, **read)]
        case _:
            return []


def fits(change: Change, stored: Stored) -> bool:
    """Whether the units still say what the change was decided on; a unit that changed meanwhile is left to the next run."""
    if not set(change.ids) <= set(stored):
        return False
    match change:
        case Merge(kept=kept, gone=gone):
            return _says(stored[kept], change.kept_text) and _says(stored[gone], change.gone_text)
        case Retire(old=old, new=new):
            in_order = stored[old].moment <= stored[new].moment
            return in_order and _says(stored[old], change.old_text) and _says(stored[new], change.new_text)
        case Adjust(unit=unit_id, seen=seen) | Read(unit=unit_id, seen=seen):
            return stored[unit_id].revision == seen
        case _:
            return True


def absorb(kept: MemoryUnit, gone: MemoryUnit, *, now: datetime) -> MemoryUnit:
    """The kept unit with the newest time, the highest importance, the union of links, the sum of counts (SPEC F2).

    Counts are added once: a unit that has the other one's sources already took it over before.
    """
    counted = confirm(kept, gone, now=now)
    references = kept.references + (gone.references if counted is not kept else 0)
    merged = counted.model_copy(
        update={
            "entities": tuple(dict.fromkeys((*kept.entities, *gone.entities))),
            "relations": tuple(dict.fromkeys((*kept.relations, *gone.relations))),
            "supersedes": tuple(dict.fromkeys((*kept.supersedes, *(key for key in gone.supersedes if key != kept.id)))),
            "related": tuple(key for key in dict.fromkeys((*kept.related, *gone.related)) if key not in {kept.id, gone.id}),
            "base_importance": max(kept.base_importance, gone.base_importance),
            "importance": max(kept.importance, gone.importance),
            "confidence": max(counted.confidence, gone.confidence),
            "references": references,
        }
    )
    if merged == kept:
        return kept
    return merged.model_copy(update={"revision": kept.revision + 1, "updated_at": max(now, kept.updated_at)})


def _says(unit: MemoryUnit, text: str) -> bool:
    return unit.status is Status.ACTIVE and unit.content == text


def _changed(unit: MemoryUnit, *, now: datetime, **values: object) -> MemoryUnit:
    return unit.model_copy(update={**values, "revision": unit.revision + 1, "updated_at": max(now, unit.updated_at)})
