"""The usual ways to search a memory, for comparison: bare vectors, bare BM25, and their reciprocal rank fusion.

Each ranks the plain contents of one space, without speaker, date or neighbours. Equal scores are put in random order: a method that
cannot tell two units apart must not profit from the order they are stored in.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import Space
from benchmarks.vectors import CachedEmbedder, Matrix
from hindsight_langgraph.lexical import terms

K1, B, RRF_K = 1.5, 0.75, 60


class Bm25:
    """Okapi BM25 over stemmed words and Chinese bigrams, with the frequencies of one space."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)
        self._norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for i, count in enumerate(counts):
            for term, number in count.items():
                self._postings[term].append((i, number))

    def scores(self, query: str) -> NDArray[np.float64]:
        """One score a text."""
        total = np.zeros(len(self._norm))
        for term in dict.fromkeys(terms(query)):
            found = self._postings.get(term, [])
            idf = math.log(1 + (len(self._norm) - len(found) + 0.5) / (len(found) + 0.5))
            for i, number in found:
                total[i] += idf * number * (K1 + 1) / (number + self._norm[i])
        return total


def rank(scores: NDArray[np.float64], rng: random.Random) -> list[int]:
    """Places by falling score, ties shuffled."""
    order = list(range(len(scores)))
    rng.shuffle(order)
    return sorted(order, key=lambda i: -float(scores[i]))


def fuse(*rankings: Sequence[int]) -> NDArray[np.float64]:
    """Reciprocal rank fusion (Cormack et al. 2009)."""
    total = np.zeros(len(rankings[0]))
    for ranking in rankings:
        for place, i in enumerate(ranking):
            total[i] += 1 / (RRF_K + 1 + place)
    return total


class Baselines:
    """Every baseline over one space."""

    def __init__(self, corpus: str, space: Space, embedder: CachedEmbedder) -> None:
        self._corpus, self._embedder, self._rng = corpus, embedder, random.Random(space.id)
        self._ids = [unit.id for unit in space.units]
        self._bm25 = Bm25([unit.content for unit in space.units])
        self._vectors = embedder.documents(f"{corpus}-plain", [unit.content for unit in space.units])

    def rankings(self, query: str) -> dict[str, list[str]]:
        """Ids best first, by method."""
        vector: Matrix = self._embedder.queries(self._corpus, [query])[0]
        likeness: NDArray[np.float64] = (self._vectors @ vector).astype(np.float64)
        naive, words = rank(likeness, self._rng), rank(self._bm25.scores(query), self._rng)
        orders = {"naive_vector": naive, "bm25": words, "rrf": rank(fuse(naive, words), self._rng)}
        return {name: [self._ids[i] for i in order] for name, order in orders.items()}
