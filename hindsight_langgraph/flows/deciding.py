"""Decides what each pass of consolidation changes, over the units that it needs read (SPEC F).

What is read is bounded: what changed since the last run of the same kind, a batch at a time, with its neighbours in a full pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Final

import numpy as np

from hindsight_langgraph.consolidation.chains import find_chains
from hindsight_langgraph.consolidation.changes import Change, PassName
from hindsight_langgraph.consolidation.contradictions import find_contradictions, foreign_values
from hindsight_langgraph.consolidation.duplicates import find_duplicates
from hindsight_langgraph.consolidation.forgetting import find_forgettable
from hindsight_langgraph.consolidation.handovers import find_handovers
from hindsight_langgraph.consolidation.promotion import find_patterns
from hindsight_langgraph.consolidation.rescoring import find_lifts
from hindsight_langgraph.consolidation.reversals import find_reversals
from hindsight_langgraph.consolidation.run import Run
from hindsight_langgraph.consolidation.summaries import find_summaries
from hindsight_langgraph.consolidation.tiers import find_overflow
from hindsight_langgraph.encoding.facts import is_restated
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.flows.consulting import Beat, decide_pairs, no_beat, read_triples, word_summaries
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.ops import CountUnits, Embed, Probe, ScanUnits, SearchUnits, Where
from hindsight_langgraph.plan import Plan, ask, replied
from hindsight_langgraph.records import IndexedUnit, MemoryUnit, Region, Status, Tier
from hindsight_langgraph.similarity import similarity

NEIGHBOURS: Final = 5
"""Stored units that each changed one is compared with in a full pass."""
_PAGE: Final = 1_000
"""Units a request: each one evaluates its filter anew."""
_PROBES: Final = 32
_SAME_SUBJECT: Final = 500
_FOREIGN: Final = 200
"""Pairs of values that are embedded to compare them across languages."""
TRANSLATED: Final = 0.60
"""Closeness of two short values from which they are one in two languages. Of 62 such pairs (places, firms, things) half are so close, of the
730 pairs of different ones none."""


def decide(name: PassName, run: Run, *, settings: FlowSettings, beat: Beat = no_beat) -> Plan[list[Change]]:
    """The changes that one pass makes of the units as they are now; nothing is written.

    `beat` is run before each request to a chat model, which may take its time.
    """
    config = settings.config.consolidation
    match name:
        case PassName.STRUCTURING:
            return []
        case PassName.TRIPLES:
            return [*(yield from read_triples(run.scope, settings=settings, beat=beat))]
        case PassName.DUPLICATES:
            return (yield from _duplicates(run, settings, beat))
        case PassName.CONTRADICTIONS:
            return (yield from _contradictions(run, settings))
        case PassName.CHAINS:
            return [*find_chains((yield from _episodes(run, settings)))]
        case PassName.SUMMARIES:
            return (yield from _summaries(run, settings, beat))
        case PassName.PROMOTION:
            return [*find_patterns((yield from _episodes(run, settings)), now=run.now, config=config)]
        case PassName.RESCORING:
            return (yield from _lifts(run))
        case PassName.TIERS:
            return (yield from _overflow(run, settings))
        case PassName.FORGETTING:
            return (yield from _forgettable(run, settings))


def _duplicates(run: Run, settings: FlowSettings, beat: Beat) -> Plan[list[Change]]:
    config = settings.config.consolidation
    found: list[Change] = []
    doubtful: dict[str, MemoryUnit] = {}
    gone: set[str] = set()
    cursor: str | None = None
    first = True
    while True:
        batch, cursor = yield from _batch(_changed(run), cursor, size=config.batch, with_vectors=True)
        whole = run.since is None and first and cursor is None
        near = yield from _neighbours(run, batch) if run.level == "full" and not whole else replied([])
        first = False
        pool = [item for item in (*batch, *near) if item.unit.id not in gone]
        changes = find_duplicates(pool, space=settings.space, config=config, about=[item.unit.id for item in batch])
        gone.update(key for change in changes if change.verb == "merge" for key in change.ids)
        unsure = {key for change in changes if change.verb == "link" and change.unsure for key in change.ids}
        doubtful |= {item.unit.id: item.unit for item in pool if item.unit.id in unsure}
        found.extend(changes)
        if cursor is None:
            return (yield from decide_pairs(found, doubtful, settings=settings, beat=beat)) if run.level == "full" else found


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
        changes = find_contradictions(able, alike=(yield from _alike(able, settings)))
        taken = {key for change in changes for key in change.ids}
        for change in (*find_reversals(able), *find_handovers(able)):
            if not taken & set(change.ids):
                taken |= {change.old}
                changes.append(change)
        gone.update(change.ids[0] if change.verb == "retire" else change.ids[1] for change in changes)
        found.extend(changes)
        if cursor is None:
            return found


def _alike(units: Sequence[MemoryUnit], settings: FlowSettings) -> Plan[set[frozenset[str]]]:
    """Which values of two languages mean the same, by their embeddings; none where the embedder is down."""
    pairs = foreign_values(units)[:_FOREIGN]
    texts = tuple(dict.fromkeys(value for pair in pairs for value in pair))
    if not texts:
        return set()
    try:
        vectors = dict(zip(texts, (yield from ask(Embed(texts=texts, purpose="query"))), strict=True))
    except ModelError:
        return set()
    return {
        frozenset(pair)
        for pair in pairs
        if similarity(float(np.dot(vectors[pair[0]], vectors[pair[1]])), settings.space) >= TRANSLATED
    }


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


def _summaries(run: Run, settings: FlowSettings, beat: Beat) -> Plan[list[Change]]:
    episodes = yield from _episodes(run, settings)
    adds = find_summaries(episodes, now=run.now)
    evidence = {unit.id: unit for unit in episodes}
    return [*(yield from word_summaries(adds, evidence, scope=run.scope, settings=settings, beat=beat))]


def _episodes(run: Run, settings: FlowSettings) -> Plan[list[MemoryUnit]]:
    """The newest episodes: what recurs or belongs together is among them."""
    where = Where(owners=(run.scope.owner,), regions=(Region.EPISODIC,), statuses=(Status.ACTIVE,), raw=False)
    limit = settings.config.consolidation.batch
    hits = yield from ask(SearchUnits(probes=(Probe(where=where, limit=limit, newest=True),)))
    return [hit.unit for hit in hits[0]]


def _lifts(run: Run) -> Plan[list[Change]]:
    where = _changed(run) if run.level == "light" else Where(owners=(run.scope.owner,), statuses=(Status.ACTIVE,))
    return (yield from _page_by_page(where, find_lifts))


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
    return (yield from _page_by_page(where, lambda units: find_forgettable(units, now=run.now, config=config)))


def _page_by_page(where: Where, find: Callable[[Iterable[MemoryUnit]], Iterable[Change]]) -> Plan[list[Change]]:
    """The changes of a pass that looks at each unit alone."""
    found: list[Change] = []
    cursor: str | None = None
    while True:
        batch, cursor = yield from _batch(where, cursor, size=_PAGE)
        found.extend(find(item.unit for item in batch))
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
            Probe(where=_peers(run, item.unit), limit=NEIGHBOURS, dense=item.dense) for item in able[place : place + _PROBES]
        )
        answers = yield from ask(SearchUnits(probes=probes))
        near |= {hit.unit.id for hits in answers for hit in hits}
    wanted = tuple(sorted(near - {item.unit.id for item in batch}))
    if not wanted:
        return []
    found, _ = yield from _batch(Where(owners=(run.scope.owner,), ids=wanted), None, size=len(wanted), with_vectors=True)
    return found


def _peers(run: Run, unit: MemoryUnit) -> Where:
    """Where a unit's like may be: in its region; anywhere for one that says of itself that it repeats."""
    regions = None if is_restated(unit) else (unit.region,)
    return Where(owners=(run.scope.owner,), regions=regions, statuses=(Status.ACTIVE,), raw=False)
