"""Every contract test of the long-term store runs on each backend, asked by `run` and by `arun`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contracts.long_term import BACKENDS, Asker, Bench, bench_of


@pytest.fixture(params=["sync", "async"])
def mode(request):
    return request.param


@pytest.fixture(params=BACKENDS)
async def bench(request, tmp_path: Path, mode) -> AsyncIterator[Bench]:
    with bench_of(request.param, tmp_path / "store", mode) as opened:
        yield opened
        await opened.close()


@pytest.fixture
def ask(bench: Bench) -> Asker:
    return bench.open()
