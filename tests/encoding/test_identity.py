"""Ids follow from what a unit is: the same for a retry, different for anything else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.encoding.identity import unit_id

NAMES = st.text(min_size=1, max_size=20)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=3), NAMES)
def test_the_same_statement_has_the_same_id_every_time(owner: str, sources: list[str], content: str) -> None:
    assert unit_id(owner, sources=sources, content=content) == unit_id(owner, sources=tuple(sources), content=content)


@given(st.lists(NAMES, min_size=2, max_size=2, unique=True), NAMES)
def test_two_owners_never_share_an_id(owners: list[str], content: str) -> None:
    one, other = (unit_id(owner, sources=("t",), content=content) for owner in owners)
    assert one != other


@given(st.lists(NAMES, min_size=2, max_size=2, unique=True))
def test_two_turns_never_share_an_id(turns: list[str]) -> None:
    one, other = (unit_id("user:u", sources=(turn,), content="same") for turn in turns)
    assert one != other


def test_ids_never_change_from_one_version_to_the_next() -> None:
    assert unit_id("user:ada", sources=("t1",), content="Keeps bees.") == "b88d2c10-25c6-5981-99c7-3f7e43f879de"


def test_case_width_and_final_punctuation_do_not_make_another_unit() -> None:
    assert unit_id("user:u", sources=("t",), content="Keeps  bees") == unit_id("user:u", sources=("t",), content="keeps bees。")
