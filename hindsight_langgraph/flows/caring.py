"""What keeps the memory in order: activity, due runs, erasure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph.consolidation.activity import IDLE_QUEUE, LIGHT_QUEUE, bring_forward, note_activity
from hindsight_langgraph.consolidation.report import ConsolidationReport, Level
from hindsight_langgraph.errors import StoreError
from hindsight_langgraph.flows.hindsight import work_of
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.telling import accounts_of
from hindsight_langgraph.ops import ClaimDue, Collection, DeleteKeys, DeleteUnits, PeekDue, ScanUnits, Settle, SettleDue, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import MemoryUnit, Record, Scope, Status

MOST_COUNTED: Final = 1_000
LONGEST_WAIT_S: Final = 3_600.0
"""How long a run that failed waits for its next try, at the most."""


class Erased(Record):
    """What an erasure removed."""

    units: int
    cold_units: int
    working_keys: int
    threads: int


class Due(Record):
    """One owner whose pass is due, claimed by this process for a while."""

    scope: Scope
    level: Level
    queue: str
    item: str
    token: str
    attempts: int


def touch(scope: Scope, *, now: datetime, settings: FlowSettings, decisive: bool = False) -> Plan[bool]:
    """Note that the owner was active. Returns whether a pass is due now; it runs off the answer's path."""
    try:
        due = yield from note_activity(scope, 1, now=now, config=settings.config.consolidation)
        if decisive:
            yield from bring_forward(scope, now=now)
    except StoreError:
        if settings.strict:
            raise
        return False
    return due or decisive


def claim_due(*, now: datetime, settings: FlowSettings) -> Plan[Due | None]:
    """Claim one owner whose time has come, light passes first; None when there is none. No two processes get the same."""
    lease_s = settings.config.consolidation.lease_s
    levels: tuple[tuple[str, Level], ...] = ((LIGHT_QUEUE, "light"), (IDLE_QUEUE, "full"))
    for queue, level in levels:
        for claim in (yield from ask(ClaimDue(queue=queue, now=now, lease_s=lease_s))):
            return Due(
                scope=Scope.model_validate_json(claim.body), level=level, queue=queue, item=claim.item, token=claim.token,
                attempts=claim.attempts,
            )  # fmt: skip
    return None


def count_due(*, now: datetime) -> Plan[int]:
    """How many passes are due and not claimed, up to `MOST_COUNTED` of each kind."""
    found = 0
    for queue in (LIGHT_QUEUE, IDLE_QUEUE):
        items = yield from ask(PeekDue(queue=queue, limit=MOST_COUNTED))
        found += sum(due <= now for _, due in items)
    return found


def settle_due(due: Due, report: ConsolidationReport | None, *, now: datetime, settings: FlowSettings) -> Plan[None]:
    """Finish a claim; what failed, was busy, or left texts unread is due again after a while that grows with each attempt.

    A turn that came in meanwhile made the owner due anew; then the claim is void and this changes nothing.
    """
    done = report is not None and not report.busy and not report.waiting
    wait = timedelta(seconds=min(LONGEST_WAIT_S, settings.config.consolidation.idle_s * due.attempts))
    yield from ask(SettleDue(queue=due.queue, item=due.item, token=due.token, retry_at=None if done else now + wait))


def list_units(
    scope: Scope, *, statuses: Sequence[Status] | None, limit: int, collection: Collection = "live"
) -> Plan[list[MemoryUnit]]:
    """Units of the owner itself, in a stable order."""
    where = Where(owners=(scope.owner,), statuses=None if statuses is None else tuple(statuses))
    units: list[MemoryUnit] = []
    cursor: str | None = None
    while len(units) < limit:
        page = yield from ask(ScanUnits(where=where, limit=min(256, limit - len(units)), cursor=cursor, collection=collection))
        units.extend(found.unit for found in page.units)
        cursor = page.cursor
        if cursor is None:
            break
    return units


def erase(scope: Scope, *, threads: int, timeout_s: float) -> Plan[Erased]:
    """Remove everything of an owner from both stores, after `threads` conversations of theirs (SPEC G8)."""
    for owner in (scope.owner, accounts_of(scope), work_of(scope)):
        yield from ask(Settle(owner=owner, timeout_s=timeout_s, idle=True))  # what is under way would come back after the erasure
    where = Where(owners=(scope.owner,))
    live = yield from ask(DeleteUnits(where=where))
    cold = yield from ask(DeleteUnits(where=where, collection="cold"))
    gone = yield from ask(DeleteKeys(owner=scope.owner))
    return Erased(units=live, cold_units=cold, working_keys=gone, threads=threads)
