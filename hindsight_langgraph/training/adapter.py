"""Fit a query adapter by a contrastive loss over what helped and what did not (SPEC E6), with numpy alone.

InfoNCE (van den Oord et al. 2018): of a positive and its negatives, the adapted query must be nearest to the positive. A part of the
groups (tasks, conversations) is held out; an adapter that does not rank them better is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.annotation.examples import Example
from hindsight_langgraph.errors import CallError
from hindsight_langgraph.recall.query_adapter import QueryAdapter
from hindsight_langgraph.records import EmbeddingSpace

Matrix = NDArray[np.float32]
Embed = Callable[[Sequence[str], str], Matrix]
"""Unit-length vectors of texts for a purpose ("query" or "document"), [n, dimension]."""

TEMPERATURE: Final = 0.03
RATE: Final = 2e-3
DECAY: Final = 1e-4
"""Pulls the matrix towards 0, the embedding as it is."""
EPOCHS: Final = 30
BATCH: Final = 64
HELD_OUT: Final = 0.2
LEAST_EXAMPLES: Final = 40
"""Below this nothing is fitted: the embedding as it is serves a cold start better (SPEC E7)."""
LEAST_GAIN: Final = 0.005
"""By so much the held-out mean reciprocal rank must rise."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Contrast:
    """One query vector with the vectors of what helped and what did not."""

    query: Matrix
    candidates: Matrix
    """[n, dimension]; the positive first."""
    group: str
    """What is held out together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit:
    """A fitted adapter and what it does for queries that it did not see."""

    adapter: QueryAdapter
    before: float
    """Mean reciprocal rank of the held-out positives among their negatives, without the adapter."""
    after: float
    epochs: int
    examples: int

    @property
    def helps(self) -> bool:
        """Whether it is worth using."""
        return self.after >= self.before + LEAST_GAIN


def enough(count: int) -> None:
    """Raise a `CallError` when there are too few examples."""
    if count < LEAST_EXAMPLES:
        raise CallError(f"{count} examples are too few to learn from; {LEAST_EXAMPLES} are needed, keep collecting outcomes")


def export_triplets(examples: Sequence[Example]) -> Iterator[str]:
    """JSON lines of anchor, positive and negative: what the losses of sentence-transformers read as a dataset."""
    for example in examples:
        for negative in (*example.hard_negatives, *example.random_negatives):
            yield json.dumps({"anchor": example.query, "positive": example.positive, "negative": negative}, ensure_ascii=False)


def contrasts_of(examples: Sequence[Example], embed: Embed) -> list[Contrast]:
    """The examples as vectors; each text is embedded once."""
    queries = tuple(dict.fromkeys(example.query for example in examples))
    texts = tuple(dict.fromkeys(text for e in examples for text in (e.positive, *e.hard_negatives, *e.random_negatives)))
    asked = dict(zip(queries, embed(queries, "query"), strict=True))
    told = dict(zip(texts, embed(texts, "document"), strict=True))
    return [
        Contrast(
            query=asked[example.query],
            candidates=np.stack([told[text] for text in (example.positive, *example.hard_negatives, *example.random_negatives)]),
            group=example.case,
        )
        for example in examples
        if example.hard_negatives or example.random_negatives
    ]


def fit_adapter(contrasts: Sequence[Contrast], *, space: EmbeddingSpace, seed: int = 0) -> Fit:
    """Fit on most groups, stop where the held-out ones are ranked best.

    Raises:
        CallError: fewer than `LEAST_EXAMPLES` examples, or all of one group.
    """
    enough(len(contrasts))
    rng = np.random.default_rng(seed)
    groups = sorted({contrast.group for contrast in contrasts})
    held = {groups[i] for i in _shuffled(rng, len(groups))[: max(1, round(len(groups) * HELD_OUT))]}
    learn, check = [c for c in contrasts if c.group not in held], [c for c in contrasts if c.group in held]
    if not learn:
        raise CallError("every example is of one task; nothing can be held out to check what was learnt")
    matrix = np.zeros((space.dimension, space.dimension), dtype=np.float32)
    before = best = reciprocal_rank(matrix, check)
    chosen, chosen_at, adam = matrix, 0, _Adam(matrix.shape)
    for epoch in range(1, EPOCHS + 1):
        order = _shuffled(rng, len(learn))
        for start in range(0, len(order), BATCH):
            matrix = adam.step(matrix, _gradient(matrix, [learn[i] for i in order[start : start + BATCH]]))
        found = reciprocal_rank(matrix, check)
        if found > best:
            best, chosen, chosen_at = found, matrix, epoch
    return Fit(
        adapter=QueryAdapter(space=space, matrix=chosen), before=before, after=best, epochs=chosen_at, examples=len(contrasts)
    )


def _shuffled(rng: np.random.Generator, count: int) -> list[int]:
    return cast("list[int]", rng.permutation(count).tolist())


def reciprocal_rank(matrix: Matrix, contrasts: Sequence[Contrast]) -> float:
    """The mean reciprocal rank of the positives."""
    ranks: list[float] = []
    for contrast in contrasts:
        scores = contrast.candidates @ (contrast.query + matrix @ contrast.query)
        ranks.append(1.0 / (1 + int((scores[1:] >= scores[0]).sum())))
    return float(np.mean(ranks)) if ranks else 0.0


def _gradient(matrix: Matrix, batch: Sequence[Contrast]) -> Matrix:
    """Of the mean loss over a batch, with the pull towards 0."""
    total = DECAY * matrix
    for contrast in batch:
        moved = contrast.query + matrix @ contrast.query
        length = max(float(np.linalg.norm(moved)), 1e-9)
        unit = moved / length
        scores = contrast.candidates @ unit / TEMPERATURE
        odds = np.exp(scores - scores.max())
        odds /= odds.sum()
        odds[0] -= 1.0
        pull = contrast.candidates.T @ odds / TEMPERATURE
        pull = (pull - unit * float(unit @ pull)) / length
        total = total + np.outer(pull, contrast.query) / len(batch)
    return total.astype(np.float32)


class _Adam:
    """Adam (Kingma and Ba 2015)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._mean = np.zeros(shape, dtype=np.float32)
        self._square = np.zeros(shape, dtype=np.float32)
        self._steps = 0

    def step(self, value: Matrix, gradient: Matrix) -> Matrix:
        """The value after one step."""
        self._steps += 1
        self._mean = 0.9 * self._mean + 0.1 * gradient
        self._square = 0.999 * self._square + 0.001 * gradient**2
        mean, square = self._mean / (1 - 0.9**self._steps), self._square / (1 - 0.999**self._steps)
        return np.asarray(value - RATE * mean / (np.sqrt(square) + 1e-8), dtype=np.float32)
