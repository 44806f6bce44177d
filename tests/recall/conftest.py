"""Fixtures of recall."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recall.stores import Remembering


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembering]:
    remembering = Remembering.at(tmp_path / "units")
    yield remembering
    remembering.store.close()
