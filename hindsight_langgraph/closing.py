"""Context managers of both kinds for what has `close` and `aclose`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Closes itself at the end of `with` and of `async with`."""

    @abstractmethod
    def close(self) -> None:
        """Release what is held; may be called twice."""

    @abstractmethod
    async def aclose(self) -> None:
        """As `close`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()
