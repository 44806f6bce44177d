"""One user's long-term memory as a benchmark uses it: the real embedded store, the real plans, cached embeddings."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.vectors import MODEL, CachedEmbedder
from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.lexical import context_text, document_vector, index_text
from hindsight_langgraph.ops import Embed, LongTermOp, PutUnits, SearchUnits
from hindsight_langgraph.plan import Op, Plan, drive
from hindsight_langgraph.recall.pipeline import RecallTools, recall_units
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, MemoryUnit, Scope

KEPT = 8
"""Searches whose reply is kept."""
SPACE = EmbeddingSpace(model=MODEL, dimension=384)


class BenchMemory:
    """A store in a temporary directory that answers every op of writing and recalling."""

    def __init__(self, corpus: str, embedder: CachedEmbedder) -> None:
        self._corpus = corpus
        self._embedder = embedder
        self._directory = tempfile.TemporaryDirectory(prefix="hindsight-bench-")
        self._searches: dict[SearchUnits, Any] = {}
        self.store = EdgeLongTermStore(Path(self._directory.name) / "units", SPACE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.store.close()
        self._directory.cleanup()

    def answer(self, op: Op[Any]) -> Any:
        """Answer one request, blocking."""
        if isinstance(op, Embed):
            made = self._embedder.queries if op.purpose == "query" else self._embedder.documents
            return [tuple(row) for row in made(self._corpus, op.texts).tolist()]
        if isinstance(op, SearchUnits):
            return self._searched(op)
        assert isinstance(op, LongTermOp)
        self._searches.clear()
        return self.store.run(op)

    def _searched(self, op: SearchUnits) -> Any:
        """The store's reply; the last few are kept, since variants of one recall search alike."""
        if op not in self._searches:
            if len(self._searches) >= KEPT:
                self._searches.clear()
            self._searches[op] = self.store.run(op)
        return self._searches[op]

    def run(self, plan: Plan[Any]) -> Any:
        """Run one plan."""
        return drive(plan, self.answer)

    def put(self, units: Sequence[MemoryUnit], *, batch: int = 256) -> None:
        """Store units as they are."""
        vectors = self._embedder.documents(self._corpus, [index_text(unit) for unit in units])
        for start in range(0, len(units), batch):
            rows = zip(units[start : start + batch], vectors[start : start + batch].tolist(), strict=True)
            self.store.run(PutUnits(units=tuple(indexed(unit, tuple(vector)) for unit, vector in rows)))

    def recall(
        self,
        text: str,
        *,
        scope: Scope,
        now: datetime,
        config: RecallConfig,
        tools: RecallTools,
        as_of: datetime | None = None,
    ) -> Recollection:
        """Recall for one question."""
        plan = recall_units(Query(text=text), scope=scope, now=now, config=config, tools=tools, as_of=as_of)
        found: Recollection = self.run(plan)
        return found


def indexed(unit: MemoryUnit, dense: tuple[float, ...] | None) -> IndexedUnit:
    """A unit with its vectors, as writing makes them."""
    return IndexedUnit(
        unit=unit, dense=dense, text=document_vector(index_text(unit)), context=document_vector(context_text(unit))
    )
