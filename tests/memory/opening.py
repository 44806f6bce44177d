"""Opens memories for tests: embedded, with the embedder that needs no model unless a test asks for meanings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.models.embedders import HashEmbedder, LocalEmbedder
from tests.templates import prepare_edge

SPACES = {"hash": HashEmbedder.space, "local": LocalEmbedder.space}


def open_memory(path: Path, *, embeddings: Any = "hash", **options: Any) -> HindsightMemory:
    """A memory under `path`; settings of `HindsightConfig` and parameters of `open` by name."""
    parameters = {name: options.pop(name) for name in ("chat_model", "clock", "token_counter", "router") if name in options}
    config = HindsightConfig(path=path / "memory", **options)
    if not isinstance(embeddings, str):
        prepare_edge(config.path / "units", embeddings.space)
    elif embeddings in SPACES and not config.qdrant_url:
        prepare_edge(config.path / "units", SPACES[embeddings])
    return HindsightMemory.open(config=config, embeddings=embeddings, **parameters)
