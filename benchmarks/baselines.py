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

from benchmarks.vectors import Matrix
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


def baselines(query: str, vector: Matrix, *, bm25: Bm25, vectors: Matrix, rng: random.Random) -> dict[str, list[int]]:
    """The ranking of every baseline for one question."""
    likeness: NDArray[np.float64] = (vectors @ vector).astype(np.float64)
    naive, words = rank(likeness, rng), rank(bm25.scores(query), rng)
    return {"naive_vector": naive, "bm25": words, "rrf": rank(fuse(naive, words), rng)}
