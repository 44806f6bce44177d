"""Measure how well the best candidates answer a query at all."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from hindsight_langgraph import lexical
from hindsight_langgraph.recall.phrases import HOW_MANY, WHO
from hindsight_langgraph.recall.recollection import Cues, Question, Route
from hindsight_langgraph.recall.wording import lacks_form
from hindsight_langgraph.records import MemoryUnit, Region

HEAD: Final = 3
"""How many of the best are looked at."""
POOL: Final = 30
"""How many candidates tell which words are common."""

_DIGIT = re.compile(r"\d|[一二三四五六七八九十两百千万]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class Judged(Protocol):
    """A candidate with the terms of its score."""

    @property
    def unit(self) -> MemoryUnit:
        """The unit."""
        ...

    @property
    def terms(self) -> Mapping[str, float]:
        """The terms by name."""
        ...


def evidence(ranked: Sequence[Judged], cues: Cues, route: Route, *, cosine_floor: float) -> dict[str, float]:
    """What speaks for the best candidates being an answer, each about 0 to 1.

    * likeness: how far the best cosine is above that of unrelated texts, and above the mean of the pool;
    * words: the share of the query's words, rare ones counting more, that the best one and the best few hold;
    * things: whether a named thing is what they are about;
    * attribute: whether the best one states something that the question names;
    * form: whether a count, a time, an amount or steps are there where the question asks for them;
    * region: how well the best one's region fits the route.
    """
    best, pool = ranked[:HEAD], ranked[:POOL]
    cosines = sorted((s.terms["cosine"] for s in pool if s.terms["cosine"] > 0), reverse=True) or [cosine_floor]
    held = [lexical.distinct_terms(_text(s.unit)) for s in pool]
    rarity = _rarity(cues.topics, held)
    first = best[0].unit
    top = max(range(len(pool)), key=lambda i: pool[i].terms["cosine"])
    chinese = bool(_CHINESE.search(cues.text))
    told = {
        "likeness": (cosines[0] - cosine_floor) / (1 - cosine_floor),
        "standout": (cosines[0] - sum(cosines) / len(cosines)) / (1 - cosine_floor),
        "lead": (cosines[0] - (cosines[1] if len(cosines) > 1 else cosine_floor)) / (1 - cosine_floor),
        "words_first": _share(rarity, held[0]),
        "words_likest": _share(rarity, held[top]),
        "words_head": _share(rarity, frozenset[str]().union(*held[:HEAD])),
        "words_pool": _share(rarity, frozenset[str]().union(*held)),
        "thing": best[0].terms["entity"],
        "thing_head": max(s.terms["entity"] for s in best),
        "rival": best[0].terms["rival"],
        "region": route.scores.get(first.region, 0.0),
        "agree": float(top == 0),
        "count_missing": float(bool(HOW_MANY.search(cues.text)) and not any(_DIGIT.search(s.unit.content) for s in best)),
        "time_missing": float(cues.question is Question.WHEN and not any(s.terms["dated"] for s in best)),
        "steps_missing": float(cues.question is Question.HOW_TO and all(s.unit.region is not Region.PROCEDURAL for s in best)),
        "who": float(bool(WHO.search(cues.text))),
        "date": max(s.terms["date"] for s in best),
        "shared": best[0].terms["shared"],
        "attribute": best[0].terms["attribute"],
        "form": best[0].terms["form"],
        "form_missing": float(lacks_form(cues, first.content)),
        "form_missing_head": float(all(lacks_form(cues, s.unit.content) for s in best)),
        "short": float(len(cues.topics) <= 3),
    }
    return told | {f"{name}_zh": value * chinese for name, value in told.items() if name in ("likeness", "standout", "words_first", "words_head", "words_pool")} | {"chinese": float(chinese)}  # fmt: skip


def _text(unit: MemoryUnit) -> str:
    return f"{unit.content} {' '.join(unit.entities)} {unit.triple.attribute if unit.triple else ''}"


def _rarity(topics: Sequence[str], pool: Sequence[frozenset[str]]) -> dict[str, float]:
    """How rare each of the query's terms is in the pool."""
    df = {term: sum(term in words for words in pool) for term in topics}
    return {term: math.log(1 + (len(pool) - n + 0.5) / (n + 0.5)) for term, n in df.items()}


def _share(rarity: Mapping[str, float], held: frozenset[str]) -> float:
    """The share of the query's terms that are held, each weighed by how rare it is in the pool."""
    total = sum(rarity.values())
    return sum(weight for term, weight in rarity.items() if term in held) / total if total else 0.0
