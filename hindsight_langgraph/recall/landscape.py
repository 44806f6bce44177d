"""Lay out how the candidates of one recall hang together: by shared things, links, sessions (SPEC D4)."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.encoding.attributes import USER
from hindsight_langgraph.recall.naming import mentions
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.records import Kind, MemoryUnit

SETTLED: Final = (Kind.DECISION, Kind.CORRECTION)
"""Kinds of units that tell how something was settled."""
COMMON: Final = 12
"""A thing or a session that more candidates share tells nothing about which belong together."""
UNHELD: Final = 0.3
"""A word that no candidate holds tells them apart no further; it may be a word for what they say in others."""
NAME_CHARS: Final = 24
"""A subject or value of a triple that is longer is a phrase, no name."""
LINKED, SHARED, WORDED, TOGETHER = 1.0, 0.8, 0.6, 0.4
"""How sure a step is from one unit to another: along a stored link, over a thing that both name, over words, within one session."""
RARE_WORDS: Final = 2
"""So many words that few candidates hold make two of them speak of one matter."""


_SENTENCES = re.compile(r"[.!?]\s+\S|[。！？]\s*[^\s”’」）)]|\n+\S")


@dataclass(frozen=True, kw_only=True, slots=True)
class Landscape:
    """The candidates, best first, with the words they hold and the things they name."""

    scored: tuple[Scored, ...]
    held: tuple[frozenset[str], ...]
    """Index terms of each."""
    things: tuple[frozenset[str], ...]
    """Ids of the things that each names, lower case."""
    rarity: Mapping[str, float]
    """Inverse document frequency of each term of the query among the candidates; less where none holds it."""

    def unit(self, place: int) -> MemoryUnit:
        """The unit at a place."""
        return self.scored[place].unit

    def states(self, place: int) -> bool:
        """Whether a unit tells of one matter: a decision, an episode, a sentence. A whole turn or several sentences lead anywhere.

        Measured on LoCoMo, whose turns are greetings and news at once: walks over them cost questions with "after" 16 points of MRR.
        """
        unit = self.unit(place)
        told = unit.kind in SETTLED or unit.episode is not None
        return not unit.raw and (told or not _SENTENCES.search(unit.content))

    def share(self, terms: Iterable[str], held: frozenset[str]) -> float:
        """The share of the terms that are held, rare ones counting more; 0 where there are none."""
        weights = {term: self.rarity.get(term, 0.0) for term in terms}
        total = sum(weights.values())
        return sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0

    def steps(self) -> list[dict[int, float]]:
        """From each candidate those that one step leads to, with how sure the step is; but for stored links, between statements alone."""
        found: list[dict[int, float]] = [{} for _ in self.scored]
        place_of = {scored.unit.id: place for place, scored in enumerate(self.scored)}
        for place, scored in enumerate(self.scored):
            for other in linked_to(scored.unit):
                if other in place_of and other != scored.unit.id:
                    _join(found, place, place_of[other], LINKED)
        whole = [place for place in range(len(self.scored)) if self.states(place)]
        for members in self._members({place: self.things[place] for place in whole}):
            if len(members) <= COMMON:
                _join_all(found, members, SHARED)
        told = self._members({place: self.held[place] for place in whole})
        rare = [members for members in told if len(members) <= COMMON]
        shared = Counter(pair for members in rare for pair in combinations(members, 2))
        for pair, words in shared.items():
            if words >= RARE_WORDS:
                _join(found, *pair, WORDED)
        for members in self._members({place: {_session(self.unit(place))} for place in whole}):
            if len(members) <= COMMON:
                _join_all(found, members, TOGETHER)
        return found

    @staticmethod
    def _members(groups: Mapping[int, Iterable[str]]) -> Iterable[list[int]]:
        members: defaultdict[str, list[int]] = defaultdict(list)
        for place, names in groups.items():
            for name in names:
                members[name].append(place)
        return members.values()


def survey(scored: Sequence[Scored], terms: Iterable[str]) -> Landscape:
    """The landscape of the candidates for a query of these terms."""
    held = tuple(lexical.distinct_terms(f"{s.unit.content} {' '.join(s.unit.entities)}") for s in scored)
    df = Counter(term for words in held for term in words)
    rarity = {term: math.log(1 + (len(held) - df[term] + 0.5) / (df[term] + 0.5)) * (1 if df[term] else UNHELD) for term in terms}
    names = {name for s in scored for name in named_by(s.unit)}
    texts = [s.unit.content.lower() for s in scored]
    things = tuple(
        frozenset({*named_by(s.unit), *(name for name in names if mentions(text, name))})
        for s, text in zip(scored, texts, strict=True)
    )
    return Landscape(scored=tuple(scored), held=held, things=things, rarity=rarity)


def named_by(unit: MemoryUnit) -> frozenset[str]:
    """The things that a unit is known to name: its entities, the ends of its relations that hold, its triple's subject and value."""
    ends = [end.lower() for relation in unit.relations if relation.valid for end in (relation.source, relation.target)]
    told = [unit.triple.subject.lower(), unit.triple.value.lower()] if unit.triple is not None and not unit.triple.negated else []
    return frozenset(name for name in (*unit.entities, *ends, *told) if 1 < len(name) <= NAME_CHARS and name != USER)


def _session(unit: MemoryUnit) -> str:
    return f"{unit.owner}\0{unit.session_id}"


def linked_to(unit: MemoryUnit) -> tuple[str, ...]:
    """Ids of the units that stored links lead to."""
    return (*unit.related, *unit.supersedes, *((unit.superseded_by,) if unit.superseded_by else ()))


def _join(found: list[dict[int, float]], one: int, other: int, sure: float) -> None:
    found[one][other] = max(found[one].get(other, 0.0), sure)
    found[other][one] = max(found[other].get(one, 0.0), sure)


def _join_all(found: list[dict[int, float]], members: Sequence[int], sure: float) -> None:
    for one, other in combinations(members, 2):
        _join(found, one, other, sure)
