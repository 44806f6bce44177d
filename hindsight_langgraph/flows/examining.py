"""Counts what one owner's memory holds (SPEC F8)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.consolidation.activity import RAW_CHARS
from hindsight_langgraph.consolidation.health import Health
from hindsight_langgraph.encoding.split import clip
from hindsight_langgraph.ops import CountBy, CountUnits, Probe, ReadFields, ReadLog, SearchUnits, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import MemoryUnit, Scope, Status

SAMPLE: Final = 2_000
"""Newest memories whose texts are counted."""
_IMPORTANT: Final = 0.8
_SETTLED: Final = timedelta(days=14)


def health(scope: Scope, *, now: datetime) -> Plan[Health]:
    """Figures of the owner's memory; counts are of all, texts and growth by the newest `SAMPLE` memories."""
    where = Where(owners=(scope.owner,))
    counts: dict[str, dict[str, int]] = {}
    fields: tuple[CountBy, ...] = ("region", "status", "tier", "kind")
    for field in fields:
        table = yield from ask(CountUnits(where=where, by=field))
        counts[field] = dict(sorted(table.items(), key=lambda row: (-row[1], row[0])))
    total = sum((yield from ask(CountUnits(where=where))).values())
    cold = sum((yield from ask(CountUnits(where=where, collection="cold"))).values())
    pending = yield from ask(ReadLog(key=keys.pending(scope)))
    marks = yield from ask(ReadFields(key=keys.passes(scope)))
    counters = yield from ask(ReadFields(key=keys.activity(scope)))
    hits = yield from ask(SearchUnits(probes=(Probe(where=where, limit=SAMPLE, newest=True),)))
    units = [hit.unit for hit in hits[0]]
    active = [unit for unit in units if unit.status is Status.ACTIVE]
    seen = len(active) / max(1, counts["status"].get(Status.ACTIVE, 0))
    return Health(
        units=total, by_region=counts["region"], by_status=counts["status"], by_tier=counts["tier"], by_kind=counts["kind"],
        cold=cold, pending=len(pending), unused=_unused(active, now=now),
        growth=dict(sorted(Counter(f"{unit.moment:%Y-%m}" for unit in units).items())),
        stored_chars=round(sum(len(unit.content) for unit in active) / seen) if seen else 0, raw_chars=int(counters.get(RAW_CHARS, b"0")),
        sampled=total > len(units),
        last_full=datetime.fromisoformat(marks["full"].decode()) if "full" in marks else None,
    )  # fmt: skip


def _unused(active: list[MemoryUnit], *, now: datetime) -> tuple[str, ...]:
    found = [u for u in active if u.importance >= _IMPORTANT and not u.references and now - u.moment > _SETTLED]
    return tuple(clip(unit.content, 120) for unit in sorted(found, key=lambda unit: (-unit.importance, unit.id)))
