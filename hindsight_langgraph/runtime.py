"""Answers every op from the right port, at a bounded price when one of them is down.

An outage costs one bounded wait, then nothing: after a failure the port is left alone for `retry_after_s` and its ops fail at once,
with one warning for the whole outage and one notice, with the count of what went unanswered, when it ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
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
from hindsight_langgraph.outages import Outage
from hindsight_langgraph.plan import Op, Plan, drive
from hindsight_langgraph.ports import Clock, Embedder, LongTermStore, StructuredChat, WorkingStore
from hindsight_langgraph.tracing import carried
from hindsight_langgraph.writer import Writer

logger = logging.getLogger("hindsight_langgraph")

DOWN: Final = (StoreUnavailable, StoreAuthError, StoreLocked, ModelUnavailable)
"""Errors that say the port itself is not serving, as opposed to a request that it refused."""


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
        return all(worker.settle(op.owner, op.timeout_s) for worker in self._workers(op))

    async def _asettle(self, op: Settle) -> bool:
        for worker in self._workers(op):
            if not await worker.asettle(op.owner, op.timeout_s):
                return False
        return True

    def _workers(self, op: Settle) -> list[Writer]:
        """Whom to wait for, in turn. Writes first: one that ends may hand a task on to be judged, and a judgement gives account as a write."""
        return [self.writer, self.annotator, *([self.writer] if op.owner is None else []), *([self.idler] if op.idle else [])]

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
