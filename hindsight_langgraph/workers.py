"""Consolidation on Celery, over the Redis broker of the memory's settings: `celery -A hindsight_langgraph.workers worker --beat`.

A beat looks for users whose time has come and sends one task for each; a task claims one due user from the working store. The claim, not
the message, decides who works: a message that is lost, sent twice or redelivered does no harm, and what a killed worker had claimed is
due again when its lease ends.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module
from typing import Any, Final

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import ConfigError, MissingExtra
from hindsight_langgraph.memory import HindsightMemory

SWEEP: Final = "hindsight.sweep"
CONSOLIDATE: Final = "hindsight.consolidate_due"
QUEUE: Final = "hindsight"
"""Name of the Celery queue, so that a broker may be shared."""


class Workplace:
    """One memory a worker process, opened at its first task: stores are opened after a fork only.

    Without settings they are read from the environment, when the memory is opened.
    """

    def __init__(self, config: HindsightConfig | None = None) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._opened: tuple[int, HindsightMemory] | None = None

    @property
    def memory(self) -> HindsightMemory:
        """The memory of this process."""
        with self._lock:
            if self._opened is None or self._opened[0] != os.getpid():
                config = self._config or HindsightConfig.from_env()
                off = config.consolidation.model_copy(update={"in_process": False})
                self._opened = os.getpid(), HindsightMemory.open(config=config.model_copy(update={"consolidation": off}))
            return self._opened[1]


def celery_app(config: HindsightConfig | None = None) -> Any:
    """A Celery app with the tasks and the beat schedule.

    Args:
        config: settings of the memory; None reads them from the environment.

    Raises:
        MissingExtra: Celery is not installed.
        ConfigError: the settings name no Redis, which the workers share.
    """
    try:
        celery: Any = import_module("celery")  # it ships no types
    except ImportError as error:
        raise MissingExtra("Celery is not installed; run: pip install 'langgraph-hindsight[celery]'") from error
    settings = config or HindsightConfig.from_env()
    if settings.redis_url is None:
        raise ConfigError("workers share their queue in Redis; set HINDSIGHT_REDIS_URL")
    app = celery.Celery("hindsight", broker=settings.redis_url)
    every = settings.consolidation.tick_s
    app.conf.update(
        task_acks_late=True, task_reject_on_worker_lost=True, worker_prefetch_multiplier=1, task_ignore_result=True,
        task_default_queue=QUEUE, broker_connection_retry_on_startup=True, broker_transport_options={"global_keyprefix": f"{settings.prefix}:celery:"},
        beat_schedule={SWEEP: {"task": SWEEP, "schedule": every, "options": {"expires": every}}},
    )  # fmt: skip
    place = Workplace(settings)

    def sweep() -> int:
        """Send one task for each user whose time has come. Returns how many."""
        due = place.memory.count_due()
        for _ in range(due):
            app.send_task(CONSOLIDATE, expires=every * 4)
        return due

    def consolidate_due() -> list[str]:
        """Consolidate one user whose time has come. Returns the owner, or nothing where others were faster."""
        return [report.owner for report in place.memory.run_due(limit=1) if not report.busy]

    register: Any = app.task
    register(name=SWEEP)(sweep)
    register(name=CONSOLIDATE)(consolidate_due)
    return app


def __getattr__(name: str) -> Any:
    """`app`, made when Celery asks for it: importing this module reads no settings and needs no Celery."""
    if name == "app":
        made = globals()["app"] = celery_app()
        return made
    raise AttributeError(name)
