"""The demo ends with the right facts, and a process that is killed loses nothing acknowledged."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from hindsight_langgraph.demo.agent import NOTHING, answer_from
from hindsight_langgraph.demo.run import question_all, replay, run_demo
from hindsight_langgraph.demo.script import read_script
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import Role
from tests.servers import comes_true


def printed() -> Console:
    return Console(file=StringIO(), width=160)


def test_the_shipped_conversation_is_long_and_in_two_languages():
    script = read_script()
    texts = [line.text for session in script.sessions for line in session.turns]
    chinese = sum(any("\u4e00" <= char <= "\u9fff" for char in text) for text in texts)
    assert len(texts) >= 60
    assert 10 <= chinese <= len(texts) - 10
    assert len({line.id for session in script.sessions for line in session.turns}) == len(texts)


def test_the_whole_demo_answers_every_question_right(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    console = printed()
    assert run_demo(tmp_path / "demo", console=console) == 0
    shown = capfd.readouterr().out
    assert "✘" not in shown
    assert shown.count("✔") == len(read_script().questions)
    assert "What changed" in shown
    assert "Tide-Pool-4417" not in b"".join(
        f.read_bytes() for f in (tmp_path / "demo" / "units").rglob("*") if f.is_file()
    ).decode(errors="replace")


def test_a_killed_demo_goes_on_where_it_was_and_ends_as_one_that_was_never_killed(tmp_path: Path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    replay(whole, 1, console=printed())
    part = [sys.executable, "-m", "hindsight_langgraph.demo", str(killed), "1"]
    with subprocess.Popen(part, stdout=subprocess.DEVNULL) as process:
        assert comes_true((killed / "working.sqlite").exists)
        time.sleep(1.5)  # somewhere in the middle; wherever it is, the end is the same
        process.send_signal(signal.SIGKILL)
    replay(killed, 1, console=printed())
    assert contents(killed) == contents(whole)


def contents(path: Path) -> dict[str, tuple[str, int]]:
    with HindsightMemory.open(path) as memory:
        return {unit.id: (unit.content, unit.confirmations) for unit in memory.units(scope=read_script().user_id)}


def test_a_question_that_nothing_answers_is_admitted():
    assert answer_from(None) == NOTHING


def test_asking_before_anything_was_said_is_wrong_not_an_error(tmp_path: Path):
    console = printed()
    assert question_all(tmp_path / "empty", console=console) is False


def test_every_user_line_of_the_script_has_its_reply():
    for session in read_script().sessions:
        roles = [line.role for line in session.turns]
        assert roles == [Role.USER, Role.ASSISTANT] * (len(roles) // 2)
