"""What redis-py raises, as errors of this library, by what the caller can do about it."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from hindsight_langgraph.errors import (
    ConfigError,
    HindsightError,
    StoreAuthError,
    StoreRejected,
    StoreUnavailable,
)

_DOWN = "is down, too slow or refuses connections; the same request may succeed later"
_UNREADY = "cannot answer now; the same request may succeed later"
_AUTH = "refused the credentials; check the user, the password and its permissions"
_REFUSED = "refused the request"
_MOVED = "is a node of a cluster; set redis_cluster to use it as one"
_NO_CLUSTER = "cannot be used as a cluster; check the address, or turn redis_cluster off"

KINDS: Mapping[str, tuple[type[HindsightError], str]] = {
    "ConnectionError": (StoreUnavailable, _DOWN),
    "TimeoutError": (StoreUnavailable, _DOWN),
    "MaxConnectionsError": (StoreUnavailable, _DOWN),
    "ChildDeadlockedError": (StoreUnavailable, _DOWN),
    "InvalidResponse": (StoreUnavailable, "does not answer as Redis does; check the address"),
    "BusyLoadingError": (StoreUnavailable, _UNREADY),
    "ReadOnlyError": (StoreUnavailable, _UNREADY),
    "OutOfMemoryError": (StoreUnavailable, _UNREADY),
    "TryAgainError": (StoreUnavailable, _UNREADY),
    "AskError": (StoreUnavailable, _UNREADY),
    "ClusterError": (StoreUnavailable, _UNREADY),
    "ClusterDownError": (StoreUnavailable, _UNREADY),
    "MasterDownError": (StoreUnavailable, _UNREADY),
    "SlotNotCoveredError": (StoreUnavailable, _UNREADY),
    "AuthenticationError": (StoreAuthError, _AUTH),
    "AuthenticationWrongNumberOfArgsError": (StoreAuthError, _AUTH),
    "AuthorizationError": (StoreAuthError, _AUTH),
    "ExternalAuthProviderError": (StoreAuthError, _AUTH),
    "NoPermissionError": (StoreAuthError, _AUTH),
    "MovedError": (ConfigError, _MOVED),
    "RedisClusterException": (ConfigError, _NO_CLUSTER),
    "RedisError": (StoreRejected, _REFUSED),
    "ResponseError": (StoreRejected, _REFUSED),
    "DataError": (StoreRejected, _REFUSED),
    "NoScriptError": (StoreRejected, _REFUSED),
    "ExecAbortError": (StoreRejected, _REFUSED),
    "WatchError": (StoreRejected, _REFUSED),
    "PubSubError": (StoreRejected, _REFUSED),
    "ModuleError": (StoreRejected, _REFUSED),
    "NoSuchFieldsetError": (StoreRejected, _REFUSED),
    "LockError": (StoreRejected, _REFUSED),
    "LockNotOwnedError": (StoreRejected, _REFUSED),
    "ClusterCrossSlotError": (StoreRejected, _REFUSED),
    "CrossSlotTransactionError": (StoreRejected, _REFUSED),
    "InvalidPipelineStack": (StoreRejected, _REFUSED),
    "IncorrectPolicyType": (StoreRejected, _REFUSED),
}
"""Every class of `redis.exceptions`, by name: versions differ in which they have, and looking one up imports nothing."""

# Inside a script the code is somewhere in the message, and the class is only ResponseError. Redis 7 answers a long request that comes
# without a password with "Protocol error: unauthenticated multibulk length".
_CODES = re.compile(
    r"\b(?:(NOAUTH|WRONGPASS|NOPERM|ACL failure|user executing the script|unauthenticated)"
    r"|(LOADING|READONLY|MISCONF|OOM|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|BUSY))\b"
)


@contextmanager
def mapped(where: str) -> Generator[None, None, None]:
    """Raise redis-py's errors as ours; `where` names the server, without its password."""
    try:
        yield
    except HindsightError:
        raise
    except Exception as error:
        ours = as_ours(error, where)
        if ours is None:
            raise
        raise ours from error


def as_ours(error: BaseException, where: str) -> HindsightError | None:
    """The error to raise in place of redis-py's or the operating system's; None for any other."""
    found = next((KINDS[base.__name__] for base in type(error).__mro__ if _is_redis(base) and base.__name__ in KINDS), None)
    if found is None:
        if isinstance(error, OSError):
            return StoreUnavailable(f"{where} {_DOWN} ({type(error).__name__}: {error})")
        if isinstance(error, UnicodeEncodeError):
            return StoreRejected(f"{where} cannot keep a text of this request: {error}")
        return None
    if type(error).__name__ == "RedisClusterException" and error.__cause__ is not None:
        # What a cluster client met while it looked for the nodes.
        return as_ours(error.__cause__, where)
    kind, advice = found
    code = _CODES.search(str(error)) if type(error).__name__ == "ResponseError" else None
    if code is not None:
        kind, advice = (StoreAuthError, _AUTH) if code[1] else (StoreUnavailable, _UNREADY)
    return kind(f"{where} {advice} ({type(error).__name__}: {error})")


def _is_redis(base: type) -> bool:
    return base.__module__ == "redis.exceptions"
