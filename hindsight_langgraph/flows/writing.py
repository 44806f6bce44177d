"""From a turn that was just said to units in the store, whatever is down in between.

A turn is accepted first (the pending log and the session buffer), then read into units, then taken out of the pending log. Whatever
fails on the way leaves it pending; when no store takes it at all, the process holds it and tries again with the next turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Final

from pydantic import JsonValue

from hindsight_langgraph import keys
from hindsight_langgraph.annotation.trajectory import Step, StepKind, record_steps, steps_of
from hindsight_langgraph.codec import decode_turn
from hindsight_langgraph.consolidation.activity import count_text
from hindsight_langgraph.consolidation.forget_request import read_forget_request
from hindsight_langgraph.encoding.learned import read_learned
from hindsight_langgraph.encoding.report import TurnReport, WriteReport, WriteStatus
from hindsight_langgraph.encoding.write import write_turns
from hindsight_langgraph.errors import HindsightError, ModelError, StoreError
from hindsight_langgraph.flows.forgetting import forget_that
from hindsight_langgraph.flows.hindsight import notice_later
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.ops import Keep, Later, LogEntry, Notify, ReadLog, TakeKept
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Role, Scope, TracedRun, Turn
from hindsight_langgraph.tracing import write_staged
from hindsight_langgraph.working.pending import PendingTurn, accept, count_attempt, finish, read_pending
from hindsight_langgraph.working.session import append_session, session_entries
from hindsight_langgraph.working.task_memory import condense, write_task

logger = logging.getLogger("hindsight_langgraph")

Thread = Sequence[LogEntry]
"""The last turns of a session as the buffer keeps them, oldest first."""
CONTEXT_TURNS: Final = 6
"""Turns before the new ones that an elliptical answer is read with."""
LIGHT_ATTEMPTS: Final = 5
"""After so many failures a turn is left to its raw episode until the next full pass."""


def remember(
    turns: Sequence[Turn], *, scope: Scope, now: datetime, settings: FlowSettings, dry_run: bool = False
) -> Plan[list[WriteReport]]:
    """Accept turns and write them, here and now. Returns one report a session, the caller's own last.

    With `dry_run` nothing is accepted or written; the report says what would be.
    """
    if dry_run:
        context = _before(turns, (yield from _read_thread(scope)))
        return [
            (
                yield from write_turns(
                    turns,
                    context=context,
                    scope=scope,
                    now=now,
                    config=settings.config.write,
                    tools=settings.writing,
                    dry_run=True,
                )
            )
        ]
    thread = yield from _accept(turns, scope=scope, now=now, settings=settings)
    if thread is not None:
        return (yield from write_pending(scope, now=now, settings=settings, thread=thread))
    written = _write_or_keep(turns, scope=scope, now=now, settings=settings)
    return [(yield from write_staged(written, turns, scope=scope))]


def annotate(
    turns: Sequence[Turn],
    *,
    recalled: Sequence[str],
    asked: str = "",
    traced: TracedRun | None = None,
    scope: Scope,
    now: datetime,
    settings: FlowSettings,
) -> Plan[None]:
    """Take in what a step added, durably, and write it off the answer's path.

    Args:
        turns: the turns of the present exchange; those that were taken in before are left alone.
        recalled: ids of the units that the step was given.
        asked: what they were recalled for.
        traced: the run that a tracer shows that recall as.
        scope: whose step.
        now: the present moment.
        settings: of the memory.
    """
    thread = yield from _accept(turns, scope=scope, now=now, settings=settings)
    try:
        recall = (
            Step(id="", kind=StepKind.RECALL, at=now, content=asked, unit_ids=tuple(recalled), traced=traced)
            if recalled
            else None
        )
        if (yield from _record(turns, recall=recall, scope=scope, now=now, settings=settings)):
            yield from notice_later(scope, now=now, settings=settings)
    except StoreError:
        if settings.strict:
            raise
    for held_scope, held in (yield from ask(TakeKept(owner=scope.owner))):
        yield from ask(Later(owner=scope.owner, plan=_later(held, scope=held_scope, now=now, settings=settings)))
    if thread is not None:
        yield from ask(Later(owner=scope.owner, plan=lambda: write_pending(scope, now=now, settings=settings, thread=thread)))
    else:
        yield from ask(Later(owner=scope.owner, plan=_later(tuple(turns), scope=scope, now=now, settings=settings)))


def _later(turns: tuple[Turn, ...], *, scope: Scope, now: datetime, settings: FlowSettings) -> Callable[[], Plan[object]]:
    return lambda: remember(turns, scope=scope, now=now, settings=settings)


def _accept(turns: Sequence[Turn], *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[Thread | None]:
    """Promise that the turns will be written. Returns the thread, these included; None when the working store takes nothing."""
    try:
        entries = yield from ask(ReadLog(key=keys.session(scope)))
        known = {entry.id for entry in entries} | (yield from read_learned(scope)).forgotten
        fresh = [turn for turn in turns if turn.id not in known and turn.role is not Role.SYSTEM]
        yield from accept(scope, fresh, now=now, redactions=settings.writing.redactions)
        yield from append_session(scope, fresh, now=now, config=settings.config.working)
        yield from count_text(scope, sum(len(turn.text) for turn in fresh))
    except StoreError:
        if settings.strict:
            raise
        return None
    return sorted([*reversed(entries), *session_entries(fresh, now)], key=lambda entry: entry.at)


def _read_thread(scope: Scope) -> Plan[Thread]:
    """The thread; empty when the buffer does not answer."""
    try:
        return (yield from ask(ReadLog(key=keys.session(scope))))[::-1]
    except StoreError:
        return ()


def _before(turns: Sequence[Turn], thread: Thread) -> list[Turn]:
    """The turns of the thread just before the first of `turns`, oldest first; none where they cannot be read."""
    new = {turn.id for turn in turns}
    place = next((i for i, entry in enumerate(thread) if entry.id in new), len(thread))
    try:
        return [decode_turn(entry.body) for entry in thread[max(0, place - CONTEXT_TURNS) : place]]
    except HindsightError:
        return []


def write_pending(
    scope: Scope, *, now: datetime, settings: FlowSettings, attempts: int = 1, thread: Thread | None = None
) -> Plan[list[WriteReport]]:
    """Write what waits for this owner, session by session.

    Turns that failed before are tried again only up to so many `attempts`, which is for the idle pass to say: a model that is down is
    not asked at every turn. `thread` is that of this very session, where the caller has read it.
    """
    waiting = yield from read_pending(scope)
    due = [p for p in waiting if p.attempts < attempts]
    reports: list[WriteReport] = []
    for (group_scope, asks), group in groupby(due, key=lambda p: (p.scope, asks_to_forget(p.turn))):
        known = thread if group_scope.session_id == scope.session_id else None
        if asks:
            for request in group:
                obeyed = _obey(request, scope=group_scope, now=now, settings=settings, thread=known)
                reports.append((yield from write_staged(obeyed, [request.turn], scope=group_scope)))
        else:
            waiting_here = list(group)
            written = _write_group(waiting_here, scope=group_scope, now=now, settings=settings, thread=known)
            reports.append((yield from write_staged(written, [p.turn for p in waiting_here], scope=group_scope)))
    return reports


def asks_to_forget(turn: Turn) -> bool:
    """Whether a turn is a user's request to forget something, beyond doubt."""
    request = read_forget_request(turn.text) if turn.role is Role.USER else None
    return request is not None and request.certain


def _obey(
    waiting: PendingTurn, *, scope: Scope, now: datetime, settings: FlowSettings, thread: Thread | None
) -> Plan[WriteReport]:
    """Forget what the user asks to have forgotten, once everything said before is written (SPEC F7).

    The request itself is not remembered, since it names the thing; where nothing is known of it, it is a turn like any other.
    """
    turn = waiting.turn
    try:
        count = yield from forget_that(turn.text, scope=scope, now=now, settings=settings)
    except StoreError as error:
        if settings.strict:
            raise
        return undone([turn], reason=str(error))
    if not count:
        return (yield from _write_group([waiting], scope=scope, now=now, settings=settings, thread=thread))
    yield from finish(scope, [waiting])
    report = WriteReport(turns=(TurnReport(turn_id=turn.id, kept=False, reasons=(f"forgot {count} memories as asked",)),))
    yield from ask(Notify(event=report))
    return report


def _write_group(
    group: list[PendingTurn], *, scope: Scope, now: datetime, settings: FlowSettings, thread: Thread | None
) -> Plan[WriteReport]:
    turns = [waiting.turn for waiting in group]
    if thread is None:
        thread = yield from _read_thread(scope)
    tools = replace(settings.writing, redactions={waiting.turn.id: waiting.redactions for waiting in group})
    try:
        report = yield from write_turns(
            turns, context=_before(turns, thread), scope=scope, now=now, config=settings.config.write, tools=tools
        )
    except (StoreError, ModelError) as error:
        if settings.strict:
            raise
        return undone(turns, reason=str(error))  # they stay pending, and this was no fault of theirs
    _warn_of_cuts(report, settings)
    failed = set(report.failed_turns)
    yield from finish(scope, [waiting for waiting in group if waiting.turn.id not in failed])
    yield from count_attempt(scope, [waiting for waiting in group if waiting.turn.id in failed])
    yield from ask(Notify(event=report))
    return report


def _warn_of_cuts(report: WriteReport, settings: FlowSettings) -> None:
    if cut := sum(fate.cut for fate in report.turns):
        logger.warning(
            "the chat model's answers about %d turns were cut short, even with twice the room; what was whole is stored, and the turns "
            "as they were said; raise write.answer_tokens (%d)",
            cut,
            settings.config.write.answer_tokens,
        )


def _write_or_keep(turns: Sequence[Turn], *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[WriteReport]:
    """Write turns that could not be accepted; hold them when the long-term store is down too."""
    try:
        report = yield from write_turns(
            turns, context=(), scope=scope, now=now, config=settings.config.write, tools=settings.writing
        )
    except (StoreError, ModelError) as error:
        if settings.strict:
            raise
        yield from ask(Keep(scope=scope, turns=tuple(turns)))
        return undone(turns, reason=str(error))
    _warn_of_cuts(report, settings)
    yield from ask(Notify(event=report))
    return report


def undone(turns: Sequence[Turn], *, reason: str) -> WriteReport:
    """The report of turns that no store took yet; they wait."""
    fates = tuple(
        TurnReport(turn_id=turn.id, kept=False, failed=True, reasons=(f"waits: {reason}",), text=condense([turn.text], 120))
        for turn in turns
    )
    return WriteReport(status=WriteStatus.FAILED, turns=fates, failed_turns=tuple(turn.id for turn in turns))


def _record(turns: Sequence[Turn], *, recall: Step | None, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[bool]:
    """The steps of the task, and what working memory mirrors of them. Returns whether any is new."""
    steps = steps_of(turns, now=now, limit=settings.config.write.tool_preview_chars)
    if steps and recall is not None:
        steps.insert(1, recall.model_copy(update={"id": f"recall:{steps[0].id}", "at": steps[0].at}))
    new = yield from record_steps(scope, steps)
    if new:
        yield from write_task(
            scope,
            mirror(turns, limit=settings.config.write.tool_preview_chars),
            config=settings.config.working,
            chat=settings.chat,
        )
    return new > 0


def mirror(turns: Sequence[Turn], *, limit: int) -> dict[str, JsonValue]:
    """What working memory keeps of an exchange: the request in hand, and the last result of each tool."""
    fields: dict[str, JsonValue] = {}
    for turn in turns:
        if turn.role is Role.USER and turn.text.strip():
            fields["request"] = condense([turn.text], limit)
        elif turn.role is Role.TOOL:
            fields[f"result:{turn.tool or 'tool'}"] = {"text": condense([turn.text], limit), "error": turn.error}
    return fields
