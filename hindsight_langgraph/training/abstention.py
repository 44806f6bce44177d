"""Fit the head that tells when nothing found is an answer (extra `train`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hindsight_langgraph.errors import MissingExtra
from hindsight_langgraph.recall.abstain import AbstentionHead

PENALTY: Final = 0.1
"""Inverse strength of the L2 penalty; 0.03 to 0.3 differ by less than a point in cross-validation."""
HIDDEN: Final = 0.3
"""What a question whose answer was hidden counts beside one that was asked: its neighbours are told apart more easily."""
REFUSED: Final = 0.05
"""The share of answerable questions that may be refused, at which the threshold is set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One question with the evidence of what was found for it."""

    group: str
    """Trials of one group are never on both sides of a fold."""
    evidence: Mapping[str, float]
    answerable: bool
    asked: bool
    """False for a question made unanswerable by hiding its answer; such trials count less, and set no threshold."""


def train_abstention(trials: Sequence[Trial], *, model: str, cosine_floor: float, refused: float = REFUSED) -> AbstentionHead:
    """Fit on the trials; the threshold lets `refused` of the answerable ones be refused, each judged by a head that saw none of its group.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    head = _fit(trials, model=model, cosine_floor=cosine_floor)
    held = [(trial, odds) for trial, odds in held_out(trials, model=model, cosine_floor=cosine_floor) if trial.answerable]
    odds = sorted(value for _, value in held)
    threshold = odds[int(refused * len(odds))] if odds else 0.0
    return AbstentionHead(model=model, cosine_floor=cosine_floor, weights=head.weights, bias=head.bias, threshold=threshold)


def held_out(trials: Sequence[Trial], *, model: str, cosine_floor: float) -> list[tuple[Trial, float]]:
    """Each trial with the probability that a head gives it which saw none of its group."""
    judged: list[tuple[Trial, float]] = []
    for group in dict.fromkeys(trial.group for trial in trials):
        head = _fit([t for t in trials if t.group != group], model=model, cosine_floor=cosine_floor)
        judged += [(trial, head.probability(trial.evidence)) for trial in trials if trial.group == group]
    return judged


def _fit(trials: Sequence[Trial], *, model: str, cosine_floor: float) -> AbstentionHead:
    names = sorted({name for trial in trials for name in trial.evidence})
    rows = np.array([[trial.evidence.get(name, 0.0) for name in names] for trial in trials])
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    fitted = _classifier().fit(
        (rows - mean) / scale,
        [trial.answerable for trial in trials],
        sample_weight=[1.0 if trial.asked else HIDDEN for trial in trials],
    )
    slopes = np.asarray(fitted.coef_[0]) / scale
    return AbstentionHead(
        model=model,
        cosine_floor=cosine_floor,
        weights=dict(zip(names, slopes.tolist(), strict=True)),
        bias=float(fitted.intercept_[0] - slopes @ mean),
        threshold=0.0,
    )


def _classifier() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("training needs scikit-learn: pip install 'langgraph-hindsight[train]'") from error
    return LogisticRegression(C=PENALTY, max_iter=3_000, class_weight="balanced")
