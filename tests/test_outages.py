"""An outage costs one wait and one warning, and ends by itself."""

from __future__ import annotations

import logging

import pytest

from hindsight_langgraph.backlog import Backlog
from hindsight_langgraph.errors import ModelUnavailable, StoreUnavailable
from hindsight_langgraph.outages import Outage
from hindsight_langgraph.records import Role, Scope, Turn
from tests.clock import FakeClock


def turn(name: str) -> Turn:
    return Turn(id=name, role=Role.USER, text=name)


def outage(clock: FakeClock) -> Outage:
    return Outage("working store", retry_after_s=10, clock=clock)


def test_after_a_failure_requests_fail_at_once_until_it_is_time_to_try_again(clock: FakeClock):
    down = outage(clock)
    down.failed(StoreUnavailable("refused"))
    with pytest.raises(StoreUnavailable, match="refused"):
        down.check()
    clock.advance(seconds=10)
    down.check()


def test_only_one_request_tries_while_the_others_go_on_failing(clock: FakeClock):
    down = outage(clock)
    down.failed(StoreUnavailable("refused"))
    clock.advance(seconds=10)
    down.check()
    with pytest.raises(StoreUnavailable):
        down.check()


def test_where_a_loss_costs_more_than_a_wait_they_all_try_until_one_fails(clock: FakeClock):
    down = Outage("checkpoint store", retry_after_s=10, clock=clock, one_tries=False)
    down.failed(StoreUnavailable("refused"))
    clock.advance(seconds=10)
    down.check()
    down.check()
    down.failed(StoreUnavailable("refused"))
    with pytest.raises(StoreUnavailable):
        down.check()


def test_a_model_that_is_down_fails_as_a_model(clock: FakeClock):
    down = outage(clock)
    down.failed(ModelUnavailable("quota"))
    with pytest.raises(ModelUnavailable):
        down.check()


def test_an_outage_is_warned_of_once_and_its_end_tells_what_went_unanswered(clock: FakeClock, caplog: pytest.LogCaptureFixture):
    down = outage(clock)
    with caplog.at_level(logging.WARNING, logger="hindsight_langgraph"):
        for _ in range(3):
            down.failed(StoreUnavailable("refused"))
        clock.advance(seconds=30)
        down.answered()
        down.answered()
    assert [record.message for record in caplog.records if record.name == "hindsight_langgraph"] == [
        "the working store is down, the agent goes on without it: refused",
        "the working store is back after 30 s; 3 requests went unanswered",
    ]
    down.check()


def test_held_turns_come_back_by_owner_and_scope_each_once():
    backlog = Backlog()
    one, other = Scope(user_id="u1", session_id="a"), Scope(user_id="u2")
    backlog.keep(one, (turn("1"), turn("2")))
    backlog.keep(one, (turn("2"),))
    backlog.keep(other, (turn("3"),))
    assert backlog.take(one.owner) == [(one, (turn("1"), turn("2")))]
    assert backlog.take(one.owner) == []
    assert len(backlog) == 1


def test_past_its_limit_the_oldest_turns_are_let_go_and_counted(caplog: pytest.LogCaptureFixture):
    backlog = Backlog(limit=2)
    backlog.keep(Scope(user_id="u"), tuple(turn(str(n)) for n in range(5)))
    assert backlog.lost == 3
    assert [t.id for _, turns in backlog.take("user:u") for t in turns] == ["3", "4"]
    assert "3 are lost" in caplog.text
