"""Notes that an owner was active, and which pass that makes due (SPEC F1).

Every turn moves the owner's full pass to five idle minutes later; every twentieth turn makes a light pass due at once, and a decisive
event brings the full one forward. A burst of turns therefore makes one run, never one a turn. Due times lie in the working store: what
was due when a process died is still due when the next one starts.
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
"""Owners whose full pass is due, in the working store."""
LIGHT_QUEUE: Final = "light"
"""Owners whose light pass is due."""
_TURNS: Final = "turns"
RAW_CHARS: Final = "raw_chars"


def note_activity(scope: Scope, turns: int, *, now: datetime, config: ConsolidationConfig) -> Plan[bool]:
    """Count turns and put the idle pass off. Returns whether a light pass is due now."""
    yield from ask(_due(IDLE_QUEUE, scope, now + timedelta(seconds=config.idle_s)))
    counted = yield from ask(AddCount(key=keys.activity(scope), name=_TURNS, by=turns))
    if counted < config.light_turns:
        return False
    yield from ask(_due(LIGHT_QUEUE, scope, now))
    yield from ask(DropFields(key=keys.activity(scope), names=(_TURNS,)))
    return True


def count_text(scope: Scope, chars: int) -> Plan[None]:
    """Count text that was taken in, for the share that is stored of it (SPEC F8)."""
    if chars:
        yield from ask(AddCount(key=keys.activity(scope), name=RAW_CHARS, by=chars))


def bring_forward(scope: Scope, *, now: datetime) -> Plan[None]:
    """Make the full pass due now: something decisive happened."""
    yield from ask(_due(IDLE_QUEUE, scope, now))


def _due(queue: str, scope: Scope, due: datetime) -> SetDue:
    return SetDue(queue=queue, item=scope.owner, due=due, body=scope.model_dump_json().encode())
