"""Send a query to the regions that can answer it (SPEC D2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from hindsight_langgraph.recall import phrases
from hindsight_langgraph.recall.recollection import Cues, Question, Route
from hindsight_langgraph.records import Region

SURE: Final = 0.6
"""Below this best score the other regions are searched as well."""
PAST_BONUS: Final = 0.3
"""What a reference to the past adds to the episodic score."""
PRIORITY: Final = (Region.PROCEDURAL, Region.EPISODIC, Region.SEMANTIC)
"""Which region wins when several are signalled alike."""


class RouteHead(Protocol):
    """A classifier of queries by region; any router of one's own is plugged in here (`HindsightMemory.open(router=…)`)."""

    @property
    def name(self) -> str:
        """Who decides, for the recall log."""
        ...

    def __call__(self, text: str, vector: Sequence[float] | None, /) -> dict[Region, float] | None:
        """A score from 0 to 1 for each region; None when it cannot tell, for example without a vector."""
        ...


def route(
    cues: Cues, *, words: str, vector: Sequence[float] | None, head: RouteHead | None, asked: tuple[Region, ...] | None
) -> Route:
    """Decide where to search: what the caller asked for, else the head, else the rules."""
    if asked:
        return Route(scores=dict.fromkeys(asked, 1.0), best=asked[0], regions=asked, sure=True, by="caller")
    scores = head(words, vector) if head is not None else None
    by = head.name if head is not None and scores is not None else "rules"
    scores = scores if scores is not None else by_rules(words, cues)
    best = max(PRIORITY, key=lambda region: scores.get(region, 0.0))
    sure = scores.get(best, 0.0) >= SURE
    return Route(scores=scores, best=best, regions=(best,) if sure else tuple(Region), sure=sure, by=by)


def by_rules(words: str, cues: Cues) -> dict[Region, float]:
    """A score for each region: 0.6 for a first signal, 0.15 for each further one, and the bonus for a past reference."""
    scores = {region: _strength(sum(bool(p.search(words)) for p in patterns)) for region, patterns in phrases.REGIONS.items()}
    if cues.past or cues.question in (Question.OUTCOME, Question.LATEST):
        scores[Region.EPISODIC] += PAST_BONUS
    signalled = [region for region in PRIORITY if scores[region] >= SURE]
    if signalled:  # several signals at once: procedural before episodic before semantic
        scores[signalled[0]] = max(scores.values())
    return {region: min(score, 1.0) for region, score in scores.items()}


def _strength(signals: int) -> float:
    return 0.6 + 0.15 * (signals - 1) if signals else 0.0
