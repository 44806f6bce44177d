"""What the tests of the long-term store share: the backends as fixtures would open them, and units to put there."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.backends.qdrant_server import QdrantLongTermStore
from hindsight_langgraph.lexical import context_text, document_vector, index_text
from hindsight_langgraph.ops import LongTermOp, PutUnits, Where
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, Kind, MemoryUnit, Region
from tests.qdrant_stand_in import StandIn, standing_in
from tests.templates import prepare_edge

Reply = TypeVar("Reply")
Store = EdgeLongTermStore | QdrantLongTermStore

SPACE = EmbeddingSpace(model="small/model-8", dimension=8)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ALICE, BOB = "user:alice", "user:bob"
BACKENDS = ["edge", "server", *(["qdrant"] if os.environ.get("QDRANT_URL") else [])]


def unit_id(number: int) -> str:
    return str(uuid.UUID(int=number))


def make_unit(number: int, owner: str = ALICE, **fields: Any) -> MemoryUnit:
    moment = NOW - timedelta(hours=number)
    given: dict[str, Any] = {
        "id": unit_id(number),
        "owner": owner,
        "content": f"note {number} about topic{number}",
        "region": Region.SEMANTIC,
        "kind": Kind.FACT,
        "created_at": moment,
        "updated_at": moment,
    }
    return MemoryUnit(**(given | fields))


def direction(number: int, dimension: int = 8) -> tuple[float, ...]:
    """A vector of its own for each number; neighbours lie closest."""
    return tuple(1.0 if axis == 0 else number / 10 * axis % 1 for axis in range(dimension))


def index(unit: MemoryUnit, dense: tuple[float, ...] | None) -> IndexedUnit:
    return IndexedUnit(
        unit=unit, dense=dense, text=document_vector(index_text(unit)), context=document_vector(context_text(unit))
    )


def indexed(number: int, owner: str = ALICE, *, dimension: int = 8, **fields: Any) -> IndexedUnit:
    return index(make_unit(number, owner, **fields), direction(number, dimension))


def of(owner: str = ALICE, **fields: Any) -> Where:
    return Where(owners=(owner,), **fields)


@dataclass(kw_only=True)
class Asker:
    """A store, asked by `run` or by `arun`, so that each test is written once."""

    store: Store
    mode: str

    async def __call__(self, op: LongTermOp[Reply]) -> Reply:
        if self.mode == "sync":
            return self.store.run(op)
        return await self.store.arun(op)

    async def put(self, *units: IndexedUnit) -> None:
        await self(PutUnits(units=units))

    async def close(self) -> None:
        if self.mode == "sync":
            self.store.close()
        await self.store.aclose()


@dataclass(kw_only=True)
class Bench:
    """One backend with one store's data; `open` may be called again for the same data."""

    backend: str
    path: Path
    mode: str = "sync"
    stand_in: StandIn | None = None
    prefix: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")
    opened: list[Asker] = field(default_factory=list)

    def store(self, space: EmbeddingSpace = SPACE) -> Store:
        if self.backend == "edge":
            prepare_edge(self.path, SPACE)
            return EdgeLongTermStore(self.path, space)
        url = os.environ["QDRANT_URL"] if self.stand_in is None else self.stand_in.url
        return QdrantLongTermStore(url, space, prefix=self.prefix, timeout_s=60.0)

    def open(self, space: EmbeddingSpace = SPACE) -> Asker:
        asker = Asker(store=self.store(space), mode=self.mode)
        self.opened.append(asker)
        return asker

    async def reopen(self, asker: Asker, space: EmbeddingSpace = SPACE) -> Asker:
        await asker.close()
        return self.open(space)

    async def close(self) -> None:
        for asker in self.opened:
            await asker.close()
        if self.backend == "qdrant":
            drop_collections(os.environ["QDRANT_URL"], self.prefix)


def drop_collections(url: str, prefix: str) -> None:
    from qdrant_client import QdrantClient

    client = QdrantClient(url=url, check_compatibility=False)
    for each in client.get_collections().collections:
        if each.name.startswith(f"{prefix}."):
            client.delete_collection(each.name)
    client.close()


@contextmanager
def bench_of(backend: str, path: Path, mode: str = "sync") -> Iterator[Bench]:
    if backend == "server":
        with standing_in() as stand_in:
            yield Bench(backend=backend, path=path, mode=mode, stand_in=stand_in)
    else:
        yield Bench(backend=backend, path=path, mode=mode)
