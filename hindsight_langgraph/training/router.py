"""Fit the route head for an embedding model (extra `train`).

Examples are pairs of region and query: those written for this purpose in `routing_examples.tsv`, any labelled rows of the caller, and
the pairs of query and helpful region from a recall log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.annotation.examples import Example as Judged
from hindsight_langgraph.errors import CallError, MissingExtra
from hindsight_langgraph.recall.route_head import LinearRouteHead, features
from hindsight_langgraph.records import Region

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Query embeddings of texts, [n, dimension]."""
PENALTY = 1.0
"""Inverse strength of the L2 penalty, chosen by cross-validation on the open rows (0.3 and 3 differ by less than a point)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """A query and the region that answers it."""

    query: str
    region: Region


def shipped_examples() -> list[Example]:
    """The examples written for this library, in both languages."""
    text = (resources.files("hindsight_langgraph.training") / "routing_examples.tsv").read_text(encoding="utf-8")
    pairs = (line.split("\t") for line in text.splitlines() if line.strip())
    return [Example(query=query, region=Region(region)) for region, query in pairs]


def read_examples(path: Path) -> list[Example]:
    """Labelled rows of a JSON-lines file with `query` and `region`.

    Raises:
        CallError: a row lacks one of them; the message names the line.
    """
    found: list[Example] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
                found.append(Example(query=row["query"], region=Region(row["region"])))
            except (ValueError, KeyError, TypeError) as error:
                raise CallError(f"{path}, line {number}: expected a query and a region, {error}") from error
    return found


def judged_examples(judged: Sequence[Judged]) -> list[Example]:
    """What judged tasks teach: each question once for each region that something helpful was recalled from, or was missed in."""
    return list(dict.fromkeys(Example(query=each.query, region=each.region) for each in judged if each.query.strip()))


def train_router(examples: Sequence[Example], *, embed: Embed, model: str) -> LinearRouteHead:
    """Fit a head on the query embeddings of `model`.

    Raises:
        MissingExtra: scikit-learn is not installed.
        CallError: a region has no example.
    """
    absent = set(Region) - {example.region for example in examples}
    if absent:
        raise CallError(f"no example for {', '.join(sorted(absent))}; every region needs some")
    vectors = np.asarray(embed([example.query for example in examples]), dtype=np.float32)
    mean = vectors.mean(axis=0)
    rows = np.stack([features(example.query, vector, mean) for example, vector in zip(examples, vectors, strict=True)])
    fitted = _classifier().fit(rows, [example.region.value for example in examples])
    return LinearRouteHead(
        name="head",
        model=model,
        regions=tuple(Region(name) for name in fitted.classes_),
        mean=mean,
        weights=np.asarray(fitted.coef_, dtype=np.float32),
        bias=np.asarray(fitted.intercept_, dtype=np.float32),
    )


def _classifier() -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("training needs scikit-learn: pip install 'langgraph-hindsight[train]'") from error
    return LogisticRegression(C=PENALTY, max_iter=5_000)
