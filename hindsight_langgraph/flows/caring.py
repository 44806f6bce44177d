"""What keeps the memory in order: activity, consolidation, health, forgetting, erasure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from hindsight_langgraph import keys
from hindsight_langgraph.consolidation.activity import IDLE_QUEUE, note_activity
from hindsight_langgraph.consolidation.light import LightReport, light_pass
from hindsight_langgraph.errors import ModelError, StoreError
from hindsight_langgraph.flows.recalling import accounts_of
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.writing import write_pending
from hindsight_langgraph.ops import (
    ClaimDue,
    CountBy,
    CountUnits,
    DeleteKeys,
    DeleteUnits,
    Later,
    ReadLog,
    ScanUnits,
    Settle,
    SettleDue,
    Where,
    WriteFields,
)  # fmt: skip
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import MemoryUnit, Record, Scope, Status


class Health(Record):
    """Counts of one owner's memory (SPEC F8)."""

    units: int
    by_region: dict[str, int]
    by_status: dict[str, int]
    by_tier: dict[str, int]
    by_kind: dict[str, int]
    cold: int
    pending: int
    """Turns accepted and not yet written."""

    def lines(self) -> list[str]:
        """A readable account."""
        tables = {"region": self.by_region, "status": self.by_status, "tier": self.by_tier, "kind": self.by_kind}
        rows = [
            f"{name}: " + ", ".join(f"{key} {count}" for key, count in sorted(table.items()))
            for name, table in tables.items()
            if table
        ]
        return [f"{self.units} units, {self.cold} in cold storage, {self.pending} turns pending", *rows]


class Erased(Record):
    """What an erasure removed."""

    units: int
    cold_units: int
    working_keys: int
    threads: int = 0


def touch(scope: Scope, *, now: datetime, settings: FlowSettings) -> Plan[None]:
    """Note that the owner was active; every twentieth time a light pass runs off the answer's path."""
    try:
        due = yield from note_activity(scope, 1, now=now, config=settings.config.consolidation)
    except StoreError:
        if settings.strict:
            raise
        return
    if due:
        since = now - timedelta(days=1)
        yield from ask(Later(owner=scope.owner, plan=lambda: consolidate(scope, now=now, settings=settings, since=since)))


def consolidate(
    scope: Scope, *, now: datetime, settings: FlowSettings, since: datetime | None = None, dry_run: bool = False
) -> Plan[LightReport]:
    """Write what is pending, then merge duplicates and link neighbours."""
    if not dry_run:
        yield from write_pending(scope, now=now, settings=settings, retry=True)
    return (
        yield from light_pass(
            scope, now=now, space=settings.space, config=settings.config.consolidation, since=since, dry_run=dry_run
        )
    )


def run_due(*, now: datetime, settings: FlowSettings, limit: int = 10) -> Plan[list[LightReport]]:
    """Consolidate the owners whose idle time has come; each is claimed with a lease, so that no two processes take one."""
    reports: list[LightReport] = []
    claims = yield from ask(ClaimDue(queue=IDLE_QUEUE, now=now, lease_s=settings.config.consolidation.lease_s, limit=limit))
    for claim in claims:
        try:
            report = yield from consolidate(Scope.model_validate_json(claim.body), now=now, settings=settings)
        except (StoreError, ModelError):
            if settings.strict:
                raise
            later = now + timedelta(seconds=settings.config.consolidation.idle_s)
            yield from ask(SettleDue(queue=IDLE_QUEUE, item=claim.item, token=claim.token, retry_at=later))
            continue
        reports.append(report)
        yield from ask(SettleDue(queue=IDLE_QUEUE, item=claim.item, token=claim.token))
    return reports


def list_units(scope: Scope, *, statuses: Sequence[Status] | None, limit: int) -> Plan[list[MemoryUnit]]:
    """Units of the owner itself, in a stable order."""
    where = Where(owners=(scope.owner,), statuses=None if statuses is None else tuple(statuses))
    units: list[MemoryUnit] = []
    cursor: str | None = None
    while len(units) < limit:
        page = yield from ask(ScanUnits(where=where, limit=min(256, limit - len(units)), cursor=cursor))
        units.extend(found.unit for found in page.units)
        cursor = page.cursor
        if cursor is None:
            break
    return units


def health(scope: Scope) -> Plan[Health]:
    """Count what the owner's memory holds."""
    where = Where(owners=(scope.owner,))
    counts: dict[str, dict[str, int]] = {}
    fields: tuple[CountBy, ...] = ("region", "status", "tier", "kind")
    for field in fields:
        counts[field] = yield from ask(CountUnits(where=where, by=field))
    total = yield from ask(CountUnits(where=where))
    cold = yield from ask(CountUnits(where=where, collection="cold"))
    pending = yield from ask(ReadLog(key=keys.pending(scope)))
    return Health(
        units=sum(total.values()), by_region=counts["region"], by_status=counts["status"], by_tier=counts["tier"],
        by_kind=counts["kind"], cold=sum(cold.values()), pending=len(pending),
    )  # fmt: skip


def forget(ids: Sequence[str], *, scope: Scope, now: datetime) -> Plan[int]:
    """Delete the owner's units by id, and remember their ids so that a replay never writes them again. Returns how many there were."""
    if not ids:
        return 0
    marks = {unit_id: now.isoformat().encode() for unit_id in ids}
    yield from ask(WriteFields(key=keys.tombstones(scope), fields=marks))
    where = Where(owners=(scope.owner,), ids=tuple(ids))
    live = yield from ask(DeleteUnits(where=where))
    cold = yield from ask(DeleteUnits(where=where, collection="cold"))
    return live + cold


def erase(scope: Scope, *, timeout_s: float) -> Plan[Erased]:
    """Remove everything of an owner from both stores (SPEC G8)."""
    for owner in (scope.owner, accounts_of(scope)):
        yield from ask(Settle(owner=owner, timeout_s=timeout_s))  # what is under way would come back after the erasure
    where = Where(owners=(scope.owner,))
    live = yield from ask(DeleteUnits(where=where))
    cold = yield from ask(DeleteUnits(where=where, collection="cold"))
    gone = yield from ask(DeleteKeys(owner=scope.owner))
    return Erased(units=live, cold_units=cold, working_keys=gone)
