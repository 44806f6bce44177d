"""What a later statement ends under another attribute: roles that pass on, parts with another number (SPEC F3)."""

from __future__ import annotations

import pytest

from hindsight_langgraph.consolidation.handovers import find_handovers
from hindsight_langgraph.records import MemoryUnit
from tests.consolidation.scene import unit


def ended(older: MemoryUnit, newer: MemoryUnit) -> list[str]:
    return [change.old_text for change in find_handovers([older, newer])]


@pytest.mark.parametrize(
    ("before", "role", "now", "statement"),
    [
        (
            "Maud Ferrier runs the kiln.",
            ("Maud Ferrier", "role and alias", "runs the kiln, also Mo"),
            "Maud has left; the kiln is Piet's now.",
            ("pottery", "kiln", "Piet"),
        ),
        ("领队老邢带两个班。", ("老邢", "角色", "领队，带两个班"), "老邢退休了，现在领队是小苗。", ("车队", "领队", "小苗")),
        (
            "Otis is a nurse.",
            ("Otis", "role", "nurse"),
            "Otis has left nursing, he drives a tram.",
            ("Otis", "job", "tram driver"),
        ),
    ],
)
def test_a_role_passes_on_when_who_had_it_has_left(before: str, role: tuple[str, ...], now: str, statement: tuple[str, ...]):
    assert ended(unit(before, triple=role), unit(now, day=5, triple=statement)) == [before]


@pytest.mark.parametrize(
    ("now", "statement"),
    [
        ("Maud and Piet share the kiln now.", ("pottery", "kiln", "Maud and Piet")),
        ("The old glazer has left; the wheel is Piet's now.", ("pottery", "wheel", "Piet")),
        ("Maud has left her bicycle here.", ("Maud Ferrier", "bicycle", "in the yard")),
    ],
)
def test_who_is_not_said_to_have_left_the_role_keeps_it(now: str, statement: tuple[str, ...]):
    holder = unit("Maud Ferrier runs the kiln.", triple=("Maud Ferrier", "role", "runs the kiln"))
    assert ended(holder, unit(now, day=5, triple=statement)) == []


def test_a_description_ends_with_the_number_of_its_part():
    before = unit("Heron is a queue in Ruby 3.1.", triple=("Heron", "description", "queue in Ruby 3.1"))
    assert ended(before, unit("Heron runs on Ruby 3.3.", day=5, triple=("Heron", "Ruby version", "3.3"))) == [before.content]


@pytest.mark.parametrize(
    "statement", [("Heron", "Ruby version", "3.1"), ("Heron", "port", "3300"), ("Egret", "Ruby version", "3.3")]
)
def test_the_same_number_another_part_or_another_thing_end_no_description(statement: tuple[str, ...]):
    before = unit("Heron is a queue in Ruby 3.1.", triple=("Heron", "description", "queue in Ruby 3.1"))
    assert ended(before, unit(" ".join(statement), day=5, triple=statement)) == []


def test_what_users_say_of_themselves_is_left_to_the_other_rules():
    before = unit("I am a baker.", triple=("user", "role", "baker"))
    assert ended(before, unit("I have left the choir, I row.", day=5, triple=("user", "occupation", "rower"))) == []
