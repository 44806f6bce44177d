"""Re-rank candidates with a learned ensemble of trees (LambdaMART, Burges 2010).

An ensemble is data, read with numpy alone. None ships: fitted on what may be shipped, it moved other corpora by less than chance
does. A deployment fits its own from its outcomes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.recall.phrases import HOW_MANY, QUESTION_WORDS, WHO
from hindsight_langgraph.recall.recollection import Cues, Question
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.recall.trees import TreeEnsemble
from hindsight_langgraph.records import Kind, MemoryUnit, Region

RANKER_VERSION: Final = 3
"""Goes up when the features change; an ensemble of another version is not used."""
POOL: Final = 100
"""How many of the best by the weighted sum are re-ranked."""
SHARE: Final = 0.5
"""How much of the final score is the ensemble's; the rest is the weighted sum's."""
TERMS: Final = (
    "dense", "text", "context", "cosine", "bm25", "bm25_context", "place_dense", "place_context", "neighbour", "nearby", "flow", "around",
    "fresh", "conversation", "conversation_best", "conversation_words", "speaker", "self", "date", "form", "replies", "standing", "entity",
    "rival", "region", "chain", "dated", "decided", "alias", "past", "adapted",
)  # fmt: skip
RANKED: Final = ("dense", "text", "context", "nearby", "around", "conversation")
"""Terms whose place among the candidates counts as well."""
_FACTS: Final = (
    "linear", "behind", "rank_linear", "session_best", "session_share", "session_place",
    "length", "asks", "digits", "raw", "procedural", "preference",
)  # fmt: skip
_QUERY: Final = (
    "when",
    "how_to",
    "outcome",
    "how_many",
    "who",
    "what",
    "where",
    "why",
    "which",
    "would",
    "does",
    "words",
    "chinese",
)
FEATURES: Final = (*TERMS, *(f"rank_{name}" for name in RANKED), *_FACTS, *_QUERY)

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_DIGIT = re.compile(r"\d")


class Candidate(Protocol):
    """A candidate with its score by the weighted sum."""

    @property
    def unit(self) -> MemoryUnit:
        """The unit."""
        ...

    @property
    def terms(self) -> Mapping[str, float]:
        """The terms by name."""
        ...

    @property
    def score(self) -> float:
        """The weighted sum."""
        ...


def rows(candidates: Sequence[Candidate], cues: Cues) -> NDArray[np.float32]:
    """The features of each candidate, [n, features]; candidates best first by the weighted sum."""
    told = np.array([[c.terms.get(name, 0.0) for name in TERMS] for c in candidates], dtype=np.float32)
    places = [_places(told[:, TERMS.index(name)]) for name in RANKED]
    scores = np.array([c.score for c in candidates], dtype=np.float32)
    facts = np.array([_facts(c.unit) for c in candidates], dtype=np.float32)
    order = np.log1p(np.arange(len(candidates), dtype=np.float32))
    asked = np.repeat(_query(cues)[None, :], len(candidates), axis=0)
    linear = (*places, scores, scores.max() - scores, order, *_sessions(candidates, scores))
    return np.hstack([told, np.stack(linear, axis=1), facts, asked]).astype(np.float32)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranker:
    """The ensemble, mixed with the weighted sum."""

    trees: TreeEnsemble

    def rerank(self, scored: Sequence[Scored], cues: Cues) -> list[Scored]:
        """The candidates in their new order; each keeps the range of the weighted sum and gains the term "ranker", from 0 to 1."""
        head, tail = scored[:POOL], scored[POOL:]
        if len(head) < 2:
            return list(scored)
        learned = _spread(self.trees.predict(rows(head, cues)))
        mixed = mix(np.array([s.score for s in head], dtype=np.float32), learned)
        new = [
            replace(s, score=float(score), terms=s.terms | {"linear": s.score, "ranker": float(value)})
            for s, score, value in zip(head, mixed, learned, strict=True)
        ]
        return [*sorted(new, key=lambda s: (-s.score, -s.unit.moment.timestamp(), s.unit.id)), *tail]

    def explain(self, scored: Sequence[Scored], cues: Cues, *, most: int = 3) -> dict[str, dict[str, float]]:
        """What spoke most for or against each unit, by its id: the `most` strongest features with what they added."""
        told: dict[str, dict[str, float]] = {}
        for candidate, row in zip(scored[:POOL], rows(scored[:POOL], cues), strict=True):
            told[candidate.unit.id] = dict(list(self.trees.contributions(row).items())[:most])
        return told


def mix(linear: NDArray[np.float32], learned: NDArray[np.float32]) -> NDArray[np.float32]:
    """The final scores, in the range of the weighted sum: `SHARE` of them is what the ensemble says, wherever its own scale lies."""
    low, high = linear.min(), linear.max()
    mixed: NDArray[np.float32] = low + (high - low) * (SHARE * _spread(learned) + (1 - SHARE) * _spread(linear))
    return mixed


def read_ranker(path: Path) -> Ranker:
    """Read a ranker.

    Raises:
        StoreCorrupt: not a ranker, or one of another version.
    """
    return Ranker(trees=TreeEnsemble.read(path, version=RANKER_VERSION))


def shipped_ranker() -> Ranker | None:
    """The ranker that ships, or None in a distribution without it."""
    place = resources.files("hindsight_langgraph") / "data" / "ranker.npz"
    with resources.as_file(place) as path:
        return read_ranker(path) if path.exists() else None


def _places(values: NDArray[np.float32]) -> NDArray[np.float32]:
    order = np.argsort(-values, kind="stable")
    place = np.empty(len(values), dtype=np.float32)
    place[order] = np.arange(len(values), dtype=np.float32)
    return np.log1p(place)


def _spread(values: NDArray[np.float32]) -> NDArray[np.float32]:
    span = float(values.max() - values.min())
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)


def _sessions(candidates: Sequence[Candidate], scores: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
    """Of each candidate's session: its best score, its share of the candidates, and the place of this one in it."""
    members: dict[str, list[int]] = {}
    for i, candidate in enumerate(candidates):
        members.setdefault(candidate.unit.session_id, []).append(i)
    best, share, place = (np.zeros(len(candidates), dtype=np.float32) for _ in range(3))
    for told in members.values():
        best[told] = scores[told].max()
        share[told] = len(told) / len(candidates)
        place[told] = np.log1p(np.arange(len(told), dtype=np.float32))  # candidates come best first
    return best, share, place


def _facts(unit: MemoryUnit) -> tuple[float, ...]:
    text = unit.content
    return (
        min(len(text) / 200, 5.0),
        float("?" in text or "？" in text),
        float(bool(_DIGIT.search(text))),
        float(unit.raw),
        float(unit.region is Region.PROCEDURAL),
        float(unit.kind is Kind.PREFERENCE),
    )


def _query(cues: Cues) -> NDArray[np.float32]:
    asked = cues.question
    flags = (
        asked is Question.WHEN,
        asked is Question.HOW_TO,
        asked in (Question.OUTCOME, Question.LATEST),
        bool(HOW_MANY.search(cues.text)),
        bool(WHO.search(cues.text)),
        *(bool(pattern.search(cues.text)) for pattern in QUESTION_WORDS),
        min(len(cues.topics) / 20, 2.0),
        bool(_CHINESE.search(cues.text)),
    )
    return np.array(flags, dtype=np.float32)
