"""Name what speaks for a candidate: every term of a score, each from 0 to 1 (SPEC C, D15)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.recall import overlap, wording
from hindsight_langgraph.recall.channels import DAY_SLACK, RANKED, Candidate
from hindsight_langgraph.recall.decay import decay
from hindsight_langgraph.recall.naming import asked_subjects, is_asked, is_rival, mentions, named_things
from hindsight_langgraph.recall.recollection import Cues, Question, Route
from hindsight_langgraph.records import CausalRole, Kind, MemoryUnit, Precision, Status, Tier, TimeAnchor

Terms = dict[str, float]

HISTORY_WEIGHT: Final = 0.1
"""The most that a superseded unit's weight may be where history is asked for (SPEC C10)."""
ROLE_WEIGHT: Final[Mapping[CausalRole | None, float]] = {
    CausalRole.DIRECT_CAUSE: 1.0, None: 0.7, CausalRole.CONTEXT: 0.5, CausalRole.NOISE: 0.0,
}  # fmt: skip
"""SPEC C8, D8: direct causes first, noise never; a unit not yet judged stands between cause and context."""
FAST_DECAY, SLOW_DECAY, FAST_ABOVE = 0.05, 0.01, 0.8
MAX_ACCESS: Final = 20
LAST_PLACE: Final = 200
"""Places from this one on are alike."""
FULL_CHARS: Final = 300
"""From this length on a turn is as telling as it gets."""

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]+")


def describe(
    candidates: Sequence[Candidate], cues: Cues, route: Route, *, now: datetime, decay_per_day: float, cosine_floor: float = 0.0
) -> list[Terms]:
    """The terms of each candidate, in order. All are finite, and from 0 to 1 but for the raw ones ("cosine", "bm25", "bm25_context").

    Args:
        candidates: all of one recall; the scores of a channel are set against the best of them.
        cues: what the query gave.
        route: how well each region fits.
        now: the moment that ages count to.
        decay_per_day: rate of the recency.
        cosine_floor: the cosine of two unrelated texts in this embedding space.
    """
    fits = {
        channel: _fits([c.channels.get(channel) for c in candidates], floor=cosine_floor if channel == "dense" else 0.0)
        for channel in RANKED
    }
    places = {channel: _places(fits[channel]) for channel in ("dense", "context")}
    has_form = wording.answer_form(cues)
    speakers = _speakers_named(candidates, cues)
    things = frozenset(entity for c in candidates for entity in c.unit.entities)
    named = named_things(cues.text, (c.unit for c in candidates), known=cues.entities)
    subjects, topics = asked_subjects(cues.text, (c.unit for c in candidates)), frozenset(cues.topics)
    kin = _chain(candidates, cues)
    shared = overlap.shares(cues, [c.unit for c in candidates])
    described: list[Terms] = []
    for position, candidate in enumerate(candidates):
        unit, raw = candidate.unit, candidate.channels
        described.append(
            {channel: fits[channel][position] for channel in RANKED}
            | {
                "cosine": raw.get("dense", 0.0),
                "bm25": raw.get("text", 0.0),
                "bm25_context": raw.get("context", 0.0),
                "session": raw.get("session", 0.0),
                "speaker": float(unit.speaker_name in speakers),
                "date": max([time_match(unit, time) for time in cues.times]) if cues.times else 0.0,
                "entity": _entity_share(unit, named),
                "rival": float(is_rival(unit, named, things)),
                "asked": float(is_asked(unit, subjects, topics)),
                "shared": shared[position],
                "attribute": float(overlap.names_attribute(unit, topics)),
                "region": route.scores.get(unit.region, 0.0),
                "recency": decay(unit.moment, now, per_day=decay_per_day),
                "importance": unit.importance,
                "confidence": unit.confidence,
                "weight": weight(unit, now, per_day=decay_per_day),
                "role": ROLE_WEIGHT[unit.role],
                "access": math.log1p(min(unit.references, MAX_ACCESS)) / math.log1p(MAX_ACCESS),
                "outcome": float(unit.episode is not None and bool(unit.episode.outcome)),
                "failure": coverage(unit, cues) if unit.episode is not None and unit.episode.success is False else 0.0,
                "chain": chain_fit(unit, cues, kin),
                "dated": float(cues.question is Question.WHEN and _tells_time(unit)),
                "past": float(unit.status is Status.SUPERSEDED),
                "decided": float(unit.kind in (Kind.DECISION, Kind.TASK_STATE, Kind.EPISODE)),
                **_form(unit.content),
                "alias": float(unit.kind is Kind.ENTITY),
                "place_dense": places["dense"][position],
                "place_context": places["context"][position],
                "form": has_form(unit.content),
                "self": float(unit.speaker_name in speakers and wording.speaks_of_self(unit.content)),
                "replies": float(wording.answers_a_question(unit)),
            }
        )
    return described


def importance_now(unit: MemoryUnit, now: datetime) -> float:
    """SPEC C1: base x min(1.5, 1 + 0.1 confirmations) x exp(-rate x age); at most 1. Core units do not fade (SPEC A13)."""
    rate = SLOW_DECAY if unit.base_importance > FAST_ABOVE else FAST_DECAY
    fade = 1.0 if unit.tier is Tier.CORE else decay(unit.moment, now, per_day=rate)
    return min(1.0, unit.base_importance * min(1.5, 1 + 0.1 * unit.confirmations) * fade)


def weight(unit: MemoryUnit, now: datetime, *, per_day: float) -> float:
    """SPEC C2, scaled to at most 1: confidence x exp(-rate x age) x (1 + 0.1 min(references, 50)) / 6; capped by C10."""
    seen = max(unit.moment, unit.last_recalled_at or unit.moment)
    fade = 1.0 if unit.tier is Tier.CORE else decay(seen, now, per_day=per_day)
    value = unit.confidence * fade * (1 + 0.1 * min(unit.references, 50)) / 6
    return min(value, HISTORY_WEIGHT) if unit.status is Status.SUPERSEDED else value


def time_match(unit: MemoryUnit, asked: TimeAnchor) -> float:
    """1 where the unit's time meets the asked one give or take three days, 0.5 within its month, else 0."""
    spans = [(unit.moment, unit.moment)] + ([(unit.anchor.start, unit.anchor.end)] if unit.anchor else [])
    slack = DAY_SLACK if asked.precision in (Precision.DAY, Precision.INSTANT) else timedelta(0)
    if any(start <= asked.end + slack and end >= asked.start - slack for start, end in spans):
        return 1.0
    month = timedelta(days=15)
    return 0.5 if any(start <= asked.end + month and end >= asked.start - month for start, end in spans) else 0.0


def _chain(candidates: Sequence[Candidate], cues: Cues) -> list[datetime]:
    """The sorted moments of the candidates about the query's things; empty where the question is not about an end or a beginning."""
    if cues.question not in (Question.OUTCOME, Question.LATEST, Question.EARLIEST):
        return []
    return sorted(c.unit.moment for c in candidates if not cues.entities or set(cues.entities) & set(c.unit.entities))


def chain_fit(unit: MemoryUnit, cues: Cues, kin: Sequence[datetime]) -> float:
    """How well the unit's place in time fits a question about an end or a beginning (SPEC D4), among the moments of its `kin`."""
    if len(kin) < 2 or kin[0] == kin[-1]:
        return 0.0
    place = sum(moment <= unit.moment for moment in kin) / len(kin)
    decided = 0.2 * (unit.kind in (Kind.DECISION, Kind.EPISODE, Kind.TASK_STATE))
    return min(1.0, decided + 0.8 * (1 - place if cues.question is Question.EARLIEST else place))


def _fits(values: Sequence[float | None], *, floor: float) -> list[float]:
    """Scores of one channel between its floor and its best.

    A unit that the channel did not return is at most as good as its last one; a cosine it may well nearly have, shared words it
    rather has not.
    """
    known = [value for value in values if value is not None]
    high = max(known, default=floor)
    if high <= floor:
        return [0.0] * len(values)
    fits = [max(0.0, (value - floor) / (high - floor)) if value is not None else None for value in values]
    missing = min(fit for fit in fits if fit is not None) if floor or min(known) < 0 else 0.0
    return [missing if fit is None else fit for fit in fits]


def _places(fits: Sequence[float]) -> list[float]:
    """The place of each fit, from 1 for the best to 0 for place `LAST_PLACE`, on a scale of logarithms; equal fits share theirs."""
    better = {fit: place for place, fit in reversed(list(enumerate(sorted(fits, reverse=True))))}
    return [max(0.0, 1 - math.log1p(better[fit]) / math.log1p(LAST_PLACE)) for fit in fits]


@lru_cache(maxsize=4_096)
def _form(text: str) -> Mapping[str, float]:
    """The terms of a text alone; those of the last texts are remembered, since recall after recall looks at the same units."""
    return {
        "length": _saying(text),
        "digits": float(bool(_DIGIT.search(text))),
        "asks": float("?" in text or "？" in text),
        "standing": float(wording.is_standing(text)),
    }


def _saying(text: str) -> float:
    """How much a text says: its length against a full one, 0 to 1; a Chinese character counts as the two or three letters it replaces."""
    chinese = 0 if text.isascii() else len(_CHINESE.findall(text))
    return min(1.0, (len(text) + 1.5 * chinese) / FULL_CHARS)


def _tells_time(unit: MemoryUnit) -> bool:
    return unit.anchor is not None or bool(_DIGIT.search(unit.content))


def _speakers_named(candidates: Sequence[Candidate], cues: Cues) -> set[str]:
    words = {word.lower() for word in _WORD.findall(cues.text)}
    names = {c.unit.speaker_name for c in candidates if c.unit.speaker_name}
    named = {name for name in names if name.split()[0].lower() in words}
    return named if len(named) == 1 else set()


def _entity_share(unit: MemoryUnit, named: frozenset[str]) -> float:
    if not named:
        return 0.0
    text = unit.content.lower()
    return sum(thing in unit.entities or mentions(text, thing) for thing in named) / len(named)


def coverage(unit: MemoryUnit, cues: Cues) -> float:
    """Share of the query's index terms that a unit holds, with its predecessor."""
    held = lexical.distinct_terms(lexical.context_text(unit))
    return sum(topic in held for topic in cues.topics) / len(cues.topics) if cues.topics else 0.0
