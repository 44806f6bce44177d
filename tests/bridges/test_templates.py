"""Each template, copied by the command that a user runs, passes its own scripted conversation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from typer.testing import CliRunner

from hindsight_langgraph.cli import app
from hindsight_langgraph.errors import CallError
from hindsight_langgraph.models.offline import NOTHING, OfflineChatModel
from hindsight_langgraph.scaffold import TEMPLATES, new_project, template_path
from tests.local_http import JsonRequests, listening

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(params=list(TEMPLATES))
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    result = CliRunner().invoke(app, ["new", str(made), "--template", request.param])
    assert result.exit_code == 0, result.output
    return made


def run(project: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(project / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "HINDSIGHT_PATH": str(project / "memory"), "LANGSMITH_TRACING": "false"}
    environment.pop("MODEL", None)
    environment |= variables
    return subprocess.run([sys.executable, *command], cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_its_own_tests_pass(project: Path):
    done = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_what_its_langgraph_json_names_is_there_and_answers_offline(project: Path):
    config = json.loads((project / "langgraph.json").read_text(encoding="utf-8"))
    (name, served), idle = next(iter(config["graphs"].items())), config["graphs"]["consolidation"]
    package = served.split("/")[2]
    code = f"""
import asyncio
from {package}.context import Context
from {package}.graph import consolidation, graph
from {package}.memory import create_checkpointer
assert asyncio.run(consolidation()).name == "consolidation"
served = asyncio.run(graph())
run = {{"configurable": {{"user_id": "u1", "thread_id": "t"}}}}
for text in ("I'm allergic to peanuts, remember that.", "What am I allergic to?"):
    run["configurable"]["thread_id"] += "t"
    print(served.invoke({{"messages": [("user", text)]}}, run, context=Context(user_id="u1"))["messages"][-1].text)
"""
    done = run(project, "-c", code)
    assert done.returncode == 0, done.stderr
    assert name
    assert idle.endswith(":consolidation")
    assert done.stdout.startswith(NOTHING)
    assert "I remember:" in done.stdout
    assert "peanuts" in done.stdout.split("I remember:")[1]


def test_a_model_named_by_the_environment_is_given_what_is_remembered(project: Path):
    bodies: list[dict[str, Any]] = []

    class Handler(JsonRequests):
        def respond(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            choice = {"index": 0, "message": {"role": "assistant", "content": "No peanuts."}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            reply = {"id": "c", "object": "chat.completion", "created": 1, "model": "any", "choices": [choice], "usage": usage}
            self.reply(200, json.dumps(reply).encode())

    package = next((project / "src").iterdir()).name
    code = f"""
import asyncio
from {package}.context import Context
from {package}.graph import graph
served = asyncio.run(graph())
for thread, text in (("a", "I'm allergic to peanuts, remember that."), ("b", "What am I allergic to?")):
    run = {{"configurable": {{"thread_id": thread}}}}
    print(served.invoke({{"messages": [("user", text)]}}, run, context=Context(user_id="u1"))["messages"][-1].text)
"""
    with listening(Handler) as url:
        done = run(project, "-c", code, MODEL="any", OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="of no use")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["No peanuts."] * 2
    assert {body["model"] for body in bodies} == {"any"}
    assert all(body["tools"] for body in bodies)
    first, second = (json.dumps(body["messages"]) for body in bodies)
    assert "recalled_memory" not in first
    assert "recalled_memory" in second
    assert "allergic to peanuts" in second


def test_its_readme_shows_two_commands_and_what_memory_changes(project: Path):
    text = (project / "README.md").read_text(encoding="utf-8")
    commands = text.split("```bash\n")[1].split("```")[0].strip().splitlines()
    added = [line for line in text.split("```diff\n")[1].split("```")[0].splitlines() if line.startswith("+")]
    assert len(commands) == 2
    assert 1 <= len(added) <= 6
    source = "".join(file.read_text(encoding="utf-8") for file in (project / "src").rglob("*.py"))
    assert all(line[1:].strip() in source for line in added)
    assert (project / ".env.example").is_file()


def test_a_directory_with_something_in_it_is_not_touched(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    with pytest.raises(CallError, match="not empty"):
        new_project(tmp_path / "mine", "personal")
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_an_unknown_template_is_refused_with_the_names_of_the_known(tmp_path: Path):
    with pytest.raises(CallError, match="personal, support, coding"):
        new_project(tmp_path / "mine", "../../etc")


def test_every_template_ships_in_the_wheel():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    shipped = built["force-include"]
    assert {f"examples/{name}" for name in TEMPLATES} == set(shipped)
    assert all(template_path(name).is_dir() for name in TEMPLATES)


def test_the_offline_model_admits_that_it_has_nothing():
    assert OfflineChatModel().invoke([HumanMessage("hello")]).text == NOTHING
