"""How whole turns are weighed."""

from __future__ import annotations

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.channels import Candidate
from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.recollection import Query, Route
from hindsight_langgraph.recall.score import score
from hindsight_langgraph.records import Region
from tests.recall.stores import NOW, unit

FLAT = Route(scores={}, best=Region.SEMANTIC, regions=tuple(Region), sure=False, by="rules")


def order(first: str, second: str) -> list[str]:
    """Ids of two turns that every channel likes alike, best first."""
    candidates = [
        Candidate(unit=unit(id_, text, raw=True, session_id=id_), channels={"dense": 0.5, "text": 1.0, "context": 1.0})
        for id_, text in (("first", first), ("second", second))
    ]
    found = score(candidates, read_cues(Query(text="the trip"), now=NOW), FLAT, now=NOW, config=RecallConfig())
    return [s.unit.id for s in found]


def test_among_short_turns_the_one_that_says_more_comes_first() -> None:
    assert order("The trip, yes!", "The trip goes by night train to Lisbon and then on by bus.") == ["second", "first"]


def test_among_short_turns_an_answer_comes_before_a_question() -> None:
    assert order("How was the trip then?", "How the trip was, then.") == ["second", "first"]


def test_long_turns_are_not_preferred_for_their_length() -> None:
    assert order("The trip. " * 40, "The trip. " * 60) == ["first", "second"]
