"""From a question to a recollection, whatever is down in between."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.codec import decode_turn
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.errors import ModelError, StoreError, StoreUnavailable
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.telling import accounts_of
from hindsight_langgraph.flows.writing import asks_to_forget, write_pending
from hindsight_langgraph.ops import AppendLog, FetchUnits, Later, LogEntry, ReadLog, ReviseUnits, Settle, StaleEmbeddings, Where
from hindsight_langgraph.plan import Plan, ask, together
from hindsight_langgraph.recall.pipeline import recall_units
from hindsight_langgraph.recall.recollection import Cues, Query, Recollection
from hindsight_langgraph.recall.route import route
from hindsight_langgraph.records import Scope, TracedRun, Turn

RECALL_LOG_KEEP: Final = 200
RECALL_LOG_TTL_S: Final = 7 * 86_400.0
CHAT_PATIENCE_S: Final = 0.5


def recall(
    query: Query,
    *,
    scope: Scope,
    now: datetime,
    as_of: datetime | None,
    visible: frozenset[str],
    settings: FlowSettings,
    run: TracedRun | None = None,
) -> Plan[Recollection]:
    """Recall for one question. It sees everything that this owner was promised, and never fails for a store or model that is down."""
    config = settings.config
    try:
        yield from ask(Settle(owner=scope.owner, timeout_s=_patience(settings)))
        session, degraded = yield from _catch_up(scope, now=now, settings=settings)
        learned = yield from read_learned(scope)
        tools = replace(settings.recalling, aliases=AliasTable(dict(learned.aliases)), forgotten=learned.forgotten)
        unseen = [turn for turn in session if turn.id not in visible and not asks_to_forget(turn)]
        found = yield from recall_units(
            query, scope=scope, now=now, config=config.recall, tools=tools, session=unseen, as_of=as_of
        )
    except (StoreError, ModelError) as error:
        if settings.strict:
            raise
        return nothing_recalled(query, now=now, as_of=as_of, reason=str(error))
    stale = yield from ask(StaleEmbeddings())
    found = found.model_copy(update={"run": run, "degraded": (*degraded, *found.degraded, *([stale] if stale else []))})
    if settings.strict and (missing := [reason for reason in found.degraded if reason != stale]):
        raise StoreUnavailable(f"recall is degraded: {'; '.join(missing)}")
    yield from ask(Later(owner=accounts_of(scope), plan=lambda: _account(found, scope=scope, now=now)))
    return found


def _patience(settings: FlowSettings) -> float:
    """How long a recall waits for what its owner has just been promised: rules take milliseconds, a chat model may take long."""
    limit = settings.config.timeout_s
    return min(CHAT_PATIENCE_S, limit) if settings.chat else limit


def nothing_recalled(query: Query, *, now: datetime, as_of: datetime | None, reason: str) -> Recollection:
    """The recollection of a memory that could not be asked."""
    cues = Cues(text=query.text)
    return Recollection(
        query=query,
        at=now,
        as_of=as_of,
        cues=cues,
        route=route(cues, words=query.text, vector=None, head=None, asked=query.regions),
        degraded=(reason,),
    )


def _catch_up(scope: Scope, *, now: datetime, settings: FlowSettings) -> Plan[tuple[list[Turn], tuple[str, ...]]]:
    """The session's turns, oldest first; what a crash left pending is written on the way."""
    session, pending = yield from together(
        ReadLog(key=keys.session(scope), limit=settings.config.working.session_keep), ReadLog(key=keys.pending(scope))
    )
    for reply in (session, pending):
        if isinstance(reply, StoreError):
            if settings.strict:
                raise reply
            return [], (str(reply),)
        if isinstance(reply, Exception):
            raise reply
    if pending:
        yield from write_pending(scope, now=now, settings=settings)
    assert isinstance(session, list)
    return [decode_turn(entry.body) for entry in reversed(session)], ()


def _account(found: Recollection, *, scope: Scope, now: datetime) -> Plan[None]:
    """Log the recall with every candidate's score terms (SPEC D15), then count it on the units that it used (SPEC A8)."""
    body = found.log_entry()
    entry = LogEntry(id=hashlib.blake2b(body, digest_size=16).hexdigest(), at=now, body=body)
    yield from ask(AppendLog(key=keys.recall_log(scope), entries=(entry,), ttl_s=RECALL_LOG_TTL_S, keep=RECALL_LOG_KEEP))
    used = tuple(unit.id for unit in found.units if unit.owner == scope.owner)
    if not used:
        return
    units = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=used)))
    recalled = tuple(
        unit.model_copy(update={"references": unit.references + 1, "last_recalled_at": now, "revision": unit.revision + 1})
        for unit in units
    )
    if recalled:
        yield from ask(ReviseUnits(units=recalled))  # a unit that changed meanwhile goes uncounted this once
