"""What an observer of a checkpointer is shown, each thing once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR

from hindsight_langgraph.checkpointers.cache import Cache

_log = logging.getLogger(__name__)
_REMEMBERED = 100_000
"""Ids of checkpoints, writes and messages that were shown already; some 10 MB."""
_THREADS = 10_000
"""Threads of which the moment of the last checkpoint is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One thing that a checkpointer stored. Values are the graph's own objects: read them, never change them."""

    id: str
    """The same for the same thing in every process; an observer that writes under it writes once."""
    thread_id: str
    ns: str
    """Empty for the root graph."""
    checkpoint_id: str
    """Of the checkpoint that was put, or that the writes belong to."""
    user_id: str | None
    """From the configuration of the run."""
    run_id: str | None
    configurable: Mapping[str, Any]
    """All of the run's configuration, for what else an application keeps there."""
    took_s: float | None = None
    """Seconds from the checkpoint before it, in the same run; None for writes, and where that is not known."""
    step: int | None = None
    """None for writes."""
    source: str = ""
    """input, loop, update or fork; empty for writes."""
    changed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values of the channels that are new in this checkpoint."""
    messages: tuple[BaseMessage, ...] = ()
    """Messages among them that this thread did not hold before."""
    task_id: str = ""
    writes: tuple[tuple[str, Any], ...] = ()
    """What a task wrote, as (channel, value)."""
    errors: tuple[str, ...] = ()
    """What a task failed with."""


Observer = Callable[[Observation], None]
"""Must return at once: it runs on the graph's own time, after the store has acknowledged."""


class Watch:
    """Shows an observer what is new."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._seen: Cache[bool] = Cache(_REMEMBERED)
        self._moments: Cache[datetime] = Cache(_THREADS)
        self._failed = threading.Event()

    def was_read(self, found: CheckpointTuple | None) -> None:
        """Note the messages of a checkpoint that was read: they are not new."""
        if found is not None:
            configurable = found.config.get("configurable", {})
            thread = str(configurable.get("thread_id"))
            self._moments.drop(
                (thread, str(configurable.get("checkpoint_ns") or ""))
            )  # whatever ran after it, a pause lies between
            for message in _messages(found.checkpoint["channel_values"]):
                self._seen.put((thread, _name_of(message)), value=True)

    def was_put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, versions: ChannelVersions
    ) -> None:
        """Show a checkpoint."""
        run = _Run(config, metadata)
        place = (run.thread_id, run.ns, checkpoint["id"])
        if not self._is_new(place):
            return
        values = checkpoint["channel_values"]
        changed = {channel: values[channel] for channel in versions if channel in values}
        messages = tuple(m for m in _messages(changed) if self._is_new((run.thread_id, _name_of(m))))
        step = metadata.get("step")
        began, ended = self._moments.get(place[:2]), _moment(checkpoint)
        if ended is not None:
            self._moments.put(place[:2], ended)
        self._show(
            run.observation(
                ":".join(place),
                checkpoint["id"],
                took_s=max(0.0, (ended - began).total_seconds()) if began and ended else None,
                step=step,
                source=metadata.get("source", ""),
                changed=changed,
                messages=messages,
            )
        )

    def was_written(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str) -> None:
        """Show writes of a task."""
        run = _Run(config, {})
        checkpoint_id = str(run.configurable.get("checkpoint_id") or "")
        place = (run.thread_id, run.ns, checkpoint_id, task_id)
        new = tuple(
            (channel, value)
            for at, (channel, value) in enumerate(writes)
            if self._is_new((*place, at if channel[:2] != "__" else channel))
        )
        if new:
            errors = tuple(_error_text(value) for channel, value in new if channel == ERROR)
            self._show(run.observation(":".join(place), checkpoint_id, task_id=task_id, writes=new, errors=errors))

    def _is_new(self, key: Hashable) -> bool:
        return self._seen.add(key, value=True)

    def _show(self, observation: Observation) -> None:
        self._observer(observation)

    def safely(self, note: Callable[[], None]) -> None:
        """Run what may raise, and say so only the first time."""
        try:
            note()
        except Exception:  # noqa: BLE001 — an observer must never cost the graph its turn
            if not self._failed.is_set():
                self._failed.set()
                _log.warning(
                    "an observer of a checkpointer failed; the graph goes on, further failures are not logged", exc_info=True
                )


class _Run:
    """Whose run it is."""

    def __init__(self, config: RunnableConfig, metadata: Mapping[str, Any]) -> None:
        self.configurable: Mapping[str, Any] = config.get("configurable") or {}
        self.thread_id = str(self.configurable.get("thread_id"))
        self.ns = str(self.configurable.get("checkpoint_ns") or "")
        extra = config.get("metadata") or {}
        self._user_id = self.configurable.get("user_id") or extra.get("user_id")
        self._run_id = metadata.get("run_id") or self.configurable.get("run_id") or config.get("run_id") or extra.get("run_id")

    def observation(self, name: str, checkpoint_id: str, **more: Any) -> Observation:
        """An observation of this run."""
        return Observation(
            id=name,
            thread_id=self.thread_id,
            ns=self.ns,
            checkpoint_id=checkpoint_id,
            user_id=None if self._user_id is None else str(self._user_id),
            run_id=None if self._run_id is None else str(self._run_id),
            configurable=self.configurable,
            **more,
        )


def _messages(values: Mapping[str, Any]) -> Iterator[BaseMessage]:
    """Messages in the lists of channels; the input's own channel is left out, its messages come again with their ids."""
    for channel, value in values.items():
        if type(value) is list and not channel.startswith("__"):
            yield from (item for item in cast("Iterable[Any]", value) if isinstance(item, BaseMessage))


def _moment(checkpoint: Checkpoint) -> datetime | None:
    try:
        found = datetime.fromisoformat(checkpoint["ts"])
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.tzinfo else None


def _error_text(value: Any) -> str:
    return f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else str(value)


def _name_of(message: BaseMessage) -> str:
    return message.id or f"{message.type}:{message.content!r}"
