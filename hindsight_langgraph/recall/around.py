"""Measure what stands around a candidate: the turns before and after it, and its conversation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from hindsight_langgraph import lexical
from hindsight_langgraph.recall.channels import Candidate
from hindsight_langgraph.recall.recollection import Cues

ADJACENT_S, CLOSE_S, NEARBY_S = 90.0, 130.0, 250.0
"""Turns of one session within so many seconds of each other are neighbours, close, or at least near."""
FADE_PER_MINUTE, MOST_FLOW = 0.6, 2.6
"""How a neighbour's worth fades with its distance, and what all of them can come to where one turn is said a minute."""
TELLING: Final = 3
"""How many of a conversation's best candidates speak for it."""

Around = dict[str, list[float]]


def surround(candidates: Sequence[Candidate], scores: Sequence[float], cues: Cues) -> Around:
    """The terms that depend on the other candidates, by name, each in the order of the candidates and from 0 to 1.

    * neighbour, nearby: the best score among those said next to it, or at least near;
    * flow: the sum of the scores said near, fading with distance;
    * around: the share of the query's words that it and those close to it hold, rare words counting more;
    * fresh: the share of the query's words that it adds to what was said just before;
    * conversation, conversation_best, conversation_words: its conversation by its best three, by its best one, and by the words held.

    Args:
        candidates: all of one recall.
        scores: how well each fits by its channels.
        cues: what the query gave.
    """
    held, before, rarity = _words_held(candidates, cues)
    whole = sum(rarity.values()) or 1.0
    told: Around = {
        name: [0.0] * len(candidates)
        for name in ("neighbour", "nearby", "flow", "around", "conversation_best", "conversation_words")
    }
    close = [set(words) for words in held]
    for i, j, gap in _near(candidates):
        for this, other in ((i, j), (j, i)):
            score = scores[other]
            told["nearby"][this] = max(told["nearby"][this], score)
            told["flow"][this] += score * FADE_PER_MINUTE ** (gap / 60) / MOST_FLOW
            if gap <= ADJACENT_S:
                told["neighbour"][this] = max(told["neighbour"][this], score)
            if gap <= CLOSE_S:
                close[this] |= held[other]
    told["flow"] = [min(1.0, value) for value in told["flow"]]
    told["around"] = [sum(rarity[word] for word in words) / whole for words in close]
    told["fresh"] = [sum(rarity[word] for word in words - old) / whole for words, old in zip(held, before, strict=True)]
    for members in _sessions(candidates).values():
        best = max(scores[i] for i in members)
        words = frozenset[str]().union(*(held[i] for i in members))
        for i in members:
            told["conversation_best"][i], told["conversation_words"][i] = best, sum(rarity[word] for word in words) / whole
    told["conversation_best"] = _spread(told["conversation_best"])
    return told | {"conversation": _conversation_fit(candidates, scores)}


def _conversation_fit(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """For each candidate how well its whole conversation fits: the mean of its best three, set between the worst and the best."""
    fits = [0.0] * len(candidates)
    for members in _sessions(candidates).values():
        mean = sum(sorted((scores[i] for i in members), reverse=True)[:TELLING]) / TELLING
        for i in members:
            fits[i] = mean
    return _spread(fits)


def _near(candidates: Sequence[Candidate]) -> Iterator[tuple[int, int, float]]:
    """Pairs of candidates said near each other, the earlier first, with the seconds between them.

    Turns that share one moment have no known order and are no neighbours.
    """
    for members in _sessions(candidates).values():
        told = sorted((candidates[i].unit.moment.timestamp(), i) for i in members)
        for place, (moment, i) in enumerate(told):
            for later, j in told[place + 1 :]:
                if later - moment > NEARBY_S:
                    break
                if later > moment:
                    yield i, j, later - moment


def _sessions(candidates: Sequence[Candidate]) -> dict[tuple[str, str], list[int]]:
    sessions: dict[tuple[str, str], list[int]] = {}
    for i, candidate in enumerate(candidates):
        sessions.setdefault((candidate.unit.owner, candidate.unit.session_id), []).append(i)
    return sessions


def _words_held(candidates: Sequence[Candidate], cues: Cues) -> tuple[list[set[str]], list[set[str]], dict[str, float]]:
    """The query's words in each candidate, those in the turn before it, and how rare each word is among the candidates."""
    find: Callable[[str], set[str]] = lexical.finder(cues.topics)
    held = [find(candidate.unit.content) for candidate in candidates]
    before = [find(candidate.unit.preceding) if candidate.unit.preceding else set[str]() for candidate in candidates]
    number = Counter(word for words in held for word in words)
    rarity = {word: math.log(1 + (len(held) - number[word] + 0.5) / (number[word] + 0.5)) for word in cues.topics}
    return held, before, rarity


def _spread(values: Sequence[float]) -> list[float]:
    low, span = min(values, default=0.0), max(values, default=0.0) - min(values, default=0.0)
    return [(value - low) / span if span > 0 else 0.0 for value in values]
