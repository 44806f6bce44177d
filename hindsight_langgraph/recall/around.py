"""Measure what stands around a candidate: the turns before and after it, and its conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph import lexical
from hindsight_langgraph.recall.facts import Facts
from hindsight_langgraph.recall.recollection import Cues

ADJACENT_S, CLOSE_S, NEARBY_S = 90.0, 130.0, 250.0
"""Turns of one session within so many seconds of each other are neighbours, close, or at least near."""
FADE_PER_MINUTE, MOST_FLOW = 0.6, 2.6
"""How a neighbour's worth fades with its distance, and what all of them can come to where one turn is said a minute."""
TELLING: Final = 3
"""How many of a conversation's best candidates speak for it."""

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Words = NDArray[np.bool_]
"""Which of the query's words each candidate holds, [candidates, words]."""
Around = dict[str, Floats]
Value = TypeVar("Value", bound=np.generic)


def surround(facts: Sequence[Facts], scores: Floats, cues: Cues) -> Around:
    """The terms that depend on the other candidates, by name, each in the order of the candidates and from 0 to 1.

    * neighbour, nearby: the best score among those said next to it, or at least near;
    * flow: the sum of the scores said near, fading with distance;
    * around: the share of the query's words that it and those close to it hold, rare words counting more;
    * fresh: the share of the query's words that it adds to what was said just before;
    * conversation, conversation_best, conversation_words: its conversation by its best three, by its best one, and by the words held.

    Args:
        facts: of all candidates of one recall.
        scores: how well each fits by its channels, [candidates].
        cues: what the query gave.
    """
    talks = _Talks.among(facts)
    held, before = _words_held(facts, cues)
    rarity = _rarity(held)
    neighbour, nearby, flow = (np.zeros(len(facts)) for _ in range(3))
    close = held.copy()
    for one, other, gap in talks.near():
        for these, those in ((one, other), (other, one)):  # each place stands once in either
            score = scores[those]
            nearby[these] = np.maximum(nearby[these], score)
            flow[these] += score * FADE_PER_MINUTE ** (gap / 60) / MOST_FLOW
            neighbour[these] = np.maximum(neighbour[these], np.where(gap <= ADJACENT_S, score, 0.0))
            close[these] |= held[those] & (gap <= CLOSE_S)[:, None]
    best = talks.spread(np.maximum.reduceat(scores[talks.order], talks.starts))
    words = talks.spread(np.logical_or.reduceat(held[talks.order], talks.starts))
    return {
        "neighbour": neighbour,
        "nearby": nearby,
        "flow": np.minimum(1.0, flow),
        "around": _share(close, rarity),
        "conversation_best": _scaled(best),
        "conversation_words": _share(words, rarity),
        "fresh": _share(held & ~before, rarity),
        "conversation": _scaled(talks.spread(talks.best(scores))),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Talks:
    """The candidates by conversation, each in the order of time."""

    order: Places
    """The places of the candidates, one conversation after the other."""
    starts: Places
    """Where in `order` each conversation begins."""
    said: Floats
    """When each was said, in seconds, in the order of `order`."""

    @classmethod
    def among(cls, facts: Sequence[Facts]) -> _Talks:
        numbers: dict[tuple[str, str], int] = {}
        of = [numbers.setdefault((known.unit.owner, known.unit.session_id), len(numbers)) for known in facts]
        talk, said = np.array(of, dtype=np.intp), np.array([known.said for known in facts])
        order = np.lexsort((said, talk))
        return cls(order=order, starts=np.searchsorted(talk[order], np.arange(len(numbers))), said=said[order])

    @property
    def sizes(self) -> Places:
        """How many candidates each conversation has."""
        return np.diff(self.starts, append=len(self.order))

    def near(self) -> Iterator[tuple[Places, Places, Floats]]:
        """Pairs of candidates said near each other, the earlier first, with the seconds between them; no place twice at one side.

        Turns that share one moment have no known order and are no neighbours.
        """
        talk = self._numbers()
        for apart in range(1, len(self.order)):
            gap = self.said[apart:] - self.said[:-apart]
            near = (talk[apart:] == talk[:-apart]) & (gap <= NEARBY_S)
            if not near.any():
                return  # in the order of time those further apart are no nearer
            told = near & (gap > 0)
            yield self.order[:-apart][told], self.order[apart:][told], gap[told]

    def best(self, scores: Floats) -> Floats:
        """For each conversation how well it fits: the mean of its best three."""
        talk = np.empty(len(self.order), dtype=np.intp)
        talk[self.order] = self._numbers()
        ranked = np.lexsort((-scores, talk))
        place = np.arange(len(ranked)) - np.repeat(self.starts, self.sizes)
        mean: Floats = np.add.reduceat(np.where(place < TELLING, scores[ranked], 0.0), self.starts) / TELLING
        return mean

    def spread(self, values: NDArray[Value]) -> NDArray[Value]:
        """A value of each conversation as that of each of its candidates."""
        found = np.empty((len(self.order), *values.shape[1:]), dtype=values.dtype)
        found[self.order] = np.repeat(values, self.sizes, axis=0)
        return found

    def _numbers(self) -> Places:
        return np.repeat(np.arange(len(self.starts)), self.sizes)


def _words_held(facts: Sequence[Facts], cues: Cues) -> tuple[Words, Words]:
    """The query's words in each candidate, and those in the turn before it."""
    find = lexical.finder(cues.topics)
    held, before = ([find(known.words) for known in facts], [find(known.words_before) for known in facts])
    return _table(held, cues.topics), _table(before, cues.topics)


def _table(held: Sequence[frozenset[str]], words: Sequence[str]) -> Words:
    return np.array([[word in found for word in words] for found in held], dtype=np.bool_).reshape(len(held), len(words))


def _rarity(held: Words) -> Floats:
    """How rare each word is among the candidates."""
    number = held.sum(axis=0)
    rarity: Floats = np.log(1 + (len(held) - number + 0.5) / (number + 0.5))
    return rarity


def _share(held: Words, rarity: Floats) -> Floats:
    """The share of the query's words that each row holds, rare ones counting more."""
    share: Floats = (held * rarity).sum(axis=1) / (rarity.sum() or 1.0)
    return share


def _scaled(values: Floats) -> Floats:
    """From 0 for the least to 1 for the best."""
    span = np.ptp(values)
    return (values - values.min()) / span if span > 0 else np.zeros(len(values))
