"""Threads for blocking calls that cannot bound their own wait: who asked goes on in time, whatever the call does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from os import getpid
from typing import TypeVar

T = TypeVar("T")

_THREADS = 16


class BoundedWorkers:
    """At most 16 threads, started as they are needed. A call that nobody waits for any more is not begun."""

    def __init__(self, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._pid = getpid()

    def call(self, function: Callable[[], T]) -> T:
        """The result of `function`.

        Raises:
            TimeoutError: there was none within the timeout.
        """
        future = self._submitted(function)
        try:
            return future.result(self._timeout_s)
        finally:
            future.cancel()

    async def acall(self, function: Callable[[], T]) -> T:
        """As `call`, without blocking the running loop."""
        async with asyncio.timeout(self._timeout_s):
            return await asyncio.wrap_future(self._submitted(function))

    def close(self) -> None:
        """Let the threads end when their calls do."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _submitted(self, function: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self._pool is None or self._pid != getpid():  # threads do not survive a fork
                self._pool, self._pid = ThreadPoolExecutor(_THREADS, thread_name_prefix="hindsight-store"), getpid()
            return self._pool.submit(function)
