"""Tells the tracer how the runs that recalled for a task were judged (SPEC G5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pydantic import ValidationError

from hindsight_langgraph import keys
from hindsight_langgraph.annotation.trajectory import Step, read_trajectory
from hindsight_langgraph.annotation.verdict import Case, Effect, Judgement, memory_ref
from hindsight_langgraph.errors import StoreError
from hindsight_langgraph.feedback import JUDGEMENT_KEY, OUTCOME_KEY, Judged
from hindsight_langgraph.ops import Later, Notify, ReadLog
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.recall.recollection import shorten
from hindsight_langgraph.records import CausalRole, Record, Scope, TracedRun

CONTENT_CHARS: Final = 80


class _Asked(Record, extra="ignore"):
    text: str = ""


class _Account(Record, extra="ignore"):
    """What is read of an account of a recall."""

    run: TracedRun | None = None
    query: _Asked = _Asked()


def accounts_of(scope: Scope) -> str:
    """The name under which accounts of recalls are settled: apart from writes, which a recall waits for."""
    return f"{scope.owner}\0accounts"


def tell_outcome(scope: Scope, *, success: bool | None, comment: str) -> Plan[None]:
    """Have the outcome written as feedback on the runs that recalled for the task in hand, off the answer's path.

    To be asked before the outcome is recorded: what an earlier outcome judged is not judged again.
    """
    if success is None:
        return
    try:
        task = yield from read_trajectory(scope)
    except StoreError:
        return
    since = task.outcome.at if task.outcome else None
    yield from ask(Later(owner=accounts_of(scope), plan=lambda: _tell(scope, since=since, success=success, comment=comment)))


def _tell(scope: Scope, *, since: datetime | None, success: bool, comment: str) -> Plan[None]:
    """Runs in line with the accounts of recalls, so that the last of them is there to be read."""
    entries = yield from ask(ReadLog(key=keys.recall_log(scope)))
    runs: list[TracedRun] = []
    for entry in entries:
        if since is not None and entry.at <= since:
            continue
        try:
            account = _Account.model_validate_json(entry.body)
        except ValidationError:
            continue
        if account.run is not None and not (comment and account.query.text == comment):  # the verdict itself was asked for too
            runs.append(account.run)
    if runs:
        told = Judged(runs=tuple(dict.fromkeys(runs)), key=OUTCOME_KEY, score=success, comment=comment)
        yield from ask(Notify(event=told))


def tell_judgements(case: Case, recalls: Sequence[Step], judgements: Sequence[Judgement]) -> Plan[None]:
    """Have what became of each run's memories written as feedback on it: the share that helped, with the reasons."""
    by_ref = {judgement.ref: judgement for judgement in judgements}
    contents = {memory_ref(memory.id): memory.content for memory in case.memories}
    for recall in recalls:
        found = [by_ref[ref] for unit_id in recall.unit_ids if (ref := memory_ref(unit_id)) in by_ref and ref in contents]
        if recall.traced is None or not found:
            continue
        lines = [f"{shorten(contents[j.ref], CONTENT_CHARS)}: {j.role}, {j.effect} ({j.reason})" for j in found]
        share = round(sum(_helped(judgement) for judgement in found) / len(found), 4)
        told = Judged(runs=(recall.traced,), key=JUDGEMENT_KEY, score=share, comment="\n".join(lines))
        yield from ask(Notify(event=told))


def _helped(judgement: Judgement) -> bool:
    return judgement.role is not CausalRole.NOISE and judgement.effect is not Effect.NEGATIVE
