"""Gathers what recall can learn from an owner's judged tasks (SPEC E6)."""

from __future__ import annotations

from hindsight_langgraph.annotation.examples import Example, examples_of
from hindsight_langgraph.flows.hindsight import read_reports
from hindsight_langgraph.ops import ScanUnits, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import MemoryUnit, Scope


def training_set(scope: Scope, *, seed: int) -> Plan[list[Example]]:
    """The examples of every judged task of the owner."""
    reports = yield from read_reports(scope)
    if not reports:
        return []
    units: dict[str, MemoryUnit] = {}
    cursor: str | None = None
    while True:
        page = yield from ask(ScanUnits(where=Where(owners=(scope.owner,)), cursor=cursor))
        units |= {found.unit.id: found.unit for found in page.units}
        cursor = page.cursor
        if cursor is None:
            return examples_of(reports, units, seed=seed)
