"""Two users in one store never see each other's memory, on any path (CASES O12)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hindsight_langgraph.errors import MissingUser
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.records import Scope
from tests.memory.opening import open_memory


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        opened.remember([("user", "My project Heron deploys on Fridays.")], scope="u1")
        opened.remember([("user", "My project Heron deploys on Mondays.")], scope="u2")
        yield opened


def test_recall_for_one_user_shows_only_that_users_fact(memory: HindsightMemory):
    found = memory.recall(Query(text="When does Heron deploy?", entities=("heron",)), scope="u2")
    assert "Mondays" in found.text
    assert "Fridays" not in found.text
    assert {item.unit.owner for item in found.items} | {dropped.unit.owner for dropped in found.dropped} == {"user:u2"}


def test_another_users_unit_is_not_found_by_its_id_nor_forgotten(memory: HindsightMemory):
    (theirs,) = memory.units(scope="u1")
    assert memory.get([theirs.id], scope="u2") == []
    assert memory.forget([theirs.id], scope="u2") == 0
    assert memory.get([theirs.id], scope="u1") == [theirs]


def test_a_thread_id_of_another_user_opens_nothing_of_theirs(memory: HindsightMemory):
    memory.write_task({"goal": "ship Heron"}, scope=Scope(user_id="u1", session_id="t"))
    memory.annotate([("user", "My locker code is under the mat.")], scope=Scope(user_id="u1", session_id="t"))
    other = Scope(user_id="u2", session_id="t")
    assert memory.read_task(scope=other) == {}
    assert memory.read_session(scope=other) == []
    assert memory.trajectory(scope=other).steps == ()
    assert "locker" not in memory.recall("Where is the locker code?", scope=other).text


@pytest.mark.parametrize("blank", ["", "   "])
def test_no_user_is_an_error_and_writes_nothing(memory: HindsightMemory, blank: str):
    for call in (
        lambda: memory.remember([("user", "I like figs.")], scope=blank),
        lambda: memory.recall("figs?", scope=blank),
        lambda: memory.annotate([("user", "I like figs.")], scope=blank),
        lambda: memory.touch(scope=blank),
        lambda: memory.erase(scope=blank),
    ):
        with pytest.raises(MissingUser):
            call()
    assert len(memory.units(scope="u1")) == len(memory.units(scope="u2")) == 1


def test_a_shared_scope_is_read_by_those_who_name_it_only(memory: HindsightMemory):
    reader = Scope(user_id="u3", shared=("team",))
    assert memory.recall("When does Heron deploy?", scope=reader).items == ()
    assert memory.recall("When does Heron deploy?", scope="u3").items == ()


def test_erasing_one_user_leaves_the_other(memory: HindsightMemory):
    memory.write_task({"goal": "x"}, scope="u1")
    erased = memory.erase(scope="u1")
    assert erased.units == 1
    assert erased.working_keys >= 2
    assert memory.units(scope="u1") == []
    assert len(memory.units(scope="u2")) == 1
    assert memory.erase(scope="u1").units == 0


def test_the_awaiting_twins_keep_users_apart_too(memory: HindsightMemory):
    async def both() -> list[str]:
        found = await asyncio.gather(*(memory.arecall("When does Heron deploy?", scope=user) for user in ("u1", "u2")))
        return [recollection.text for recollection in found]

    first, second = asyncio.run(both())
    assert "Fridays" in first
    assert "Mondays" not in first
    assert "Mondays" in second
    assert "Fridays" not in second
