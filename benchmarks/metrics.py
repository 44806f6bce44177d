"""How good a ranking is: recall, reciprocal rank, gain, and how sure the means are."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

Judgement = dict[str, float]
Row = tuple[str, str, Judgement]
"""Space, category, judgement."""
NAMES = ("r5", "r10", "mrr", "ndcg10", "session_hit5")


def judge(ranking: Sequence[str], gold: frozenset[str], session_of: Mapping[str, str]) -> Judgement:
    """Recall is the share of the evidence found; `session_hit5` whether one of the first five sessions holds any of it."""
    hits = [unit in gold for unit in ranking]
    best = sum(1 / math.log2(i + 2) for i in range(min(10, len(gold))))
    gain = sum(1 / math.log2(i + 2) for i, hit in enumerate(hits[:10]) if hit)
    first = next((i for i, hit in enumerate(hits) if hit), None)
    wanted = {session_of[unit] for unit in gold}
    sessions = list(dict.fromkeys(session_of[unit] for unit in ranking))[:5]
    return {
        "r5": sum(hits[:5]) / len(gold),
        "r10": sum(hits[:10]) / len(gold),
        "mrr": 1 / (first + 1) if first is not None else 0.0,
        "ndcg10": gain / best,
        "session_hit5": float(any(session in wanted for session in sessions)),
    }


def mean(judged: Sequence[Judgement]) -> dict[str, float]:
    """Means in percent."""
    return {name: round(100 * sum(j[name] for j in judged) / len(judged), 2) for name in NAMES} if judged else {}


def interval(by_space: Mapping[str, Sequence[float]], *, repeats: int = 1_000) -> list[float]:
    """95 % interval of the mean, in percent, by resampling whole spaces."""
    rng, groups, means = random.Random(0), [list(values) for values in by_space.values()], []
    for _ in range(repeats):
        drawn = [value for group in rng.choices(groups, k=len(groups)) for value in group]
        means.append(sum(drawn) / len(drawn))
    means.sort()
    return [round(100 * means[int(0.025 * repeats)], 1), round(100 * means[int(0.975 * repeats)], 1)]


def summary(rows: Sequence[Row]) -> dict[str, object]:
    """Means, the intervals of recall@10 and of the reciprocal rank, and both by category; of no rows only that there are none."""
    if not rows:
        return {"n": 0}
    by_space: dict[str, list[Judgement]] = defaultdict(list)
    by_category: dict[str, list[Judgement]] = defaultdict(list)
    for space, category, judged in rows:
        by_space[space].append(judged)
        by_category[category].append(judged)
    return {
        **mean([judged for _, _, judged in rows]),
        "n": len(rows),
        **{
            f"{name}_interval": interval({space: [judged[name] for judged in told] for space, told in by_space.items()})
            for name in ("r10", "mrr")
        },
        "by_category": {
            name: {k: mean(found)[k] for k in ("r5", "r10", "mrr")} | {"n": len(found)}
            for name, found in sorted(by_category.items())
        },
    }
