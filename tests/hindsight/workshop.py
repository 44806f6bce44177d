"""A made-up workshop: tasks in which the note with a setting helps, and the note of what somebody likes, worded more like the request, never does."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from hindsight_langgraph.lexical import context_text, document_vector, index_text
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.ops import PutUnits
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Region, Scope
from tests.clock import NOON

CRAFTS = ("kiln", "loom", "lathe", "boiler", "press", "forge", "mill", "still", "oven", "crane")
PARTS = ("valve", "belt", "spindle", "damper", "hopper")
MACHINES = tuple(f"{craft} {part}" for craft in CRAFTS for part in PARTS)
NEW = tuple(f"{craft} {part}" for craft in ("pump", "winch", "churn") for part in ("gauge", "lever"))
"""Machines that come once everything is learnt: what nobody judged yet."""


def unit_of(name: str, content: str, kind: Kind, *, user: str = "u1") -> MemoryUnit:
    region = Region.PROCEDURAL if kind is Kind.PROCEDURE else Region.SEMANTIC
    return MemoryUnit(
        id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{user}:{name}")), owner=f"user:{user}", content=content, region=region, kind=kind,
        said_at=NOON, created_at=NOON, updated_at=NOON,
    )  # fmt: skip


def furnish(memory: HindsightMemory, machines: Sequence[str], *, user: str = "u1") -> dict[str, MemoryUnit]:
    """Two notes for each machine; returns by machine the one that helps."""
    settings = {
        machine: unit_of(f"{machine} setting", f"To prepare the {machine} use setting {400 + 7 * i}.", Kind.PROCEDURE, user=user)
        for i, machine in enumerate(machines)
    }
    likings = [
        unit_of(f"{machine} liking", f"Ada likes to prepare the {machine} for a run.", Kind.PREFERENCE, user=user)
        for machine in machines
    ]
    put(memory, [*settings.values(), *likings])
    return settings


def put(memory: HindsightMemory, units: list[MemoryUnit]) -> None:
    vectors = HashEmbedder().embed(tuple(index_text(unit) for unit in units), purpose="document")
    indexed = tuple(
        IndexedUnit(unit=unit, dense=vector, text=document_vector(index_text(unit)), context=document_vector(context_text(unit)))
        for unit, vector in zip(units, vectors, strict=True)
    )
    memory._runtime.answer(PutUnits(units=indexed))


def request(machine: str) -> str:
    return f"Prepare the {machine} for a run."


def work(memory: HindsightMemory, machine: str, note: MemoryUnit, *, scope: Scope) -> Recollection:
    """One task, from the request to its outcome: the agent sets what the note says."""
    found = memory.recall(request(machine), scope=scope)
    memory.annotate(messages(machine, note.content.split()[-1].rstrip(".")), scope=scope, recollection=found)
    memory.outcome(scope=scope, success=True, feedback="Thanks, it runs.")
    memory.settle(scope=scope)
    return found


def place(memory: HindsightMemory, machine: str, note: MemoryUnit, *, scope: Scope) -> int:
    """Where a note stands when its machine is asked about; 0 is first."""
    return [unit.id for unit in memory.recall(request(machine), scope=scope).ranking].index(note.id)


def messages(machine: str, setting: str) -> list[AnyMessage]:
    name = machine.replace(" ", "-")
    call = {"name": "machine.set", "args": {"machine": machine, "setting": setting}, "id": f"{name}-call"}
    return [
        HumanMessage(request(machine), id=f"{name}-ask"),
        AIMessage("", tool_calls=[call], id=f"{name}-plan"),
        ToolMessage("done", tool_call_id=f"{name}-call", id=f"{name}-tool"),
        AIMessage("It is ready.", id=f"{name}-done"),
    ]
