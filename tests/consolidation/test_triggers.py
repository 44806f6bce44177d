"""When consolidation runs: twenty turns, five idle minutes, a decisive event; never after each turn (SPEC F1)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindsight_langgraph.config import ConsolidationConfig
from hindsight_langgraph.consolidation.activity import IDLE_QUEUE, LIGHT_QUEUE
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.nodes import ConsolidateOnIdle
from hindsight_langgraph.ops import PeekDue
from hindsight_langgraph.writer import Writer
from tests.clock import FakeClock
from tests.consolidation.scene import store, unit
from tests.memory.opening import open_memory
from tests.nodes.agents import run_of
from tests.servers import PATIENCE_S, comes_true

ROOT = Path(__file__).parents[2]
BY_HAND = ConsolidationConfig(in_process=False)


@pytest.fixture
def memory(tmp_path: Path, clock: FakeClock) -> Iterator[HindsightMemory]:
    with open_memory(tmp_path, clock=clock, consolidation=BY_HAND) as opened:
        yield opened


def due(memory: HindsightMemory, queue: str = IDLE_QUEUE) -> list[str]:
    items = memory._runtime.answer(PeekDue(queue=queue))
    return [item for item, _ in items]


def test_a_burst_of_turns_makes_one_full_run_after_five_idle_minutes(memory: HindsightMemory, clock: FakeClock):
    for _ in range(7):
        clock.advance(minutes=1)
        memory.touch(scope="u1")
        assert memory.run_due() == []
    clock.advance(minutes=4, seconds=59)
    assert memory.run_due() == []
    clock.advance(seconds=1)
    assert [report.level for report in memory.run_due()] == ["full"]
    assert memory.run_due() == []


def test_every_twentieth_turn_makes_a_light_pass_due(memory: HindsightMemory, clock: FakeClock):
    for _ in range(19):
        memory.touch(scope="u1")
    assert due(memory, LIGHT_QUEUE) == []
    memory.touch(scope="u1")
    assert [report.level for report in memory.run_due()] == ["light"]
    assert due(memory) == ["user:u1"]


def test_a_decisive_event_brings_the_full_pass_forward(memory: HindsightMemory):
    memory.touch(scope="u1", decisive=True)
    assert [report.level for report in memory.run_due()] == ["full"]


def test_the_node_notes_activity_from_inside_a_graph(memory: HindsightMemory):
    ConsolidateOnIdle(memory).invoke({"messages": []}, run_of("u7"))
    assert due(memory) == ["user:u7"]


def test_a_run_with_texts_that_no_model_could_read_is_due_again(tmp_path: Path, clock: FakeClock):
    chat = ScriptedChat(["no json"] * 100)
    with open_memory(tmp_path, clock=clock, consolidation=BY_HAND, chat_model=chat) as memory:
        memory.remember([("user", "I live in Tartu and work as a cooper.")], scope="u1", at=clock.now())
        memory.touch(scope="u1")
        clock.advance(minutes=5)
        assert [report.waiting for report in memory.run_due()] == [1]
        assert due(memory) == ["user:u1"]
        assert memory.run_due() == []


def test_the_process_consolidates_by_itself(tmp_path: Path, clock: FakeClock):
    with open_memory(tmp_path, clock=clock, consolidation=ConsolidationConfig(tick_s=0.02)) as memory:
        store(
            memory,
            unit("I live in Tartu", triple=("user", "lives_in", "Tartu")),
            unit("I live in Riga", day=1, triple=("user", "lives_in", "Riga")),
        )
        memory.touch(scope="u1")
        clock.advance(minutes=6)
        assert comes_true(lambda: not due(memory))  # a claimed run is due until it is done
        assert sorted(one.status for one in memory.units(scope="u1")) == ["active", "superseded"]


def test_a_tick_that_fails_does_not_end_the_thread(caplog: pytest.LogCaptureFixture):
    writer, ticked, calls = Writer(name="test"), threading.Event(), [0]

    def tick() -> None:
        calls[0] += 1
        if calls[0] == 2:
            ticked.set()
        raise ValueError("not this time")

    writer.every(0.01, tick)
    assert ticked.wait(PATIENCE_S)
    assert writer.close(PATIENCE_S)
    assert "not this time" in caplog.text


def test_a_script_that_forgets_to_close_exits_and_what_was_due_is_due_at_the_next_start(tmp_path: Path):
    script = (
        "import sys\n"
        "from hindsight_langgraph import HindsightMemory\n"
        "memory = HindsightMemory.open(sys.argv[1], embeddings='hash')\n"
        "memory.touch(scope='u1')\n"
        "print('said', flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "memory")], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr
    with open_memory(tmp_path, consolidation=BY_HAND) as memory:
        assert due(memory) == ["user:u1"]
