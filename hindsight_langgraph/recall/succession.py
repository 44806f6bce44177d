"""Let a unit be found by the words of what it replaced.

An update is often elliptical ("it starts at half past twelve now"): the question that it answers is worded like the first saying
("the nightly batch starts at two"). What was superseded is therefore read as well, though it is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence, Sequence
from typing import Final

from hindsight_langgraph.recall import phrases
from hindsight_langgraph.recall.channels import Candidate
from hindsight_langgraph.recall.recollection import Cues, Question
from hindsight_langgraph.recall.terms import Columns
from hindsight_langgraph.records import Status

WORDS: Final = 0.6
"""What shared words of the replaced unit count for the one that holds: it means the same, but does not say it. Measured from 0.5 to 1."""
INHERITED: Final[Mapping[str, float]] = {
    "dense": 1.0, "cosine": 1.0, "place_dense": 1.0, "entity": 1.0, "asked": 1.0, "text": WORDS, "context": WORDS,
    "shared": WORDS, "attribute": WORDS,
}  # fmt: skip
"""Terms that say how well a unit fits the question, with what they count for its heir."""
AHEAD: Final = 1e-4
"""By how much an heir leads, where it does not by itself."""
LONGEST: Final = 50
"""Links of a chain that are followed, so that a broken one that bites its tail ends."""


def heirs(candidates: Sequence[Candidate], cues: Cues) -> dict[int, int]:
    """The place of what now holds, by the place of each candidate that it replaced, over any number of replacements.

    A question about what was once so is answered by the replaced unit itself: for it nothing has an heir.
    """
    gone = [i for i, candidate in enumerate(candidates) if candidate.unit.status is Status.SUPERSEDED]
    if not gone or _looks_back(cues):
        return {}
    place = {candidate.unit.id: i for i, candidate in enumerate(candidates)}
    found = {i: _heir(i, candidates, place) for i in gone}
    return {i: heir for i, heir in found.items() if heir is not None}


def inherit(columns: Columns, heir_of: Mapping[int, int]) -> None:
    """Give each heir the best fit of those that it replaced, in the columns of the terms."""
    for gone, heir in heir_of.items():
        for name, share in INHERITED.items():
            columns[name][heir] = max(columns[name][heir], share * columns[name][gone])


def lift(scores: MutableSequence[float], heir_of: Mapping[int, int]) -> None:
    """Let no heir stand behind what it replaced: who is told of both is told first what holds."""
    for gone, heir in heir_of.items():
        scores[heir] = max(scores[heir], scores[gone] + AHEAD)


def _looks_back(cues: Cues) -> bool:
    asked = cues.question
    return (
        cues.history
        or asked in (Question.EARLIEST, Question.BEFORE)
        or (asked is Question.WHEN and bool(phrases.WAS.search(cues.text)))
    )


def _heir(gone: int, candidates: Sequence[Candidate], place: Mapping[str, int]) -> int | None:
    """Where the unit stands that holds instead of a superseded one; None where it was not found."""
    found: int | None = gone
    for _ in range(LONGEST):
        if found is None or candidates[found].unit.status is not Status.SUPERSEDED:
            return found
        found = place.get(candidates[found].unit.superseded_by or "")
    return None
