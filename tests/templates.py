"""Empty embedded stores to copy: making one costs a dozen index builds with their disk syncs, copying one almost nothing."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.ops import CountUnits, Where
from hindsight_langgraph.records import EmbeddingSpace


@cache
def _template(space: EmbeddingSpace) -> Path:
    path = Path(tempfile.mkdtemp(prefix="hindsight-template-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    store = EdgeLongTermStore(path / "units", space)
    for collection in ("live", "cold"):
        store.run(CountUnits(where=Where(owners=("user:nobody",)), collection=collection))
    store.close()
    return path / "units"


def prepare_edge(path: Path, space: EmbeddingSpace) -> None:
    """Put an empty store at `path`, unless something is there already. Its sparse log files stay sparse."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-r", "--sparse=always", str(_template(space)), str(path)], check=True)
