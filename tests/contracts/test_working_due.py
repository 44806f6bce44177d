"""What every working store does with due items: claims, leases, retries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hindsight_langgraph.errors import StoreRejected
from hindsight_langgraph.keys import Key, KeyKind
from hindsight_langgraph.ops import (
    Claim,
    ClaimDue,
    DeleteKeys,
    ExtendLease,
    ListKeys,
    PeekDue,
    SetDue,
    SettleDue,
    WriteFields,
)
from tests.clock import NOON
from tests.contracts.test_working_store import ODD
from tests.contracts.working_driver import Driver

Q = "consolidate"


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def claim(driver: Driver, seconds: float, *, lease_s: float = 60, limit: int = 10, queue: str = Q) -> list[Claim]:
    return driver.ask(ClaimDue(queue=queue, now=at(seconds), lease_s=lease_s, limit=limit))


def set_due(driver: Driver, item: str, seconds: float, **rest: object) -> None:
    driver.ask(SetDue(queue=Q, item=item, due=at(seconds), **rest))  # type: ignore[arg-type]  # the rest of its fields


def settle(driver: Driver, held: Claim, **rest: object) -> bool:
    return driver.ask(SettleDue(queue=Q, item=held.item, token=held.token, **rest))  # type: ignore[arg-type]  # as above


def items(claims: list[Claim]) -> list[str]:
    return [held.item for held in claims]


def test_an_item_is_claimed_from_its_due_moment_on(driver: Driver):
    set_due(driver, "u1", 10, body=b"\x00why")
    assert claim(driver, 9.999999) == []
    (held,) = claim(driver, 10)
    assert (held.item, held.body, held.attempts) == ("u1", b"\x00why", 1)


def test_the_longest_due_are_claimed_first_up_to_the_limit(driver: Driver):
    for item, seconds in (("c", 3), ("a", 1), ("b", 2), ("later", 99)):
        set_due(driver, item, seconds)
    assert items(claim(driver, 10, limit=2)) == ["a", "b"]
    assert items(claim(driver, 10, limit=2)) == ["c"]
    assert claim(driver, 10, limit=0) == []


def test_items_due_at_the_same_moment_are_claimed_by_name(driver: Driver):
    for item in ("b", "c", "a"):
        set_due(driver, item, 1)
    assert items(claim(driver, 1)) == ["a", "b", "c"]


def test_a_claimed_item_is_hidden_until_its_lease_ends(driver: Driver):
    set_due(driver, "u1", 0)
    assert items(claim(driver, 0, lease_s=60)) == ["u1"]
    assert claim(driver, 59.999999) == []
    (again,) = claim(driver, 60)
    assert again.attempts == 2


def test_of_many_claims_at_once_each_item_goes_to_one(driver: Driver):
    for number in range(10):
        set_due(driver, f"i{number}", 0)
    claims = driver.ask_together([ClaimDue(queue=Q, now=NOON, lease_s=60, limit=1) for _ in range(30)])
    assert sorted(held.item for each in claims for held in each) == [f"i{number}" for number in range(10)]


def test_a_settled_item_is_gone(driver: Driver):
    set_due(driver, "u1", 0)
    (held,) = claim(driver, 0)
    assert settle(driver, held) is True
    assert settle(driver, held) is False
    assert claim(driver, 9999) == []
    assert driver.ask(PeekDue(queue=Q)) == []


def test_an_item_set_again_after_it_was_settled_starts_its_attempts_anew(driver: Driver):
    set_due(driver, "u1", 0)
    settle(driver, *claim(driver, 0))
    set_due(driver, "u1", 5)
    assert [held.attempts for held in claim(driver, 5)] == [1]


def test_an_item_settled_for_a_retry_is_due_again_then_with_its_attempts_counted(driver: Driver):
    set_due(driver, "u1", 0, body=b"work")
    (held,) = claim(driver, 0)
    assert settle(driver, held, retry_at=at(30)) is True
    assert claim(driver, 29) == []
    (again,) = claim(driver, 30)
    assert (again.body, again.attempts) == (b"work", 2)
    assert settle(driver, held) is False
    assert settle(driver, again) is True


def test_setting_an_item_during_a_claim_keeps_it_due(driver: Driver):
    set_due(driver, "u1", 0, body=b"old")
    (held,) = claim(driver, 0)
    set_due(driver, "u1", 20, body=b"new")
    assert settle(driver, held) is False
    assert driver.ask(PeekDue(queue=Q)) == [("u1", at(20))]
    (again,) = claim(driver, 20)
    assert (again.body, again.attempts) == (b"new", 2)
    assert settle(driver, again) is True


def test_the_token_of_an_expired_lease_does_not_settle_once_another_claimed(driver: Driver):
    set_due(driver, "u1", 0)
    (slow,) = claim(driver, 0, lease_s=10)
    (quick,) = claim(driver, 10, lease_s=10)
    assert slow.token != quick.token
    assert settle(driver, slow) is False
    assert driver.ask(ExtendLease(queue=Q, item="u1", token=slow.token, until=at(999))) is False
    assert settle(driver, quick) is True


def test_an_expired_lease_that_nobody_took_over_still_settles(driver: Driver):
    set_due(driver, "u1", 0)
    (held,) = claim(driver, 0, lease_s=10)
    assert settle(driver, held) is True


def test_an_extended_lease_hides_the_item_longer(driver: Driver):
    set_due(driver, "u1", 0)
    (held,) = claim(driver, 0, lease_s=10)
    assert driver.ask(ExtendLease(queue=Q, item="u1", token=held.token, until=at(100))) is True
    assert claim(driver, 99) == []
    assert settle(driver, held) is True


def test_a_lease_that_was_settled_or_set_anew_is_not_extended(driver: Driver):
    set_due(driver, "settled", 0)
    set_due(driver, "set", 0)
    for held in claim(driver, 0):
        if held.item == "settled":
            settle(driver, held)
        else:
            set_due(driver, "set", 5)
        assert driver.ask(ExtendLease(queue=Q, item=held.item, token=held.token, until=at(100))) is False
    assert driver.ask(PeekDue(queue=Q)) == [("set", at(5))]


def test_an_item_that_was_never_claimed_cannot_be_settled(driver: Driver):
    set_due(driver, "u1", 0)
    for token in ("", "guess"):
        assert driver.ask(SettleDue(queue=Q, item="u1", token=token)) is False
        assert driver.ask(SettleDue(queue=Q, item="never", token=token)) is False
    assert items(claim(driver, 0)) == ["u1"]


def test_setting_an_item_moves_it_earlier_or_later(driver: Driver):
    set_due(driver, "u1", 50)
    set_due(driver, "u1", 10)
    assert driver.ask(PeekDue(queue=Q)) == [("u1", at(10))]
    set_due(driver, "u1", 70, body=b"b")
    assert claim(driver, 69) == []
    assert [held.body for held in claim(driver, 70)] == [b"b"]


def test_setting_only_earlier_leaves_an_item_that_is_due_sooner(driver: Driver):
    set_due(driver, "u1", 10, body=b"first")
    set_due(driver, "u1", 50, body=b"second", only_earlier=True)
    (held,) = claim(driver, 10)
    assert held.body == b"first"
    assert settle(driver, held) is True


def test_setting_only_earlier_moves_an_item_that_is_due_later(driver: Driver):
    set_due(driver, "u1", 50, body=b"first")
    set_due(driver, "u1", 10, body=b"second", only_earlier=True)
    set_due(driver, "new", 20, only_earlier=True)
    assert driver.ask(PeekDue(queue=Q)) == [("u1", at(10)), ("new", at(20))]
    assert [held.body for held in claim(driver, 10)] == [b"second"]


@pytest.mark.parametrize(("seconds", "due"), [(300, 60), (30, 30)])
def test_setting_only_earlier_during_a_claim_is_not_lost(driver: Driver, seconds: float, due: float):
    """The work that runs does not cover what came meanwhile, so it is done once more, when the lease ends at the latest."""
    set_due(driver, "u1", 0)
    (held,) = claim(driver, 0, lease_s=60)
    set_due(driver, "u1", seconds, body=b"more", only_earlier=True)
    assert settle(driver, held) is False
    assert driver.ask(PeekDue(queue=Q)) == [("u1", at(due))]
    assert [again.body for again in claim(driver, due)] == [b"more"]


def test_due_times_are_listed_soonest_first_up_to_a_limit(driver: Driver):
    for number in range(5):
        set_due(driver, f"i{number}", -number)
    assert [item for item, _ in driver.ask(PeekDue(queue=Q, limit=3))] == ["i4", "i3", "i2"]
    assert driver.ask(PeekDue(queue=Q, limit=0)) == []
    assert driver.ask(PeekDue(queue="other")) == []


@pytest.mark.parametrize("due", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), at(0.123456)])
def test_a_due_time_is_read_back_to_the_microsecond(driver: Driver, due: datetime):
    driver.ask(SetDue(queue=Q, item="u1", due=due))
    assert driver.ask(PeekDue(queue=Q)) == [("u1", due)]


def test_odd_queues_and_items_keep_apart(driver: Driver):
    for name in ODD:
        driver.ask(SetDue(queue=name, item=name, due=NOON, body=name.encode()))
    for name in ODD:
        (held,) = claim(driver, 0, queue=name)
        assert (held.item, held.body) == (name, name.encode())
        assert driver.ask(SettleDue(queue=name, item=name, token=held.token)) is True
        assert driver.ask(PeekDue(queue=name)) == []


def test_a_queue_named_as_an_owner_is_no_key_of_that_owner(driver: Driver):
    driver.ask(SetDue(queue="u1", item="i", due=NOON))
    driver.ask(WriteFields(key=Key(owner="u1", kind=KeyKind.WORKING, name="t"), fields={"a": b"1"}))
    assert len(driver.ask(ListKeys(owner="u1"))) == 1
    assert driver.ask(DeleteKeys(owner="u1")) == 1
    assert items(claim(driver, 0, queue="u1")) == ["i"]


@pytest.mark.parametrize(
    "request_",
    [SetDue(queue=Q, item="i", due=datetime(2025, 1, 1)), ClaimDue(queue=Q, now=datetime(2025, 1, 1), lease_s=1)],
)
def test_a_moment_without_timezone_is_refused(driver: Driver, request_: SetDue):
    with pytest.raises(StoreRejected, match="timezone"):
        driver.ask(request_)
    assert driver.ask(PeekDue(queue=Q)) == []


@pytest.mark.parametrize("request_", [ClaimDue(queue=Q, now=NOON, lease_s=1, limit=-1), PeekDue(queue=Q, limit=-1)])
def test_a_negative_limit_is_refused(driver: Driver, request_: PeekDue):
    with pytest.raises(StoreRejected, match="limit=-1"):
        driver.ask(request_)
