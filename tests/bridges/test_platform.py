"""The templates, and the consolidation of `deploy/`, on a LangGraph server: `langgraph dev`, with our checkpointer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client

from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.checkpointers import HindsightSaver
from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.scaffold import TEMPLATES, new_project
from tests.langgraph_server import ROOT, serving_project

pytestmark = [pytest.mark.platform, pytest.mark.slow]

FACT = "I'm allergic to peanuts, remember that."
ASKED = "What am I allergic to?"


@contextmanager
def served(directory: Path, **options: Any) -> Iterator[Any]:
    """A client of the server; untyped, since it speaks JSON."""
    with serving_project(directory, **options) as url, get_sync_client(url=url) as client:
        yield client


def answer(client: Any, assistant: str, text: str) -> tuple[str, str]:
    """What the assistant says in a thread of its own, and the thread."""
    thread = client.threads.create()["thread_id"]
    state = client.runs.wait(
        thread, assistant, input={"messages": [{"role": "user", "content": text}]}, context={"user_id": "alice"}
    )
    assert "__error__" not in state, state
    return str(state["messages"][-1]["content"]), str(thread)


@pytest.mark.parametrize("template", list(TEMPLATES))
def test_a_template_remembers_across_threads_and_is_put_in_order_on_the_server(template: str, tmp_path: Path):
    project = new_project(tmp_path / "mine", template)
    shutil.copy(project / ".env.example", project / ".env")
    graphs = json.loads((project / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assistant = next(iter(graphs))
    with served(project, python_path=(project / "src",)) as client:
        assert {found["graph_id"] for found in client.assistants.search()} == {assistant, "consolidation"} == set(graphs)
        _, monday = answer(client, assistant, FACT)
        told, friday = answer(client, assistant, ASKED)
        assert "peanuts" in told
        assert client.threads.get_state(friday)["values"]["messages"][0]["content"] == ASKED
        done = client.runs.wait(None, "consolidation", input={"user_id": "alice"})
        assert not done.get("busy")
        assert done["made"]
    log = (project / "log").read_text()
    assert "Using custom checkpointer: HindsightSaver" in log
    assert "missing a" not in log
    with HindsightMemory.open(config=HindsightConfig(path=project / "memory")) as memory:
        assert [unit.content for unit in memory.units(scope="alice")] == [FACT]
        assert memory.units(scope="bob") == []
    with HindsightSaver.from_url(f"sqlite:///{project}/memory/checkpoints.db") as saver:
        threads = {found.config["configurable"]["thread_id"] for found in saver.list(None)}
    assert {monday, friday} <= threads


def test_the_deployed_consolidation_runs_for_one_user_and_sweeps_over_those_that_are_due(tmp_path: Path):
    deployed = tmp_path / "deploy"
    shutil.copytree(ROOT / "deploy", deployed)
    shutil.copy(deployed / ".env.example", deployed / ".env")
    path = deployed / "memory"
    config = HindsightConfig.model_validate({"path": path, "consolidation": {"in_process": False}})
    with HindsightMemory.open(config=config) as memory:
        for user in ("alice", "bob"):
            for thread in ("monday", "friday"):
                memory.remember([("user", "I prefer window seats on trains.")], scope=user)
                memory.remember([("user", "On trains I always prefer a window seat, as you know.")], scope=user)
                memory.touch(scope=user, decisive=thread == "friday" and user == "bob")
    with served(deployed) as client:
        assert {found["graph_id"] for found in client.assistants.search()} == {"consolidation", "sweep"}
        done = client.runs.wait(None, "consolidation", input={"user_id": "alice"})
        assert done["made"]
        swept = client.runs.wait(None, "sweep", input={})
        assert swept == {"owners": ["user:bob"]}
        cron = client.crons.create("sweep", schedule="* * * * *", input={})
        assert cron["cron_id"] in {found["cron_id"] for found in client.crons.search()}
