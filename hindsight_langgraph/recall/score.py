"""Weigh the terms of candidates by a named preset (SPEC C4 to C8, C11 to C13)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter, mul
from types import MappingProxyType
from typing import Final

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.channels import RANKED, Candidate
from hindsight_langgraph.recall.decay import decay
from hindsight_langgraph.recall.recollection import Cues, Route
from hindsight_langgraph.recall.terms import (
    NEARBY_S,
    ROLE_WEIGHT,
    Terms,
    conversation_fit,
    describe,
    importance_now,
    neighbour_fit,
)
from hindsight_langgraph.records import CausalRole, Kind, MemoryUnit, Region, Tier

CHAT: Final = MappingProxyType(
    {
        "dense": 0.59,
        "text": 0.03,
        "context": 0.38,
        "nearby": 0.47,
        "conversation": 0.23,
        "speaker": 0.30,
        "date": 0.34,
        "length": 0.27,
        "digits": 0.11,
        "asks": -0.05,
        "entity": 0.1,
        "rival": -0.1,
        "region": 0.05,
        "session": 1.0,
        "chain": 0.1,
    }
)
"""Weights of the preset `fused` for short turns kept whole: they lean on the turns around them, and a turn that says much, with figures in it,
answers more often than a short one or a question. The first ten were fitted on LoCoMo conversations 0 to 4 by a listwise logistic loss."""
LONG: Final = MappingProxyType(
    CHAT
    | {
        "dense": 0.60,
        "text": 0.30,
        "context": 0.10,
        "nearby": 0.0,
        "conversation": 0.0,
        "length": 0.0,
        "digits": 0.0,
        "asks": 0.0,
    }
)
"""The same for long turns: they speak for themselves. The two are blended by how long the candidates are."""
CHAT_CHARS, LONG_CHARS = 150, 250
"""Mean length of turns up to which they are chat, and from which they are long."""
OUTLIER_CHARS: Final = 600
"""A pasted file counts as this long at the most."""
STRUCTURED: Final = MappingProxyType(
    {
        "dense": 0.58,
        "text": 0.30,
        "context": 0.12,
        "speaker": 0.1,
        "date": 0.1,
        "entity": 0.1,
        "rival": -0.13,
        "region": 0.24,
        "chain": 0.16,
        "dated": 0.06,
        "decided": 0.08,
        "alias": -0.22,
        "outcome": 0.04,
        "asked": 0.6,
    }
)
"""Weights of the preset `fused` for units that say what they mean by themselves. Fitted on the open probes, one dialogue left out."""
SCALE: Final = 1 / 6
"""Brings the weighted sum to the spread of the other presets, which the gaps of the dynamic cut (SPEC D6) are meant for."""
WITHOUT_DENSE: Final = MappingProxyType({"dense": 0.0, "text": 0.5, "context": 0.5})
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
    candidates: Sequence[Candidate], cues: Cues, route: Route, *, now: datetime, config: RecallConfig, cosine_floor: float = 0.0
) -> list[Scored]:
    """Every candidate by the configured preset, best first; ties by newest, then by id, so that the order is one."""
    terms = describe(candidates, cues, route, now=now, decay_per_day=config.decay_per_day, cosine_floor=cosine_floor)
    if config.preset == "fused":
        values = _fused(candidates, terms)
    else:
        formula = PRESETS[config.preset]
        if config.preset == "weighted":
            _normalise(terms, "weight")
        values = [formula(told, candidate.unit, now) for told, candidate in zip(terms, candidates, strict=True)]
    scored = [
        Scored(candidate=candidate, terms=told, score=_biased(value, told, candidate.unit, config))
        for candidate, told, value in zip(candidates, terms, values, strict=True)
    ]
    return sorted(scored, key=lambda s: (-s.score, -s.unit.moment.timestamp(), s.unit.id))


def _fused(candidates: Sequence[Candidate], terms: list[Terms]) -> list[float]:
    turns: Mapping[str, float] = _turn_weights(candidates)
    structured: Mapping[str, float] = STRUCTURED
    if not any("dense" in candidate.channels for candidate in candidates):
        turns, structured = {**turns, **WITHOUT_DENSE}, {**STRUCTURED, **WITHOUT_DENSE}
    ranked = _weighted_sum({name: turns[name] for name in RANKED})
    base = list(map(ranked, terms))
    around = {
        "neighbour": neighbour_fit(candidates, base),
        "nearby": neighbour_fit(candidates, base, within_s=NEARBY_S),
        "conversation": conversation_fit(candidates, base),
    }
    for name, values in around.items():
        for told, value in zip(terms, values, strict=True):
            told[name] = value
    whole, stated = _weighted_sum(turns), _weighted_sum(structured)
    return [SCALE * (whole if candidate.unit.raw else stated)(told) for candidate, told in zip(candidates, terms, strict=True)]


def _weighted_sum(weights: Mapping[str, float]) -> Callable[[Terms], float]:
    """The sum of terms by their weights, for hundreds of candidates."""
    pick, shares = itemgetter(*weights), tuple(weights.values())
    return lambda told: sum(map(mul, shares, pick(told)))


def _turn_weights(candidates: Sequence[Candidate]) -> Mapping[str, float]:
    """The weights of whole turns, between those of chat and of long turns."""
    lengths = [min(len(c.unit.content), OUTLIER_CHARS) for c in candidates if c.unit.raw]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    share = min(1.0, max(0.0, (mean - CHAT_CHARS) / (LONG_CHARS - CHAT_CHARS)))
    return {name: (1 - share) * CHAT[name] + share * LONG[name] for name in CHAT}


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


def _normalise(terms: list[Terms], name: str) -> None:
    values = [told[name] for told in terms]
    low, span = min(values, default=0.0), max(values, default=0.0) - min(values, default=0.0)
    for told in terms:
        told[name] = (told[name] - low) / span if span > 0 else 0.0


def _proven(unit: MemoryUnit, terms: Terms) -> float:
    """What a unit proved to be worth in finished tasks, from -1 to 1; 0 for one that was never judged (SPEC D8, E5).

    What helped counts as far as the present question is like it; what misled or was ignored counts against a unit always.
    """
    if unit.role is None:
        return 0.0
    proven = unit.importance * ROLE_WEIGHT[unit.role] * min(1.0, unit.confidence / USUAL_CONFIDENCE) - USUAL_WORTH
    return proven * max(terms["dense"], terms["text"]) if proven > 0 else proven


def _biased(value: float, terms: Terms, unit: MemoryUnit, config: RecallConfig) -> float:
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
