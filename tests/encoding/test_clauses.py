"""An answer that speaks for itself is told from one that needs its question."""

from __future__ import annotations

import pytest

from hindsight_langgraph.encoding.clauses import speaks_for_itself


@pytest.mark.parametrize(
    "text",
    [
        "My cousin Ana is opening a bakery in Brno.",
        "No such luck. The ferry was cancelled until 3 May.",
        "Yes, I prefer early trains.",
        "Oskar delivered the last page on Monday, it is in the safe.",
        "我在写一本关于桥的书，年底交稿。",
    ],
)
def test_a_named_subject_with_its_verb_speaks_for_itself(text: str) -> None:
    assert speaks_for_itself(text)


@pytest.mark.parametrize(
    "text",
    ["Dark red.", "On Sundays.", "It's behind the mill.", "I'd say about thirty.", "Not since May.", "深红色。", "三十个左右"],
)
def test_a_fragment_or_a_stand_in_needs_its_question(text: str) -> None:
    assert not speaks_for_itself(text)
