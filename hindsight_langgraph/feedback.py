"""Feedback on LangSmith runs, sent on a thread of its own.

Creating feedback may wait for many seconds when the endpoint is dead; nothing that answers a user, and nothing that writes memory, waits
for it. What does not fit in the queue is dropped: feedback is a courtesy, the memory keeps the outcome itself.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
import uuid
from typing import Any, Final

from hindsight_langgraph.recall.recollection import TracedRun
from hindsight_langgraph.records import Record

logger = logging.getLogger("hindsight_langgraph")

OUTCOME_KEY: Final = "hindsight_outcome"
"""Key of our own feedback; a review never reads it back."""
WAITING: Final = 256
"""The most feedback that waits to be sent."""
_NAMESPACE: Final = uuid.UUID("0c0d1c44-7f0b-5b52-8c8b-2c6f2c0e6f55")


class Judged(Record):
    """The outcome of a task is known, and these runs recalled for it."""

    runs: tuple[TracedRun, ...]
    success: bool
    comment: str = ""


class FeedbackSender:
    """Writes an outcome as feedback on the runs that it judges.

    Its thread is a daemon, started at the first outcome; a script that forgets to close the memory still ends.
    """

    def __init__(self) -> None:
        self._queue: queue.Queue[tuple[TracedRun, Judged]] = queue.Queue(WAITING)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._projects: dict[str, Any] = {}
        self._down = False

    def on_event(self, event: object) -> None:
        """Take a `Judged` in; other events are not feedback. Never waits."""
        if not isinstance(event, Judged):
            return
        for run in event.runs:
            try:
                self._queue.put_nowait((run, event))
            except queue.Full:
                logger.debug("feedback on run %s is dropped: too much waits", run.id)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="hindsight-feedback", daemon=True)
                self._thread.start()

    def settle(self, timeout_s: float) -> bool:
        """Wait until everything taken in is sent or given up. Returns whether it was in time."""
        end = time.monotonic() + timeout_s
        with self._queue.all_tasks_done:
            while self._queue.unfinished_tasks and (left := end - time.monotonic()) > 0:
                self._queue.all_tasks_done.wait(left)
            return not self._queue.unfinished_tasks

    def _work(self) -> None:
        while True:
            run, judged = self._queue.get()
            try:
                self._send(run, judged)
                self._down = False
            except Exception as error:  # noqa: BLE001 - whatever the client raises; it must not end the thread
                if not self._down:
                    self._down = True
                    logger.warning("LangSmith takes no feedback, the memory goes on without it: %s", error)
            finally:
                self._queue.task_done()

    def _send(self, run: TracedRun, judged: Judged) -> None:
        from langsmith.run_trees import get_cached_client

        client: Any = get_cached_client()  # its methods are typed in part only
        if run.project not in self._projects:
            client.flush()  # a project is made when its first run arrives
            self._projects[run.project] = client.read_project(project_name=run.project).id
        client.create_feedback(
            run.id,
            OUTCOME_KEY,
            score=judged.success,
            comment=judged.comment or None,
            trace_id=run.trace_id,
            session_id=self._projects[run.project],
            feedback_id=uuid.uuid5(
                _NAMESPACE, f"{run.id}:{judged.success}:{judged.comment}"
            ),  # the same outcome told twice is one
            stop_after_attempt=1,
        )
