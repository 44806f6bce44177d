"""Stores that the checkpointer is tested on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hindsight_langgraph.checkpointers import HindsightSaver

MakeSaver = Callable[..., HindsightSaver]
STORES = ("sqlite", "valkey", "redis8", "cluster")
_numbers = count()


@pytest.fixture(params=STORES)
def make_saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeSaver]:
    """Makes savers over one empty store; `fresh_store=True` gives one over another."""
    made: list[HindsightSaver] = []
    place = f"t{next(_numbers)}"

    def make(*, fresh_store: bool = False, **options: Any) -> HindsightSaver:
        name = f"t{next(_numbers)}" if fresh_store else place
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path / name}.db"
        elif request.param == "cluster":
            url = request.getfixturevalue("redis_cluster").url.replace("redis://", "redis+cluster://")
        else:
            url = request.getfixturevalue(request.param).url
        options = {"prefix": name, "timeout_s": 60, **options}  # a busy machine is no outage
        saver = HindsightSaver.from_url(url, **options)
        made.append(saver)
        return saver

    yield make
    for saver in made:
        saver.close()


@pytest.fixture
def saver(make_saver: MakeSaver) -> HindsightSaver:
    """A saver over an empty store."""
    return make_saver()
