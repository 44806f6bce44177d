"""A memory is found by the words of what it replaced, and what was taken back is not answered by its neighbours."""

from __future__ import annotations

from datetime import timedelta

import pytest

from hindsight_langgraph.recall.filter import takes_back
from hindsight_langgraph.records import Kind, MemoryUnit, Status
from tests.recall.stores import T0, Remembering, unit

DAY = timedelta(days=1)


def replaced(id_: str, content: str, *, by: str) -> MemoryUnit:
    return unit(id_, content, status=Status.SUPERSEDED, superseded_by=by, valid_to=T0 + DAY, updated_at=T0 + DAY)


def starts_of_the_batch() -> tuple[MemoryUnit, ...]:
    return (
        replaced("two", "The nightly batch of Orion starts at two.", by="one"),
        replaced("one", "It begins an hour sooner.", by="now"),
        unit("now", "Half past twelve from this week on.", at=T0 + DAY),
        unit("other", "The nightly report of Lyra goes to finance.", at=T0 + DAY),
    )


def test_an_elliptical_update_is_found_by_the_words_of_what_it_replaced(memory: Remembering) -> None:
    memory.put(*starts_of_the_batch())
    found = memory.recall("Which hour is the nightly batch of Orion on?", abstain=False)
    assert found.units[0].id == "now"


def test_what_was_replaced_is_still_not_told(memory: Remembering) -> None:
    memory.put(*starts_of_the_batch())
    found = memory.recall("Which hour is the nightly batch of Orion on?", abstain=False)
    assert not {"two", "one"} & {u.id for u in found.units}


def test_a_question_about_how_it_once_was_is_answered_by_the_old_unit_itself(memory: Remembering) -> None:
    memory.put(*starts_of_the_batch())
    found = memory.recall("Which hour was the nightly batch of Orion on originally?", abstain=False)
    assert found.units[0].id == "two"


def test_a_question_about_a_present_time_is_told_what_holds_before_what_once_did(memory: Remembering) -> None:
    memory.put(*starts_of_the_batch())
    found = memory.recall("What time is the nightly batch of Orion?", abstain=False)
    assert [u.id for u in found.units if u.id in {"two", "now"}] == ["now", "two"]


def test_a_unit_whose_heir_is_gone_leads_nowhere(memory: Remembering) -> None:
    memory.put(replaced("old", "The nightly batch of Orion starts at two.", by="lost"), unit("b", "The kettle is broken."))
    assert "old" not in {u.id for u in memory.recall("Is the nightly batch of Orion at two?").units}


def test_units_that_replace_each_other_in_a_ring_end(memory: Remembering) -> None:
    memory.put(replaced("a", "Orion starts at two.", by="b"), replaced("b", "Orion starts at one.", by="a"))
    assert memory.recall("Which hour is Orion on?").units == ()


@pytest.mark.parametrize(
    "told",
    ["The user asked to drop it.", "The user asked me not to keep that number."],
)
def test_a_question_that_is_most_like_what_was_taken_back_gets_nothing(memory: Remembering, told: str) -> None:
    memory.put(
        replaced("code", "The gate code of the boatyard is 5518.", by="forget"),
        unit("forget", told, kind=Kind.CORRECTION, at=T0 + DAY),
        unit("berth", "The boat lies in bay seventeen.", at=T0 + DAY),
    )
    assert memory.recall("The gate code of the boatyard?").abstained == "what was known of it has been taken back"


@pytest.mark.parametrize(
    "text",
    [
        "The user asked to scrap the number.",
        "user_a requested not to store the address.",
        "用户要求不再保留临时密码。",
        "计划取消，用户要求当没说过。",
    ],
)
def test_a_request_to_forget_is_recognised_in_many_words(text: str) -> None:
    assert takes_back(unit("a", text, kind=Kind.CORRECTION))


@pytest.mark.parametrize("text", ["The user asked to move the meeting to Friday.", "用户要求周五之前交稿。"])
def test_other_requests_take_nothing_back(text: str) -> None:
    assert not takes_back(unit("a", text, kind=Kind.CORRECTION))
