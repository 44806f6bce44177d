"""Tells an outcome in processes that die by SIGKILL after a given write, and prints what the stores hold once the job is claimed again.

Usage: `python -m tests.hindsight.kill_annotator DIRECTORY [REDIS_URL]`. Each line of output is one JSON object: after which write the
process died (0: it did not), and what hindsight left. Processes are forked before any store is opened.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from hindsight_langgraph.flows.teaching import read_lessons
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import AppendLog, ClaimDue, PutUnits, ReplaceEntry, ReviseUnits, SetDue, SettleDue
from hindsight_langgraph.records import Kind, Scope
from tests.clock import NOON, FakeClock
from tests.consolidation.kill_worker import _in_child as in_child
from tests.memory.opening import open_memory

SCOPE = Scope(user_id="u1", session_id="t1")
STALE = "The staging host is stg-1.larkfield.example."
ASKED = "Deploy build 881 to the staging host."
CORRECTED = "No, stg-1 was retired last month, staging lives on stg-3 now."
STRIDE = 2
"""On Redis only every second write is died after: it is the same flow."""
WRITES = (AppendLog, ReplaceEntry, SetDue, ClaimDue, SettleDue, PutUnits, ReviseUnits)


def main(directory: Path, redis_url: str | None) -> None:
    """Kill after every write from the outcome on, one process each, until one ends before its time comes."""
    point = 0
    while True:
        place = directory / str(point)
        options = {} if redis_url is None else {"redis_url": redis_url, "prefix": f"kill-{point}"}
        in_child(partial(_work, place, options))
        code = in_child(partial(_tell, place, options, die_after=point))
        if code == 0 and point:
            return
        in_child(partial(_claim_again, place, options, point))
        point += 1 if redis_url is None or point == 0 else STRIDE


def _open(place: Path, options: dict[str, Any], *, minutes: float) -> HindsightMemory:
    return open_memory(place, clock=FakeClock(NOON + timedelta(minutes=minutes)), timeout_s=20.0, **options)


def _work(place: Path, options: dict[str, Any]) -> None:
    """The task, up to its last step."""
    with _open(place, options, minutes=0) as memory:
        memory.remember([{"role": "user", "content": STALE, "id": "told"}], scope=SCOPE)
        found = memory.recall(ASKED, scope=SCOPE)
        call = {"name": "deploy", "args": {"build": 881, "host": "stg-1.larkfield.example"}, "id": "c1"}
        messages = [
            HumanMessage(ASKED, id="ask"),
            AIMessage("Use the remembered host.", id="plan", tool_calls=[call]),
            ToolMessage("promoted", tool_call_id="c1", id="call"),
            AIMessage("881 is on staging.", id="done"),
        ]
        memory.annotate(messages, scope=SCOPE, recollection=found)
        memory.settle(scope=SCOPE)


def _tell(place: Path, options: dict[str, Any], *, die_after: int) -> None:
    with _open(place, options, minutes=1) as memory:
        _die_after(die_after, memory)
        memory.outcome(scope=SCOPE, success=False, feedback=CORRECTED, error="Deployed to a retired host")
        memory.settle(scope=SCOPE)


def _die_after(writes: int, memory: HindsightMemory) -> None:
    """Have the process killed right after its nth write, to either store."""
    left = [writes]

    def counted(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def answer(op: Any) -> Any:
            reply = call(op)
            if isinstance(op, WRITES):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return reply

        return answer

    for store in (memory._runtime.working, memory._runtime.long_term):
        opened: Any = store
        opened.run = counted(opened.run)


def _claim_again(place: Path, options: dict[str, Any], point: int) -> None:
    """Another process, once the lease of the dead one is over."""
    with _open(place, options, minutes=30) as memory:
        while memory.annotate_due():
            pass
        memory.settle()
        units = memory.units(scope=SCOPE)
        (stale,) = [unit for unit in units if unit.content == STALE]
        told = {
            "point": point,
            "judged": len(memory.annotations(scope=SCOPE)),
            "episodes": sum(unit.kind is Kind.EPISODE for unit in units),
            "importance": round(stale.importance, 6),
            "confidence": round(stale.confidence, 6),
            "moves": sum(not event.taken_back for event in memory.history(stale.id, scope=SCOPE)),
            "lessons": len(memory._run(read_lessons(SCOPE))),
            "left": len(memory.annotate_due()),
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
