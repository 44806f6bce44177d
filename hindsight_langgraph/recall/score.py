"""Weigh the terms of candidates by a named preset (SPEC C4 to C8, C11 to C13)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

import numpy as np

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.around import surround
from hindsight_langgraph.recall.channels import RANKED, Candidate
from hindsight_langgraph.recall.decay import decay
from hindsight_langgraph.recall.facts import ROLE_WEIGHT, Facts
from hindsight_langgraph.recall.recollection import Cues, Route
from hindsight_langgraph.recall.succession import heirs, inherit, lift
from hindsight_langgraph.recall.terms import Column, Columns, Terms, describe, importance_now, rows
from hindsight_langgraph.records import CausalRole, Kind, MemoryUnit, Region, Tier

ADAPTED_WEIGHT: Final = 0.18
"""What the place by the adapted vector counts, chosen on LoCoMo conversations 0 to 4 with adapters of the others. An adapter that took the
place of the query's own vector lost: it knows what was judged, and forgets the rest."""
TALK: Final = MappingProxyType(
    {
        "dense": 0.17,
        "text": 0.0,
        "context": 0.15,
        "adapted": ADAPTED_WEIGHT,
        "place_dense": 0.13,
        "place_context": 0.16,
        "nearby": 0.20,
        "flow": 0.06,
        "around": 0.25,
        "conversation": 0.08,
        "conversation_best": 0.15,
        "speaker": 0.11,
        "self": 0.10,
        "date": 0.21,
        "length": 0.15,
        "digits": 0.08,
        "asks": -0.035,
        "form": 0.21,
        "replies": 0.05,
        "standing": 0.0,
        "entity": 0.03,
        "rival": -0.03,
        "region": 0.015,
        "session": 0.3,
        "chain": 0.03,
    }
)
"""Weights of the preset `fused` for turns of a talk kept whole: they lean on the turns around them, and a turn that says much, of the
speaker themselves, in the form that was asked for, answers more often than another. All from "dense" to "replies" were fitted on LoCoMo
conversations 0 to 4 by a listwise logistic loss with a ridge."""
ALONE: Final = MappingProxyType(
    dict.fromkeys(TALK, 0.0)
    | {
        "dense": 0.60,
        "text": 0.20,
        "context": 0.10,
        "adapted": ADAPTED_WEIGHT,
        "place_dense": 0.30,
        "conversation_best": 0.10,
        "speaker": 0.30,
        "date": 0.34,
        "standing": 0.15,
        "entity": 0.1,
        "rival": -0.1,
        "region": 0.05,
        "session": 1.0,
        "chain": 0.1,
    }
)
"""The same for turns that speak for themselves: long ones, and those of one person without the other's replies. Chosen on the turns of
the labelled dialogues and of RealMem. The two are blended by `_alone`."""
MIX: Final = MappingProxyType({"dense": 0.57, "text": 0.08, "context": 0.35})
"""What the channels come to, where a turn is judged by those around it."""
TALK_CHARS, ALONE_CHARS = 150, 250
"""Mean length of turns up to which they are talk, and from which each speaks for itself."""
TALK_OTHERS: Final = 0.15
"""From this share of turns by others than the chief speaker on, they are a talk; without any they are one person's notes."""
OUTLIER_CHARS: Final = 600
"""A pasted file counts as this long at the most."""
STRUCTURED: Final = MappingProxyType(
    {
        "dense": 1.0,
        "text": 0.14,
        "context": 0.0,
        "adapted": ADAPTED_WEIGHT,
        "shared": 0.24,
        "attribute": 0.16,
        "form": 0.12,
        "speaker": 0.12,
        "date": 0.10,
        "entity": 0.13,
        "rival": -0.19,
        "region": 0.26,
        "recency": 0.05,
        "chain": 0.22,
        "dated": 0.08,
        "decided": 0.10,
        "alias": -0.24,
        "outcome": 0.05,
        "asked": 1.0,
    }
)
"""Weights of the preset `fused` for units that say what they mean by themselves. Fitted on the labelled probes and on others written for
this, one dialogue left out each time, by a listwise logistic loss with a ridge towards the weights before."""
SCALE: Final = 1 / 6
"""Brings the weighted sum to the spread of the other presets, which the gaps of the dynamic cut (SPEC D6) are meant for."""
WITHOUT_DENSE: Final = MappingProxyType({"dense": 0.0, "place_dense": 0.0, "text": 0.5, "context": 0.5})
"""What the three channels weigh while no embedding is to be had."""
RECENCY_FLOOR, FLOOR_ABOVE = 0.5, 0.7
"""SPEC C8: recency does not fall below the floor when causal importance is above the bound."""
SKIP_DECAY_ABOVE: Final = 0.85
"""SPEC C7: importance above this skips decay."""
REGION_DECAY: Final = MappingProxyType({Region.EPISODIC: 0.05, Region.SEMANTIC: 0.01, Region.PROCEDURAL: 0.1})
"""SPEC C5: 0.05 a day, 0.1 for fast-changing tool use, 0.01 for knowledge."""
KIND_DECAY: Final = MappingProxyType({Kind.PREFERENCE: 0.0, Kind.EPISODE: 0.03, Kind.SENTIMENT: 0.03, Kind.TASK_STATE: 0.03})
"""SPEC C7: preferences hardly fade, details of talk fade fast, the rest by 0.01 a day."""
HINDSIGHT: Final = 0.15
"""What proven worth gains or costs at the most."""
USUAL_WORTH: Final = 0.35
"""Importance times role weight of a unit that neither helped nor misled."""
USUAL_CONFIDENCE: Final = 0.7
FAILURE_BIAS: Final = 0.05
"""SPEC C11: what a failure gains at the most, when the present situation is worded like its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """A candidate with its terms and what they come to."""

    candidate: Candidate
    terms: dict[str, float]
    score: float

    @property
    def unit(self) -> MemoryUnit:
        """The candidate's unit."""
        return self.candidate.unit


def score(
    candidates: Sequence[Candidate],
    cues: Cues,
    route: Route,
    *,
    now: datetime,
    config: RecallConfig,
    cosine_floor: float = 0.0,
    facts_of: Callable[[MemoryUnit], Facts] = Facts,
) -> list[Scored]:
    """Every candidate by the configured preset, best first; ties by newest, then by id, so that the order is one.

    `facts_of` gives what is known of a unit by itself, and may remember it from recall to recall.
    """
    facts = [facts_of(candidate.unit) for candidate in candidates]
    columns = describe(candidates, facts, cues, route, now=now, decay_per_day=config.decay_per_day, cosine_floor=cosine_floor)
    heir_of = heirs(candidates, cues)
    inherit(columns, heir_of)
    if config.preset == "fused":
        values: list[float] = _fused(candidates, facts, columns, cues, off=config.off).tolist()
        terms = rows(columns)
    else:
        formula = PRESETS[config.preset]
        if config.preset == "weighted":
            columns["weight"] = _normalised(columns["weight"])
        terms = rows(columns)
        values = [formula(told, candidate.unit, now) for told, candidate in zip(terms, candidates, strict=True)]
    for place, known in enumerate(facts):
        if known.marked:
            values[place] = _biased(values[place], terms[place], known.unit, config)
    lift(values, heir_of)
    scored = [
        Scored(candidate=candidate, terms=told, score=value)
        for candidate, told, value in zip(candidates, terms, values, strict=True)
    ]
    order = sorted(range(len(scored)), key=lambda i: (-scored[i].score, -facts[i].said, scored[i].unit.id))
    return [scored[i] for i in order]


def _fused(
    candidates: Sequence[Candidate], facts: Sequence[Facts], columns: Columns, cues: Cues, *, off: Sequence[str] = ()
) -> Column:
    """The weighted sums; what stands around the candidates is added to their columns where it counts."""
    without = dict.fromkeys(off, 0.0)
    if not any("dense" in candidate.channels for candidate in candidates):
        without |= WITHOUT_DENSE
    raw = np.fromiter((candidate.unit.raw for candidate in candidates), dtype=np.bool_, count=len(candidates))
    if not raw.any():  # a unit that says what it means needs nothing around it
        return SCALE * _weighted_sum({**STRUCTURED, **without}, columns)
    mix = {**MIX, **without}
    columns |= surround(facts, _weighted_sum({name: mix[name] for name in RANKED}, columns), cues)
    turns = _weighted_sum({**_turn_weights(candidates), **without}, columns)
    stated = _weighted_sum({**STRUCTURED, **without}, columns)
    return SCALE * np.where(raw, turns, stated)


def _weighted_sum(weights: Mapping[str, float], columns: Columns) -> Column:
    """The sum of the terms by their weights, term after term: candidates with the same terms come to the very same sum."""
    total: Column = np.zeros(len(next(iter(columns.values()))))
    for name, share in weights.items():
        if share:
            total += share * columns[name]
    return total


def _turn_weights(candidates: Sequence[Candidate]) -> dict[str, float]:
    """The weights of whole turns, between those of talk and of turns that speak for themselves."""
    share = _alone([candidate.unit for candidate in candidates if candidate.unit.raw])
    return {name: (1 - share) * TALK[name] + share * ALONE[name] for name in TALK}


def _alone(turns: Sequence[MemoryUnit]) -> float:
    """How far turns speak for themselves, 0 to 1: by their length, or because nobody else's turns are kept between them."""
    if not turns:
        return 0.0
    mean = sum(min(len(turn.content), OUTLIER_CHARS) for turn in turns) / len(turns)
    said = Counter(turn.speaker_name or turn.speaker for turn in turns)
    others = 1 - max(said.values()) / len(turns)
    return min(1.0, max(0.0, (mean - TALK_CHARS) / (ALONE_CHARS - TALK_CHARS), 1 - others / TALK_OTHERS))


def _balanced(terms: Terms, unit: MemoryUnit, now: datetime) -> float:
    """SPEC C4."""
    return 0.60 * terms["cosine"] + 0.25 * importance_now(unit, now) + 0.15 * decay(unit.moment, now, per_day=0.02)


def _decay(terms: Terms, unit: MemoryUnit, now: datetime) -> float:
    """SPEC C5."""
    return terms["cosine"] * decay(unit.moment, now, per_day=REGION_DECAY[unit.region])


def _weighted(terms: Terms, unit: MemoryUnit, now: datetime) -> float:
    """SPEC C6: both parts normalised over the candidates."""
    del unit, now
    return 0.6 * terms["dense"] + 0.4 * terms["weight"]


def _associative(terms: Terms, unit: MemoryUnit, now: datetime) -> float:
    """SPEC C7: association is the stronger of likeness, shared words and shared entities."""
    association = max(terms["cosine"], terms["text"], terms["entity"])
    fades = unit.importance <= SKIP_DECAY_ABOVE and unit.tier is not Tier.CORE
    return association * (decay(unit.moment, now, per_day=KIND_DECAY.get(unit.kind, 0.01)) if fades else 1.0)


def _causal(terms: Terms, unit: MemoryUnit, now: datetime) -> float:
    """SPEC C8."""
    causal = unit.importance * terms["role"]
    recency = decay(unit.moment, now, per_day=0.02)
    recency = max(recency, RECENCY_FLOOR) if causal > FLOOR_ABOVE else recency
    most = 1 + 0.1 * math.log1p(20)
    access = (1 + 0.1 * math.log1p(min(unit.references, 20))) / most
    return 0.40 * terms["cosine"] + 0.35 * causal + 0.15 * recency + 0.10 * access


PRESETS: Final[MappingProxyType[str, Callable[[Terms, MemoryUnit, datetime], float]]] = MappingProxyType(
    {"balanced": _balanced, "decay": _decay, "weighted": _weighted, "associative": _associative, "causal": _causal}
)


def _normalised(values: Column) -> Column:
    span = np.ptp(values) if len(values) else 0.0
    return (values - values.min()) / span if span > 0 else np.zeros(len(values))


def _proven(unit: MemoryUnit, terms: Terms) -> float:
    """What a unit proved to be worth in finished tasks, from -1 to 1; 0 for one that was never judged (SPEC D8, E5).

    What helped counts as far as the present question is like it; what misled or was ignored counts against a unit always.
    """
    if unit.role is None:
        return 0.0
    proven = unit.importance * ROLE_WEIGHT[unit.role] * min(1.0, unit.confidence / USUAL_CONFIDENCE) - USUAL_WORTH
    return proven * max(terms["dense"], terms["text"]) if proven > 0 else proven


def _biased(value: float, terms: Terms, unit: MemoryUnit, config: RecallConfig) -> float:
    """The score of a unit that finished tasks or feedback have marked, or that tells what is wanted."""
    if config.preset == "fused" and (proven := _proven(unit, terms)):
        terms["hindsight"] = proven
    failed = (unit.episode is not None and unit.episode.success is False) or (unit.triple is not None and unit.triple.negated)
    wanted = (
        unit.kind is Kind.PREFERENCE
        or unit.role is CausalRole.DIRECT_CAUSE
        or (unit.episode is not None and unit.episode.success is True)
    )
    if failed and config.failure_factor != 1:
        terms["signal"] = config.failure_factor
    elif wanted and config.signal_factor != 1:
        terms["signal"] = config.signal_factor
    return value * terms.get("signal", 1.0) + FAILURE_BIAS * terms["failure"] + HINDSIGHT * terms.get("hindsight", 0.0)
