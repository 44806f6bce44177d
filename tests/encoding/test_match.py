"""A new unit is the same again, an update, or new; pure decisions over values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.changes import confirm, retire
from hindsight_langgraph.encoding.heads import load_heads
from hindsight_langgraph.encoding.match import Match, Outcome, match
from hindsight_langgraph.encoding.updates import Candidate, share_matter, stand_side_by_side
from hindsight_langgraph.records import Kind, MemoryUnit, Region, Status, Triple

T0 = datetime(2025, 3, 10, 9, 0, tzinfo=UTC)


def unit(name: str, content: str, *, minutes: int = 0, triple: tuple[str, str, str] | None = None, **more: Any) -> MemoryUnit:
    at = T0 + timedelta(minutes=minutes)
    stated = Triple(subject=triple[0], attribute=triple[1], value=triple[2], **more.pop("how", {})) if triple else None
    fields = {"region": Region.SEMANTIC, "kind": Kind.FACT, "sources": (f"turn-{name}",)} | more
    return MemoryUnit(
        id=name, owner="user:u", content=content, triple=stated, said_at=at, created_at=at, updated_at=at, valid_from=at, **fields
    )


def decide(new: MemoryUnit, *old: MemoryUnit, similarity: float = 0.0) -> Match:
    pool = [Candidate(unit=other, similarity=similarity) for other in old]
    return match(new, pool, heads=load_heads(None), config=WriteConfig())


def test_another_value_of_a_single_valued_attribute_replaces_the_older_one() -> None:
    old = unit("a", "I live in Turku.", triple=("user", "lives_in", "Turku"))
    new = unit("b", "I moved to Graz.", triple=("user", "lives_in", "Graz"), minutes=5)
    assert (decide(new, old).outcome, decide(new, old).supersedes) == (Outcome.UPDATE, ("a",))


def test_a_second_value_of_a_multi_valued_attribute_stands_beside_the_first() -> None:
    old = unit("a", "I play the cello.", triple=("user", "plays", "cello"), how={"multi_valued": True})
    new = unit("b", "I also play the harp.", triple=("user", "plays", "harp"), how={"multi_valued": True}, minutes=5)
    assert decide(new, old).outcome is Outcome.NEW


def test_no_longer_ends_the_same_value_of_a_multi_valued_attribute() -> None:
    old = unit("a", "I play the cello.", triple=("user", "plays", "cello"), how={"multi_valued": True})
    new = unit("b", "I no longer play the cello.", triple=("user", "plays", "cello"), how={"negated": True}, minutes=5)
    assert decide(new, old).supersedes == ("a",)


def test_no_longer_ends_a_value_whatever_its_attribute_is_called() -> None:
    old = unit("a", "Editor: Emacs.", triple=("user", "editor", "Emacs"))
    new = unit("b", "I no longer use Emacs.", triple=("user", "uses", "Emacs"), how={"negated": True}, minutes=5)
    assert decide(new, old).supersedes == ("a",)


def test_disliking_a_thing_does_not_end_having_it() -> None:
    old = unit("a", "I own a boat.", triple=("user", "has", "boat"), how={"multi_valued": True})
    new = unit("b", "I hate the boat.", triple=("user", "likes", "boat"), how={"negated": True}, minutes=5)
    assert decide(new, old).outcome is Outcome.NEW


def test_another_persons_value_replaces_nothing() -> None:
    old = unit("a", "I live in Turku.", triple=("user", "lives_in", "Turku"))
    new = unit("b", "My sister lives in Graz.", triple=("sister", "lives_in", "Graz"), minutes=5)
    assert decide(new, old, similarity=0.9).outcome is Outcome.NEW


def test_a_statement_that_arrives_late_becomes_history_and_retires_nothing() -> None:
    current = unit("b", "I moved to Graz.", triple=("user", "lives_in", "Graz"), minutes=60)
    late = unit("a", "I live in Turku.", triple=("user", "lives_in", "Turku"))
    found = decide(late, current)
    assert (found.outcome, found.superseded_by, found.supersedes) == (Outcome.LATE, "b", ())


def test_the_same_triple_again_is_a_duplicate() -> None:
    old = unit("a", "I live in Turku.", triple=("user", "lives_in", "Turku"))
    new = unit("b", "As I said, I live in turku", triple=("user", "lives_in", "turku"), minutes=5)
    assert (decide(new, old).outcome, decide(new, old).same_as) == (Outcome.DUPLICATE, "a")


def test_the_same_words_in_another_region_are_no_duplicate() -> None:
    old = unit("a", "Tag the commit, then deploy.", region=Region.PROCEDURAL, kind=Kind.PROCEDURE)
    new = unit("b", "Tag the commit, then deploy.", minutes=5)
    assert decide(new, old, similarity=1.0).outcome is not Outcome.DUPLICATE


def test_close_texts_about_different_things_are_no_duplicates() -> None:
    old = unit("a", "Order 5512 takes 40 crates.", entities=("order 5512",))
    new = unit("b", "Order 5521 takes 40 crates.", entities=("order 5521",), minutes=5)
    assert decide(new, old, similarity=0.99).outcome is not Outcome.DUPLICATE


def test_a_forget_it_takes_back_the_turn_that_it_answers() -> None:
    old = unit("a", "The safe opens with 31 left.")
    new = unit("b", "Forget that.", minutes=1, tags=("retraction",), sources=("turn-a", "turn-b"))
    assert decide(new, old).supersedes == ("a",)


def test_codes_that_differ_and_told_apart_things_stand_side_by_side() -> None:
    first = unit("a", "RUN-12 uses a rate of 0.1")
    assert stand_side_by_side(unit("b", "RUN-21 uses a rate of 0.3", minutes=1), first)
    assert stand_side_by_side(unit("c", "The small kiln is capped at 900, don't mix it up.", minutes=1), first)
    assert not stand_side_by_side(unit("d", "RUN-12 now uses a rate of 0.3", minutes=1), first)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("The kiln takes 40 bowls.", "It is 60 bowls to a firing, the kiln has a third shelf."),
        ("The kiln is fired on Tuesdays.", "Kiln day: Friday."),
        ("Long captions, please, I like to read.", "Please give me captions of one line."),
        ("I row on the canal every week.", "My rowing is over, the club closed."),
        ("窑一次烧 40 只碗", "一窑 60 只碗"),
        ("我每周去划船", "船早就不划了"),
        ("The kiln rental is 320 euros.", "The kiln rental went up to 380 euros, they added a shelf."),
        ("窑的租金是 3200 欧元", "窑的租金涨到 3800 欧元了，多加了两天"),
    ],
)
def test_a_change_needs_no_word_of_change_where_the_values_differ(before: str, now: str) -> None:
    assert not stand_side_by_side(unit("b", now, minutes=5), unit("a", before))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("The kiln is fired on Tuesdays.", "On top of that we added Fridays for the kiln."),
        ("每周二烧窑", "除了周二之外，又加了一次周五烧窑"),
        ("The kiln is red.", "The kiln is by the door."),
    ],
)
def test_what_adds_to_a_thing_or_says_something_else_of_it_replaces_nothing(before: str, now: str) -> None:
    assert stand_side_by_side(unit("b", now, minutes=5), unit("a", before))


def test_who_someone_is_and_how_something_is_done_do_not_change_by_the_way() -> None:
    person = unit("a", "Maud runs the kiln, we call her Mo.", kind=Kind.ENTITY)
    steps = unit("b", "To fire: dry the bowls, stack them, close the door, light it.", kind=Kind.PROCEDURE)
    new = unit("c", "Maud and I agreed on firing 60 bowls.", minutes=5)
    assert [stand_side_by_side(new, old) for old in (person, steps)] == [True, True]


def test_the_words_that_quote_a_question_are_no_common_matter() -> None:
    old = unit("a", "（问：窑呢？）窑 62 厘米高")
    assert not share_matter(unit("b", "（问：跟谁？）停车的，别提了", minutes=5), old)


def test_close_units_are_linked() -> None:
    old = unit("a", "The boathouse seats eighty.")
    new = unit("b", "The boathouse is damp in winter.", minutes=5)
    assert decide(new, old, similarity=0.85).related == ("a",)
    assert decide(new, old, similarity=0.5).related == ()


def test_a_unit_of_another_owner_is_never_compared() -> None:
    old = unit("a", "I live in Turku.", triple=("user", "lives_in", "Turku")).model_copy(update={"owner": "user:v"})
    new = unit("b", "I moved to Graz.", triple=("user", "lives_in", "Graz"), minutes=5)
    assert decide(new, old).outcome is Outcome.NEW


def test_confirming_counts_each_saying_once() -> None:
    old, again = unit("a", "Keeps bees."), unit("b", "Keeps bees!", minutes=5)
    once = confirm(old, again, now=T0)
    assert (once.confirmations, once.sources, once.revision) == (1, ("turn-a", "turn-b"), 1)
    assert confirm(once, again, now=T0) is once


def test_retiring_keeps_the_unit_readable_and_says_until_when_it_held() -> None:
    old, new = unit("a", "Port 7100."), unit("b", "Port 7200.", minutes=5)
    gone = retire(old, new, now=T0)
    assert (gone.status, gone.superseded_by, gone.valid_to) == (Status.SUPERSEDED, "b", new.valid_from)
    assert retire(gone, new, now=T0) is gone


def test_a_text_that_names_what_it_replaces_retires_that() -> None:
    vim, grep = unit("a", "Edits with Vim."), unit("b", "Searches with grep.")
    new = unit("c", "Edits with Helix instead of Vim.", minutes=5)
    pool = [Candidate(unit=vim), Candidate(unit=grep)]
    found = match(new, pool, heads=load_heads(None), config=WriteConfig(), replaced_value="Vim")
    assert found.supersedes == ("a",)
