"""Moves units by what hindsight found: each change is first noted with its reason, then made, once (SPEC E3, E5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.annotation.feedback import Event, apply_event, event_of, missed_event, take_back
from hindsight_langgraph.annotation.missed import missed_units, searched_by
from hindsight_langgraph.annotation.verdict import Case, Judgement, unit_of
from hindsight_langgraph.errors import Conflict, ModelError
from hindsight_langgraph.lexical import query_vector
from hindsight_langgraph.ops import (
    AppendLog,
    Embed,
    FetchUnits,
    LogEntry,
    Probe,
    ReplaceEntry,
    ReviseUnits,
    SearchUnits,
    Where,
)
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Kind, MemoryUnit, Scope, Status
from hindsight_langgraph.working.logs import read_log

ATTEMPTS: Final = 8
"""How often a change is tried again after someone else changed the same unit."""
HISTORY_KEEP: Final = 200
MISSED_TOP: Final = 20
MISSED_MOST: Final = 3

Make = Callable[[MemoryUnit, Sequence[Event]], Event]
"""The change of a unit, given as it stands and its earlier changes."""


def move_units(
    judgements: Sequence[Judgement], *, scope: Scope, success: bool, case: str, outcome: str, at: datetime
) -> Plan[list[Event]]:
    """Move the owner's own units by the judgements on them; units of shared scopes are others' too and stay."""
    events: list[Event] = []
    for judgement in judgements:
        unit_id = unit_of(judgement.ref)
        if unit_id is None:
            continue

        def make(unit: MemoryUnit, past: Sequence[Event], judgement: Judgement = judgement) -> Event:
            return event_of(unit, judgement, success=success, past=past, case=case, outcome=outcome, at=at)

        event = yield from change(unit_id, make, scope=scope, case=case, outcome=outcome)
        events += [event] if event is not None else []
    return events


def raise_missed(case: Case, *, scope: Scope, name: str, outcome: str, at: datetime, began: datetime) -> Plan[list[Event]]:
    """Find what was not recalled and would have helped, and raise it. What was only said during the task is no memory missed."""
    searched = searched_by(case)
    if searched == case.goal or not searched:
        return []
    where = Where(owners=(scope.owner,), statuses=(Status.ACTIVE,))
    probes = [Probe(where=where, limit=MISSED_TOP, text=query_vector(searched))]
    try:
        vectors = yield from ask(Embed(texts=(searched,), purpose="query"))
        probes.append(Probe(where=where, limit=MISSED_TOP, dense=vectors[0]))
    except ModelError:
        pass  # found by words alone
    hits = yield from ask(
        SearchUnits(probes=tuple(probe for probe in probes if probe.dense or (probe.text and probe.text.indices)))
    )
    units = {hit.unit.id: hit.unit for found in hits for hit in found}
    candidates = [unit for unit in units.values() if unit.moment < began and unit.kind is not Kind.EPISODE]
    events: list[Event] = []
    for unit, why in missed_units(case, candidates)[:MISSED_MOST]:

        def make(unit: MemoryUnit, past: Sequence[Event], why: str = why) -> Event:
            del past
            return missed_event(unit, reason=why, case=name, outcome=outcome, at=at)

        event = yield from change(unit.id, make, scope=scope, case=name, outcome=outcome)
        events += [event] if event is not None else []
    return events


def change(unit_id: str, make: Make, *, scope: Scope, case: str, outcome: str) -> Plan[Event | None]:
    """Change a unit by what one outcome says, once, taking back what another outcome of the same task had changed.

    The event is stored before the unit and names the revision that it changes: after a crash in between, the revision tells whether the
    change was made. Returns None for a unit that is gone or is another owner's.

    Raises:
        Conflict: the unit changed under every one of `ATTEMPTS` tries.
    """
    key = keys.history(scope.owner, unit_id)
    for _ in range(ATTEMPTS):
        found = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=(unit_id,))))
        if not found:
            return None
        unit, past = found[0], (yield from read_history(unit_id, scope=scope))
        ours = [event for event in past if event.case == case and not event.taken_back]
        stale = [event for event in ours if event.outcome != outcome]
        noted = next((event for event in ours if event.outcome == outcome), None)
        if noted is not None and noted.revision != unit.revision:
            yield from _flag(stale, key)
            return noted
        base = unit
        for event in stale:
            base = take_back(event, base)
        event = noted or make(base, [event for event in past if event not in stale])
        if noted is None:
            event = event.model_copy(update={"id": f"{case}:{outcome}:{len(past)}", "revision": unit.revision})
            entry = LogEntry(id=event.id, at=event.at, body=event.model_dump_json(exclude_defaults=True).encode())
            yield from ask(AppendLog(key=key, entries=(entry,), keep=HISTORY_KEEP))
        after = apply_event(event, base).model_copy(update={"revision": unit.revision + 1})
        if not (yield from ask(ReviseUnits(units=(after,)))):
            yield from _flag(stale, key)
            return event
        yield from _flag([event], key)  # not made: the unit moved on, it is weighed anew
    raise Conflict(f"unit {unit_id} of {scope.owner} was changed by others {ATTEMPTS} times in a row; try again")


def undo(unit_id: str, event_id: str, *, scope: Scope) -> Plan[bool]:
    """Take one change back. Returns whether it was there and stood."""
    for _ in range(ATTEMPTS):
        found = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=(unit_id,))))
        past = yield from read_history(unit_id, scope=scope)
        event = next((event for event in past if event.id == event_id and not event.taken_back), None)
        if not found or event is None:
            return False
        unit = found[0]
        before = take_back(event, unit).model_copy(update={"revision": unit.revision + 1})
        if not (yield from ask(ReviseUnits(units=(before,)))):
            yield from _flag([event], keys.history(scope.owner, unit_id))
            return True
    raise Conflict(f"unit {unit_id} of {scope.owner} was changed by others {ATTEMPTS} times in a row; try again")


def read_history(unit_id: str, *, scope: Scope) -> Plan[list[Event]]:
    """The changes of one unit of the owner, oldest first, those that were taken back among them."""
    return (yield from read_log(keys.history(scope.owner, unit_id), Event, what=f"the history of unit {unit_id}"))


def _flag(events: Sequence[Event], key: keys.Key) -> Plan[None]:
    for event in events:
        body = event.model_copy(update={"taken_back": True}).model_dump_json(exclude_defaults=True).encode()
        yield from ask(ReplaceEntry(key=key, id=event.id, body=body))
