"""Whether a query adapter helps on conversations that it did not learn from: LoCoMo, split by conversation.

    python -m benchmarks.adapter [--data DIR] [--json] [--cache DIR] [--folds 2]

The labelled evidence stands for memories that helped; hard negatives are the units most like the question that are no evidence, 40 % of
all negatives. Dense search alone, so that the adapter's own part shows. Prints one JSON object: `before` and `after` with `recall@5` and
`mrr` over all questions of left-out conversations, the seconds of one fit, and what each fold's own held-out check said.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.bench_memory import SPACE
from benchmarks.corpora import Space, asked_of, locomo
from benchmarks.options import parser, sets_of, tell
from benchmarks.vectors import CachedEmbedder, Matrix
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.training.adapter import Contrast, fit_adapter

HARD, RANDOM = 16, 24
Asked = tuple[Matrix, Matrix, list[int]]
"""A question's vector, the vectors of its conversation's units, the places of the evidence."""


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument("--folds", type=int, default=2)
    given = options.parse_args()
    embedder = CachedEmbedder(given.cache)
    asked = {space.id: questions("locomo", space, embedder) for space in locomo(sets_of(given.data))}
    names, rows, folds = sorted(asked), {"before": list[tuple[float, float]](), "after": list[tuple[float, float]]()}, []
    for fold in range(given.folds):
        tested = names[fold :: given.folds]
        rng = random.Random(fold)
        contrasts = [
            c for name in names if name not in tested for question in asked[name] for c in contrasts_of(question, name, rng)
        ]
        began = time.perf_counter()
        fit = fit_adapter(contrasts, space=SPACE, seed=fold)
        folds.append(
            {
                "seconds": round(time.perf_counter() - began, 1),
                "check_before": round(fit.before, 4),
                "check_after": round(fit.after, 4),
                "epochs": fit.epochs,
            }
        )
        for name in tested:
            for query, units, gold in asked[name]:
                rows["before"].append(ranked(query, units, gold))
                rows["after"].append(ranked(np.array(fit.adapter.apply(query.tolist())), units, gold))
    report = {key: {"recall@5": mean(found, 0), "mrr": mean(found, 1), "questions": len(found)} for key, found in rows.items()}
    tell(report | {"folds": folds}, as_json=given.json)


def questions(name: str, space: Space, embedder: CachedEmbedder) -> list[Asked]:
    """The questions of a conversation that have evidence."""
    units = embedder.documents(name, [index_text(unit) for unit in space.units])
    place = {unit.id: i for i, unit in enumerate(space.units)}
    wanted = asked_of(name, space)
    vectors = embedder.queries(name, [question.text for question in wanted])
    return [
        (vector, units, sorted(place[id_] for id_ in question.gold)) for question, vector in zip(wanted, vectors, strict=True)
    ]


def contrasts_of(asked: Asked, group: str, rng: random.Random) -> list[Contrast]:
    """One contrast for each piece of evidence."""
    query, units, gold = asked
    order = [int(i) for i in np.argsort(-(units @ query)) if int(i) not in gold]
    hard = order[:HARD]
    free = rng.sample(order[HARD:], min(RANDOM, len(order) - HARD))
    return [Contrast(query=query, candidates=units[[positive, *hard, *free]], group=group) for positive in gold]


def ranked(query: Matrix, units: Matrix, gold: Sequence[int]) -> tuple[float, float]:
    """Recall@5 and reciprocal rank of one question."""
    order = [int(i) for i in np.argsort(-(units @ query))]
    found = len(set(order[:5]) & set(gold)) / len(gold)
    return found, 1.0 / (1 + min(order.index(i) for i in gold))


def mean(rows: Sequence[tuple[float, float]], place: int) -> float:
    return round(sum(row[place] for row in rows) / len(rows), 4)


if __name__ == "__main__":
    main()
