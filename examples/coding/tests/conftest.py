"""A memory of its own for every test, without a model and without network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hindsight_langgraph import HindsightMemory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HindsightMemory]:
    with HindsightMemory.open(tmp_path / "memory") as opened:
        yield opened
