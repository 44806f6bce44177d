"""What the memory notes of a graph that it only watches through its checkpointer (SPEC E1, A3).

Nothing of this writes to long-term memory: it keeps the task's trajectory, mirrors the state of the work, and puts idle work off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from pydantic import JsonValue

from hindsight_langgraph.annotation.trajectory import Step, StepKind, record_steps, steps_of
from hindsight_langgraph.consolidation.activity import note_activity
from hindsight_langgraph.encoding.redact import redact_json
from hindsight_langgraph.flows.hindsight import notice_later
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.writing import mirror
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.ports import Redactor
from hindsight_langgraph.records import Scope, Turn
from hindsight_langgraph.working.task_memory import condense, write_task

MIRRORED: Final = ("goal", "constraints", "plan", "open_problems")
"""Channels of a graph's state that working memory mirrors, where the graph has them."""


def note(
    turns: Sequence[Turn],
    changed: Mapping[str, Any],
    errors: Sequence[str],
    *,
    name: str,
    run_id: str | None = None,
    branch: str = "",
    scope: Scope,
    now: datetime,
    settings: FlowSettings,
) -> Plan[None]:
    """Note one thing that a checkpointer stored; noting it again changes nothing.

    Args:
        turns: messages that are new in it.
        changed: values of the channels that changed.
        errors: what a node failed with.
        name: of the thing, the same in every process.
        run_id: the run of the graph.
        branch: the subgraph that it happened in; blank for the root graph.
        scope: whose task.
        now: the present moment.
        settings: of the memory.
    """
    limit = settings.config.write.tool_preview_chars
    steps = steps_of(turns, now=now, limit=limit, run_id=run_id, branch=branch)
    steps += [
        Step(
            id=f"error:{name}:{i}",
            kind=StepKind.ERROR,
            at=now,
            content=condense([text], limit),
            error=True,
            run_id=run_id,
            branch=branch,
        )
        for i, text in enumerate(errors)
    ]
    if (yield from record_steps(scope, steps)):
        yield from notice_later(scope, now=now, settings=settings)
    redact = settings.writing.redactor
    fields = mirror(turns, limit=limit) | {
        channel: value for channel in MIRRORED if (value := _plain(changed.get(channel), redact)) is not None
    }
    if fields:
        yield from write_task(scope, fields, config=settings.config.working, chat=settings.chat)
    if turns:
        yield from note_activity(scope, 0, now=now, config=settings.config.consolidation)


def _plain(value: Any, redact: Redactor) -> JsonValue:
    """A channel's value as JSON without its secrets; None for one that is no JSON value."""
    try:
        plain: JsonValue = orjson.loads(orjson.dumps(value))
    except (orjson.JSONEncodeError, orjson.JSONDecodeError):
        return None
    return redact_json(plain, redact)
