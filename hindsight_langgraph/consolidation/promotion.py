"""Finds what recurs over episodes and makes it knowledge, with pointers to its evidence (SPEC F6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.changes import Add
from hindsight_langgraph.consolidation.made import PATTERN, is_made, made_from
from hindsight_langgraph.encoding.split import clip
from hindsight_langgraph.encoding.values import read_value
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.records import Kind, MemoryUnit, Region, Status

_IMPORTANCE: Final = 0.75
_CHARS: Final = 160


def find_patterns(units: Iterable[MemoryUnit], *, now: datetime, config: ConsolidationConfig) -> list[Add]:
    """A semantic unit for each statement, success or failure that came back often enough: in conversations, or said again word for word."""
    groups: defaultdict[str, list[MemoryUnit]] = defaultdict(list)
    for unit in units:
        if unit.region is Region.EPISODIC and unit.status is Status.ACTIVE and not unit.raw and not is_made(unit):
            groups[_what(unit)].append(unit)
    made: list[Add] = []
    for name, group in sorted(groups.items()):
        conversations = {unit.session_id for unit in group}
        if name and len(conversations) + sum(unit.confirmations for unit in group) >= config.pattern_size:
            evidence = sorted(group, key=lambda unit: (unit.moment, unit.id))
            made.append(_pattern(name, evidence, now=now))
    return made


def _what(unit: MemoryUnit) -> str:
    """What may recur: a task that ends alike, or a statement; "" for neither."""
    if unit.episode is not None:
        ending = unit.episode.error or f"success {unit.episode.success}"
        return f"goal {_terms(unit.episode.goal)} ends {_terms(ending)}" if unit.episode.success is not None else ""
    if unit.triple is not None:
        value = read_value(unit.triple.value)
        parts = sorted({*value.words, *(f"{amount}{scale}" for amount, scale in value.amounts)})
        return f"{unit.triple.subject.casefold()} {unit.triple.attribute} {unit.triple.negated} {' '.join(parts)}"
    return ""


def _terms(text: str) -> str:
    return " ".join(sorted(set(terms(text))))


def _pattern(name: str, evidence: Sequence[MemoryUnit], *, now: datetime) -> Add:
    latest = evidence[-1]
    often = len(evidence) + sum(unit.confirmations for unit in evidence)
    times = f"{often} times, {min(unit.valid_from or unit.moment for unit in evidence):%Y-%m-%d} to {latest.moment:%Y-%m-%d}"
    if latest.episode is not None:
        ending = latest.episode.error or latest.episode.outcome or ("success" if latest.episode.success else "failure")
        content = f"{clip(latest.episode.goal, _CHARS)} → {clip(ending, _CHARS)} ({times})"
        kind = Kind.PROCEDURE if latest.episode.success else Kind.FACT
    else:
        content, kind = f"{clip(latest.content, _CHARS)} ({times})", Kind.FACT
    unit = made_from(evidence, tag=PATTERN, name=name, content=content, kind=kind, importance=_IMPORTANCE, now=now)
    return Add(made=unit.model_copy(update={"triple": latest.triple}), about=name, reason=f"recurs {times}")
