"""Begins, carries out and ends one consolidation of one owner's memory (SPEC F)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.consolidation.applying import apply_changes
from hindsight_langgraph.consolidation.changes import FULL, LIGHT, Change, PassName
from hindsight_langgraph.consolidation.report import ConsolidationReport, Level
from hindsight_langgraph.consolidation.run import Run
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.flows.deciding import decide
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.writing import LIGHT_ATTEMPTS, write_pending
from hindsight_langgraph.ops import ReadFields, ReadLog, WriteFields
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Scope

_OVERLAP: Final = timedelta(minutes=5)
"""A writer stamps a unit a little before it stores it."""


def start(
    scope: Scope,
    *,
    level: Level,
    now: datetime,
    settings: FlowSettings,
    passes: Sequence[str] | None = None,
    everything: bool = False,
) -> Plan[Run]:
    """What a run is to do.

    Args:
        scope: whose memory.
        level: "light" or "full".
        now: the moment of the run.
        settings: of the memory; `consolidation.off` names passes that never run.
        passes: only these, by name; None for all of the level.
        everything: look at all units, not only at what changed since the last run.

    Raises:
        ConfigError: there is no pass of such a name.
    """
    off = _pass_names(settings.config.consolidation.off)
    chosen = (LIGHT if level == "light" else FULL) if passes is None else _pass_names(passes)
    marks = yield from ask(ReadFields(key=keys.passes(scope)))
    times = [datetime.fromisoformat(marks[name].decode()) for name in _counts_as(level) if name in marks]
    since = None if everything or not times else max(times) - _OVERLAP
    return Run(
        scope=scope, level=level, now=now, since=since, passes=tuple(name for name in PassName if name in set(chosen) - off)
    )


def finish(run: Run) -> Plan[None]:
    """Note when the run began: the next one looks at what changed from then on."""
    yield from ask(WriteFields(key=keys.passes(run.scope), fields={run.level: run.now.isoformat().encode()}))


def rehearse(run: Run, *, settings: FlowSettings) -> Plan[ConsolidationReport]:
    """What each pass would do to the units as they are now; nothing is written."""
    made: dict[PassName, tuple[Change, ...]] = {}
    for name in run.passes:
        if changes := (yield from decide(name, run, settings=settings)):
            made[name] = tuple(changes)
    waiting = yield from waiting_texts(run.scope)
    return ConsolidationReport(level=run.level, owner=run.scope.owner, at=run.now, changes=made, waiting=waiting, dry_run=True)


def structure(run: Run, *, settings: FlowSettings) -> Plan[int]:
    """Write what is pending, and read again what could not be read before (SPEC B4). Returns how many texts still wait."""
    if PassName.STRUCTURING in run.passes:
        attempts = sys.maxsize if run.level == "full" else LIGHT_ATTEMPTS
        yield from write_pending(run.scope, now=run.now, settings=settings, attempts=attempts)
    return (yield from waiting_texts(run.scope))


def waiting_texts(scope: Scope) -> Plan[int]:
    """How many accepted turns are not yet read."""
    return len((yield from ask(ReadLog(key=keys.pending(scope)))))


def apply(run: Run, changes: Sequence[Change]) -> Plan[None]:
    """Make the changes of one pass; making them again changes nothing more."""
    if changes:
        learned = yield from read_learned(run.scope)
        yield from apply_changes(changes, scope=run.scope, now=run.now, forgotten=learned.forgotten)


def _counts_as(level: Level) -> tuple[str, ...]:
    """A full run has done what a light one does."""
    return ("light", "full") if level == "light" else ("full",)


def _pass_names(names: Sequence[str]) -> set[PassName]:
    try:
        return {PassName(name) for name in names}
    except ValueError as error:
        raise ConfigError(f"no such pass of consolidation: {error}; there are {', '.join(PassName)}") from error
