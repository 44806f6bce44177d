"""Secrets of earlier calls: which are kept, for how many owners."""

from __future__ import annotations

import pytest

from hindsight_langgraph.encoding.known_secrets import MOST_OF_AN_OWNER, MOST_OWNERS, KnownSecrets, is_telling


@pytest.mark.parametrize(
    "secret", ["Pl4ce-holder!77", "hunter2", "tok_test_0000FAKE1111", "q1w2e3r4", "4111 1111 1111 1111", "open_sesame", "x@yz#ab"]
)
def test_what_no_ordinary_text_holds_is_known_again(secret: str) -> None:
    known = KnownSecrets()
    known.learn("u:ida", [secret])
    assert known.of("u:ida") == (secret,)


@pytest.mark.parametrize(
    "secret", ["swordfish", "open sesame", "4471", "884213", "x1", "well-being", "don’t tell.", "蓝色的海豚"]
)
def test_an_ordinary_word_or_number_is_not(secret: str) -> None:
    assert not is_telling(secret)


def test_an_owner_sees_only_its_own() -> None:
    known = KnownSecrets()
    known.learn("u:ida", ["hunter2"])
    assert known.of("u:bo") == ()


def test_the_oldest_make_room() -> None:
    known = KnownSecrets()
    known.learn("u:ida", [f"hunter{i}" for i in range(MOST_OF_AN_OWNER)])
    known.learn("u:ida", ["hunter0", "lantern1"])  # said again, it is new again
    assert "hunter0" in known.of("u:ida")
    assert "hunter1" not in known.of("u:ida")
    assert len(known.of("u:ida")) == MOST_OF_AN_OWNER
    for i in range(MOST_OWNERS):
        known.learn(f"u:{i}", ["hunter2"])
    assert known.of("u:ida") == ()
