"""Outages: one bounded wait and one warning each, then requests fail at once until it is time to try again."""

from __future__ import annotations

import logging
import threading
from datetime import datetime, timedelta

from hindsight_langgraph.errors import ModelUnavailable, StoreUnavailable
from hindsight_langgraph.ports import Clock

logger = logging.getLogger("hindsight_langgraph")


class Outage:
    """Whether one port is down, since when, and when to try it again. Safe to use from many threads.

    Args:
        port: What is down, as warnings call it.
        retry_after_s: How long it is left alone after a failure.
        clock: Tells the time.
        meanwhile: What goes on without it, as the warning says it.
        one_tries: When that time is over, one request tries and the others go on failing at once, so that a frozen port holds up
            one caller. Without it they all try, until one fails: for requests whose loss costs more than a wait.
    """

    def __init__(
        self,
        port: str,
        *,
        retry_after_s: float,
        clock: Clock,
        meanwhile: str = "the agent goes on without it",
        one_tries: bool = True,
    ) -> None:
        self.port = port
        self.unanswered = 0
        """Requests of the present outage that got no answer."""
        self.since: datetime | None = None
        self._next_try: datetime | None = None
        self._wait = timedelta(seconds=retry_after_s)
        self._clock = clock
        self._meanwhile = meanwhile
        self._one_tries = one_tries
        self._lock = threading.Lock()
        self._error: Exception | None = None

    def check(self) -> None:
        """Let a request through, or fail it at once, while the port is down and left alone.

        Raises:
            StoreUnavailable: it is left alone for now. A model's outage raises `ModelUnavailable`.
        """
        with self._lock:
            if self.since is None or self._next_try is None:
                return
            now = self._clock.now()
            if now >= self._next_try:
                if self._one_tries:
                    self._next_try = now + self._wait
                return
            self.unanswered += 1
            kind = ModelUnavailable if isinstance(self._error, ModelUnavailable) else StoreUnavailable
            raise kind(f"the {self.port} is down since {self.since:%H:%M:%S} UTC ({self._error}); it is tried again soon")

    def failed(self, error: Exception) -> None:
        """Count a request that got no answer; the first of an outage is warned of."""
        with self._lock:
            self.unanswered += 1
            self._error = error
            now = self._clock.now()
            self._next_try = now + self._wait
            if self.since is None:
                self.since = now
                logger.warning("the %s is down, %s: %s", self.port, self._meanwhile, error)

    def answered(self) -> None:
        """End the outage, if there was one."""
        with self._lock:
            if (since := self.since) is None:
                return
            took = (self._clock.now() - since).total_seconds()
            logger.warning("the %s is back after %.0f s; %d requests went unanswered", self.port, took, self.unanswered)
            self.since, self._next_try, self._error, self.unanswered = None, None, None, 0
