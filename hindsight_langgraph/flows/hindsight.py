"""From the outcome of a task to units that know what they were worth, durably and off the answer's path (SPEC E).

Closing a task makes a job due in the working store; whoever claims it judges the task, moves what was recalled, raises what was missed,
writes the episode. Every part may be done again: what was done before is recognised, so that a crash anywhere loses and doubles nothing.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import keys, tracing
from hindsight_langgraph.annotation.judge import judge_unsure
from hindsight_langgraph.annotation.memories import judge_memories
from hindsight_langgraph.annotation.outcome import read_outcome
from hindsight_langgraph.annotation.report import AnnotationReport, case_name, outcome_name
from hindsight_langgraph.annotation.roles import judge_steps
from hindsight_langgraph.annotation.tasks import tasks_of
from hindsight_langgraph.annotation.trajectory import Outcome, StepKind, Trajectory, read_records, record_outcome
from hindsight_langgraph.annotation.verdict import Given, case_of
from hindsight_langgraph.errors import ModelError, StoreError
from hindsight_langgraph.flows.episodes import write_episode
from hindsight_langgraph.flows.meaning import likeness_of_steps
from hindsight_langgraph.flows.moving import move_units, raise_missed
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.teaching import keep_lessons
from hindsight_langgraph.flows.telling import tell_judgements, tell_outcome
from hindsight_langgraph.ops import (
    ClaimDue,
    FetchUnits,
    Later,
    Notify,
    SetDue,
    Settle,
    SettleDue,
    Where,
)
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Scope
from hindsight_langgraph.working.logs import put_record, read_log

QUEUE: Final = "annotate"
"""Tasks whose outcome is known and not yet judged, in the working store."""
LEASE_S: Final = 600.0
LEFT_OVER: Final = 2
"""How many jobs that nobody finished are taken up with a step."""
REPORTS_KEEP: Final = 5_000
_FIRST_RETRY_S: Final = 30.0
_LAST_RETRY_S: Final = 6 * 3_600.0


def work_of(scope: Scope) -> str:
    """The name under which hindsight's work for an owner is settled: apart from writes, which a recall waits for."""
    return f"{scope.owner}\0hindsight"


def settle(scope: Scope, *, timeout_s: float) -> Plan[bool]:
    """Wait for an owner's writes, then for what they handed on to be judged. Returns whether all was in time."""
    written = yield from ask(Settle(owner=scope.owner, timeout_s=timeout_s, idle=True))
    return written and (yield from ask(Settle(owner=work_of(scope), timeout_s=timeout_s)))


def close_task(scope: Scope, outcome: Outcome, *, now: datetime, settings: FlowSettings) -> Plan[None]:
    """Record how the task in hand ended and have it judged in the background. Unknown outcomes are recorded and not judged."""
    try:
        yield from _close(scope, outcome, now=now, settings=settings)
    except StoreError:
        if settings.strict:
            raise  # else the outage was warned of, and costs this outcome


def _close(scope: Scope, outcome: Outcome, *, now: datetime, settings: FlowSettings) -> Plan[None]:
    if outcome.success is not None:  # the job first: whatever breaks off now, an outcome never lacks one
        yield from ask(_job(scope, now + timedelta(seconds=_FIRST_RETRY_S)))
    yield from record_outcome(scope, outcome)
    if outcome.success is not None:
        yield from ask(_job(scope, now))
        yield from ask(Later(owner=work_of(scope), plan=lambda: run_due(now=now, settings=settings), slow=True))


def notice(scope: Scope, *, now: datetime, settings: FlowSettings) -> Plan[None]:
    """Close the task in hand when the conversation says how it ended; judge what a crash or an outage left."""
    yield from run_due(now=now, settings=settings, limit=LEFT_OVER)
    tasks = tasks_of((yield from read_records(scope)))
    if not tasks:
        return
    found, known = read_outcome(tasks[-1].steps), tasks[-1].outcome
    if found is None or (known is not None and (found.at <= known.at or outcome_name(found) == outcome_name(known))):
        return
    if tracing.enabled():
        yield from tell_outcome(scope, success=found.success, comment=found.feedback)
    yield from close_task(scope, found, now=now, settings=settings)


def notice_later(scope: Scope, *, now: datetime, settings: FlowSettings) -> Plan[None]:
    """Look for an outcome off the answer's path."""
    yield from ask(Later(owner=work_of(scope), plan=lambda: notice(scope, now=now, settings=settings), slow=True))


def run_due(*, now: datetime, settings: FlowSettings, limit: int = 10) -> Plan[list[AnnotationReport]]:
    """Judge the tasks that are due, each claimed with a lease. One that cannot be judged now is due again later, and later each time."""
    reports: list[AnnotationReport] = []
    claims = yield from ask(ClaimDue(queue=QUEUE, now=now, lease_s=LEASE_S, limit=limit))
    for claim in claims:
        try:
            reports += yield from annotate_tasks(Scope.model_validate_json(claim.body), now=now, settings=settings)
        except (StoreError, ModelError):
            if settings.strict:
                raise
            wait = min(_LAST_RETRY_S, _FIRST_RETRY_S * 2 ** min(claim.attempts, 16))
            yield from ask(SettleDue(queue=QUEUE, item=claim.item, token=claim.token, retry_at=now + timedelta(seconds=wait)))
            continue
        yield from ask(SettleDue(queue=QUEUE, item=claim.item, token=claim.token))
    return reports


def annotate_tasks(scope: Scope, *, now: datetime, settings: FlowSettings) -> Plan[list[AnnotationReport]]:
    """Judge every task of a conversation whose outcome is known and was not judged yet."""
    reports: list[AnnotationReport] = []
    tasks = tasks_of((yield from read_records(scope)))
    known = {report.case: report for report in (yield from read_reports(scope))}
    for task in tasks:
        if task.outcome is None or task.outcome.success is None or not task.steps:
            continue
        before = known.get(case_name(scope, task))
        if before is None or outcome_name(before.outcome) != outcome_name(task.outcome):
            reports.append((yield from _annotate(scope, task, task.outcome, now=now, settings=settings)))
    return reports


def read_reports(scope: Scope) -> Plan[list[AnnotationReport]]:
    """What hindsight found of the owner's tasks, oldest first."""
    remedy = "forget it with the task's log"
    return (yield from read_log(keys.judged(scope), AnnotationReport, what=f"a report of {scope.owner}", remedy=remedy))


def _annotate(
    scope: Scope, task: Trajectory, outcome: Outcome, *, now: datetime, settings: FlowSettings
) -> Plan[AnnotationReport]:
    recalls = [step for step in task.steps if step.kind is StepKind.RECALL]
    given = tuple(dict.fromkeys(unit_id for step in recalls for unit_id in step.unit_ids))
    units = (yield from ask(FetchUnits(where=Where(owners=scope.readers, ids=given)))) if given else []
    case = case_of(task.steps, tuple(Given(id=unit.id, content=unit.content) for unit in units), outcome)
    likeness = yield from likeness_of_steps(case, space=settings.space)
    judgements = [*judge_steps(case), *judge_memories(case, likeness=likeness)]
    asked = [judgement for judgement in judgements if not judgement.sure] if settings.chat else []
    if asked:
        judgements = yield from judge_unsure(case, judgements)
    name, ending = case_name(scope, task), outcome_name(outcome)
    changes = yield from move_units(judgements, scope=scope, success=bool(outcome.success), case=name, outcome=ending, at=now)
    raised = yield from raise_missed(case, scope=scope, name=name, outcome=ending, at=now, began=task.steps[0].at)
    episode_id, worth = yield from write_episode(case, judgements, scope=scope, now=now, settings=settings)
    report = AnnotationReport(
        case=name, session_id=scope.session_id, task=scope.task, domain=scope.domain, at=now, goal=case.goal,
        query=next((step.content for step in recalls if step.content), case.goal), outcome=outcome, judgements=tuple(judgements),
        changes=(*changes, *raised), missed=tuple(event.unit_id for event in raised), episode_id=episode_id, episode_worth=worth,
        asked=len(asked),
    )  # fmt: skip
    yield from keep_lessons(report, recalls, scope=scope)
    yield from put_record(keys.judged(scope), report, name=report.case, at=report.at, keep=REPORTS_KEEP)
    yield from ask(Notify(event=report))
    if tracing.enabled():
        yield from tell_judgements(case, recalls, judgements)
    return report


def _job(scope: Scope, due: datetime) -> SetDue:
    name = hashlib.blake2b(f"{scope.owner}\0{scope.session_id}\0{scope.task}".encode(), digest_size=16).hexdigest()
    return SetDue(queue=QUEUE, item=name, due=due, body=scope.model_dump_json().encode())
