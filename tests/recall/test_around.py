"""What stands around a candidate."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from hindsight_langgraph.recall.around import surround
from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.facts import Facts
from hindsight_langgraph.recall.recollection import Query
from tests.recall.stores import NOW, T0, unit

CUES = read_cues(Query(text="Which ferry did Anna book?"), now=NOW)


def turn(minute: int, text: str = "x", **more: Any) -> Facts:
    return Facts(unit(f"{minute}-{text}", text, at=T0 + timedelta(minutes=minute), raw=True, **more))


def around(turns: list[Facts], scores: list[float]) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in surround(turns, np.array(scores), CUES).items()}


def test_turns_next_to_each_other_lift_one_another() -> None:
    found = around([turn(0), turn(1), turn(9)], [1.0, 0.2, 0.5])
    assert found["neighbour"] == found["nearby"] == [0.2, 1.0, 0.0]


def test_a_turn_three_minutes_away_is_near_but_no_neighbour() -> None:
    found = around([turn(0), turn(3)], [1.0, 0.2])
    assert (found["neighbour"], found["nearby"]) == ([0.0, 0.0], [0.2, 1.0])


def test_the_nearer_turn_gives_more() -> None:
    near, far = (around([turn(0), turn(minute)], [0.0, 1.0])["flow"][0] for minute in (1, 3))
    assert near > far > 0


def test_turns_of_one_moment_have_no_neighbours() -> None:
    assert around([turn(0, "a"), turn(0, "b")], [1.0, 0.2])["neighbour"] == [0.0, 0.0]


def test_turns_of_other_sessions_have_no_neighbours() -> None:
    assert around([turn(0), turn(1, session_id="other")], [1.0, 0.2])["nearby"] == [0.0, 0.0]


def test_words_of_the_question_count_where_the_turn_before_held_them() -> None:
    found = around([turn(0, "Anna?"), turn(1, "The ferry."), turn(9, "Nothing.")], [0.0, 0.0, 0.0])
    assert found["around"][0] == found["around"][1] > 0
    assert found["around"][2] == 0.0


def test_a_word_that_was_said_just_before_is_not_fresh() -> None:
    found = around([turn(0, "The ferry, yes.", preceding="Bo: which ferry?"), turn(9, "The ferry, yes.")], [0.0, 0.0])
    assert found["fresh"][0] == 0.0
    assert found["fresh"][1] > 0


def test_a_conversation_is_as_good_as_its_best_candidates() -> None:
    found = around([turn(0), turn(20), turn(0, "y", session_id="other")], [0.9, 0.0, 0.1])
    assert found["conversation_best"] == pytest.approx([1.0, 1.0, 0.0])
    assert found["conversation"] == pytest.approx([1.0, 1.0, 0.0])
