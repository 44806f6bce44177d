"""When a task becomes an episode, and what the episode says (SPEC B8)."""

from __future__ import annotations

import pytest

from hindsight_langgraph.annotation.episodes import episode_of, episode_unit, worth_of
from hindsight_langgraph.annotation.memories import judge_memories
from hindsight_langgraph.annotation.roles import judge_steps
from hindsight_langgraph.annotation.verdict import Case
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.records import MemoryUnit, Scope
from tests.annotation.making import call, case, fails, plan, says, user
from tests.clock import NOON

THRESHOLD = 0.5
ROUTINE = case("Book a room.", call("rooms.book", "booked", room="Elm"), says("Booked."))
FAILED = case(
    "Deploy build 12.", call("deploy", "done", host="old-1"), says("Deployed."), success=False, feedback="old-1 is gone, use new-2!", error="Wrong host",
)  # fmt: skip
MENDED = case(
    "Upload the backup.",
    fails("put", "too large", file="b.tar"),
    plan("Send it in parts."),
    call("put_parts", "ok", file="b.tar"),
)


def told(task: Case) -> MemoryUnit:
    judgements = [*judge_steps(task), *judge_memories(task)]
    scope = Scope(user_id="u1", session_id="t1")
    return episode_unit(task, judgements, scope=scope, now=NOON, aliases=AliasTable(), importance=0.85)


def test_a_routine_success_is_no_episode_and_a_failure_is_even_if_one_tells_the_like():
    assert worth_of(ROUTINE, novelty=1.0).total <= THRESHOLD
    assert worth_of(FAILED, novelty=0.0).total > THRESHOLD


def test_a_new_kind_of_failure_is_an_episode_even_if_the_task_succeeds():
    assert worth_of(MENDED, novelty=1.0).total > THRESHOLD


def test_a_failure_that_passed_by_itself_is_not():
    passing = case("Fetch it.", fails("http.get", "timed out", url="u"), call("http.get", "200", url="u"))
    assert worth_of(passing, novelty=1.0).total <= THRESHOLD


def test_a_wish_for_this_once_is_no_correction_and_one_for_ever_is():
    once = case("画图", call("chart", "v1", color="blue"), user("这一张换成绿色吧"), call("chart", "v2", color="green"))
    always = case("画图", call("chart", "v1", color="blue"), user("以后都换成绿色"), call("chart", "v2", color="green"))
    assert worth_of(once, novelty=1.0).total <= THRESHOLD < worth_of(always, novelty=1.0).total


def test_a_failure_says_what_not_to_do_and_what_the_user_wants():
    unit = told(FAILED)
    assert "Do not do again: deploy" in unit.content
    assert "old-1 is gone, use new-2" in unit.content
    assert "failure" in unit.tags
    assert unit.episode is not None
    assert unit.episode.success is False
    assert unit.episode.user_correction == "old-1 is gone, use new-2!"


def test_a_mended_failure_says_what_worked():
    assert "What worked: Send it in parts; put_parts" in told(MENDED).content


def test_an_episode_speaks_the_language_of_its_task():
    task = case("发通知", fails("sms", "频控", n=500), says("没发成"), success=False, feedback="先停一分钟再发", error="账号冻结")
    assert told(task).content.startswith("任务：发通知；失败")
    assert "不要再：sms" in told(task).content


def test_the_same_task_gives_the_same_episode_whatever_its_outcome():
    other = FAILED.model_copy(update={"outcome": FAILED.outcome.model_copy(update={"feedback": "wrong host"})})
    assert told(FAILED).id == told(other).id
    assert told(FAILED).id != told(MENDED).id


def test_an_episode_holds_the_chain_of_events_in_order():
    events = episode_of(MENDED).events
    assert [(event.step, event.kind) for event in events] == [(1, "tool"), (2, "plan"), (3, "tool")]
    assert "too large" in events[0].content


@pytest.mark.parametrize("length", [0, 5_000])
def test_odd_lengths_of_text_make_an_episode_of_bounded_size(length: int):
    task = case(
        "x" * (length or 1), call("t", "y" * length, a="z" * length), says("w" * length), success=False, feedback="v" * length
    )
    assert len(told(task).content) < 3_000
