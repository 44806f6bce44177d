"""The memory object: opening, closing, loops, and what it promises of a turn."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import HumanMessage

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.errors import ConfigError, StoreClosed
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.scripted import ScriptedChat
from hindsight_langgraph.ops import Answer
from hindsight_langgraph.records import Scope
from tests.clock import FakeClock
from tests.memory.opening import open_memory
from tests.nodes.agents import build, run_of
from tests.servers import PATIENCE_S

FACT = "I prefer window seats on trains."
ASKED = "Which seats do I prefer?"


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path) as opened:
        yield opened


def test_a_directory_with_odd_signs_holds_memory_and_checkpoints(tmp_path: Path):
    with open_memory(tmp_path / "ä #1?50%") as memory:
        build(memory, checkpointer=memory.checkpointer()).invoke({"messages": [HumanMessage(FACT)]}, run_of("u1"))
        memory.settle()
        assert memory.units(scope="u1")
    assert {p.name for p in (tmp_path / "ä #1?50%" / "memory").iterdir()} >= {"working.sqlite", "checkpoints.db", "units"}


def test_what_was_remembered_is_there_after_reopening(tmp_path: Path):
    with open_memory(tmp_path) as memory:
        memory.remember([("user", FACT)], scope="u1")
    with open_memory(tmp_path) as memory:
        assert "window" in memory.recall(ASKED, scope="u1").text


def test_annotating_promises_durably_before_it_returns(tmp_path: Path):
    """The process ends without closing, right after annotate: what it acknowledged is written by the next one."""
    code = (
        "import os; from pathlib import Path; from tests.memory.opening import open_memory\n"
        f"memory = open_memory(Path({str(tmp_path)!r}))\n"
        f"memory.annotate([('user', {FACT!r})], scope='u1')\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
    with open_memory(tmp_path) as memory:
        assert "window" in memory.recall(ASKED, scope="u1").text
        assert memory.health(scope="u1").pending == 0


def test_a_script_that_forgets_to_close_still_ends(tmp_path: Path):
    code = (
        "from pathlib import Path; from tests.memory.opening import open_memory\n"
        f"memory = open_memory(Path({str(tmp_path)!r}))\n"
        f"memory.annotate([('user', {FACT!r})], scope='u1')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2], timeout=PATIENCE_S)
    assert done.returncode == 0


def test_a_second_process_on_the_directory_is_told_so(tmp_path: Path, memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    code = (
        "from pathlib import Path; from tests.memory.opening import open_memory\n"
        f"open_memory(Path({str(tmp_path)!r}), on_error='raise').recall('x', scope='u1')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=Path(__file__).parents[2],
        timeout=PATIENCE_S,
        capture_output=True,
        text=True,
    )
    assert "HINDSIGHT_QDRANT_URL" in done.stderr


def test_one_memory_serves_two_event_loops_and_a_blocking_call_inside_one(memory: HindsightMemory):
    async def talk(text: str) -> str:
        await memory.aremember([("user", text)], scope="u1")
        memory.remember([("user", f"{text} And that is final.")], scope="u2")
        return (await memory.arecall(ASKED, scope="u1")).text

    assert "window" in asyncio.run(talk(FACT))
    assert "window" in asyncio.run(talk("My locker number is 42."))


def test_many_threads_may_use_one_memory(memory: HindsightMemory):
    failures: list[BaseException] = []

    def work(n: int) -> None:
        try:
            memory.remember([("user", f"My locker number is {n}.")], scope=f"user{n}")
            assert str(n) in memory.recall("What is my locker number?", scope=f"user{n}").text
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(100, 108)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_after_closing_every_call_says_so_and_closing_again_does_no_harm(memory: HindsightMemory):
    memory.close()
    memory.close()
    asyncio.run(memory.aclose())
    with pytest.raises(StoreClosed):
        memory.recall(ASKED, scope="u1")


def test_the_async_context_closes_too(tmp_path: Path):
    async def use() -> HindsightMemory:
        async with open_memory(tmp_path) as memory:
            await memory.aannotate([("user", FACT)], scope="u1")
        return memory

    with pytest.raises(StoreClosed):
        asyncio.run(use()).units(scope="u1")
    with open_memory(tmp_path) as memory:
        assert memory.units(scope="u1")


def test_any_langchain_embeddings_may_be_given(tmp_path: Path):
    with HindsightMemory.open(tmp_path, embeddings=DeterministicFakeEmbedding(size=32)) as memory:
        memory.remember([("user", FACT)], scope="u1")
        assert memory.space.dimension == 32
        assert "window" in memory.recall(ASKED, scope="u1").text


@pytest.mark.parametrize("wrong", [{"embeddings": "nonsense"}, {"embeddings": 7}, {"chat_model": 7}, {"chat_model": "cohere:x"}])
def test_a_model_that_is_none_is_refused_with_what_would_be_one(tmp_path: Path, wrong: dict[str, Any]):
    with pytest.raises(ConfigError, match=r"pass|use|openai"):
        HindsightMemory.open(tmp_path, **{"embeddings": "hash", **wrong})


def test_settings_come_from_the_environment_and_a_wrong_one_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HINDSIGHT_PATH", str(tmp_path / "m"))
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    monkeypatch.setenv("HINDSIGHT_RECALL__MAX_ITEMS", "2")
    with HindsightMemory.from_env() as memory:
        assert memory.config.recall.max_items == 2
        assert not memory.semantic
    monkeypatch.setenv("HINDSIGHT_RECALL__MAX_ITEMS", "many")
    with pytest.raises(ConfigError, match="HINDSIGHT_RECALL__MAX_ITEMS"):
        HindsightConfig.from_env()


def test_explain_says_what_remember_would_do_and_writes_nothing(memory: HindsightMemory):
    (report,) = memory.explain([("user", "hello"), ("user", FACT)], scope="u1")
    assert [turn.kept for turn in report.turns] == [False, True]
    assert report.dry_run
    assert memory.units(scope="u1") == []
    assert memory.read_session(scope="u1") == []


def test_listeners_hear_of_every_write_and_a_failing_one_harms_nothing(memory: HindsightMemory):
    heard: list[object] = []

    def broken(event: object) -> None:
        raise RuntimeError("listener")

    memory.on_event(broken)
    memory.on_event(heard.append)
    memory.annotate([("user", FACT)], scope="u1")
    memory.settle()
    assert [type(event) for event in heard] == [WriteReport]


def test_what_was_forgotten_stays_forgotten_when_the_conversation_is_replayed(memory: HindsightMemory):
    turns = [{"role": "user", "content": FACT, "id": "m1"}]
    memory.remember(turns, scope="u1")
    (unit,) = memory.units(scope="u1")
    assert memory.forget([unit.id], scope="u1") == 1
    assert memory.forget([unit.id], scope="u1") == 0
    memory.remember(turns, scope=Scope(user_id="u1", session_id="again"))
    assert memory.units(scope="u1") == []


def test_recall_counts_what_it_injects_and_logs_why(memory: HindsightMemory):
    memory.remember([("user", FACT)], scope="u1")
    found = memory.recall(ASKED, scope="u1")
    memory.settle()
    (unit,) = memory.units(scope="u1")
    assert unit.references == 1
    assert unit.last_recalled_at is not None
    assert "window" in found.explain()


def test_idle_users_are_consolidated_once_their_time_has_come(tmp_path: Path):
    clock = FakeClock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.remember([("user", FACT)], scope="u1")
        for _ in range(3):
            memory.touch(scope="u1")
        assert memory.run_due() == []
        clock.advance(minutes=6)
        assert len(memory.run_due()) == 1
        assert memory.run_due() == []


def test_a_small_chat_model_reads_what_rules_would_have_read(tmp_path: Path):
    reply = '{"facts": [{"type": "preference", "summary": "u1 prefers window seats on trains.", "subject": "user", "attribute": "seat", "value": "window"}]}'
    chat = ScriptedChat([Answer(text=reply)])
    with open_memory(tmp_path, chat_model=chat) as memory:
        (report,) = memory.remember([("user", FACT)], scope="u1")
        assert report.model_calls == 1
        assert [unit.content for unit in memory.units(scope="u1")] == ["u1 prefers window seats on trains."]


def test_a_turn_that_the_model_cannot_read_is_kept_raw_and_stays_pending(tmp_path: Path):
    chat = ScriptedChat([Answer(text="no idea"), Answer(text="still none")])
    with open_memory(tmp_path, chat_model=chat) as memory:
        (report,) = memory.remember([("user", FACT)], scope="u1")
        assert report.status == "failed"
        assert [(unit.content, unit.raw) for unit in memory.units(scope="u1")] == [(FACT, True)]
        assert memory.health(scope="u1").pending == 1
        assert "window" in memory.recall(ASKED, scope="u1").text


def test_talk_in_which_something_once_failed_is_no_failed_task(memory: HindsightMemory):
    scope = Scope(user_id="u1", session_id="evening")
    memory.annotate([("user", "Evening. What a week!"), ("assistant", "Did the cut survive it?")], scope=scope)
    said = "No, that's wrong. The export failed last night because the scratch disk was full."
    memory.annotate([("user", said), ("assistant", "Oh.")], scope=scope)
    memory.settle()
    kept = memory.units(scope="u1")
    assert any("scratch disk" in unit.content for unit in kept)
    assert all(unit.episode is None for unit in kept)
