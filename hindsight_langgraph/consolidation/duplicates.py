"""Finds units that say the same thing, and says what to do about them (SPEC F2).

Pure: from units to changes. Two units merge when they live in one region, were said of the same things (equal numbers, names and
polarity), and their embeddings all but agree; they are linked when they are merely close.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, MemoryUnit, Record, Status
from hindsight_langgraph.similarity import similarity

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


class Merge(Record):
    """`gone` says what `kept` says; `merged` is what `kept` becomes."""

    kept: str
    gone: str
    merged: MemoryUnit
    cosine: float


class Link(Record):
    """Two units that belong together."""

    first: str
    second: str
    cosine: float


class DuplicatePlan(Record):
    """What the pass would change, before anything is written."""

    merges: tuple[Merge, ...] = ()
    links: tuple[Link, ...] = ()

    def lines(self) -> list[str]:
        """The changes, one readable line each."""
        merged = [f"merge  {merge.cosine:.2f}  {merge.merged.content}" for merge in self.merges]
        return merged + [f"link   {link.cosine:.2f}  {link.first[:8]} – {link.second[:8]}" for link in self.links]


def find_duplicates(units: Sequence[IndexedUnit], *, space: EmbeddingSpace, config: ConsolidationConfig) -> DuplicatePlan:
    """Merges and links among active units of one owner; each unit takes part in at most one merge a pass."""
    able = [u for u in units if u.dense is not None and u.unit.status is Status.ACTIVE and not u.unit.raw]
    if len(able) < 2:
        return DuplicatePlan()
    matrix = np.asarray([u.dense for u in able], dtype=np.float32)
    cosines = matrix @ matrix.T
    merges: list[Merge] = []
    links: list[Link] = []
    taken: set[str] = set()
    close = sorted(
        ((similarity(float(cosines[i, j]), space), i, j) for i, j in combinations(range(len(able)), 2)),
        key=lambda pair: -pair[0],
    )
    for cosine, i, j in close:
        if cosine < config.link_cosine:
            break
        one, other = able[i].unit, able[j].unit
        if one.region is not other.region:
            continue
        if cosine >= config.merge_cosine and says_the_same(one, other):
            if one.id not in taken and other.id not in taken:
                taken |= {one.id, other.id}
                kept, gone = sorted((one, other), key=lambda unit: (unit.moment, unit.id))
                merges.append(Merge(kept=kept.id, gone=gone.id, merged=merge(kept, gone), cosine=min(1.0, cosine)))
        elif other.id not in one.related:
            links.append(Link(first=one.id, second=other.id, cosine=min(1.0, cosine)))
    return DuplicatePlan(merges=tuple(merges), links=tuple(link for link in links if not {link.first, link.second} & taken))


def says_the_same(one: MemoryUnit, other: MemoryUnit) -> bool:
    """Whether nothing that an embedding overlooks keeps two close units apart: numbers, names, polarity, kind."""
    if one.kind is not other.kind or set(_NUMBER.findall(one.content)) != set(_NUMBER.findall(other.content)):
        return False
    if set(one.entities) != set(other.entities):
        return False
    if one.triple and other.triple:
        return (one.triple.value.casefold(), one.triple.negated) == (other.triple.value.casefold(), other.triple.negated)
    return True


def merge(kept: MemoryUnit, gone: MemoryUnit) -> MemoryUnit:
    """The earlier unit with the newest time, the highest importance, the union of links, the sum of counts (SPEC F2)."""
    related = dict.fromkeys((*kept.related, *gone.related))
    newest = max(kept, gone, key=lambda unit: unit.moment)
    return kept.model_copy(
        update={
            "said_at": newest.said_at,
            "sources": tuple(dict.fromkeys((*kept.sources, *gone.sources))),
            "entities": tuple(dict.fromkeys((*kept.entities, *gone.entities))),
            "relations": tuple(dict.fromkeys((*kept.relations, *gone.relations))),
            "supersedes": tuple(dict.fromkeys((*kept.supersedes, *gone.supersedes))),
            "related": tuple(key for key in related if key not in {kept.id, gone.id}),
            "base_importance": max(kept.base_importance, gone.base_importance),
            "importance": max(kept.importance, gone.importance),
            "confidence": max(kept.confidence, gone.confidence),
            "confirmations": kept.confirmations + gone.confirmations + 1,
            "references": kept.references + gone.references,
        }
    )
