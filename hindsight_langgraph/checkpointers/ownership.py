"""Whose a thread is, read from what its runs were called with."""

from __future__ import annotations

from collections.abc import Collection

from hindsight_langgraph.checkpoint_ops import Address, ListThreads, ReadPage
from hindsight_langgraph.checkpointers.flows import Flows
from hindsight_langgraph.plan import Plan, ask

_PAGE = 64


def delete_user(flows: Flows, user_id: str, *, threads: Collection[str]) -> Plan[int]:
    """Delete the threads of one user, and those named, and say how many there were (SPEC G8)."""
    deleted = 0
    for thread in (yield from ask(ListThreads())):
        if thread in threads or (yield from _users(flows, thread)) == {user_id}:
            yield from flows.delete_thread(thread)
            deleted += 1
    return deleted


def _users(flows: Flows, thread: str) -> Plan[set[str]]:
    """Every user that a run of the thread named: LangGraph keeps a run's `configurable` in its checkpoints' metadata."""
    users = set[str]()
    after: Address | None = None
    while True:
        rows = yield from ask(ReadPage(thread=thread, ns=None, after=after, limit=_PAGE))
        metadata = (flows.open(thread, row).metadata for row in rows)
        users |= {str(user) for found in metadata if (user := found.get("user_id")) is not None}
        if len(rows) < _PAGE:
            return users
        after = (rows[-1].ns, rows[-1].id)
