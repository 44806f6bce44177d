"""The workers' app as a test runs it: each finished task says in Redis whom it consolidated."""

from __future__ import annotations

from typing import Any

import redis
from celery.signals import task_success

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.workers import CONSOLIDATE, celery_app

config = HindsightConfig.from_env()
app = celery_app(config)


@task_success.connect  # type: ignore[untyped-decorator]  # celery ships no types
def tell(sender: Any = None, result: Any = None, **_: Any) -> None:
    if sender is not None and sender.name == CONSOLIDATE:
        with redis.Redis.from_url(str(config.redis_url)) as client:
            for owner in result:
                client.rpush("consolidated", owner)
