"""What is remembered of units from recall to recall."""

from __future__ import annotations

from hindsight_langgraph.recall.facts import FIXED, FactsMemory
from tests.recall.stores import unit


def test_a_unit_is_looked_into_once() -> None:
    memory, seen = FactsMemory(), list[str]()

    def measure(text: str) -> float:
        seen.append(text)
        return 1.0

    told = unit("a", "The ferry leaves at 9.")
    assert [memory.of(told).form(measure) for _ in range(3)] == [1.0, 1.0, 1.0]
    assert seen == ["The ferry leaves at 9."]


def test_a_unit_that_was_changed_has_other_facts() -> None:
    memory, old = FactsMemory(), unit("a", "The ferry leaves.")
    new = old.model_copy(update={"content": "The ferry leaves at 9.", "revision": 1})
    digits = FIXED.index("digits")
    assert [memory.of(each).fixed[digits] for each in (old, new, old)] == [0.0, 1.0, 0.0]


def test_no_more_units_are_remembered_than_said() -> None:
    memory, first = FactsMemory(remembered=2), unit("a", "x")
    facts = memory.of(first)
    assert memory.of(first) is facts
    for name in ("b", "c"):
        memory.of(unit(name, "x"))
    assert memory.of(first) is not facts
