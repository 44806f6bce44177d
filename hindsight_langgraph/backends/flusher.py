"""Flushes a store to disk a moment after it was written to, off its callers' path."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from hindsight_langgraph.errors import StoreError

logger = logging.getLogger(__name__)


class Flusher:
    """Calls `flush` at most `after_s` seconds after a write, or once `after_writes` have gathered.

    The thread lives only while something is unflushed, so that an idle or forgotten store holds none; it is a daemon, so that
    it never keeps a process from ending (what is not flushed by then is in the engine's log).
    """

    def __init__(self, flush: Callable[[], None], *, after_s: float, after_writes: int) -> None:
        self._flush = flush
        self._after_s = after_s
        self._after_writes = after_writes
        self._state = threading.Condition()
        self._unflushed = 0
        self._stopped = False
        self._thread: threading.Thread | None = None

    def note_write(self) -> None:
        """Something was written."""
        with self._state:
            self._unflushed += 1
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._work, name="hindsight-flush", daemon=True)
                self._thread.start()
            elif self._unflushed == self._after_writes:
                self._state.notify_all()

    def stop(self) -> None:
        """End the thread; what is unflushed is left to the caller. Again: nothing happens."""
        with self._state:
            self._stopped = True
            thread, self._thread = self._thread, None
            self._state.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _work(self) -> None:
        while self._wait():
            try:
                self._flush()
            except StoreError as error:  # nobody waits for this thread; the next write starts another attempt
                logger.warning("the long-term store could not be flushed; it is tried again after the next write: %s", error)

    def _wait(self) -> bool:
        """Wait until a flush is due; False when there is nothing more to do."""
        with self._state:
            if self._unflushed and not self._stopped:
                self._state.wait_for(lambda: self._stopped or self._unflushed >= self._after_writes, timeout=self._after_s)
            if self._stopped or not self._unflushed:
                self._thread = None
                return False
            self._unflushed = 0
            return True
