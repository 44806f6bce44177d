"""Read the made-up conversations that ship for training: what labelled dialogues have too few of (issue point 2).

Form: `# name language` begins a conversation, `@ time` a session; every other line is a turn, "role TAB label TAB text". The label is
"-" for a turn that is not worth remembering, "part KEY" for one that helps to say what a later turn completes, else "KIND KEY" and
the keys of what it replaces, each behind a "<".
"""

from __future__ import annotations

from datetime import datetime
from importlib.resources import files

from hindsight_langgraph.records import Kind, Role, Turn
from hindsight_langgraph.training.dialogues import TURN_GAP, Dialogue


def made_up_dialogues() -> list[Dialogue]:
    """The conversations, in both languages."""
    stored = (files("hindsight_langgraph") / "data" / "made-up-dialogues.tsv").read_text(encoding="utf-8")
    return [_dialogue(block) for block in stored.split("# ")[1:]]


def _dialogue(block: str) -> Dialogue:
    head, *parts = block.split("\n@ ")
    name, language = head.split()
    sessions: list[tuple[Turn, ...]] = []
    kinds: dict[str, Kind] = {}
    said_by: dict[str, tuple[str, ...]] = {}
    replaced: list[tuple[str, str]] = []
    for number, part in enumerate(parts):
        start, *lines = part.splitlines()
        labelled = [
            _turn(line, f"{name}-{number}-{i}", datetime.fromisoformat(start) + i * TURN_GAP) for i, line in enumerate(lines)
        ]
        sessions.append(tuple(turn for turn, _ in labelled))
        for turn, label in labelled:
            if label == "-":
                continue
            kind, key, *olds = label.split()
            said_by[key] = (*said_by.get(key, ()), turn.id)
            replaced += [(old.removeprefix("<"), key) for old in olds]
            if kind != "part":
                kinds |= dict.fromkeys(said_by[key], Kind(kind))
    return Dialogue(
        name=name,
        language=language,
        sessions=tuple(sessions),
        kinds=kinds,
        said_by=said_by,
        updates=frozenset((said_by[old][-1], said_by[new][-1]) for old, new in replaced),
        memories=(),
    )


def _turn(line: str, name: str, at: datetime) -> tuple[Turn, str]:
    role, label, text = line.split("\t")
    return Turn(id=name, role=Role(role), text=text, at=at), label
