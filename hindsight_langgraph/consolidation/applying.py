"""Applies changes to the store, a bounded number of units at a time.

What takes over is written before what gives way leaves recall. Every write names the revision that it saw: a unit that someone else
changed in between keeps that change, and is left to the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.consolidation.changes import Add, Archive, Change
from hindsight_langgraph.consolidation.revising import Stored, first_steps, last_steps
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.store import put
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.ops import DeleteUnits, FetchUnits, PutUnits, ReviseUnits, ScanUnits, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import MemoryUnit, Scope, Status

CHUNK: Final = 64
"""Changes that are applied together."""


def apply_changes(changes: Sequence[Change], *, scope: Scope, now: datetime, forgotten: frozenset[str]) -> Plan[None]:
    """Make the changes; done again, it changes nothing more.

    Args:
        changes: what was decided.
        scope: whose units; no other owner's is touched.
        now: the moment of the run.
        forgotten: ids that must never be written again.

    Raises:
        StoreError: a store did not take a part; running it again is safe.
    """
    for start in range(0, len(changes), CHUNK):
        chunk = changes[start : start + CHUNK]
        stored = yield from _stored(scope, {key for change in chunk for key in change.ids})
        stored = yield from _revise(first_steps, chunk, stored, now=now)
        yield from _revise(last_steps, chunk, stored, now=now)
        yield from _add([change.made for change in chunk if isinstance(change, Add)], scope, forgotten=forgotten, now=now)
        for change in chunk:
            if isinstance(change, Archive):
                yield from archive(change.unit, scope=scope, seen=change.seen, now=now)


def archive(unit_id: str, *, scope: Scope, seen: int, now: datetime) -> Plan[bool]:
    """Move a unit to the cold collection, readable in one of the two at every moment. Returns whether it was there to move."""
    where = Where(owners=(scope.owner,), ids=(unit_id,))
    page = yield from ask(ScanUnits(where=where, limit=1, with_vectors=True))
    if not page.units or page.units[0].unit.revision != seen:
        return False
    item = page.units[0]
    update = {"status": Status.ARCHIVED, "updated_at": now, "revision": item.unit.revision + 1}
    cold = item.model_copy(update={"unit": item.unit.model_copy(update=update)})
    yield from ask(PutUnits(units=(cold,), collection="cold"))
    yield from ask(DeleteUnits(where=where))
    return True


def restore(ids: Sequence[str], *, scope: Scope, now: datetime) -> Plan[int]:
    """Bring units back from the cold collection (SPEC F7). Returns how many there were."""
    where = Where(owners=(scope.owner,), ids=tuple(ids))
    page = yield from ask(ScanUnits(where=where, limit=max(1, len(ids)), with_vectors=True, collection="cold"))
    back = tuple(item.model_copy(update={"unit": _revived(item.unit, now=now)}) for item in page.units)
    if back:
        yield from ask(PutUnits(units=back))
        yield from ask(DeleteUnits(where=Where(owners=(scope.owner,), ids=tuple(i.unit.id for i in back)), collection="cold"))
    return len(back)


def _revived(unit: MemoryUnit, *, now: datetime) -> MemoryUnit:
    status = Status.ACTIVE if unit.superseded_by is None else Status.SUPERSEDED
    return unit.model_copy(update={"status": status, "last_recalled_at": now, "updated_at": now, "revision": unit.revision + 1})


def _stored(scope: Scope, ids: Iterable[str]) -> Plan[dict[str, MemoryUnit]]:
    wanted = tuple(sorted(ids))
    if not wanted:
        return {}
    found = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=wanted)))
    return {unit.id: unit for unit in found}


Steps = Callable[..., list[MemoryUnit]]


def _revise(steps: Steps, chunk: Sequence[Change], stored: Stored, *, now: datetime) -> Plan[dict[str, MemoryUnit]]:
    """Write what `steps` makes of the chunk, each unit once. Returns the units as they are stored then, without the refused ones."""
    after = dict(stored)
    for change in chunk:
        for unit in steps(change, after, now=now):
            after[unit.id] = unit
    revised = tuple(
        unit.model_copy(update={"revision": stored[key].revision + 1}) for key, unit in after.items() if unit is not stored[key]
    )
    if not revised:
        return after
    refused = set((yield from ask(ReviseUnits(units=revised))))
    return {**after, **{unit.id: unit for unit in revised}} if not refused else {
        key: unit for key, unit in {**after, **{unit.id: unit for unit in revised}}.items() if key not in refused
    }  # fmt: skip


def _add(made: Sequence[MemoryUnit], scope: Scope, *, forgotten: frozenset[str], now: datetime) -> Plan[None]:
    """Write units that were made from others, unless one of those is gone, or it was forgotten; counts of an older one stay."""
    wanted = [unit for unit in made if unit.id not in forgotten]
    if not wanted:
        return
    stored = yield from _stored(scope, {key for unit in wanted for key in (unit.id, *unit.related)})
    fresh: list[MemoryUnit] = []
    for unit in wanted:
        old = stored.get(unit.id)
        if not set(unit.related) <= set(stored) or (old is not None and old.content == unit.content):
            continue
        kept = {} if old is None else {"references": old.references, "created_at": old.created_at, "revision": old.revision + 1}
        fresh.append(unit.model_copy(update={**kept, "updated_at": now}))
    vectors = yield from embed_texts(index_text(unit) for unit in fresh)
    yield from put(fresh, {unit.id: vectors[index_text(unit)] for unit in fresh if index_text(unit) in vectors})
