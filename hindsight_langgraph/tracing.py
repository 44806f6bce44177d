"""Each stage of the memory as a LangSmith run with small, readable inputs and outputs (SPEC G5).

Recall is a retriever run whose documents say why each was kept or cut. With tracing off nothing is built and nothing is sent; whatever
goes wrong with tracing is logged once and never reaches the memory. Runs are sent by LangSmith's own background threads.
"""

# LangSmith types its dicts without arguments, so that its functions are known in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.recall.recollection import Dropped, Item, Query, Recollection, Stage, shorten
from hindsight_langgraph.records import MemoryUnit, Region, Scope, TracedRun, Turn

if TYPE_CHECKING:
    from langsmith.run_trees import RunTree

logger = logging.getLogger("hindsight_langgraph")

R = TypeVar("R")

RECALL_RUN: Final = "hindsight.recall"
USER, SESSION, TASK = "hindsight_user", "hindsight_session", "hindsight_task"
"""Names in a run's metadata: whose memory it was about. `hindsight review` reads them."""
CUT_SHOWN: Final = 10
"""How many of the candidates that were cut a retriever run shows."""
TEXT_CHARS: Final = 400
"""The most of a text that a run shows."""
MESSAGES_SHOWN: Final = 20

Shown = Mapping[str, Any]
"""Inputs or outputs of a run."""


class StageRun:
    """A stage under way. With tracing off it does nothing."""

    def __init__(self, tree: RunTree | None = None) -> None:
        self._tree = tree

    @property
    def ref(self) -> TracedRun | None:
        """What names the run; None with tracing off."""
        tree = self._tree
        if tree is None:
            return None
        return TracedRun(id=str(tree.id), trace_id=str(tree.trace_id), project=tree.session_name or "default")

    def end(self, outputs: Callable[[], Shown]) -> None:
        """Say what came out of it."""
        if self._tree is not None:
            with _harmless("outputs"):
                self._tree.end(outputs=dict(outputs()))


OFF: Final = StageRun()


def enabled() -> bool:
    """Whether runs are traced here and now: by the environment, or by a `tracing_context`."""
    from langsmith import utils

    return bool(utils.tracing_is_enabled())


@contextmanager
def stage(
    name: str, inputs: Callable[[], Shown], *, scope: Scope | None = None, kind: Literal["chain", "retriever"] = "chain"
) -> Generator[StageRun]:
    """A run around a stage, in blocking and awaiting code alike; a child of the run that is under way.

    Args:
        name: of the run.
        inputs: what goes in; not called with tracing off.
        scope: whose memory it is about.
        kind: the sort of run.
    """
    if not enabled():
        yield OFF
        return
    guard = ExitStack()
    manager: Any = None
    run = OFF
    with _harmless("start"):
        from langsmith import trace

        guard.enter_context(_context_of(scope))
        manager = trace(name, run_type=kind, inputs=dict(inputs()), metadata=_metadata(scope))
        run = StageRun(manager.__enter__())
    try:
        yield run
    except BaseException as error:
        _leave(manager, error)
        raise
    else:
        _leave(manager, None)
    finally:
        guard.close()


def staged(
    name: str,
    plan: Callable[[TracedRun | None], Plan[R]],
    *,
    inputs: Callable[[], Shown],
    outputs: Callable[[R], Shown],
    scope: Scope,
    kind: Literal["chain", "retriever"] = "chain",
) -> Plan[R]:
    """A plan as a stage: the run lasts as long as the plan, whoever drives it. `plan` is given what names the run."""
    with stage(name, inputs, scope=scope, kind=kind) as run:
        reply = yield from plan(run.ref)
        run.end(lambda: outputs(reply))
    return reply


def carried(job: Callable[[], None]) -> Callable[[], None]:
    """The job, to be run on another thread, with its runs under the run that is under way now."""
    if not enabled():
        return job
    from langsmith import run_helpers

    parent = run_helpers.get_current_run_tree()

    def under_parent() -> None:
        with run_helpers.tracing_context(parent=parent, enabled=True):
            job()

    return under_parent


def write_staged(plan: Plan[WriteReport], turns: Sequence[Turn], *, scope: Scope) -> Plan[WriteReport]:
    """The writing of turns as a stage, on whatever thread it happens; what it did is also said when it failed."""
    return staged("hindsight.write", lambda _: plan, inputs=lambda: turns_shown(turns), outputs=_written, scope=scope)


def query_shown(query: Query) -> Shown:
    """What is asked as inputs of a run, without the parts that say nothing."""
    parts = {"query": query.text, "goal": query.goal, "sub_step": query.sub_step, "last_result": query.last_result}
    return {name: shorten(part, TEXT_CHARS) for name, part in parts.items() if part or name == "query"}


def recollection_shown(found: Recollection) -> Shown:
    """What was recalled as documents: first what was injected, then what was cut, the best of it first."""
    cut = sorted(found.dropped, key=lambda dropped: (dropped.stage is Stage.FILTER, -dropped.score))[:CUT_SHOWN]
    shown: dict[str, Any] = {
        "documents": [*(_document(item) for item in found.items), *(_document(dropped) for dropped in cut)],
        "injected": found.text,
        "tokens": found.tokens,
        "route": str(found.route.best),
    }
    if found.abstained:
        shown["abstained"] = found.abstained
    if found.degraded:
        shown["degraded"] = list(found.degraded)
    return shown


def turns_shown(turns: Sequence[Turn]) -> Shown:
    """Turns as inputs of a run."""
    return {"messages": [{"role": str(turn.role), "content": shorten(turn.text, TEXT_CHARS)} for turn in turns[-MESSAGES_SHOWN:]]}


def reports_shown(reports: Sequence[WriteReport]) -> Shown:
    """Reports of writing as outputs of a run."""
    return {"reports": [_written(report) for report in reports]}


def _written(report: WriteReport) -> Shown:
    statements = [statement for turn in report.turns for statement in turn.statements]
    return {
        "status": str(report.status),
        "statements": [
            {"outcome": str(s.outcome), "kind": str(s.kind), "content": shorten(s.content, TEXT_CHARS)} for s in statements
        ],
        "turns": [{"kept": turn.kept, "reasons": list(turn.reasons)} for turn in report.turns[:MESSAGES_SHOWN]],
        "superseded": list(report.superseded),
    }


def _document(candidate: Item | Dropped) -> Shown:
    unit = candidate.unit
    kept = isinstance(candidate, Item)
    metadata: dict[str, Any] = {
        "id": unit.id, "kept": kept, "layer": layer_of(unit), "region": str(unit.region), "kind": str(unit.kind),
        "date": f"{unit.moment:%Y-%m-%d}", "score": round(candidate.score, 4),
        "terms": {name: round(value, 4) for name, value in candidate.terms.items()},
        "why": list(candidate.why) if isinstance(candidate, Item) else [f"{candidate.stage}: {candidate.reason}"],
    }  # fmt: skip
    if isinstance(candidate, Item):
        metadata["standing"] = str(candidate.standing)
    return {"page_content": shorten(unit.content, TEXT_CHARS), "type": "Document", "metadata": metadata}


def layer_of(unit: MemoryUnit) -> str:
    """The layer that a unit was found in (SPEC A2): a turn of the session buffer is its own source."""
    if unit.id in unit.sources:
        return "working"
    return "episodic" if unit.region is Region.EPISODIC else "semantic"


def _metadata(scope: Scope | None) -> dict[str, str]:
    return {} if scope is None else {USER: scope.user_id, SESSION: scope.session_id, TASK: scope.task}


def _context_of(scope: Scope | None) -> AbstractContextManager[None]:
    """The tracing context of now, named after `scope`: restored whatever fails, and no outer stage's user is inherited."""
    from langsmith import run_helpers

    now = run_helpers.get_tracing_context()
    kept: dict[str, Any] = {name: now.get(name) for name in ("parent", "project_name", "tags", "enabled", "client", "replicas")}
    return run_helpers.tracing_context(**kept, metadata={**(now.get("metadata") or {}), **_metadata(scope)})


def _leave(manager: Any, error: BaseException | None) -> None:
    if manager is not None:
        with _harmless("end"):
            manager.__exit__(None if error is None else type(error), error, None if error is None else error.__traceback__)


@contextmanager
def _harmless(what: str) -> Generator[None]:
    """A guest's failure stays its own: tracing must not stop the memory."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever a tracer raises
        logger.debug("tracing failed at the %s of a run: %s", what, error)
