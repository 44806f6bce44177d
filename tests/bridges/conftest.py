"""A LangSmith for the tests of this folder, and a client of their own that sends to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from langsmith import run_trees, utils

from tests.langsmith_stand_in import LangSmith, serving
from tests.servers import PATIENCE_S


@pytest.fixture
def langsmith(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangSmith]:
    """The stand-in, with tracing to it switched on for this test."""
    with serving() as stand_in:
        connect(monkeypatch, stand_in.url)
        yield stand_in
        stand_in.open.set()
        run_trees.get_cached_client().cleanup()
    forget_environment()


def connect(monkeypatch: pytest.MonkeyPatch, url: str, *, tracing: str = "true") -> None:
    """Point LangSmith's client at a URL. It looks at the environment once, and keeps one client."""
    for name in ("LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_TRACING", tracing)
    monkeypatch.setenv("LANGSMITH_ENDPOINT", url)
    monkeypatch.setenv("LANGSMITH_API_KEY", "test")
    monkeypatch.setenv("LANGSMITH_PROJECT", "memory-tests")
    forget_environment()
    monkeypatch.setattr(run_trees, "_CLIENT", None)


def forget_environment() -> None:
    """LangSmith's client looks at the environment once."""
    cached: Any = utils.get_env_var
    cached.cache_clear()


def sent(langsmith: LangSmith, *expected: str, timeout_s: float = PATIENCE_S) -> None:
    """Wait until the client has sent everything, and every run that it began, and those `expected`, ended at the stand-in."""
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
    client, end = run_trees.get_cached_client(), time.monotonic() + timeout_s
    while True:
        client.flush()
        runs = dict(langsmith.runs)
        if runs and set(expected) <= set(runs) and all(run.get("end_time") for run in runs.values()):
            return
        assert time.monotonic() < end, "runs were not sent"
        time.sleep(0.05)
