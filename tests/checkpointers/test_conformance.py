"""LangGraph's own conformance suite: 81 tests, all capabilities, on every store, for both halves of the saver."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from tests.checkpointers.conftest import MakeSaver
from tests.checkpointers.savers import sync_as_async

COUNTS = {
    "put": 17, "put_writes": 10, "get_tuple": 10, "list": 16, "delete_thread": 5,
    "delete_for_runs": 7, "copy_thread": 8, "prune": 8,
}  # fmt: skip


async def check(saver: BaseCheckpointSaver[Any], capability: str) -> None:
    @checkpointer_test(name=type(saver).__name__)
    async def factory() -> AsyncIterator[BaseCheckpointSaver[Any]]:
        yield saver

    report = await validate(factory, capabilities={capability})
    result = report.results[capability]
    assert result.detected, f"{capability} is not overridden"
    assert result.passed, "\n".join(result.failures or [])
    assert result.tests_passed == COUNTS[capability]


@pytest.mark.parametrize("capability", [capability.value for capability in Capability])
async def test_the_awaiting_half_conforms(make_saver: MakeSaver, capability: str) -> None:
    async with make_saver() as saver:
        await check(saver, capability)


@pytest.mark.parametrize("capability", [capability.value for capability in Capability])
async def test_the_blocking_half_conforms(make_saver: MakeSaver, capability: str) -> None:
    await check(sync_as_async(make_saver()), capability)


def test_the_suite_has_81_tests() -> None:
    assert sum(COUNTS.values()) == 81
    assert set(COUNTS) == {capability.value for capability in Capability}
