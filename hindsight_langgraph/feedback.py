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

from hindsight_langgraph.records import Record, TracedRun

logger = logging.getLogger("hindsight_langgraph")

OUTCOME_KEY: Final = "hindsight_outcome"
"""Whether the task succeeded that a run recalled for."""
JUDGEMENT_KEY: Final = "hindsight_judgement"
"""The share of what a run recalled that helped, from 0 to 1, with what each memory did as the comment."""
OWN_KEYS: Final = frozenset({OUTCOME_KEY, JUDGEMENT_KEY})
"""A review never reads these back: they come from the memory itself."""
WAITING: Final = 256
"""The most feedback that waits to be sent."""
_NAMESPACE: Final = uuid.UUID("0c0d1c44-7f0b-5b52-8c8b-2c6f2c0e6f55")


class Judged(Record):
    """Something is known of these runs, now that their task is over."""

    runs: tuple[TracedRun, ...]
    key: str
    """`OUTCOME_KEY` or `JUDGEMENT_KEY`."""
    score: bool | float
    comment: str = ""


class FeedbackSender:
    """Writes feedback on the runs that were judged.

    Its thread is a daemon, started at the first of it; a script that forgets to close the memory still ends.
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
            judged.key,
            score=judged.score,
            comment=judged.comment or None,
            trace_id=run.trace_id,
            session_id=self._projects[run.project],
            feedback_id=uuid.uuid5(_NAMESPACE, f"{run.id}:{judged.model_dump_json(exclude={'runs'})}"),  # told twice, it is one
            stop_after_attempt=1,
        )
