"""Opens memories for tests: embedded, with the embedder that needs no model unless a test asks for meanings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.memory import HindsightMemory


def open_memory(path: Path, *, embeddings: Any = "hash", **options: Any) -> HindsightMemory:
    """A memory under `path`; settings of `HindsightConfig` and parameters of `open` by name."""
    parameters = {name: options.pop(name) for name in ("chat_model", "clock", "token_counter") if name in options}
    config = HindsightConfig(path=path / "memory", **options)
    return HindsightMemory.open(config=config, embeddings=embeddings, **parameters)
