"""What the memory asks of the world, as protocols. A backend or a model adapter is anything of the right shape."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypeVar

from hindsight_langgraph.errors import EmbeddingMismatch
from hindsight_langgraph.ops import Answer, Complete, LongTermOp, WorkingOp
from hindsight_langgraph.records import EmbeddingSpace

Reply = TypeVar("Reply")


class Clock(Protocol):
    """Tells the time; the only source of it."""

    def now(self) -> datetime:
        """The present instant, timezone-aware."""
        ...


class WorkingStore(Protocol):
    """Short-lived and small data: working memory, session buffers, logs, due times (SPEC A3, A4).

    `run` and `arun` answer the same op with the same reply and raise only `StoreError`s. `close` is idempotent.
    """

    def run(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request, blocking."""
        ...

    async def arun(self, op: WorkingOp[Reply]) -> Reply:
        """Answer one request on the running loop."""
        ...

    def close(self) -> None:
        """Release every client; later requests raise `StoreClosed`."""
        ...

    async def aclose(self) -> None:
        """As `close`, for clients bound to the running loop."""
        ...


class LongTermStore(Protocol):
    """The units and their vectors (SPEC A5, A11). Same rules as `WorkingStore`."""

    @property
    def space(self) -> EmbeddingSpace:
        """The model and dimension that vectors written here come from."""
        ...

    @property
    def mismatch(self) -> EmbeddingMismatch | None:
        """What to say when units of another embedding model are in the store; known from the first request on."""
        ...

    def run(self, op: LongTermOp[Reply]) -> Reply:
        """Answer one request, blocking."""
        ...

    async def arun(self, op: LongTermOp[Reply]) -> Reply:
        """Answer one request on the running loop."""
        ...

    def close(self) -> None:
        """Flush and release; later requests raise `StoreClosed`."""
        ...

    async def aclose(self) -> None:
        """As `close`, for clients bound to the running loop."""
        ...


class Embedder(Protocol):
    """Turns texts into unit-length vectors."""

    @property
    def space(self) -> EmbeddingSpace:
        """Model name and dimension."""
        ...

    @property
    def semantic(self) -> bool:
        """False for an embedder that only sees surface forms."""
        ...

    def embed(self, texts: tuple[str, ...], *, purpose: str) -> list[tuple[float, ...]]:
        """Embed `texts`; purpose is "query" or "document". Raises `ModelUnavailable`."""
        ...

    async def aembed(self, texts: tuple[str, ...], *, purpose: str) -> list[tuple[float, ...]]:
        """As `embed`, without blocking the running loop."""
        ...


class TokenCounter(Protocol):
    """Counts tokens of a text, for budgets."""

    def __call__(self, text: str, /) -> int:
        """Tokens of `text`, never less than 0."""
        ...


class Redactor(Protocol):
    """Takes secrets out of a text before anything stores, embeds, logs or sends it."""

    def __call__(self, text: str, /) -> tuple[str, dict[str, int]]:
        """The text without its secrets, and how many of each sort were taken out."""
        ...


class StructuredChat(Protocol):
    """A chat model as the memory uses it: messages in, text out."""

    @property
    def name(self) -> str:
        """The model's name, for logs and traces."""
        ...

    def complete(self, op: Complete) -> Answer:
        """Answer one request, blocking. Raises `ModelUnavailable`."""
        ...

    async def acomplete(self, op: Complete) -> Answer:
        """As `complete`, on the running loop."""
        ...
