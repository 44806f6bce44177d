"""The checkpointer of a LangGraph server, configured by the environment.

```json
{"checkpointer": {"path": "./checkpointer.py:create_checkpointer"}}
```
where `checkpointer.py` holds `from hindsight_langgraph.checkpointers import create_checkpointer`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import quote

from hindsight_langgraph.checkpointers.saver import HindsightSaver
from hindsight_langgraph.config import HindsightConfig


@asynccontextmanager
async def create_checkpointer() -> AsyncGenerator[HindsightSaver]:
    """A saver for the length of a server's life.

    Its store is `HINDSIGHT_CHECKPOINT_URL`, else `HINDSIGHT_REDIS_URL` (a cluster with `HINDSIGHT_REDIS_CLUSTER=true`), else the
    file `checkpoints.db` under `HINDSIGHT_PATH`. `HINDSIGHT_CHECKPOINT_TTL_S`,
    `HINDSIGHT_CHECKPOINT_WHEN_DOWN`, `HINDSIGHT_RETRY_AFTER_S`, `HINDSIGHT_PREFIX` and `HINDSIGHT_DURABLE` are heeded.

    Raises:
        ConfigError: a variable has a value that cannot be used.
    """
    async with saver_from(HindsightConfig.from_env()) as saver:
        yield saver


def saver_from(config: HindsightConfig) -> HindsightSaver:
    """The saver that the settings describe; nothing is connected before its first use.

    Raises:
        ConfigError: a setting names no store.
    """
    return HindsightSaver.from_url(
        store_url(config),
        ttl_s=config.checkpoint_ttl_s,
        prefix=config.prefix,
        durable=config.durable,
        when_down=config.checkpoint_when_down,
        retry_after_s=config.retry_after_s,
    )


def store_url(config: HindsightConfig) -> str:
    """Where checkpoints are kept by these settings."""
    if config.checkpoint_url is not None:
        return config.checkpoint_url
    if config.redis_url is None:
        return f"sqlite:///{quote(str(config.path / 'checkpoints.db'))}"
    scheme, _, rest = config.redis_url.partition("://")
    cluster = config.redis_cluster and not scheme.endswith("+cluster")
    return f"{scheme}{'+cluster' if cluster else ''}://{rest}"
