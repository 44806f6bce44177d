"""A store small enough to read: answers the ops that recall asks, in memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from hindsight_langgraph import lexical
from hindsight_langgraph.ops import Embed, Probe, SearchUnits, Where
from hindsight_langgraph.records import Hit, IndexedUnit, MemoryUnit


class Answering:
    def __init__(self, units: Sequence[IndexedUnit], embed=None) -> None:
        self.units = list(units)
        self.embed = embed
        self.asked: list[Any] = []

    def __call__(self, op: Any) -> Any:
        self.asked.append(op)
        if isinstance(op, Embed):
            return self.embed(op.texts)
        assert isinstance(op, SearchUnits)
        return [self._search(probe) for probe in op.probes] if op.collection == "live" else [[] for _ in op.probes]

    def _search(self, probe: Probe) -> list[Hit]:
        rows = [i for i, u in enumerate(self.units) if matches(u.unit, probe.where)]
        if probe.newest:
            rows.sort(key=lambda i: self.units[i].unit.moment, reverse=True)
            return [Hit(unit=self.units[i].unit, score=0.0) for i in rows[: probe.limit]]
        if probe.dense is not None:
            q = np.asarray(probe.dense)
            scores = {i: float(np.dot(self.units[i].dense, q)) for i in rows if self.units[i].dense is not None}
        else:
            which = "text" if probe.text is not None else "context"
            wanted = dict(zip((probe.text or probe.context).indices, (probe.text or probe.context).values, strict=True))
            df = Counter(t for u in self.units for t in getattr(u, which).indices)
            n = len(self.units)
            scores = {}
            for i in rows:
                v = getattr(self.units[i], which)
                s = sum(
                    w * wanted[t] * math.log(1 + (n - df[t] + 0.5) / (df[t] + 0.5))
                    for t, w in zip(v.indices, v.values, strict=True)
                    if t in wanted
                )
                if s > 0:
                    scores[i] = s
        best = sorted(scores, key=lambda i: -scores[i])[: probe.limit]
        return [Hit(unit=self.units[i].unit, score=scores[i]) for i in best]


def matches(unit: MemoryUnit, where: Where) -> bool:
    checks = [
        unit.owner in where.owners,
        where.ids is None or unit.id in where.ids,
        where.regions is None or unit.region in where.regions,
        where.statuses is None or unit.status in where.statuses,
        where.entities is None or bool(set(unit.entities) & set(where.entities)),
        where.said_from is None or unit.moment >= where.said_from,
        where.said_before is None or unit.moment < where.said_before,
        where.anchor_from is None or (unit.anchor is not None and unit.anchor.end > where.anchor_from),
        where.anchor_before is None or (unit.anchor is not None and unit.anchor.start < where.anchor_before),
    ]
    return all(checks)


def index(unit: MemoryUnit, dense: Sequence[float] | None = None) -> IndexedUnit:
    return IndexedUnit(
        unit=unit,
        dense=tuple(dense) if dense is not None else None,
        text=lexical.document_vector(lexical.index_text(unit)),
        context=lexical.document_vector(lexical.context_text(unit)),
    )
