"""Writes one note that an agent chose to keep.

A note is no turn of the conversation: it goes straight to long-term memory and never into the session buffer, so that what is forgotten
does not come back from there.
"""

from __future__ import annotations

from datetime import datetime

from hindsight_langgraph.encoding.drafts import raw_unit
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.encoding.store import put
from hindsight_langgraph.encoding.write import write_turns
from hindsight_langgraph.errors import ModelError, StoreError
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.flows.writing import undone
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.ops import Keep, Notify
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Scope, Turn
from hindsight_langgraph.tracing import write_staged
from hindsight_langgraph.working.pending import accept


def note(turn: Turn, *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[WriteReport]:
    """Write a text that is to be kept whatever the gate says of it: what it lets go is kept whole. Doing it again writes nothing twice.

    The text must be free of secrets. While the store is down it waits with the pending turns, and the report names it as failed.
    """
    try:
        report = yield from write_staged(_write(turn, scope=scope, now=now, settings=settings), [turn], scope=scope)
    except (StoreError, ModelError) as error:
        if settings.strict:
            raise
        yield from _wait(turn, scope=scope, now=now)
        return undone([turn], reason=str(error))
    yield from ask(Notify(event=report))
    return report


def _write(turn: Turn, *, scope: Scope, now: datetime, settings: FlowSettings) -> Plan[WriteReport]:
    report = yield from write_turns(
        [turn], context=(), scope=scope, now=now, config=settings.config.write, tools=settings.writing
    )
    if any(fate.already_written or fate.failed or fate.statements for fate in report.turns):
        return report
    unit = raw_unit(turn, previous=None, scope=scope, now=now)
    vectors = yield from embed_texts([index_text(unit)])
    yield from put((unit,), dict(zip((unit.id,), vectors.values(), strict=False)))  # none while the model is down
    return report.model_copy(update={"written": (unit.id,)})


def _wait(turn: Turn, *, scope: Scope, now: datetime) -> Plan[None]:
    try:
        yield from accept(scope, [turn], now=now)
    except StoreError:
        yield from ask(Keep(scope=scope, turns=(turn,)))
