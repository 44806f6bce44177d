"""Read labelled dialogues: what was said, what of it is worth remembering, what replaces what.

Form of a file: `sessions[].start`, `sessions[].turns[]` with id, role and content; `gold_memories[]` with id, type and turn_ids;
`supersessions[]` with the ids of the old and the new memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from hindsight_langgraph.errors import ConfigError
from hindsight_langgraph.records import Kind, Role, Turn

TURN_GAP: Final = timedelta(seconds=20)
"""Turns have no time of their own: they follow the start of their session at this pace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialogue:
    """One labelled conversation over several sessions."""

    name: str
    language: str
    sessions: tuple[tuple[Turn, ...], ...]
    kinds: Mapping[str, Kind]
    """Kind by turn id, for the turns worth remembering."""
    said_by: Mapping[str, tuple[str, ...]]
    """Ids of the turns that say a memory, by its id; the last one completes it."""
    updates: frozenset[tuple[str, str]]
    """(old, new) ids of the turns that complete the replaced and the replacing memory."""
    memories: tuple[Mapping[str, Any], ...]
    """The memories as they are written in the file."""

    @property
    def replaced(self) -> frozenset[str]:
        """Ids of every turn that says a memory which is replaced later."""
        completing = {old for old, _ in self.updates}
        return frozenset(turn for turns in self.said_by.values() if turns[-1] in completing for turn in turns)


def read_dialogues(directory: Path) -> list[Dialogue]:
    """Every labelled dialogue under `directory/dialogues`, by file name.

    Raises:
        ConfigError: there is none, or one lacks a field.
    """
    paths = sorted((directory / "dialogues").glob("*.json"))
    if not paths:
        raise ConfigError(f"no labelled dialogues under {directory / 'dialogues'}; expected *.json files")
    return [_read(path) for path in paths]


def _read(path: Path) -> Dialogue:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        memories = document["gold_memories"]
        said_by = {memory["id"]: tuple(memory["turn_ids"]) for memory in memories}
        return Dialogue(
            name=path.stem,
            language=document.get("lang", "en"),
            sessions=tuple(_session(session) for session in document["sessions"]),
            kinds={turn: Kind(memory["type"]) for memory in memories for turn in memory["turn_ids"]},
            said_by=said_by,
            updates=frozenset((said_by[pair["old"]][-1], said_by[pair["new"]][-1]) for pair in document["supersessions"]),
            memories=tuple(memories),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} is not a labelled dialogue: {error}") from error


def _session(session: Mapping[str, Any]) -> tuple[Turn, ...]:
    start = datetime.fromisoformat(session["start"])
    turns: Sequence[Mapping[str, str]] = session["turns"]
    return tuple(
        Turn(id=turn["id"], role=Role(turn["role"]), text=turn["content"], at=start + TURN_GAP * i)
        for i, turn in enumerate(turns)
    )
