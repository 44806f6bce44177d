"""Which units merge, and what a merge keeps (SPEC F2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.duplicates import find_duplicates
from hindsight_langgraph.consolidation.revising import absorb
from hindsight_langgraph.encoding.repeats import repeats
from hindsight_langgraph.models.embedders import HashEmbedder
from hindsight_langgraph.records import IndexedUnit, Kind, MemoryUnit, SparseVector
from tests.consolidation.scene import later, unit

NO_WORDS = SparseVector(indices=(), values=())
SAME = (1.0, *(0.0 for _ in range(HashEmbedder.space.dimension - 1)))


def verbs(*units: MemoryUnit) -> list[str]:
    """What is found among units whose embeddings are equal."""
    items = [IndexedUnit(unit=one, dense=SAME, text=NO_WORDS, context=NO_WORDS) for one in units]
    return [change.verb for change in find_duplicates(items, space=HashEmbedder.space, config=ConsolidationConfig())]


def test_equal_texts_merge():
    assert verbs(unit("The boat is called Kestrel"), unit("The boat is called Kestrel", day=1)) == ["merge"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My canoe stands in hall 13", "My tent stands in hall 17"),
        ("I eat meat", "I do not eat meat"),
        ("Order A1032 is late", "Order A1023 is late"),
    ],
)
def test_units_as_close_as_can_be_but_of_other_numbers_or_polarity_are_only_linked(one: str, other: str):
    assert verbs(unit(one), unit(other, day=1)) == ["link"]


def test_units_of_two_regions_never_merge():
    assert verbs(unit("We ship on Friday"), unit("We ship on Friday", day=1, kind=Kind.DECISION)) == []


def test_the_same_event_in_another_conversation_is_another_event():
    first = unit("The build ran out of disk", kind=Kind.TASK_STATE, session_id="s1")
    assert verbs(first, unit("The build ran out of disk", day=1, kind=Kind.TASK_STATE, session_id="s2")) == []
    assert verbs(first, unit("The build ran out of disk", day=1, kind=Kind.TASK_STATE, session_id="s1")) == ["merge"]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("Use tabs in Go files from now on", "And tabs in Go, as always."),
        ("日报以后用表格给我写", "日报照旧用表格啊"),
        ("House rules: metric units, decimal commas.", "Metric units, decimal commas, please. I saw inches."),
    ],
)
def test_a_text_that_only_repeats_is_told_by_its_words(before: str, said: str):
    assert repeats(unit(said, day=1, kind=Kind.PREFERENCE), unit(before, kind=Kind.PREFERENCE))


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("Use tabs in Go files from now on", "Use spaces in Go files from now on"),
        ("We move to Oslo in May", "The move is on hold, so we still stay here for now"),
        ("House rules: metric units, decimal commas.", "Metric units, decimal points, please."),
    ],
)
def test_a_text_that_says_something_new_is_no_repeat(before: str, said: str):
    assert not repeats(unit(said, day=1, kind=Kind.PREFERENCE), unit(before, kind=Kind.PREFERENCE))


counts = st.integers(min_value=0, max_value=9)


@given(first=counts, second=counts, importance=st.floats(min_value=0, max_value=1))
def test_a_merge_keeps_every_count_and_doing_it_again_adds_nothing(first: int, second: int, importance: float):
    kept = unit("x", references=first, confirmations=first, related=("a",))
    gone = unit("x", day=3, references=second, confirmations=second, importance=importance, related=("b",))
    merged = absorb(kept, gone, now=later(4))
    assert (merged.references, merged.confirmations) == (first + second, first + second + 1)
    assert merged.importance == max(kept.importance, importance)
    assert set(merged.related) == {"a", "b"}
    assert merged.said_at == gone.said_at
    assert absorb(merged, gone, now=later(5)) is merged
