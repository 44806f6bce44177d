"""A memory to recall from: the real embedded store, the hash embedder, and a note of what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.errors import ModelUnavailable, StoreUnavailable
from hindsight_langgraph.lexical import context_text, document_vector, index_text
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.ops import Collection, Embed, PutUnits, SearchUnits
from hindsight_langgraph.plan import drive
from hindsight_langgraph.recall.pipeline import RecallTools, recall_units
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, Region, Scope, Turn, user_owner

T0 = datetime(2025, 3, 10, 9, tzinfo=UTC)
NOW = T0 + timedelta(days=10)
ALICE = Scope(user_id="alice")


def unit(id_: str, content: str, *, user: str = "alice", at: datetime = T0, **fields: Any) -> MemoryUnit:
    defaults: dict[str, Any] = {
        "owner": user_owner(user),
        "region": Region.SEMANTIC,
        "kind": Kind.FACT,
        "said_at": at,
        "created_at": at,
        "updated_at": at,
    }
    return MemoryUnit(id=id_, content=content, **(defaults | fields))


@dataclass(kw_only=True)
class Remembering:
    store: EdgeLongTermStore
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    asked: list[Any] = field(default_factory=list)
    model_down: bool = False
    wrong_length: bool = False
    fails_after: int | None = None
    """Searches after this many fail."""

    @classmethod
    def at(cls, path: Path) -> Remembering:
        return cls(store=EdgeLongTermStore(path, HashEmbedder().space))

    def put(self, *units: MemoryUnit, collection: Collection = "live") -> None:
        vectors = self.embedder.embed(tuple(index_text(u) for u in units), purpose="document")
        indexed = tuple(
            IndexedUnit(unit=u, dense=v, text=document_vector(index_text(u)), context=document_vector(context_text(u)))
            for u, v in zip(units, vectors, strict=True)
        )
        self.store.run(PutUnits(units=indexed, collection=collection))

    def answer(self, op: Any) -> Any:
        self.asked.append(op)
        searches = sum(isinstance(each, SearchUnits) for each in self.asked)
        if isinstance(op, SearchUnits) and self.fails_after is not None and searches > self.fails_after:
            raise StoreUnavailable("the store went down")
        if isinstance(op, Embed):
            if self.model_down:
                raise ModelUnavailable("the model is down")
            vectors = self.embedder.embed(op.texts, purpose=op.purpose)
            return [v[:16] for v in vectors] if self.wrong_length else vectors
        return self.store.run(op)

    async def aanswer(self, op: Any) -> Any:
        if isinstance(op, Embed):
            return await self.embedder.aembed(op.texts, purpose=op.purpose)
        return await self.store.arun(op)

    def recall(
        self,
        text: str,
        *,
        scope: Scope = ALICE,
        now: datetime = NOW,
        as_of: datetime | None = None,
        session: Sequence[Turn] = (),
        tools: RecallTools | None = None,
        regions: tuple[Region, ...] | None = None,
        **config: Any,
    ) -> Recollection:
        plan = recall_units(
            Query(text=text, regions=regions),
            scope=scope,
            now=now,
            config=RecallConfig(**config),
            tools=tools or RecallTools(),
            session=session,
            as_of=as_of,
        )
        return drive(plan, self.answer)
