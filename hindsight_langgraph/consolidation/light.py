"""The light pass: duplicates among what one owner said lately (SPEC F1, F2).

It reads a bounded number of the newest units, decides, then applies: first the kept unit takes over everything, then the other one is
retired in its favour. A crash between the two leaves a duplicate, which the next pass merges; nothing is lost.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.duplicates import DuplicatePlan, find_duplicates
from hindsight_langgraph.ops import FetchUnits, ReviseUnits, ScanUnits, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, MemoryUnit, Record, Scope, Status

LIGHT_LIMIT: Final = 1_000
"""Units that one light pass compares at the most; comparing is quadratic."""


class LightReport(Record):
    """What a light pass saw and did."""

    compared: int
    merged: int
    linked: int
    plan: DuplicatePlan
    dry_run: bool = False

    def lines(self) -> list[str]:
        """A readable account."""
        verb = "would merge" if self.dry_run else "merged"
        return [f"compared {self.compared} units, {verb} {self.merged}, linked {self.linked}", *self.plan.lines()]


def light_pass(
    scope: Scope,
    *,
    now: datetime,
    space: EmbeddingSpace,
    config: ConsolidationConfig,
    since: datetime | None = None,
    dry_run: bool = False,
) -> Plan[LightReport]:
    """Merge duplicates and link neighbours among the owner's active units changed since `since` (all, for None)."""
    where = Where(owners=(scope.owner,), statuses=(Status.ACTIVE,), updated_from=since)
    units = yield from _read_all(where)
    found = find_duplicates(units, space=space, config=config)
    if not dry_run:
        yield from _apply(scope, found, now=now)
    return LightReport(compared=len(units), merged=len(found.merges), linked=len(found.links), plan=found, dry_run=dry_run)


def _read_all(where: Where) -> Plan[list[IndexedUnit]]:
    units: list[IndexedUnit] = []
    cursor: str | None = None
    while len(units) < LIGHT_LIMIT:
        page = yield from ask(ScanUnits(where=where, limit=min(256, LIGHT_LIMIT - len(units)), cursor=cursor, with_vectors=True))
        units.extend(page.units)
        cursor = page.cursor
        if cursor is None:
            break
    return units


def _apply(scope: Scope, found: DuplicatePlan, *, now: datetime) -> Plan[None]:
    for merge in found.merges:
        kept = merge.merged.model_copy(update={"revision": merge.merged.revision + 1, "updated_at": now})
        if (yield from ask(ReviseUnits(units=(kept,)))):
            continue  # it changed meanwhile; the next pass looks again
        for gone in (yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=(merge.gone,))))):
            yield from ask(ReviseUnits(units=(_retired(gone, by=merge.kept, now=now),)))
    for link in found.links:
        pair = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=(link.first, link.second))))
        if len(pair) == 2:
            first, second = pair
            yield from ask(ReviseUnits(units=(_linked(first, second.id, now=now), _linked(second, first.id, now=now))))


def _retired(unit: MemoryUnit, *, by: str, now: datetime) -> MemoryUnit:
    return unit.model_copy(
        update={"status": Status.SUPERSEDED, "superseded_by": by, "revision": unit.revision + 1, "updated_at": now}
    )


def _linked(unit: MemoryUnit, to: str, *, now: datetime) -> MemoryUnit:
    return unit.model_copy(
        update={"related": tuple(dict.fromkeys((*unit.related, to))), "revision": unit.revision + 1, "updated_at": now}
    )
