"""Notes that an owner was active, and which pass that makes due (SPEC F1).

Every turn moves the owner's full pass to five idle minutes later; every twentieth turn makes a light pass due at once. A burst of turns
therefore makes one run, never one a turn.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from hindsight_langgraph import keys
from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.ops import AddCount, DropFields, SetDue
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Scope

IDLE_QUEUE: Final = "idle"
"""Owners whose idle pass is due, in the working store."""
_TURNS: Final = "turns"


def note_activity(scope: Scope, turns: int, *, now: datetime, config: ConsolidationConfig) -> Plan[bool]:
    """Count turns and put the idle pass off. Returns whether a light pass is due now."""
    yield from ask(
        SetDue(
            queue=IDLE_QUEUE, item=scope.owner, due=now + timedelta(seconds=config.idle_s), body=scope.model_dump_json().encode()
        )
    )
    counted = yield from ask(AddCount(key=keys.activity(scope), name=_TURNS, by=turns))
    if counted < config.light_turns:
        return False
    yield from ask(DropFields(key=keys.activity(scope), names=(_TURNS,)))
    return True
