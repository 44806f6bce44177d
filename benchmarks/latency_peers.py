"""Other stores of memories that can be searched by vector for one user, each filled with the same vectors as ours."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.vectors import Matrix

LIMIT = 20
"""Units that a search returns, as of a recall few more are looked at."""
_BATCH = 500
_ROW = re.compile(r"row (\d+)")


@dataclass(kw_only=True)
class Peer:
    """One store with what fills and asks it."""

    name: str
    add: Callable[[range, Sequence[str], Matrix], None]
    """Numbers, owners and vectors of units."""
    search: Callable[[str, tuple[float, ...]], Any]
    """The best units of an owner."""
    units: int = 0
    """How many it holds."""
    seconds: float = 0.0
    """What filling took so far."""
    full: bool = False
    """Whether it was too slow to be filled further."""

    def fill(self, first: int, owners: Sequence[str], vectors: Matrix, *, most_s: float) -> None:
        """Add units in batches until all are there or filling has taken too long altogether."""
        for at in range(0, len(owners), _BATCH):
            if self.full:
                return
            start = time.perf_counter()
            some = owners[at : at + _BATCH]
            self.add(range(first + at, first + at + len(some)), some, vectors[at : at + _BATCH])
            self.units += len(some)
            self.seconds += time.perf_counter() - start
            self.full = self.seconds > most_s


@dataclass(kw_only=True)
class Embedder:
    """Gives a LangGraph store the vector that belongs to a text: it names its row, or is the question."""

    rows: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    question: list[float] = field(default_factory=list[float])

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector a text."""
        rows = [_ROW.search(text) for text in texts]
        return [self.question if row is None else self.rows[int(row[1])] for row in rows]


@contextmanager
def peers(directory: Path, dimension: int) -> Iterator[tuple[list[Peer], list[str]]]:
    """Every peer that can be run here, and what could not be with the reason."""
    found: list[Peer] = []
    missing: list[str] = []
    with ExitStack() as stack:
        for name, make in (
            ("InMemoryStore", _in_memory),
            ("SqliteStore", _sqlite),
            ("langgraph-store-qdrant, local", _qdrant),
            ("chroma", _chroma),
        ):
            try:
                found.append(make(name, stack, directory, dimension))
            except ImportError as error:
                missing.append(f"{name}: not installed ({error.name})")
            except AttributeError as error:
                missing.append(f"{name}: cannot run here ({error})")
        yield found, missing


def _in_memory(name: str, stack: ExitStack, directory: Path, dimension: int) -> Peer:
    from langgraph.store.memory import InMemoryStore

    del stack, directory
    embed = Embedder()
    return _langgraph(name, InMemoryStore(index={"dims": dimension, "embed": embed, "fields": ["text"]}), embed)


def _sqlite(name: str, stack: ExitStack, directory: Path, dimension: int) -> Peer:
    from langgraph.store.sqlite import SqliteStore

    connection = _extensible_sqlite().connect(directory / "peer.db", check_same_thread=False, isolation_level=None)
    stack.callback(connection.close)
    embed = Embedder()
    store = SqliteStore(connection, index={"dims": dimension, "embed": embed, "fields": ["text"]})
    store.setup()
    return _langgraph(name, store, embed)


def _extensible_sqlite() -> Any:
    """A SQLite module that can load the vector extension: Python's own where it was built for that, else pysqlite3."""
    import sqlite3

    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    import pysqlite3

    return pysqlite3


def _qdrant(name: str, stack: ExitStack, directory: Path, dimension: int) -> Peer:
    from langgraph.store.qdrant import QdrantStore
    from qdrant_client import QdrantClient

    client = QdrantClient(path=str(directory / "qdrant"))
    stack.callback(client.close)
    embed = Embedder()
    store = QdrantStore(client, index={"dims": dimension, "embed": embed, "fields": ["text"]})
    store.setup()
    return _langgraph(name, store, embed)


def _langgraph(name: str, store: Any, embed: Embedder) -> Peer:
    from langgraph.store.base import PutOp

    def add(numbers: range, owners: Sequence[str], vectors: Matrix) -> None:
        embed.rows = dict(zip(numbers, vectors.tolist(), strict=True))
        store.batch([PutOp((owner, "units"), str(n), {"text": f"row {n}"}) for n, owner in zip(numbers, owners, strict=True)])

    def search(owner: str, vector: tuple[float, ...]) -> Any:
        embed.question = list(vector)
        # A text that was not asked before: some stores remember the vectors of texts.
        return store.search((owner, "units"), query=uuid.uuid4().hex, limit=LIMIT)

    return Peer(name=name, add=add, search=search)


def _chroma(name: str, stack: ExitStack, directory: Path, dimension: int) -> Peer:
    import chromadb
    from chromadb.config import Settings

    del stack, dimension
    client = chromadb.PersistentClient(path=str(directory / "chroma"), settings=Settings(anonymized_telemetry=False))
    units = client.create_collection("units", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None)

    def add(numbers: range, owners: Sequence[str], vectors: Matrix) -> None:
        units.add(
            ids=[str(n) for n in numbers],
            embeddings=vectors,
            metadatas=[{"owner": owner} for owner in owners],
            documents=[f"row {n}" for n in numbers],
        )

    def search(owner: str, vector: tuple[float, ...]) -> Any:
        return units.query(query_embeddings=np.asarray([vector], dtype=np.float32), n_results=LIMIT, where={"owner": owner})

    return Peer(name=name, add=add, search=search)
