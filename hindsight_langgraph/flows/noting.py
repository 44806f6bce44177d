"""Writes one note that an agent chose to keep."""

from __future__ import annotations

from datetime import datetime

from hindsight_langgraph.encoding.drafts import raw_unit
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.encoding.store import put, written_units
from hindsight_langgraph.errors import StoreError
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.writing import remember
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.records import Scope, Turn


def note(turn: Turn, *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[WriteReport]:
    """Write a turn that is to be kept whatever the gate says of it: what it lets go is kept whole.

    Its text must be free of secrets. A store that is down leaves it pending; the report says so.
    """
    reports = yield from remember([turn], scope=scope, now=now, settings=settings)
    report = next((r for r in reversed(reports) if any(fate.turn_id == turn.id for fate in r.turns)), WriteReport())
    fate = next((fate for fate in report.turns if fate.turn_id == turn.id), None)
    if fate is not None and (fate.failed or fate.statements):
        return report
    stored = yield from written_units(scope, [turn.id])  # a call at the same time may have written what was pending
    if stored or (fate is not None and fate.already_written):
        return report.model_copy(update={"written": tuple(unit.id for unit in stored)})
    unit = raw_unit(turn, previous=None, scope=scope, now=now)
    try:
        vectors = yield from embed_texts([index_text(unit)])
        found = vectors.get(index_text(unit))
        yield from put((unit,), {} if found is None else {unit.id: found})
    except StoreError:
        if settings.strict:
            raise
        return report.model_copy(update={"failed_turns": (turn.id,)})
    return report.model_copy(update={"written": (unit.id,)})
