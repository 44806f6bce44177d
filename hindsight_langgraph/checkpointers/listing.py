"""Listing checkpoints page by page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, get_checkpoint_id

from hindsight_langgraph.checkpoint_ops import Address, Found, ListThreads, ReadPage, ReadWrites
from hindsight_langgraph.checkpointers.flows import Flows, address_in
from hindsight_langgraph.plan import Plan, ask

_PAGE = 64


class Listing:
    """One listing in progress: ask for `page` until `done`.

    Threads come in the order of their ids, checkpoints of a thread newest first.
    """

    def __init__(
        self,
        flows: Flows,
        config: RunnableConfig | None,
        *,
        where: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        self._flows = flows
        self._where = dict(where or {})
        self._before = get_checkpoint_id(before) if before else None
        self._left = limit
        self._threads: list[Any] | None = None
        self._ns: str | None = None
        self._id: str | None = None
        if config is not None:
            thread_id, _, self._id = address_in(config)
            self._ns = config.get("configurable", {}).get("checkpoint_ns")
            self._threads = [thread_id]
        self._after: Address | None = None

    @property
    def done(self) -> bool:
        """Whether there is nothing more to come."""
        return self._threads == [] or (self._left is not None and self._left <= 0)

    def page(self) -> Plan[list[CheckpointTuple]]:
        """The next checkpoints, maybe none."""
        if self._threads is None:
            self._threads = list((yield from ask(ListThreads())))
        if not self._threads:
            return []
        thread_id = self._threads[0]
        thread = str(thread_id)
        limit = _PAGE if self._left is None or self._where or self._id else min(_PAGE, self._left)
        rows = yield from ask(ReadPage(thread=thread, ns=self._ns, before=self._before, after=self._after, limit=limit))
        if len(rows) < limit:
            self._threads.pop(0)
            self._after = None
        else:
            self._after = (rows[-1].ns, rows[-1].id)
        rows = [row for row in rows if self._id is None or row.id == self._id]
        rows = [row for row in rows if not self._where or self._matches(self._flows.open(thread, row).metadata)]
        rows = rows[: self._left]
        if self._left is not None:
            self._left -= len(rows)
        if not rows:
            return []
        writes = yield from ask(ReadWrites(thread=thread, addresses=tuple((row.ns, row.id) for row in rows)))
        found = [Found(row=row, writes=some) for row, some in zip(rows, writes, strict=True)]
        return (yield from self._flows.tuples(thread_id, found))

    def _matches(self, metadata: Mapping[str, Any]) -> bool:
        return all(metadata.get(key) == value for key, value in self._where.items())
