"""A background thread that writes what was accepted, one owner's turns at a time.

The thread is a daemon, started at the first job: a script that forgets to close the memory still ends, and what was not yet written
is pending in the working store. A reader waits for its own owner's jobs, so that it always sees what it has written.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

logger = logging.getLogger("hindsight_langgraph")

Job = Callable[[], Any]


class Writer:
    """Runs jobs in order on one daemon thread; one of them may come back at an interval."""

    def __init__(self, *, name: str) -> None:
        self._name = name
        self._tick: Job | None = None
        self._every_s: float | None = None
        self._jobs: queue.SimpleQueue[tuple[Job, Future[Any]] | None] = queue.SimpleQueue()
        self._open: dict[str, dict[Future[Any], bool]] = {}
        """Jobs that are not done, and whether a job of this thread handed them on."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, owner: str, job: Job) -> None:
        """Run `job` later; its errors are logged, since nobody waits for its result."""
        future: Future[Any] = Future()
        with self._lock:
            self._open.setdefault(owner, {})[future] = threading.current_thread() is self._thread
            self._start()
        future.add_done_callback(lambda done: self._forget(owner, done))
        self._jobs.put((job, future))

    def every(self, seconds: float, job: Job) -> None:
        """Run `job` each time that nothing was to do for so many seconds, from now until the end; its errors are logged."""
        with self._lock:
            self._tick, self._every_s = job, seconds
            self._start()

    def settle(self, owner: str | None, timeout_s: float) -> bool:
        """Wait until the jobs of one owner (of all, for None) are done, and what they hand on to this thread. Returns whether they are."""
        end = time.monotonic() + timeout_s
        waiting = self._futures(owner)
        while waiting:
            if wait(waiting, timeout=max(0.0, end - time.monotonic())).not_done:
                return False
            waiting = self._futures(owner, handed_on=True)
        return True

    async def asettle(self, owner: str | None, timeout_s: float) -> bool:
        """As `settle`, without blocking the loop."""
        end = time.monotonic() + timeout_s
        waiting = self._futures(owner)
        while waiting:
            futures = [asyncio.wrap_future(future) for future in waiting]
            if (await asyncio.wait(futures, timeout=max(0.0, end - time.monotonic())))[1]:
                return False
            waiting = self._futures(owner, handed_on=True)
        return True

    def close(self, timeout_s: float) -> bool:
        """Do what is queued, then end the thread. Returns whether everything was done in time."""
        done = self.settle(None, timeout_s)
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            thread.join(timeout_s if done else 0.0)
        return done

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def _futures(self, owner: str | None, *, handed_on: bool = False) -> list[Future[Any]]:
        with self._lock:
            found = list(self._open.values()) if owner is None else [self._open.get(owner, {})]
            return [future for futures in found for future, by_job in futures.items() if by_job or not handed_on]

    def _forget(self, owner: str, future: Future[Any]) -> None:
        with self._lock:
            futures = self._open.get(owner)
            if futures is not None:
                futures.pop(future, None)
                if not futures:
                    del self._open[owner]

    def _work(self) -> None:
        while True:
            try:
                entry = self._jobs.get(timeout=self._every_s)
            except queue.Empty:
                if self._tick is not None:
                    self._do(self._tick)
                continue
            if entry is None:
                return
            job, future = entry
            future.set_result(self._do(job))

    @staticmethod
    def _do(job: Job) -> Any:
        try:
            return job()
        except Exception as error:  # noqa: BLE001 - the thread must outlive any one job
            logger.warning("background work failed; what it was to write stays pending: %s", error)
            return None
