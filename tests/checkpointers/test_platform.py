"""The checkpointer of a LangGraph server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.checkpointers import HindsightSaver, create_checkpointer
from hindsight_langgraph.checkpointers.platform import store_url
from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import ConfigError
from tests.checkpointers.made import META, checkpoint, config
from tests.langgraph_server import serving_project
from tests.servers import PATIENCE_S, Server, comes_true


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "sqlite:///memory/checkpoints.db"),
        ({"path": "/var/x"}, "sqlite:////var/x/checkpoints.db"),
        ({"redis_url": "redis://h:1/0"}, "redis://h:1/0"),
        ({"redis_url": "rediss://h:1", "redis_cluster": True}, "rediss+cluster://h:1"),
        ({"redis_url": "redis+cluster://h:1", "redis_cluster": True}, "redis+cluster://h:1"),
        ({"redis_url": "redis://h:1/0", "checkpoint_url": "sqlite:///x.db"}, "sqlite:///x.db"),
    ],
)
def test_the_store_is_the_first_that_is_named(settings: dict[str, Any], expected: str) -> None:
    assert store_url(HindsightConfig(**settings)) == expected


async def test_the_factory_reads_the_environment(redis8: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_REDIS_URL", redis8.url)
    monkeypatch.setenv("HINDSIGHT_CHECKPOINT_TTL_S", "100")
    monkeypatch.setenv("HINDSIGHT_PREFIX", "platform")
    async with create_checkpointer() as saver:
        await saver.aput(config(), checkpoint({"c": 1}), META, {"c": 1})
        with redis8.client() as client:
            assert 0 < client.pttl("platform:checkpoints:{t}:rows") <= 100_000


async def test_the_factory_keeps_a_file_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_PATH", str(tmp_path / "memory"))
    async with create_checkpointer() as saver:
        await saver.aput(config(), checkpoint({"c": 1}), META, {"c": 1})
    with HindsightSaver.from_url(f"sqlite:///{tmp_path}/memory/checkpoints.db") as saver:
        assert saver.get_tuple(config()) is not None


async def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_CHECKPOINT_TTL_S", "-1")
    with pytest.raises(ConfigError, match="HINDSIGHT_CHECKPOINT_TTL_S"):
        async with create_checkpointer():
            raise AssertionError("no saver is made")


GRAPH = """
import asyncio
from typing import Annotated
import operator
from typing_extensions import TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict):
    said: Annotated[list[str], operator.add]

async def answer(state):
    if state["said"][-1] == "thinking":
        await asyncio.sleep(3_600)  # until it is rolled back
    return {"said": ["answer to " + state["said"][-1]]}

builder = StateGraph(State)
builder.add_node("first", lambda state: {"said": ["thinking"]} if state["said"][-1] == "slow" else {})
builder.add_node("answer", answer)
builder.add_edge(START, "first")
builder.add_edge("first", "answer")
graph = builder.compile()
"""


@contextmanager
def _served(directory: Path) -> Iterator[str]:
    (directory / "graph.py").write_text(GRAPH)
    (directory / "checkpointer.py").write_text("from hindsight_langgraph.checkpointers import create_checkpointer\n")
    settings = {
        "dependencies": ["."],
        "graphs": {"graph": "./graph.py:graph"},
        "checkpointer": {"path": "./checkpointer.py:create_checkpointer"},
    }
    (directory / "langgraph.json").write_text(json.dumps(settings))
    with serving_project(directory, memory=directory / "memory") as url:
        yield url


def _call(url: str, method: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE_S) as reply:
        content = reply.read()
    return json.loads(content) if content else None


@pytest.mark.platform
@pytest.mark.slow
def test_a_langgraph_server_runs_copies_rolls_back_and_deletes_on_it(tmp_path: Path) -> None:
    with _served(tmp_path) as url:

        def said(thread: str) -> Any:
            return _call(url, "GET", f"/threads/{thread}/state")["values"]["said"]

        thread = _call(url, "POST", "/threads", {})["thread_id"]
        wait = f"/threads/{thread}/runs/wait"
        _call(url, "POST", wait, {"assistant_id": "graph", "input": {"said": ["one"]}})
        assert said(thread) == ["one", "answer to one"]

        _call(url, "POST", f"/threads/{thread}/runs", {"assistant_id": "graph", "input": {"said": ["slow"]}})
        assert comes_true(lambda: "slow" in said(thread))
        _call(url, "POST", wait, {"assistant_id": "graph", "input": {"said": ["two"]}, "multitask_strategy": "rollback"})
        assert said(thread) == ["one", "answer to one", "two", "answer to two"]
        history = _call(url, "POST", f"/threads/{thread}/history", {"limit": 100})
        assert not [state for state in history if "slow" in state["values"].get("said", [])]

        copied = _call(url, "POST", f"/threads/{thread}/copy", {})["thread_id"]
        assert said(copied) == said(thread)
        _call(url, "DELETE", f"/threads/{thread}")
        with HindsightSaver.from_url(f"sqlite:///{tmp_path}/memory/checkpoints.db") as saver:
            assert {found.config["configurable"]["thread_id"] for found in saver.list(None)} == {copied}
        log = (tmp_path / "log").read_text()
        assert "Using custom checkpointer: HindsightSaver" in log
        assert "missing a" not in log
