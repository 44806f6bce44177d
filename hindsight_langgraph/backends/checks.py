"""What is checked before a request reaches an engine, because engines check too little, too late or not at all.

Qdrant Edge writes the first points of a batch before it finds a bad one, takes NaN for a number, and replays a refused write at the
next start as a point without vectors. So a request is checked whole, and only then written.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

from hindsight_langgraph.errors import StoreRejected
from hindsight_langgraph.ops import Probe
from hindsight_langgraph.records import EmbeddingSpace, IndexedUnit, SparseVector

_LARGEST: Final = 3.4028234663852886e38
"""Largest 32-bit float: engines keep no more."""
_TERMS: Final = 2**32


def check_units(units: tuple[IndexedUnit, ...], space: EmbeddingSpace) -> None:
    """Refuse a write whose ids repeat or whose vectors cannot be stored.

    Raises:
        StoreRejected: names the unit and what is wrong with it.
    """
    seen: set[tuple[str, str]] = set()
    for indexed in units:
        unit = indexed.unit
        where = f"unit {unit.id!r}"
        if not unit.id.strip() or not unit.owner.strip():
            raise StoreRejected(f"{where} of owner {unit.owner!r}: a unit needs an id and an owner")
        if (unit.owner, unit.id) in seen:
            raise StoreRejected(f"{where} is there twice in one write; keep one of them")
        seen.add((unit.owner, unit.id))
        if indexed.dense is not None:
            _check_dense(indexed.dense, space, f"{where}, embedding")
        _check_sparse(indexed.text, f"{where}, text vector")
        _check_sparse(indexed.context, f"{where}, context vector")


def check_probe(probe: Probe, space: EmbeddingSpace) -> None:
    """Refuse a probe that has not exactly one ranking, or a vector that cannot be compared.

    Raises:
        StoreRejected: says what is wrong.
    """
    ways = (probe.dense is not None) + (probe.text is not None) + (probe.context is not None) + probe.newest
    if ways != 1:
        raise StoreRejected(f"a probe has {ways} ways to rank; give exactly one of dense, text, context, newest")
    if probe.limit < 1:
        raise StoreRejected(f"a probe asks for {probe.limit} units; ask for at least 1")
    if probe.dense is not None:
        _check_dense(probe.dense, space, "probe, embedding")
    for words in (probe.text, probe.context):
        if words is not None:
            _check_sparse(words, "probe, word vector")


def _check_dense(vector: tuple[float, ...], space: EmbeddingSpace, what: str) -> None:
    if len(vector) != space.dimension:
        raise StoreRejected(
            f"{what}: {len(vector)} numbers, but {space.model} has {space.dimension} dimensions; embed with the store's model"
        )
    _check_numbers(vector, what)


def _check_sparse(vector: SparseVector, what: str) -> None:
    if len(vector.indices) != len(vector.values):
        raise StoreRejected(f"{what}: {len(vector.indices)} term ids but {len(vector.values)} weights")
    if len(set(vector.indices)) != len(vector.indices):
        raise StoreRejected(f"{what}: a term id is there twice")
    if not all(0 <= index < _TERMS for index in vector.indices):
        raise StoreRejected(f"{what}: a term id is not an unsigned 32-bit number")
    _check_numbers(vector.values, what)


def _check_numbers(values: Collection[float], what: str) -> None:
    if sum(map(abs, values)) <= _LARGEST:
        return  # then each of them is; ten times faster, and true of every vector but absurd ones
    if not all(math.isfinite(value) and abs(value) <= _LARGEST for value in values):
        raise StoreRejected(f"{what}: a number is not finite, or too large for 32 bits")
