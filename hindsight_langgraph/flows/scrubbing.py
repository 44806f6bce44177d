"""Takes the words of what was forgotten out of everything that quotes them (SPEC F7).

Whoever answers a user reads more than units: the turns of the session, what was echoed in them, the state of the task in hand, what a
neighbouring memory was said after. Texts of a graph's own checkpoints are the application's, and stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, cast

from hindsight_langgraph import keys
from hindsight_langgraph.codec import decode_turn
from hindsight_langgraph.consolidation.made import is_made
from hindsight_langgraph.consolidation.quoting import quotes
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.errors import StoreCorrupt
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.lexical import context_text, document_vector
from hindsight_langgraph.ops import (
    Collection,
    DeleteKeys,
    DropEntries,
    DropFields,
    ListKeys,
    LogEntry,
    PutUnits,
    ReadFields,
    ReadLog,
    ReplaceEntry,
    ScanUnits,
    Where,
    WriteFields,
)  # fmt: skip
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Role, Scope

_QUOTING: Final = (KeyKind.RECALL_LOG, KeyKind.TRAJECTORY, KeyKind.HELD)
"""Logs of which an entry that quotes what is forgotten goes as a whole."""
_GONE: Final = "(forgotten)"
COLLECTIONS: Final[tuple[Collection, ...]] = ("live", "cold")


def scrub(gone: Sequence[MemoryUnit], *, scope: Scope, now: datetime) -> Plan[list[MemoryUnit]]:
    """Take the words of the units out of both stores; the units themselves are left for the caller to delete.

    Returns other units that are nothing but an echo, what an agent said of it or an episode that tells it; they are left, too.
    """
    turns = {source for unit in gone for source in unit.sources}
    yield from _drop_turns(scope, gone, turns, now=now)
    yield from _drop_entries(scope, gone, turns)
    yield from _drop_tasks(scope, gone)
    yield from _blank_reports(scope, gone)
    yield from _unlearn(scope, gone)
    yield from ask(DeleteKeys(owner=scope.owner, keys=tuple(keys.history(scope.owner, unit.id) for unit in gone)))
    return (yield from _clean_neighbours(scope, gone))


def _drop_entries(scope: Scope, gone: Sequence[MemoryUnit], turns: set[str]) -> Plan[None]:
    """Take what quotes the units out of the logs, and what was about to be written of them."""
    pending = yield from ask(ReadLog(key=keys.pending(scope)))
    waiting = [entry for entry in pending if entry.id.rpartition("\0")[2] in turns or quotes(_text(entry.body), gone)]
    yield from _drop(keys.pending(scope), waiting)
    ids = {unit.id for unit in gone} | turns
    for kind in _QUOTING:
        for key in (yield from ask(ListKeys(owner=scope.owner, kind=kind))):
            entries = yield from ask(ReadLog(key=key))
            yield from _drop(key, [entry for entry in entries if _names(entry, ids) or quotes(_text(entry.body), gone)])


def _clean_neighbours(scope: Scope, gone: Sequence[MemoryUnit]) -> Plan[list[MemoryUnit]]:
    """Take the words out of units of the same conversations that were said just after, or in the same turn. Returns the echoes."""
    echoes: list[MemoryUnit] = []
    removed = {unit.id for unit in gone}
    where = Where(owners=(scope.owner,), sessions=tuple({unit.session_id for unit in gone}))
    for collection in COLLECTIONS:
        cursor: str | None = None
        while True:
            page = yield from ask(ScanUnits(where=where, cursor=cursor, with_vectors=True, collection=collection))
            around = [item for item in page.units if item.unit.id not in removed and not is_made(item.unit)]
            echoes += [item.unit for item in around if _is_echo(item.unit, gone)]
            cleaned = [item for old in around if (item := _cleaned(old, gone)) is not old]
            if cleaned:
                yield from ask(PutUnits(units=tuple(cleaned), collection=collection))
            cursor = page.cursor
            if cursor is None:
                break
    return echoes


def _is_echo(unit: MemoryUnit, gone: Sequence[MemoryUnit]) -> bool:
    return (unit.speaker is not Role.USER or unit.kind is Kind.EPISODE) and quotes(unit.content, gone)


def _cleaned(item: IndexedUnit, gone: Sequence[MemoryUnit]) -> IndexedUnit:
    """The unit without the forgotten words around its own; the very same object where there are none."""
    unit = item.unit
    update: dict[str, object] = {}
    if unit.preceding and quotes(unit.preceding, gone):
        update["preceding"] = ""
    if unit.source_text != unit.content and quotes(unit.source_text, gone):
        update["source_text"] = unit.content
    if not update:
        return item
    unit = unit.model_copy(update={**update, "revision": unit.revision + 1})
    return item.model_copy(update={"unit": unit, "context": document_vector(context_text(unit))})


def _drop_turns(scope: Scope, gone: Sequence[MemoryUnit], turns: set[str], *, now: datetime) -> Plan[None]:
    """Take the turns out of the session buffers, with every turn that echoes them; an agent's echo must never be read again."""
    for key in (yield from ask(ListKeys(owner=scope.owner, kind=KeyKind.SESSION))):
        entries = yield from ask(ReadLog(key=key))
        telling = [entry for entry in entries if entry.id in turns or quotes(_text(entry.body), gone)]
        echoes = [entry.id for entry in telling if entry.id not in turns and not _is_users(entry)]
        if echoes:
            marks = {turn: now.isoformat().encode() for turn in echoes}
            yield from ask(WriteFields(key=keys.tombstones(scope), fields=marks))
        yield from _drop(key, telling)


def _is_users(entry: LogEntry) -> bool:
    try:
        return decode_turn(entry.body).role is Role.USER
    except StoreCorrupt:
        return False


def _drop_tasks(scope: Scope, gone: Sequence[MemoryUnit]) -> Plan[None]:
    """Take fields out of working memory that say what is forgotten; it mirrors the last request of each task."""
    for key in (yield from ask(ListKeys(owner=scope.owner, kind=KeyKind.WORKING))):
        fields = yield from ask(ReadFields(key=key))
        telling = tuple(name for name, value in fields.items() if quotes(_text(value), gone))
        if telling:
            yield from ask(DropFields(key=key, names=telling))


def _blank_reports(scope: Scope, gone: Sequence[MemoryUnit]) -> Plan[None]:
    """Blank the reasons that quote; that a task was judged stays known."""
    for entry in (yield from ask(ReadLog(key=keys.judged(scope)))):
        if quotes(_text(entry.body), gone):
            blanked = json.dumps(_blanked(json.loads(entry.body), gone), ensure_ascii=False).encode()
            yield from ask(ReplaceEntry(key=keys.judged(scope), id=entry.id, body=blanked))


def _blanked(value: object, gone: Sequence[MemoryUnit]) -> object:
    if isinstance(value, str):
        return _GONE if quotes(value, gone) else value
    if isinstance(value, list):
        return [_blanked(inner, gone) for inner in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: _blanked(inner, gone) for name, inner in cast("dict[str, object]", value).items()}
    return value


def _unlearn(scope: Scope, gone: Sequence[MemoryUnit]) -> Plan[None]:
    """Drop the other names of things that the forgotten texts taught."""
    taught: dict[str, str] = {}
    for unit in gone:
        taught |= AliasTable().learn(unit.source_text).learned
    if taught:
        stored = yield from ask(ReadFields(key=keys.aliases(scope)))
        names = tuple(name for name, meaning in taught.items() if stored.get(name) == meaning.encode())
        if names:
            yield from ask(DropFields(key=keys.aliases(scope), names=names))


def _drop(key: Key, entries: Iterable[LogEntry]) -> Plan[None]:
    ids = tuple(entry.id for entry in entries)
    if ids:
        yield from ask(DropEntries(key=key, ids=ids))


def _names(entry: LogEntry, ids: set[str]) -> bool:
    """Whether an entry is of one of the ids ("recall:t1"), or has one as a value."""
    return bool({entry.id, entry.id.rpartition(":")[2]} & ids) or any(f'"{name}"'.encode() in entry.body for name in ids)


def _text(body: bytes) -> str:
    """A stored value as text, whatever way it was written."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False)
    except ValueError:
        return body.decode(errors="replace")
