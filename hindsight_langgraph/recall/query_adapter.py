"""Turns a query's embedding towards what helped, by a small learned matrix (SPEC E6). Stored vectors stay as they are.

Adapters of one deployment lie in one directory, each with a version; a file names the one in use, so that going back is a switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.recall.versions import Versions
from hindsight_langgraph.records import EmbeddingSpace

_FORM: Final = 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class QueryAdapter:
    """`q + A q`, brought back to unit length; A = 0 changes nothing."""

    space: EmbeddingSpace
    matrix: NDArray[np.float32]
    """A, [dimension, dimension]."""

    def apply(self, vector: Sequence[float]) -> tuple[float, ...]:
        """The adapted query vector, of unit length."""
        query = np.asarray(vector, dtype=np.float32)
        moved = query + self.matrix @ query
        return tuple((moved / max(float(np.linalg.norm(moved)), 1e-9)).tolist())

    def save(self, path: Path) -> None:
        """Write the adapter with the space that it belongs to."""
        np.savez_compressed(
            path, form=_FORM, model=self.space.model, dimension=self.space.dimension, matrix=self.matrix.astype(np.float16)
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read an adapter.

        Raises:
            ConfigError: it is none, or of another form.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                form = int(stored["form"])
                space = EmbeddingSpace(model=str(stored["model"]), dimension=int(stored["dimension"]))
                matrix = np.asarray(stored["matrix"], dtype=np.float32)
        except (OSError, KeyError, ValueError) as error:
            raise ConfigError(
                f"{path} is no query adapter: {error}; run `hindsight train` or `hindsight train --back`"
            ) from error
        if form != _FORM or matrix.shape != (space.dimension, space.dimension):
            raise ConfigError(f"{path} is an adapter of another form; run `hindsight train`")
        return cls(space=space, matrix=matrix)


class AdapterShelf(Versions):
    """The adapters of one deployment."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory, stem="adapter", suffix=".npz")

    def load(self, space: EmbeddingSpace) -> QueryAdapter | None:
        """The adapter in use, when it belongs to this embedding space."""
        if self.current is None:
            return None
        adapter = QueryAdapter.read(self.path(self.current))
        return adapter if adapter.space == space else None

    def add(self, adapter: QueryAdapter, *, version: int | None = None) -> int:
        """Store an adapter and use it, as the next version unless another number is given. Returns its version."""
        number = version or self.next()
        self.directory.mkdir(parents=True, exist_ok=True)
        adapter.save(self.path(number))
        self.use(number)
        return number
