"""Keeps what the recalls of a judged task teach a ranker (SPEC E6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.annotation.report import AnnotationReport
from hindsight_langgraph.annotation.trajectory import Step
from hindsight_langgraph.flows.telling import accounts_of
from hindsight_langgraph.ops import FetchUnits, ReadLog, Settle, Where
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.recall.lessons import Lesson, LoggedRecall, lesson_of, read_recall, recall_of
from hindsight_langgraph.records import Scope
from hindsight_langgraph.working.logs import put_record, read_log

LESSONS_KEEP: Final = 1_000
"""Of one owner; a lesson takes about 13 KB."""
_PATIENCE_S: Final = 30.0
"""How long to wait for the account of a recall that was just made: without it the lesson is lost, and no answer waits here."""


def keep_lessons(report: AnnotationReport, recalls: Sequence[Step], *, scope: Scope) -> Plan[None]:
    """Keep a lesson of each recall that the task was given and that the log still tells of; an earlier one of the same task goes."""
    if not recalls:
        return
    yield from ask(Settle(owner=accounts_of(scope), timeout_s=_PATIENCE_S))
    entries = yield from ask(ReadLog(key=keys.recall_log(scope)))
    logged = [recall for entry in entries if (recall := read_recall(entry.body)) is not None]
    for place, step in enumerate(recalls):
        recall = recall_of(logged, asked=step.content, given=step.unit_ids, until=report.outcome.at)
        if recall is not None:
            yield from _keep(report, recall, name=f"{report.case}:{place}", scope=scope)


def _keep(report: AnnotationReport, recall: LoggedRecall, *, name: str, scope: Scope) -> Plan[None]:
    ids = tuple(candidate.id for candidate in recall.pool)
    units = yield from ask(FetchUnits(where=Where(owners=scope.readers, ids=ids)))
    lesson = lesson_of(recall, {unit.id: unit for unit in units}, report)
    if lesson is None:
        return
    yield from put_record(keys.lessons(scope), lesson, name=name, at=report.at, keep=LESSONS_KEEP)


def read_lessons(scope: Scope) -> Plan[list[Lesson]]:
    """What the owner's judged tasks teach a ranker, oldest first."""
    return (yield from read_log(keys.lessons(scope), Lesson, what=f"a lesson of {scope.owner}"))
