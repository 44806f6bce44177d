"""What a run gets from the saver while the store is down, for callers who chose to go on without durability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, DeltaChannelHistory

from hindsight_langgraph.checkpoint_ops import ReadCheckpoint
from hindsight_langgraph.checkpointers.cache import Cache
from hindsight_langgraph.checkpointers.documents import config_of
from hindsight_langgraph.checkpointers.flows import address_in
from hindsight_langgraph.errors import StoreAuthError, StoreUnavailable
from hindsight_langgraph.outages import Outage
from hindsight_langgraph.plan import Plan, ask

R = TypeVar("R")
_DOWN: Final = (StoreUnavailable, StoreAuthError)
_REMEMBERED = 4096
"""Threads that began without their history, and checkpoints of such runs."""


class Continuing:
    """Wraps the flows that a run needs: a store that is down reads as an empty one, and what was to be stored is dropped.

    A run that began while the store was down does not know the history of its thread. Were its checkpoints stored once the store
    is back, they would be the newest of the thread, and the conversation before would be forgotten; so they are stored only if
    the thread has no history. The next run reads the history, and is stored again.
    """

    def __init__(self, outage: Outage) -> None:
        self._outage = outage
        self._blind: Cache[bool] = Cache(_REMEMBERED)
        """Threads whose history could not be read when it was last asked for."""
        self._dropped: Cache[bool] = Cache(_REMEMBERED)
        """Checkpoints of runs that began like this."""

    def get(self, config: RunnableConfig, reading: Plan[CheckpointTuple | None]) -> Plan[CheckpointTuple | None]:
        """Read a checkpoint; none while the store is down."""
        thread = str(address_in(config)[0])
        try:
            found = yield from self._tried(reading)
        except _DOWN:
            self._blind.put(thread, True)
            return None
        self._blind.drop(thread)
        return found

    def put(self, config: RunnableConfig, checkpoint_id: str, storing: Plan[RunnableConfig]) -> Plan[RunnableConfig]:
        """Store a checkpoint, if the store is up and the run knows the history of the thread."""
        thread_id, ns, parent = address_in(config)
        thread = str(thread_id)
        blind = self._dropped.get((thread, ns, parent)) if parent else self._blind.get(thread)
        try:
            if not blind or (yield from self._tried(ask(ReadCheckpoint(thread=thread, ns=ns)))) is None:
                return (yield from self._tried(storing))
        except _DOWN:
            pass
        if blind:
            self._dropped.put((thread, ns, checkpoint_id), True)
        return config_of(thread_id, ns, checkpoint_id)

    def put_writes(self, config: RunnableConfig, storing: Plan[None]) -> Plan[None]:
        """Store writes of a task, if the store is up and their checkpoint was not dropped."""
        thread_id, ns, checkpoint_id = address_in(config)
        if self._dropped.get((str(thread_id), ns, checkpoint_id)):
            return
        try:
            yield from self._tried(storing)
        except _DOWN:
            return

    def delta_history(
        self, channels: Sequence[str], reading: Plan[Mapping[str, DeltaChannelHistory]]
    ) -> Plan[Mapping[str, DeltaChannelHistory]]:
        """Writes of ancestors; none while the store is down."""
        try:
            return (yield from self._tried(reading))
        except _DOWN:
            return {channel: {"writes": []} for channel in channels}

    def _tried(self, plan: Plan[R]) -> Plan[R]:
        self._outage.check()
        try:
            reply = yield from plan
        except _DOWN as error:
            self._outage.failed(error)
            raise
        self._outage.answered()
        return reply
