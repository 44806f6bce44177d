"""Units for consolidation tests, stored as they are, without the checks of the write side."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from hindsight_langgraph.lexical import context_text, document_vector, index_text
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.ops import PutUnits
from hindsight_langgraph.records import REGION_OF, IndexedUnit, Kind, MemoryUnit, Scope, Triple
from tests.clock import NOON

_ids = count()


def unit(
    content: str, *, user: str = "u1", day: float = 0, kind: Kind = Kind.FACT, triple: tuple[str, ...] = (), **more: Any
) -> MemoryUnit:
    """A unit said so many days after `NOON`; `triple` is (subject, attribute, value), with "not" as a fourth part."""
    said = NOON + timedelta(days=day)
    name = id_of(more.pop("id", None) or f"unit {next(_ids)}")
    values: dict[str, Any] = {
        "id": name, "owner": Scope(user_id=user).owner, "content": content, "region": REGION_OF[kind], "kind": kind,
        "source_text": content, "sources": (f"turn-{name}",), "said_at": said, "created_at": said, "updated_at": said, "valid_from": said,
        "triple": Triple(subject=triple[0], attribute=triple[1], value=triple[2], negated=len(triple) > 3) if triple else None,
    }  # fmt: skip
    return MemoryUnit(**{**values, **more})


def id_of(name: str) -> str:
    """The id of the unit that a test calls so; engines take UUIDs only."""
    return str(uuid5(NAMESPACE_OID, name))


def store(memory: HindsightMemory, *units: MemoryUnit) -> None:
    """Put units into the long-term store, with their embeddings."""
    runtime = memory._runtime
    vectors = runtime.embedder.embed(tuple(index_text(one) for one in units), purpose="document")
    runtime.answer(
        PutUnits(
            units=tuple(
                IndexedUnit(
                    unit=one, dense=vector, text=document_vector(index_text(one)), context=document_vector(context_text(one))
                )
                for one, vector in zip(units, vectors, strict=True)
            )
        )
    )


def busy_life() -> list[MemoryUnit]:
    """Something for every pass: repeats, contradictions, a story in four conversations, a pattern, things to forget."""
    story = [
        unit(
            f"Ledger migration, part {i}: step {i} is done",
            id=f"story{i}",
            day=i,
            kind=Kind.TASK_STATE,
            entities=("ledger",),
            session_id=f"s{i}",
        )
        for i in range(4)
    ]
    pattern = [
        unit(
            f"Deploy {i} hit the disk limit",
            id=f"pattern{i}",
            day=i,
            kind=Kind.TASK_STATE,
            session_id=f"p{i}",
            triple=("deploy", "hits", "disk limit"),
        )
        for i in range(3)
    ]
    return [
        unit("I live in Tartu", id="tartu", day=1, triple=("user", "lives_in", "Tartu")),
        unit("I live in Riga", id="riga", day=9, triple=("user", "lives_in", "Riga")),
        unit("My day for tea is Friday", id="tea1", day=2, references=2),
        unit("My day for tea is Friday", id="tea2", day=3, references=1, related=(id_of("riga"),)),
        unit("The hall opens at nine", id="hall1", day=2, triple=("hall", "opening hour", "nine")),
        unit("The hall opens at nine", id="hall2", day=4, triple=("hall", "opening hour", "9"), confirmations=1),
        unit("The old boiler rattled", id="boiler", day=-200, importance=0.2, base_importance=0.2),
        unit("The old gate squeaked", id="gate", day=-200, importance=0.2, base_importance=0.2),
        unit("I am allergic to nuts", id="nuts", day=-200, importance=0.95, base_importance=0.95),
        *story, *pattern,
    ]  # fmt: skip


def content_of(memory: HindsightMemory, user: str = "u1") -> list[dict[str, Any]]:
    """Everything of a user in both collections, without the moments at which it was changed; sorted."""
    units = [*memory.units(scope=user), *memory.archived(scope=user)]
    moments = {"updated_at", "created_at", "last_recalled_at", "revision"}
    return sorted((one.model_dump(mode="json", exclude=moments) for one in units), key=lambda one: str(one["id"]))


def later(days: float) -> datetime:
    """So many days after `NOON`."""
    return NOON + timedelta(days=days)
