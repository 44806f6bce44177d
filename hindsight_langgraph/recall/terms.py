"""Name what speaks for a candidate: every term of a score, each from 0 to 1 (SPEC C, D15)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph import lexical
from hindsight_langgraph.recall import overlap, wording
from hindsight_langgraph.recall.channels import ADAPTED, DAY_SLACK, RANKED, Candidate
from hindsight_langgraph.recall.decay import DAY_S, decay
from hindsight_langgraph.recall.facts import FIXED, Facts
from hindsight_langgraph.recall.naming import asked_subjects, is_asked, is_rival, mentions, named_things
from hindsight_langgraph.recall.recollection import Cues, Question, Route
from hindsight_langgraph.records import MemoryUnit, Precision, Region, Tier, TimeAnchor

Column = NDArray[np.float64]
"""One term of every candidate, [candidates]."""
Columns = dict[str, Column]
Terms = dict[str, float]

FAST_DECAY, SLOW_DECAY, FAST_ABOVE = 0.05, 0.01, 0.8
LAST_PLACE: Final = 200
"""Places from this one on are alike."""

_WORD = re.compile(r"[^\W\d_]+")


def describe(
    candidates: Sequence[Candidate],
    facts: Sequence[Facts],
    cues: Cues,
    route: Route,
    *,
    now: datetime,
    decay_per_day: float,
    cosine_floor: float = 0.0,
) -> Columns:
    """The terms of the candidates, in order. All are finite, and from 0 to 1 but for the raw ones ("cosine", "bm25", "bm25_context").

    Args:
        candidates: all of one recall; the scores of a channel are set against the best of them.
        facts: what is known of the unit of each.
        cues: what the query gave.
        route: how well each region fits.
        now: the moment that ages count to.
        decay_per_day: rate of the recency.
        cosine_floor: the cosine of two unrelated texts in this embedding space.
    """
    told = {channel: _told_by(channel, candidates) for channel in (*RANKED, "session")}
    fits = {channel: _fits(told[channel], floor=cosine_floor if channel == "dense" else 0.0) for channel in RANKED}
    raw = {channel: np.where(np.isnan(values), 0.0, values) for channel, values in told.items()}
    fixed = dict(zip(FIXED, np.array([known.fixed for known in facts]).reshape(-1, len(FIXED)).T, strict=True))
    said = _each((known.said for known in facts), len(facts))
    return {
        **fits,
        "cosine": raw["dense"],
        "bm25": raw["text"],
        "bm25_context": raw["context"],
        "session": raw["session"],
        **_of_speakers(facts, cues),
        **_of_things(facts, cues),
        **_of_question(facts, cues, said, decided=fixed["decided"]),
        "region": _fit_of_regions(facts, route),
        "recency": _faded(said, now, per_day=decay_per_day),
        "weight": weights(facts, now, per_day=decay_per_day),
        **fixed,
        "adapted": _adapted(_told_by(ADAPTED, candidates)),
        "place_dense": _places(fits["dense"]),
        "place_context": _places(fits["context"]),
    }


def rows(columns: Columns) -> list[Terms]:
    """The terms of each candidate by name."""
    return [dict(zip(columns, told, strict=True)) for told in zip(*(values.tolist() for values in columns.values()), strict=True)]


def _told_by(channel: str, candidates: Sequence[Candidate]) -> Column:
    """The raw scores of a channel; not a number where it did not return the candidate."""
    return np.array([candidate.channels.get(channel, math.nan) for candidate in candidates], dtype=np.float64)


def _each(values: Iterable[float], count: int) -> Column:
    return np.fromiter(values, dtype=np.float64, count=count)


def _of_speakers(facts: Sequence[Facts], cues: Cues) -> Columns:
    """Whether it was said by the one that the query names, and whether they tell of themselves."""
    speakers, count = _speakers_named(facts, cues), len(facts)
    if not speakers:
        return {"speaker": np.zeros(count), "self": np.zeros(count)}
    speaker = _each((known.unit.speaker_name in speakers for known in facts), count)
    told = (bool(own) and known.form(wording.speaks_of_self) for own, known in zip(speaker, facts, strict=True))
    return {"speaker": speaker, "self": _each(told, count)}


def _of_things(facts: Sequence[Facts], cues: Cues) -> Columns:
    """How many of the things that the query names it is about or about a rival of, and how far it states what is asked."""
    count = len(facts)
    named = named_things(cues.text, (known.unit for known in facts), known=cues.entities)
    own = named & frozenset(entity for known in facts for entity in known.unit.entities)
    subjects, topics = asked_subjects(cues.text, (known.unit for known in facts)), frozenset(cues.topics)
    return {
        "entity": _each((_entity_share(known, named) for known in facts), count) if named else np.zeros(count),
        "rival": _each((is_rival(known.unit, own, own) for known in facts), count) if own else np.zeros(count),
        "asked": _each((is_asked(known.unit, subjects, topics) for known in facts), count) if subjects else np.zeros(count),
        "shared": _each(overlap.shares(cues, [known.pieces for known in facts]), count),
        "attribute": _each((overlap.names_attribute(known.unit, topics) for known in facts), count),
    }


def _of_question(facts: Sequence[Facts], cues: Cues, said: Column, *, decided: Column) -> Columns:
    """How far it has what this kind of question asks for: its time, its form, its place in a story."""
    count, has_form = len(facts), wording.answer_form(cues)
    date = (max(time_match(known.unit, time) for time in cues.times) for known in facts)
    return {
        "date": _each(date, count) if cues.times else np.zeros(count),
        "failure": _each((_failure(known.unit, cues) for known in facts), count),
        "chain": _chain(facts, cues, said, decided),
        "dated": _each((known.tells_time for known in facts), count) if cues.question is Question.WHEN else np.zeros(count),
        "form": _each((known.form(has_form) for known in facts), count),
    }


def importance_now(unit: MemoryUnit, now: datetime) -> float:
    """SPEC C1: base x min(1.5, 1 + 0.1 confirmations) x exp(-rate x age); at most 1. Core units do not fade (SPEC A13)."""
    rate = SLOW_DECAY if unit.base_importance > FAST_ABOVE else FAST_DECAY
    fade = 1.0 if unit.tier is Tier.CORE else decay(unit.moment, now, per_day=rate)
    return min(1.0, unit.base_importance * min(1.5, 1 + 0.1 * unit.confirmations) * fade)


def weights(facts: Sequence[Facts], now: datetime, *, per_day: float) -> Column:
    """SPEC C2 of each, scaled to at most 1: confidence x exp(-rate x age) x (1 + 0.1 min(references, 50)) / 6; capped by C10."""
    seen, held, fades, most = np.array([known.strength for known in facts]).reshape(-1, 4).T
    found: Column = np.minimum(most, held * np.where(fades, _faded(seen, now, per_day=per_day), 1.0))
    return found


def _faded(moments: Column, now: datetime, *, per_day: float) -> Column:
    """exp(-rate x age) of each, as `decay`."""
    faded: Column = np.exp(-per_day * np.maximum(0.0, now.timestamp() - moments) / DAY_S)
    return faded


def _failure(unit: MemoryUnit, cues: Cues) -> float:
    return coverage(unit, cues) if unit.episode is not None and unit.episode.success is False else 0.0


def _fit_of_regions(facts: Sequence[Facts], route: Route) -> Column:
    fits = {region: route.scores.get(region, 0.0) for region in Region}
    return _each((fits[known.unit.region] for known in facts), len(facts))


def time_match(unit: MemoryUnit, asked: TimeAnchor) -> float:
    """1 where the unit's time meets the asked one give or take three days, 0.5 within its month, else 0."""
    spans = [(unit.moment, unit.moment)] + ([(unit.anchor.start, unit.anchor.end)] if unit.anchor else [])
    slack = DAY_SLACK if asked.precision in (Precision.DAY, Precision.INSTANT) else timedelta(0)
    if any(start <= asked.end + slack and end >= asked.start - slack for start, end in spans):
        return 1.0
    month = timedelta(days=15)
    return 0.5 if any(start <= asked.end + month and end >= asked.start - month for start, end in spans) else 0.0


def _chain(facts: Sequence[Facts], cues: Cues, said: Column, decided: Column) -> Column:
    """How well each one's place in time fits a question about an end or a beginning (SPEC D4), among those about the query's things."""
    kin: list[float] = []
    if cues.question in (Question.OUTCOME, Question.LATEST, Question.EARLIEST):
        named = frozenset(cues.entities)
        kin = sorted(at for at, known in zip(said.tolist(), facts, strict=True) if not named or named & set(known.unit.entities))
    if len(kin) < 2 or kin[0] == kin[-1]:
        return np.zeros(len(facts))
    place = np.searchsorted(kin, said, side="right") / len(kin)
    fit: Column = np.minimum(1.0, 0.2 * decided + 0.8 * (1 - place if cues.question is Question.EARLIEST else place))
    return fit


def _fits(values: Column, *, floor: float) -> Column:
    """Scores of one channel between its floor and its best.

    A unit that the channel did not return is at most as good as its last one; a cosine it may well nearly have, shared words it
    rather has not.
    """
    missing = np.isnan(values)
    known = values[~missing]
    high = known.max() if len(known) else floor
    if high <= floor:
        return np.zeros(len(values))
    fits = np.maximum(0.0, (known - floor) / (high - floor))
    found = np.full(len(values), fits.min() if floor or known.min() < 0 else 0.0)
    found[~missing] = fits
    return found


def _places(fits: Column) -> Column:
    """The place of each fit, from 1 for the best to 0 for place `LAST_PLACE`, on a scale of logarithms; equal fits share theirs."""
    better = len(fits) - np.searchsorted(np.sort(fits), fits, side="right")
    places: Column = np.maximum(0.0, 1 - np.log1p(better) / math.log1p(LAST_PLACE))
    return places


def _adapted(cosines: Column) -> Column:
    """The places by the adapted vector; 0 for what it did not find, and for all where nothing was learnt."""
    missing = np.isnan(cosines)
    places: Column = np.where(missing, 0.0, _places(np.where(missing, -np.inf, cosines)))
    return places


def _speakers_named(facts: Sequence[Facts], cues: Cues) -> set[str]:
    names = {known.unit.speaker_name for known in facts} - {""}
    words = {word.lower() for word in _WORD.findall(cues.text)} if names else set[str]()
    named = {name for name in names if name.split()[0].lower() in words}
    return named if len(named) == 1 else set()


def _entity_share(facts: Facts, named: frozenset[str]) -> float:
    return sum(thing in facts.unit.entities or mentions(facts.words.lower, thing) for thing in named) / len(named)


def coverage(unit: MemoryUnit, cues: Cues) -> float:
    """Share of the query's index terms that a unit holds, with its predecessor."""
    held = lexical.distinct_terms(lexical.context_text(unit))
    return sum(topic in held for topic in cues.topics) / len(cues.topics) if cues.topics else 0.0
