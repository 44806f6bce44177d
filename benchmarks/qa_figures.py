"""The figures of a run of questions that were answered and judged."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
"""One question with its answer, as a line of the harness's file holds it."""
_MEDIANS = ("record_tokens", "prompt_tokens", "answer_tokens")


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of one set."""
    if not rows:
        return {"n": 0}
    categories = sorted({row["category"] for row in rows})
    by_category = {category: _figures([row for row in rows if row["category"] == category]) for category in categories}
    return {
        **_figures(rows),
        "interval": interval([bool(row["verdict"]) for row in rows]),
        "unjudged": sum(row["verdict"] is None for row in rows),
        "empty": sum(not row["record_tokens"] for row in rows),
        **{name: statistics.median(row[name] for row in rows) for name in _MEDIANS},
        "by_category": by_category,
    }


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "n": len(rows),
        "accuracy": round(statistics.mean(bool(row["verdict"]) for row in rows), 4),
        **{name: _mean([row[name] for row in rows if row[name] is not None]) for name in ("f1", "evidence")},
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.mean(values), 4) if values else None


def interval(hits: Sequence[bool], *, draws: int = 1_000) -> tuple[float, float]:
    """The 95 % interval of a share, by bootstrap."""
    rng = random.Random(0)
    means = sorted(statistics.mean(rng.choices(hits, k=len(hits))) for _ in range(draws))
    return round(means[draws // 40], 4), round(means[-draws // 40 - 1], 4)
