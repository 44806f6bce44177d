"""A short turn that points at an option is read with what was offered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.encoding.choices import find_choice, options
from hindsight_langgraph.records import Role, Turn


@given(
    st.lists(
        st.sampled_from(
            ["or", "or,", "and/or", "either", "I could", "Would you like", "tea", "rye bread", ",", ":", "?", "!", "\n", "或者"]
        ),
        max_size=12,
    )
)
def test_any_text_lists_options_or_none(words: list[str]) -> None:
    assert all(option.strip() for option in options(" ".join(words)))


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ('Two names for the boat: first "Kittiwake", second "Grey Heron".', ["Kittiwake", "Grey Heron"]),
        ("Shall we take Flask or Django for the shop?", ["Flask", "Django"]),
        ("We could sail to Lund or to Malta.", ["to Lund", "to Malta"]),
        ("Do you want it by post, by courier, or by pigeon?", ["by post", "by courier", "by pigeon"]),
        ("1) oak 2) pine 3) ash", ["oak", "pine", "ash"]),
        ("One is in Hill Road. The other is near the port.", ["in Hill Road", "near the port"]),
        ("队名有两个：第一个《山鹰》，第二个《海燕》。", ["《山鹰》", "《海燕》"]),
        ("数据库用 SQLite 还是 MySQL？", ["SQLite", "MySQL"]),
        ("我们可以去黄山或者泰山。", ["黄山", "泰山"]),
        ("桌布有米白和深蓝两种颜色。", ["米白", "深蓝"]),
        ("Two bakers, Ada and Finn. Ada does the rolls.", []),
        ("I come between 8 and 10.", []),
        ("Sooner or later we should move.", []),
        ("We need two or three people, could you ask?", []),
        ("我们还是早点走吧", []),
        ("Would you like it for after a hike or, I guess, a long walk?", []),
        ("I could take it to the harbour and/or the mill.", []),
        ("Should I use 4! or 4P2?", []),
    ],
)
def test_the_options_that_a_text_lists_are_found(text: str, listed: list[str]) -> None:
    assert options(text) == listed


@pytest.mark.parametrize(
    ("offer", "said", "chosen"),
    [
        ("Tea or cocoa?", "The latter, please.", "cocoa"),
        ("(a) mend the roof, (b) move out, (c) wait", "Option b then.", "move out"),
        ("Do you want it by post, by courier, or by pigeon?", "The last one.", "by pigeon"),
        ("Tea or cocoa?", "Not the first one, the second.", "cocoa"),
        ("我们可以去黄山或者泰山。", "后者吧。", "泰山"),
        ("可选：A. 修船；B. 卖船；C. 等等", "选B", "卖船"),
        ("旅店：1）海角，2）老街，3）车站", "订第二家", "老街"),
    ],
)
def test_a_reference_by_place_finds_its_option(offer: str, said: str, chosen: str) -> None:
    listing = Turn(id="offer", role=Role.ASSISTANT, text=offer)
    found = find_choice(said, [listing])
    assert found is not None
    assert (found.option, found.listing) == (chosen, listing)


@pytest.mark.parametrize(
    "said",
    [
        "I finished the first draft.",
        "The second time it rained.",
        "I never drink tea first.",
        "Is it the first one?",
        "别选第二个",
    ],
)
def test_an_ordinal_that_means_no_option_chooses_nothing(said: str) -> None:
    assert find_choice(said, [Turn(id="offer", role=Role.ASSISTANT, text="Shall I bring tea or cocoa? 茶还是可可？")]) is None
