"""Consolidates one owner's memory: reads the units that each pass needs, decides, applies (SPEC F).

What is read is bounded: what changed since the last run of the same kind, a batch at a time, with its neighbours in a full pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.consolidation.applying import apply_changes
from hindsight_langgraph.consolidation.chains import find_chains
from hindsight_langgraph.consolidation.changes import FULL, LIGHT, Change, PassName
from hindsight_langgraph.consolidation.contradictions import find_contradictions
from hindsight_langgraph.consolidation.duplicates import find_duplicates
from hindsight_langgraph.consolidation.forgetting import find_forgettable
from hindsight_langgraph.consolidation.promotion import find_patterns
from hindsight_langgraph.consolidation.report import ConsolidationReport, Level
from hindsight_langgraph.consolidation.rescoring import find_lifts
from hindsight_langgraph.consolidation.reversals import find_reversals
from hindsight_langgraph.consolidation.summaries import find_summaries
from hindsight_langgraph.consolidation.tiers import find_overflow
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.writing import LIGHT_ATTEMPTS, write_pending
from hindsight_langgraph.ops import CountUnits, Probe, ReadFields, ReadLog, ScanUnits, SearchUnits, Where, WriteFields
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import IndexedUnit, MemoryUnit, Record, Region, Scope, Status, Tier

NEIGHBOURS: Final = 5
"""Stored units that each changed one is compared with in a full pass."""
_PAGE: Final = 1_000
"""Units a request: each one evaluates its filter anew."""
_PROBES: Final = 32
_SAME_SUBJECT: Final = 500
_OVERLAP: Final = timedelta(minutes=5)
"""A writer stamps a unit a little before it stores it."""


class Run(Record):
    """One consolidation of one owner."""

    scope: Scope
    level: Level
    now: datetime
    since: datetime | None = None
    """Units changed after this moment are looked at; None for all."""
    passes: tuple[PassName, ...]


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


def decide(name: PassName, run: Run, *, settings: FlowSettings) -> Plan[list[Change]]:
    """The changes that one pass makes of the units as they are now; nothing is written."""
    config = settings.config.consolidation
    match name:
        case PassName.STRUCTURING:
            return []
        case PassName.DUPLICATES:
            return (yield from _duplicates(run, settings))
        case PassName.CONTRADICTIONS:
            return (yield from _contradictions(run, settings))
        case PassName.CHAINS:
            return [*find_chains((yield from _episodes(run, settings)))]
        case PassName.SUMMARIES:
            return [*find_summaries((yield from _episodes(run, settings)), now=run.now)]
        case PassName.PROMOTION:
            return [*find_patterns((yield from _episodes(run, settings)), now=run.now, config=config)]
        case PassName.RESCORING:
            return (yield from _lifts(run))
        case PassName.TIERS:
            return (yield from _overflow(run, settings))
        case PassName.FORGETTING:
            return (yield from _forgettable(run, settings))


# --- what each pass reads ------------------------------------------------------------------------------------------------


def _duplicates(run: Run, settings: FlowSettings) -> Plan[list[Change]]:
    config = settings.config.consolidation
    found: list[Change] = []
    gone: set[str] = set()
    cursor: str | None = None
    first = True
    while True:
        batch, cursor = yield from _batch(_changed(run), cursor, size=config.batch, with_vectors=True)
        whole = run.since is None and first and cursor is None
        near = yield from _neighbours(run, batch) if run.level == "full" and not whole else _none()
        first = False
        pool = [item for item in (*batch, *near) if item.unit.id not in gone]
        changes = find_duplicates(pool, space=settings.space, config=config, about=[item.unit.id for item in batch])
        gone.update(key for change in changes if change.verb == "merge" for key in change.ids)
        found.extend(changes)
        if cursor is None:
            return found


def _contradictions(run: Run, settings: FlowSettings) -> Plan[list[Change]]:
    config = settings.config.consolidation
    found: list[Change] = []
    gone: set[str] = set()
    cursor: str | None = None
    first = True
    while True:
        batch, cursor = yield from _batch(_changed(run), cursor, size=config.batch)
        units = {item.unit.id: item.unit for item in batch}
        whole = run.since is None and first and cursor is None
        first = False
        if not whole:
            units |= yield from _may_contradict(run, units.values(), most=2 * config.batch)
        able = [unit for unit in units.values() if unit.id not in gone]
        changes = find_contradictions(able)
        taken = {key for change in changes for key in change.ids}
        changes += [change for change in find_reversals(able) if not taken & set(change.ids)]
        gone.update(change.ids[0] if change.verb == "retire" else change.ids[1] for change in changes)
        found.extend(changes)
        if cursor is None:
            return found


def _may_contradict(run: Run, units: Iterable[MemoryUnit], *, most: int) -> Plan[dict[str, MemoryUnit]]:
    """Stored units that speak of the same things: all of a small memory, since one thing has many names; else by subject."""
    active = Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE,), raw=False)
    stored = yield from ask(CountUnits(where=active))
    if sum(stored.values()) <= most:
        found, _ = yield from _batch(active, None, size=most)
        return {item.unit.id: item.unit for item in found}
    subjects = tuple(dict.fromkeys(unit.triple.subject for unit in units if unit.triple is not None))
    if not subjects:
        return {}
    where = Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE,), subjects=subjects, raw=False)
    hits = yield from ask(SearchUnits(probes=(Probe(where=where, limit=_SAME_SUBJECT, newest=True),)))
    return {hit.unit.id: hit.unit for hit in hits[0]}


def _episodes(run: Run, settings: FlowSettings) -> Plan[list[MemoryUnit]]:
    """The newest episodes: what recurs or belongs together is among them."""
    where = Where(owners=(run.scope.owner,), regions=(Region.EPISODIC,), statuses=(Status.ACTIVE,), raw=False)
    limit = settings.config.consolidation.batch
    hits = yield from ask(SearchUnits(probes=(Probe(where=where, limit=limit, newest=True),)))
    return [hit.unit for hit in hits[0]]


def _lifts(run: Run) -> Plan[list[Change]]:
    where = _changed(run) if run.level == "light" else Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE,))
    found: list[Change] = []
    cursor: str | None = None
    while True:
        batch, cursor = yield from _batch(where, cursor, size=_PAGE)
        found.extend(find_lifts(item.unit for item in batch))
        if cursor is None:
            return found


def _overflow(run: Run, settings: FlowSettings) -> Plan[list[Change]]:
    config = settings.config.consolidation
    active = Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE,))
    counts = yield from ask(CountUnits(where=active, by="tier"))
    found: list[Change] = []
    for tier, cap, down in (
        (Tier.CORE, config.core_cap, Tier.WORKING_SET), (Tier.WORKING_SET, config.working_cap, Tier.ARCHIVE)
    ):  # fmt: skip
        if counts.get(tier, 0) > cap:
            where = Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE,), tiers=(tier,))
            held, _ = yield from _batch(where, None, size=counts[tier])
            found.extend(find_overflow([item.unit for item in held], cap=cap, down=down))
    return found


def _forgettable(run: Run, settings: FlowSettings) -> Plan[list[Change]]:
    config = settings.config.consolidation
    before = run.now - timedelta(days=min(config.soft_days, config.hard_days))
    where = Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE, Status.SUPERSEDED), said_before=before)
    found: list[Change] = []
    cursor: str | None = None
    while True:
        batch, cursor = yield from _batch(where, cursor, size=_PAGE)
        found.extend(find_forgettable((item.unit for item in batch), now=run.now, config=config))
        if cursor is None:
            return found


def _changed(run: Run) -> Where:
    return Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE,), updated_from=run.since)


def _batch(
    where: Where, cursor: str | None, *, size: int, with_vectors: bool = False
) -> Plan[tuple[list[IndexedUnit], str | None]]:
    """At most `size` units from a cursor on, and the cursor after them."""
    units: list[IndexedUnit] = []
    while True:
        page = yield from ask(
            ScanUnits(where=where, limit=min(_PAGE, size - len(units)), cursor=cursor, with_vectors=with_vectors)
        )
        units.extend(page.units)
        cursor = page.cursor
        if cursor is None or len(units) >= size:
            return units, cursor


def _neighbours(run: Run, batch: Sequence[IndexedUnit]) -> Plan[list[IndexedUnit]]:
    """The closest stored units to each of the batch, with their embeddings."""
    near: set[str] = set()
    able = [item for item in batch if item.dense is not None and not item.unit.raw]
    for place in range(0, len(able), _PROBES):
        probes = tuple(
            Probe(where=_peers(run, item.unit.region), limit=NEIGHBOURS, dense=item.dense)
            for item in able[place : place + _PROBES]
        )
        answers = yield from ask(SearchUnits(probes=probes))
        near |= {hit.unit.id for hits in answers for hit in hits}
    wanted = tuple(sorted(near - {item.unit.id for item in batch}))
    if not wanted:
        return []
    found, _ = yield from _batch(Where(owners=(run.scope.owner,), ids=wanted), None, size=len(wanted), with_vectors=True)
    return found


def _peers(run: Run, region: Region) -> Where:
    return Where(owners=(run.scope.owner,), regions=(region,), statuses=(Status.ACTIVE,), raw=False)


def _none() -> Plan[list[IndexedUnit]]:
    yield from ()
    return []


def _counts_as(level: Level) -> tuple[str, ...]:
    """A full run has done what a light one does."""
    return ("light", "full") if level == "light" else ("full",)


def _pass_names(names: Sequence[str]) -> set[PassName]:
    try:
        return {PassName(name) for name in names}
    except ValueError as error:
        raise ConfigError(f"no such pass of consolidation: {error}; there are {', '.join(PassName)}") from error
