"""Write turns down for a chat model: numbered, each with its speaker, date, weekday and offset (CASES O07, O08, O16)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from hindsight_langgraph.records import Turn

Clean = Callable[[str], str]
"""Takes out of a text what a model must not see."""

_SENTENCE_END: Final = re.compile(r"[.!?;]\s|[。！？；\n]")
_FENCE: Final = re.compile(r"<(/?\s*conversation)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A turn, or a part of one that is too long, as the model sees it."""

    number: int
    turn: Turn
    text: str
    part: int = 1
    parts: int = 1


def pieces(turns: Sequence[Turn], *, clean: Clean, most: int) -> list[Piece]:
    """Every turn in pieces of at most `most` characters, cut at sentence ends; blank turns yield none."""
    found: list[Piece] = []
    for number, turn in enumerate(turns):
        texts = split(clean(turn.text), most)
        found.extend(
            Piece(number=number, turn=turn, text=text, part=part, parts=len(texts)) for part, text in enumerate(texts, start=1)
        )
    return found


def split(text: str, most: int) -> list[str]:
    """The text in parts of at most `most` characters, none blank, cut behind a sentence where there is one in the second half."""
    parts: list[str] = []
    text = text.strip()
    while len(text) > most:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, most // 2, most)]
        cut = ends[-1] if ends else (text.rfind(" ", most // 2, most) + 1 or most)
        parts.append(text[:cut].strip())
        text = text[cut:].strip()
    return [part for part in [*parts, text] if part]


def batches(found: Sequence[Piece], *, most: int) -> list[list[Piece]]:
    """Pieces in order, grouped so that a group holds at most `most` characters or one piece."""
    groups: list[list[Piece]] = []
    room = 0
    for piece in found:
        if not groups or len(piece.text) > room:
            groups.append([])
            room = most
        groups[-1].append(piece)
        room -= len(piece.text)
    return groups


def transcript(before: Sequence[Turn], batch: Sequence[Piece], *, clean: Clean, timezone: str, most_before: int = 600) -> str:
    """The conversation as text between tags that the turns cannot close; `before` is shown shortened and unnumbered."""
    lines = [
        f"(before) {heading(turn, timezone)}: {_fenced(clean(turn.text))[:most_before]}" for turn in before if turn.text.strip()
    ]
    for piece in batch:
        part = f" (part {piece.part} of {piece.parts})" if piece.parts > 1 else ""
        lines.append(f"[{piece.number}] {heading(piece.turn, timezone)}{part}: {_fenced(piece.text)}")
    return "\n".join(["<conversation>", *lines, "</conversation>"])


def heading(turn: Turn, timezone: str) -> str:
    """Who spoke and when: "user (Ann), Wednesday 2025-03-05 00:20 +08:00"."""
    name = turn.speaker or turn.tool
    who = f"{turn.role.value} ({name})" if name else turn.role.value
    return f"{who}, {_moment(turn.at, timezone)}"


def _moment(at: datetime | None, timezone: str) -> str:
    if at is None:
        return "time unknown"
    local = at if at.utcoffset() else at.astimezone(ZoneInfo(timezone))
    offset = local.strftime("%z")
    weekday = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[local.weekday()]
    return f"{weekday} {local:%Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}"


def _fenced(text: str) -> str:
    return _FENCE.sub(r"‹\1", text)
