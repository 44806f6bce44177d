"""Consolidation as a LangGraph graph: each pass is decided in one step and applied in the next.

With a checkpointer a run that was killed resumes at the step that it died in; every step leaves the same when done again.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from hindsight_langgraph.consolidation.changes import CHANGES, PassName
from hindsight_langgraph.consolidation.lease import release, take
from hindsight_langgraph.consolidation.report import ConsolidationReport, Level
from hindsight_langgraph.consolidation.run import Run
from hindsight_langgraph.errors import Conflict
from hindsight_langgraph.flows import consolidating, deciding
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.ports import Clock
from hindsight_langgraph.records import Scope

R = TypeVar("R")
HOLDER = "lease"
"""Name in `configurable` of the token of a lease that the caller holds."""
LONGEST = 100
"""Steps of a run: two for each pass, and four."""


class State(TypedDict, total=False):
    """A run under way; everything in it is plain JSON, so that any checkpointer keeps it."""

    user_id: str
    """Input: whose memory, where no `run` is given."""
    level: Level
    run: str
    token: str
    left: list[str]
    """Passes still to do, the next one first."""
    changes: str
    """What the pass under way decided."""
    made: dict[str, str]
    """What each pass did."""
    waiting: int
    busy: bool


class Runner(Protocol):
    """Runs plans, blocking and awaiting."""

    def run(self, plan: Plan[R]) -> R:
        """Run a plan to its end."""
        ...

    def arun(self, plan: Plan[R]) -> Coroutine[Any, Any, R]:
        """As `run`, on the running loop."""
        ...


Step = Callable[[State, str], Plan[dict[str, Any]]]


def consolidation_graph(runner: Runner, *, settings: FlowSettings, clock: Clock) -> Any:
    """The `StateGraph`, not yet compiled: begin → structure → (decide → apply, for each pass) → finish.

    Input: `{"user_id": "alice", "level": "full"}`; `level` may be left out.
    """
    steps = _Steps(settings, clock)
    builder: Any = StateGraph(State)  # its methods are partly untyped
    for name, step in (
        ("begin", steps.begin), ("structure", steps.structure), ("decide", steps.decide), ("apply", steps.apply), ("finish", steps.finish),
    ):  # fmt: skip
        builder.add_node(name, _node(step, runner))
    builder.add_edge(START, "begin")
    builder.add_conditional_edges("begin", _may_begin, ["structure", END])
    builder.add_conditional_edges("structure", _next, ["decide", "finish"])
    builder.add_edge("decide", "apply")
    builder.add_conditional_edges("apply", _next, ["decide", "finish"])
    builder.add_edge("finish", END)
    return builder


def report_of(state: Mapping[str, Any], *, scope: Scope, at: datetime, level: Level) -> ConsolidationReport:
    """What a run that ended did."""
    if state.get("busy") or "run" not in state:
        return ConsolidationReport(level=level, owner=scope.owner, at=at, changes={}, busy=True)
    run = Run.model_validate_json(state["run"])
    made = {PassName(name): tuple(CHANGES.validate_json(found)) for name, found in state.get("made", {}).items()}
    return ConsolidationReport(
        level=run.level, owner=run.scope.owner, at=run.now, changes=made, waiting=int(state.get("waiting", 0))
    )


class _Steps:
    """What each node does, as plans."""

    def __init__(self, settings: FlowSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    def begin(self, state: State, token: str) -> Plan[dict[str, Any]]:
        """Take the lease and say what is to be done."""
        if "run" in state:
            run = Run.model_validate_json(state["run"])
        else:
            scope = Scope(user_id=state.get("user_id", ""))
            run = yield from consolidating.start(
                scope, level=state.get("level", "full"), now=self._clock.now(), settings=self._settings
            )
        token = token or uuid4().hex
        held = yield from take(run.scope, token, now=self._clock.now(), lease_s=self._settings.config.consolidation.lease_s)
        left = [str(name) for name in run.passes if name is not PassName.STRUCTURING]
        return {"run": run.model_dump_json(), "token": token, "left": left, "made": {}, "busy": not held}

    def structure(self, state: State, token: str) -> Plan[dict[str, Any]]:
        """Read what could not be read before."""
        run = yield from self._held(state, token)
        return {"waiting": (yield from consolidating.structure(run, settings=self._settings))}

    def decide(self, state: State, token: str) -> Plan[dict[str, Any]]:
        """Say what the next pass changes; nothing is written."""
        run = yield from self._held(state, token)
        name = PassName(state.get("left", [])[0])
        changes = yield from deciding.decide(name, run, settings=self._settings, beat=lambda: self._held(state, token))
        return {"changes": CHANGES.dump_json(changes).decode()}

    def apply(self, state: State, token: str) -> Plan[dict[str, Any]]:
        """Make the changes that were decided."""
        run = yield from self._held(state, token)
        changes = CHANGES.validate_json(state.get("changes", "[]"))
        yield from consolidating.apply(run, changes)
        done, *left = state.get("left", [])
        made = {**state.get("made", {}), done: state.get("changes", "[]")} if changes else state.get("made", {})
        return {"left": left, "changes": "[]", "made": made}

    def finish(self, state: State, token: str) -> Plan[dict[str, Any]]:
        """Note when the run began, and let the next one come."""
        run = yield from self._held(state, token)
        yield from consolidating.finish(run)
        yield from release(run.scope, token or state.get("token", ""))
        return {"busy": False}

    def _held(self, state: State, token: str) -> Plan[Run]:
        """The run, its lease kept for a while more."""
        run = Run.model_validate_json(state.get("run", ""))
        mine = token or state.get("token", "")
        lease_s = self._settings.config.consolidation.lease_s
        if not (yield from take(run.scope, mine, now=self._clock.now(), lease_s=lease_s)):
            raise Conflict(f"another run consolidates {run.scope.owner} by now; this one stops, what it did stays")
        return run


def _node(step: Step, runner: Runner) -> RunnableLambda[Any, dict[str, Any]]:
    def call(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return runner.run(step(cast("State", state), _token(config)))

    async def acall(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return await runner.arun(step(cast("State", state), _token(config)))

    return RunnableLambda(call, afunc=acall)


def _token(config: RunnableConfig) -> str:
    return str(config.get("configurable", {}).get(HOLDER, ""))


def _may_begin(state: Mapping[str, Any]) -> str:
    return END if state.get("busy") else "structure"


def _next(state: Mapping[str, Any]) -> Literal["decide", "finish"]:
    return "decide" if state.get("left") else "finish"
