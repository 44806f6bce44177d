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


def turn(id_: str, text: str) -> Candidate:
    return Candidate(unit=unit(id_, text, raw=True, session_id=id_), channels={"dense": 0.5, "text": 1.0, "context": 1.0})


REPLY = Candidate(unit=unit("reply", "Yes.", raw=True, session_id="reply", speaker_name="Bo"), channels={"dense": 0.1})
"""Makes a talk of two of one person's notes."""


def order(first: str, second: str, *more: Candidate, asked: str = "the trip", config: RecallConfig | None = None) -> list[str]:
    """Ids of two turns that every channel likes alike, best first."""
    found = score(
        [turn("first", first), turn("second", second), *more],
        read_cues(Query(text=asked), now=NOW),
        FLAT,
        now=NOW,
        config=config or RecallConfig(),
    )
    return [s.unit.id for s in found if s.unit.id != "reply"]


LESS, MORE = "The trip, yes!", "The trip goes by night train to Lisbon and then on by bus."


def test_among_short_turns_of_a_talk_the_one_that_says_more_comes_first() -> None:
    assert order(LESS, MORE, REPLY) == ["second", "first"]


def test_a_term_that_is_off_does_not_count() -> None:
    assert order(LESS, MORE, REPLY, config=RecallConfig(off=("length",))) == ["first", "second"]


def test_among_short_turns_of_a_talk_an_answer_comes_before_a_question() -> None:
    assert order("How was the trip then?", "How the trip was, then.", REPLY) == ["second", "first"]


def test_notes_of_one_person_are_not_preferred_for_their_length() -> None:
    assert order(LESS, MORE) == ["first", "second"]


def test_long_turns_are_not_preferred_for_their_length() -> None:
    assert order("The trip. " * 40, "The trip. " * 60, REPLY) == ["first", "second"]


def test_among_notes_of_one_person_a_standing_rule_bears_on_a_request() -> None:
    assert order("The trip was long.", "Always give distances in miles.", asked="Plan the trip") == ["second", "first"]
