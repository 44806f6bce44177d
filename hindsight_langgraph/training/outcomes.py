"""Refit the ranker of recall from a deployment's own outcomes, one for each task domain (SPEC E6), with the extra `train`.

LambdaMART (Burges 2010) over what helped, was ignored, misled. Every task is ranked once by trees that did not see it (five folds); a
ranker that does not order those better than recall does without it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.errors import MissingExtra
from hindsight_langgraph.recall.domain_rankers import NO_DOMAIN
from hindsight_langgraph.recall.lessons import LINEAR, Lesson
from hindsight_langgraph.recall.ranker import Ranker, mix
from hindsight_langgraph.recall.trees import TreeEnsemble
from hindsight_langgraph.records import Record
from hindsight_langgraph.training.ranker import Group, train_ranker

TREES: Final = 60
FOLDS: Final = 5
LEAST_TASKS: Final = 40
"""Below so many telling tasks of a domain nothing is fitted for it: the ranking as it is serves a cold start better (SPEC E7)."""
LEAST_GAIN: Final = 0.01
"""By so much the held-out nDCG must rise on average."""
SURE: Final = 1.64
"""And by so many standard errors: rankers fitted to mere noise pass one time in twenty."""
TOP: Final = 5

Scores = NDArray[np.float32]


class TrainedRanker(Record):
    """What a refit did for one domain."""

    domain: str
    """Blank for tasks of no named domain."""
    tasks: int
    """Tasks that had something to tell."""
    before: float
    """Held-out nDCG@5 of the ranking as it is, from 0 to 1."""
    after: float
    used: bool
    """Whether it is in use from now on."""

    def line(self) -> str:
        """A readable account."""
        fate = "in use" if self.used else "refused, it does not help"
        return f"ranker for {self.domain or 'tasks of no domain'}: {self.tasks} tasks, held-out nDCG {self.before:.3f} -> {self.after:.3f}: {fate}"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class RankerFit:
    """The trees of one domain with what they do for tasks that they did not see."""

    trees: TreeEnsemble
    told: TrainedRanker


def by_domain(lessons: Sequence[Lesson]) -> dict[str, list[Lesson]]:
    """The lessons that have something to tell, of each domain that has enough of them."""
    found: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        if lesson.tells:
            found.setdefault(lesson.domain or NO_DOMAIN, []).append(lesson)
    return {domain: told for domain, told in sorted(found.items()) if len({lesson.case for lesson in told}) >= LEAST_TASKS}


def fit_rankers(lessons: Mapping[str, Sequence[Lesson]], *, shipped: Ranker | None, seed: int = 0) -> list[RankerFit]:
    """Fit a ranker for each domain and check it on tasks held out.

    Args:
        lessons: by domain, see `by_domain`.
        shipped: what ranks where the deployment has learnt nothing; None for the weighted sum alone.
        seed: deals the tasks to the folds.

    Raises:
        MissingExtra: LightGBM or scikit-learn is not installed.
    """
    if lessons:
        _need_libraries()
    return [_fit(domain, told, shipped=shipped, seed=seed) for domain, told in lessons.items()]


def _need_libraries() -> None:
    try:
        for library in ("lightgbm", "sklearn"):  # LightGBM's ranker needs the second
            import_module(library)
    except ImportError as error:
        raise MissingExtra(
            "a ranker is fitted with LightGBM and scikit-learn: pip install 'langgraph-hindsight[train]', or learn the adapter alone"
            " with `hindsight train --only adapter`"
        ) from error


def _fit(domain: str, lessons: Sequence[Lesson], *, shipped: Ranker | None, seed: int) -> RankerFit:
    groups = [_group(lesson) for lesson in lessons]
    before = np.array([ndcg(_order(group, shipped.trees if shipped else None), group.wanted) for group in groups])
    after = np.zeros(len(groups))
    cases = sorted({group.source for group in groups})
    fold_of = {cases[int(place)]: i % FOLDS for i, place in enumerate(np.random.default_rng(seed).permutation(len(cases)))}
    for fold in range(FOLDS):
        trees = train_ranker([group for group in groups if fold_of[group.source] != fold], trees=TREES)
        for i, group in enumerate(groups):
            if fold_of[group.source] == fold:
                after[i] = ndcg(_order(group, trees), group.wanted)
    told = TrainedRanker(
        domain=domain,
        tasks=len(cases),
        before=round(float(before.mean()), 4),
        after=round(float(after.mean()), 4),
        used=helps(before, after),
    )
    return RankerFit(trees=train_ranker(groups, trees=TREES), told=told)


def helps(before: NDArray[np.float64], after: NDArray[np.float64]) -> bool:
    """Whether held-out tasks gained, by more than chance gives."""
    gain = after - before
    error = float(gain.std(ddof=1)) / len(gain) ** 0.5
    return bool(gain.mean() >= max(LEAST_GAIN, SURE * error))


def ndcg(scores: Scores, grades: NDArray[np.int8], *, top: int = TOP) -> float:
    """Normalised discounted cumulative gain of the first `top` (Järvelin and Kekäläinen 2002), gain 2^grade - 1; ties by place."""
    gains = 2.0 ** grades.astype(np.float64) - 1
    discounts = 1 / np.log2(np.arange(2, top + 2))
    got, best = gains[np.argsort(-scores, kind="stable")][:top], np.sort(gains)[::-1][:top]
    ideal = float((best * discounts[: len(best)]).sum())
    return float((got * discounts[: len(got)]).sum()) / ideal if ideal else 0.0


def _order(group: Group, trees: TreeEnsemble | None) -> Scores:
    """The final scores of a recall, as `Ranker.rerank` makes them."""
    linear = group.rows[:, LINEAR]
    return linear if trees is None else mix(linear, trees.predict(group.rows))


def _group(lesson: Lesson) -> Group:
    return Group(source=lesson.case, rows=lesson.rows, wanted=np.array(lesson.grades, dtype=np.int8))
