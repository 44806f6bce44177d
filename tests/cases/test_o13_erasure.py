"""CASES O13: erasing a user empties every store beyond the first page, and leaves the others as they were."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.memory import HindsightMemory
from tests.clock import FakeClock
from tests.consolidation.scene import id_of, store, unit
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of
from tests.servers import Server

LIVE, LINKED, OLD = 257, 40, 5


@pytest.fixture(params=["sqlite", "redis"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[HindsightMemory]:
    options: dict[str, Any] = {}
    if request.param == "redis":
        server: Server = request.getfixturevalue("valkey")
        options = {"redis_url": server.url, "prefix": f"erasure-{tmp_path.name}"}
    with open_memory(tmp_path, clock=clock, **options) as opened:
        yield opened


def fill(memory: HindsightMemory) -> None:
    """257 units of u1, 40 of them linked, 5 archived, and 3 units of u2."""
    first = (id_of("u1-0"),)
    mine = [unit(f"note {i}", id=f"u1-{i}", related=first if 0 < i <= LINKED else ()) for i in range(LIVE)]
    old = [unit(f"old {i}", id=f"old-{i}", day=-400, importance=0.2, base_importance=0.2) for i in range(OLD)]
    store(memory, *mine, *old, *(unit(f"theirs {i}", id=f"u2-{i}", user="u2") for i in range(3)))
    assert memory.consolidate(scope="u1", passes=["forgetting"]).archived == OLD


def test_everything_of_one_user_goes_and_the_other_can_go_on(memory: HindsightMemory):
    fill(memory)
    graph = build(memory, checkpointer=memory.checkpointer())
    for user, thread in (("u1", "a"), ("u1", "b"), ("u2", "c")):
        graph.invoke({"messages": [("user", "Morning!")]}, run_of(user, thread))
    memory.write_task({"goal": "x"}, scope="u1")

    erased = memory.erase(scope="u1")

    assert (erased.units, erased.cold_units, erased.threads) == (LIVE, OLD, 2)
    assert erased.working_keys >= 2
    assert memory.units(scope="u1") == memory.archived(scope="u1") == []
    assert memory.read_task(scope="u1") == {}
    saver = memory.checkpointer()
    assert {found.config["configurable"]["thread_id"] for found in saver.list(None)} == {"c"}
    assert len(memory.units(scope="u2")) == 3
    state = graph.invoke({"messages": [("user", "Still there?")]}, run_of("u2", "c"))
    assert [message.text for message in state["messages"]] == ["Morning!", "ok", "Still there?", "ok"]

    again = memory.erase(scope="u1")
    assert (again.units, again.cold_units, again.working_keys, again.threads) == (0, 0, 0, 0)


def test_a_thread_that_two_users_share_is_not_one_users_to_erase(memory: HindsightMemory):
    graph = build(memory, checkpointer=memory.checkpointer())
    for user in ("u1", "u2"):
        graph.invoke({"messages": [("user", "Morning!")]}, run_of(user, "shared"))
    assert memory.erase(scope="u1").threads == 0
    assert len(graph.get_state(run_of("u2", "shared")).values["messages"]) == 4


def test_a_thread_that_names_no_user_is_erased_when_it_is_named(memory: HindsightMemory):
    graph = build(memory, checkpointer=memory.checkpointer())
    for thread in ("a", "b"):
        graph.update_state({"configurable": {"thread_id": thread}}, {"messages": [("user", "Morning!")]}, as_node="agent")
    erased = asyncio.run(memory.aerase(scope="u1", threads=["a", "unknown"]))
    assert erased.threads == 1
    assert {found.config["configurable"]["thread_id"] for found in memory.checkpointer().list(None)} == {"b"}
