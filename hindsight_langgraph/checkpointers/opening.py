"""From a URL to a checkpoint store."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from hindsight_langgraph.checkpoint_ops import CheckpointStore
from hindsight_langgraph.errors import ConfigError

_REDIS = {"redis", "rediss", "unix", "redis+cluster", "rediss+cluster"}


def open_store(url: str, *, prefix: str, timeout_s: float, durable: bool) -> CheckpointStore:
    """The store that a URL names; see `HindsightSaver.from_url`.

    Raises:
        ConfigError: the URL names none.
    """
    scheme = urlsplit(url).scheme
    if scheme in _REDIS:
        from hindsight_langgraph.backends.redis_checkpoints import RedisCheckpoints

        return RedisCheckpoints(url, prefix=prefix, timeout_s=timeout_s)
    if scheme == "sqlite":
        from hindsight_langgraph.backends.sqlite_checkpoints import SqliteCheckpoints

        return SqliteCheckpoints(_file_of(url), durable=durable, timeout_s=timeout_s)
    raise ConfigError(
        f"{scheme or 'no scheme'!r} is no checkpoint store; write sqlite:///FILE, redis://HOST:PORT/0 or redis+cluster://…"
    )


def _file_of(url: str) -> Path:
    parts = urlsplit(url)
    name = unquote(parts.path.removeprefix("/"))
    if parts.netloc or not name:
        raise ConfigError(f"{url!r} names no file; write sqlite:///relative/file.db or sqlite:////absolute/file.db")
    return Path(name)
