"""Answers every op from the right port, at a bounded price when one of them is down.

An outage costs one bounded wait, then nothing: after a failure the port is left alone for `retry_after_s` and its ops fail at once,
with one warning for the whole outage and one notice, with the count of what went unanswered, when it ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from hindsight_langgraph.backlog import Backlog
from hindsight_langgraph.errors import CallError, ModelUnavailable, StoreAuthError, StoreClosed, StoreLocked, StoreUnavailable
from hindsight_langgraph.ops import (
    BackgroundOp,
    Complete,
    Embed,
    Keep,
    Later,
    LongTermOp,
    Notify,
    Settle,
    StaleEmbeddings,
    TakeKept,
    WorkingOp,
)
from hindsight_langgraph.plan import Op, Plan, drive
from hindsight_langgraph.ports import Clock, Embedder, LongTermStore, StructuredChat, WorkingStore
from hindsight_langgraph.tracing import carried
from hindsight_langgraph.writer import Writer

logger = logging.getLogger("hindsight_langgraph")

DOWN: Final = (StoreUnavailable, StoreAuthError, StoreLocked, ModelUnavailable)
"""Errors that say the port itself is not serving, as opposed to a request that it refused."""


class Outage:
    """Whether one port is down, since when, and when to try it again. Safe to use from many threads."""

    def __init__(self, port: str, *, retry_after_s: float, clock: Clock) -> None:
        self.port = port
        self.unanswered = 0
        """Requests of the present outage that got no answer."""
        self.since: datetime | None = None
        self._next_try: datetime | None = None
        self._wait = timedelta(seconds=retry_after_s)
        self._clock = clock
        self._lock = threading.Lock()
        self._error: Exception | None = None

    def check(self) -> None:
        """Let a request through, or fail it at once: while the port is down, one request per `retry_after_s` may try.

        Raises:
            StoreUnavailable: it is left alone for now. A model's outage raises `ModelUnavailable`.
        """
        with self._lock:
            if self.since is None or self._next_try is None:
                return
            now = self._clock.now()
            if now >= self._next_try:
                self._next_try = now + self._wait  # this one tries; the others go on failing fast
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
                logger.warning("the %s is down, the agent goes on without it: %s", self.port, error)

    def answered(self) -> None:
        """End the outage, if there was one."""
        with self._lock:
            if (since := self.since) is None:
                return
            took = (self._clock.now() - since).total_seconds()
            logger.warning("the %s is back after %.0f s; %d requests went unanswered", self.port, took, self.unanswered)
            self.since, self._next_try, self._error, self.unanswered = None, None, None, 0


class Runtime:
    """The ports of one memory, as one answerer with a blocking and an awaiting face."""

    def __init__(
        self,
        *,
        working: WorkingStore,
        long_term: LongTermStore,
        embedder: Embedder,
        chat: StructuredChat | None,
        clock: Clock,
        retry_after_s: float,
    ) -> None:
        self.working = working
        self.long_term = long_term
        self.embedder = embedder
        self.chat = chat
        self.clock = clock
        self.closed = False
        self._warned_of_stale = False
        self.writer = Writer(name="hindsight-writer")
        self.annotator = Writer(name="hindsight-annotator")
        """Runs what may take seconds, such as asking a chat model for its judgement."""
        self.idler = Writer(name="hindsight-idle")
        """Consolidates; apart from the writer, which recalls wait for."""
        self.backlog = Backlog()
        self.listeners: list[Callable[[object], None]] = []
        self.outages = {
            name: Outage(name, retry_after_s=retry_after_s, clock=clock)
            for name in ("working store", "long-term store", "embedding model", "chat model")
        }

    def answer(self, op: Op[Any]) -> Any:
        """Answer one request, blocking."""
        if isinstance(op, BackgroundOp):
            return self._settle(op) if isinstance(op, Settle) else self._in_process(op)
        outage = self._admit(op)
        try:
            reply = self._call(op)
        except DOWN as error:
            outage.failed(error)
            raise
        outage.answered()
        return reply

    async def aanswer(self, op: Op[Any]) -> Any:
        """Answer one request on the running loop."""
        if isinstance(op, BackgroundOp):
            return await self._asettle(op) if isinstance(op, Settle) else self._in_process(op)
        outage = self._admit(op)
        try:
            reply = await self._acall(op)
        except DOWN as error:
            outage.failed(error)
            raise
        outage.answered()
        return reply

    def _settle(self, op: Settle) -> bool:
        # writes first: one that ends may hand a task on to be judged
        workers = (self.writer, self.annotator, *([self.idler] if op.idle else []))
        return all(worker.settle(op.owner, op.timeout_s) for worker in workers)

    async def _asettle(self, op: Settle) -> bool:
        for worker in (self.writer, self.annotator, *([self.idler] if op.idle else [])):
            if not await worker.asettle(op.owner, op.timeout_s):
                return False
        return True

    def _in_process(self, op: BackgroundOp[Any]) -> Any:
        match op:
            case Later(owner=owner, plan=plan, slow=slow):
                worker = self.annotator if slow else self.writer
                return worker.submit(owner, carried(lambda: self._in_background(plan)))
            case Keep(scope=scope, turns=turns):
                return self.backlog.keep(scope, turns)
            case TakeKept(owner=owner):
                return self.backlog.take(owner)
            case Notify(event=event):
                return self._notify(event)
            case StaleEmbeddings():
                return self._stale_embeddings()
            case _:
                raise CallError(f"no port answers {type(op).__name__}")

    def close_background(self, timeout_s: float) -> None:
        """Do what is queued within the timeout, then end the threads; what is left is pending in the working store."""
        for worker in (self.writer, self.annotator, self.idler):
            worker.close(timeout_s)

    def _in_background(self, plan: Callable[[], Plan[object]]) -> None:
        try:
            drive(plan(), self.answer)
        except DOWN as error:  # the outage was warned of; what was to be written waits
            logger.debug("background work waits: %s", error)

    def _stale_embeddings(self) -> str:
        found = str(self.long_term.mismatch or "")
        if found and not self._warned_of_stale:
            self._warned_of_stale = True
            logger.warning("%s", found)
        return found

    def _notify(self, event: object) -> None:
        for listener in self.listeners:
            try:
                listener(event)
            except Exception as error:  # noqa: BLE001 - a listener is a guest; it must not stop the memory
                logger.warning("a listener failed on %s: %s", type(event).__name__, error)

    def _admit(self, op: Op[Any]) -> Outage:
        if self.closed:
            raise StoreClosed("this memory is closed; open a new one")
        outage = self.outages[_port_of(op)]
        outage.check()
        return outage

    def _call(self, op: Op[Any]) -> Any:
        match op:
            case WorkingOp():
                return self.working.run(op)
            case LongTermOp():
                return self.long_term.run(op)
            case Embed(texts=texts, purpose=purpose):
                return self.embedder.embed(texts, purpose=purpose)
            case Complete():
                return self._chat_model().complete(op)
            case _:
                raise CallError(f"no port answers {type(op).__name__}")

    async def _acall(self, op: Op[Any]) -> Any:
        match op:
            case WorkingOp():
                return await self.working.arun(op)
            case LongTermOp():
                return await self.long_term.arun(op)
            case Embed(texts=texts, purpose=purpose):
                return await self.embedder.aembed(texts, purpose=purpose)
            case Complete():
                return await self._chat_model().acomplete(op)
            case _:
                raise CallError(f"no port answers {type(op).__name__}")

    def _chat_model(self) -> StructuredChat:
        if self.chat is None:
            raise CallError("a chat model was asked for and none is configured; set HINDSIGHT_CHAT_MODEL or pass chat_model=…")
        return self.chat


def _port_of(op: Op[Any]) -> str:
    match op:
        case WorkingOp():
            return "working store"
        case LongTermOp():
            return "long-term store"
        case Embed():
            return "embedding model"
        case _:
            return "chat model"
