"""Finding a few terms in a text without reading all of its terms."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.lexical import finder, terms, words_of

WORDS = st.lists(
    st.sampled_from(
        [
            "happy",
            "happiness",
            "memories",
            "memory",
            "hiking",
            "hike",
            "hikes",
            "car",
            "cars",
            "care",
            "the",
            "a",
            "42",
            "4242",
            "runs",
            "running",
            "art",
            "article",
            "boxes",
        ]
    )
).map(" ".join)


@given(question=WORDS, text=WORDS)
def test_the_finder_finds_what_reading_all_terms_finds(question: str, text: str) -> None:
    wanted = terms(question)
    assert finder(wanted)(words_of(text)) == set(wanted) & set(terms(text))


def test_chinese_terms_are_found_where_they_overlap() -> None:
    assert finder(terms("监控库"))(words_of("把监控库换掉")) == {"监控", "控库"}


def test_a_word_is_found_whose_stem_is_not_its_head() -> None:
    assert finder(terms("probably"))(words_of("What is the probability?")) == {"probabl"}


def test_a_compound_name_is_found() -> None:
    assert "dray-lite" in finder(terms("dray-lite"))(words_of("We run Dray-Lite now."))
