"""Cutting a text loses nothing of it and goes by its sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hindsight_langgraph.encoding.split import clip, pieces, segments, sentences, weight
from hindsight_langgraph.records import Role, Turn

TEXTS = st.text(alphabet=st.sampled_from('ab 我们。！？.!?,，\n"”3；x'), max_size=400) | st.text(max_size=200)


@given(TEXTS)
def test_the_sentences_of_a_text_joined_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


@given(TEXTS, st.integers(min_value=10, max_value=120))
def test_the_segments_of_a_text_joined_are_the_text(text: str, limit: int) -> None:
    assert "".join(segments(text, limit=limit)) == text


@given(TEXTS, st.integers(min_value=10, max_value=120))
def test_no_segment_is_heavier_than_the_limit(text: str, limit: int) -> None:
    assert all(weight(segment) <= limit for segment in segments(text, limit=limit))


@given(TEXTS, st.integers(min_value=1, max_value=60))
def test_a_clipped_text_is_within_its_limit_and_shows_the_cut(text: str, limit: int) -> None:
    short = clip(text, limit)
    assert short == text if weight(text) <= limit else short.endswith("…") and weight(short) <= limit


@given(TEXTS, st.integers(min_value=30, max_value=100))
def test_every_piece_of_a_long_turn_keeps_its_speaker_and_its_id(text: str, limit: int) -> None:
    turn = Turn(id="t", role=Role.USER, text=text, speaker="Ida")
    parts = pieces(turn, limit=limit)
    assert "".join(part.text for part in parts) == text
    assert {(part.id, part.role, part.speaker) for part in parts} == {("t", Role.USER, "Ida")}
    assert all(len(part.text) <= limit for part in parts)


def test_a_decimal_point_and_a_title_end_no_sentence() -> None:
    assert sentences("It costs 3.50 at Dr. Vale's. Cash only.") == ["It costs 3.50 at Dr. Vale's. ", "Cash only."]


def test_chinese_sentences_end_without_a_blank() -> None:
    assert sentences("船票买了。明天走！你呢？") == ["船票买了。", "明天走！", "你呢？"]


def test_a_long_text_is_cut_where_its_topic_shifts() -> None:
    boats = "The boat needs a new sail. The sail of the boat is torn. A boat without a sail is slow. "
    taxes = "Taxes are due in June. The tax office wants June papers. June taxes are high. "
    parts = segments(boats + taxes, limit=len(boats) + 20)
    assert parts == [boats, taxes]
