"""Tells the tracer how the runs that recalled for a task were judged by its outcome (SPEC G5)."""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError

from hindsight_langgraph import keys
from hindsight_langgraph.annotation.trajectory import read_trajectory
from hindsight_langgraph.errors import StoreError
from hindsight_langgraph.feedback import Judged
from hindsight_langgraph.ops import Later, Notify, ReadLog
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.recall.recollection import TracedRun
from hindsight_langgraph.records import Record, Scope


class _Account(Record, extra="ignore"):
    """What is read of an account of a recall."""

    run: TracedRun | None = None


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
            run = _Account.model_validate_json(entry.body).run
        except ValidationError:
            continue
        if run is not None:
            runs.append(run)
    if runs:
        yield from ask(Notify(event=Judged(runs=tuple(dict.fromkeys(runs)), success=success, comment=comment)))
