"""What consolidation does to stored units, decided before anything is written.

Every change names the units it is about and what they said when it was decided; one that no longer fits is left out, and one that was
applied already changes nothing. So a run that dies half-way can be done again.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, TypeAdapter

from hindsight_langgraph.records import MemoryUnit, Record, Tier, Triple, Unit01

_PREVIEW = 70


class PassName(StrEnum):
    """The passes, in the order that they run."""

    STRUCTURING = "structuring"
    TRIPLES = "triples"
    """What stored units state; asks a chat model, and does nothing without one."""
    DUPLICATES = "duplicates"
    CONTRADICTIONS = "contradictions"
    CHAINS = "chains"
    SUMMARIES = "summaries"
    PROMOTION = "promotion"
    RESCORING = "rescoring"
    TIERS = "tiers"
    FORGETTING = "forgetting"


LIGHT: tuple[PassName, ...] = (PassName.STRUCTURING, PassName.DUPLICATES, PassName.RESCORING)
"""Every twenty turns (SPEC F1)."""
FULL: tuple[PassName, ...] = tuple(PassName)
"""After five idle minutes."""


class Merge(Record):
    """`gone` says what `kept` says: `kept` takes over its sources, counts and links, then `gone` gives way to it."""

    verb: Literal["merge"] = "merge"
    kept: str
    gone: str
    kept_text: str
    gone_text: str
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The units that it is about."""
        return self.kept, self.gone

    def line(self) -> str:
        """One readable line."""
        return f"merge      {_short(self.gone_text)}  →  {_short(self.kept_text)}  ({self.reason})"


class Retire(Record):
    """`new` says otherwise than `old` about the same thing."""

    verb: Literal["retire"] = "retire"
    old: str
    new: str
    old_text: str
    new_text: str
    reason: str = ""

    @classmethod
    def of(cls, older: MemoryUnit, *, by: MemoryUnit, reason: str) -> Self:
        """The older unit is retired by another."""
        return cls(old=older.id, new=by.id, old_text=older.content, new_text=by.content, reason=reason)

    @property
    def ids(self) -> tuple[str, ...]:
        """The units that it is about."""
        return self.old, self.new

    def line(self) -> str:
        """One readable line."""
        return f"supersede  {_short(self.old_text)}  →  {_short(self.new_text)}  ({self.reason})"


class Link(Record):
    """Two units that belong together."""

    verb: Literal["link"] = "link"
    first: str
    second: str
    reason: str = ""
    unsure: bool = False
    """Whether the two may be one, which the rules cannot tell."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The units that it is about."""
        return self.first, self.second

    def line(self) -> str:
        """One readable line."""
        return f"link       {self.first[:8]} – {self.second[:8]}  ({self.reason})"


class Read(Record):
    """A unit gets the statement that a chat model read off it, or the note that it makes none; not if it was changed since."""

    NOTHING: ClassVar = "no-statement"
    """Tag of a unit that was read and states nothing that has one subject, attribute and value."""

    verb: Literal["read"] = "read"
    unit: str
    text: str
    seen: int
    """The revision that it was decided on."""
    triple: Triple | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The units that it is about."""
        return (self.unit,)

    def line(self) -> str:
        """One readable line."""
        read = self.triple
        what = (
            "no statement" if read is None else f"{read.subject} {read.attribute}: {'not ' if read.negated else ''}{read.value}"
        )
        return f"read       {_short(self.text)}  →  {what}"


class Adjust(Record):
    """A unit gets another importance or tier, unless it was changed since."""

    verb: Literal["adjust"] = "adjust"
    unit: str
    text: str
    seen: int
    """The revision that it was decided on."""
    importance: Unit01 | None = None
    tier: Tier | None = None
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The units that it is about."""
        return (self.unit,)

    def line(self) -> str:
        """One readable line."""
        what = [f"importance {self.importance:.2f}"] if self.importance is not None else []
        what += [f"tier {self.tier}"] if self.tier is not None else []
        return f"adjust     {_short(self.text)}: {', '.join(what)}  ({self.reason})"


class Add(Record):
    """A unit made from others: a summary, or what a pattern comes to. One of the same id is replaced."""

    verb: Literal["add"] = "add"
    made: MemoryUnit
    about: str = ""
    """The thing, goal or pattern that it is about."""
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The units that it is about: the evidence, which must still be there."""
        return self.made.related

    def line(self) -> str:
        """One readable line."""
        return f"add        {_short(self.made.content)}  ({self.reason})"


class Archive(Record):
    """A unit moves to the cold collection; it can be brought back (SPEC F7)."""

    verb: Literal["archive"] = "archive"
    unit: str
    text: str
    seen: int
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The units that it is about."""
        return (self.unit,)

    def line(self) -> str:
        """One readable line."""
        return f"archive    {_short(self.text)}  ({self.reason})"


Change = Annotated[Merge | Retire | Link | Read | Adjust | Add | Archive, Field(discriminator="verb")]
CHANGES: TypeAdapter[list[Change]] = TypeAdapter(list[Change])
"""Reads and writes a list of changes as JSON."""


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _PREVIEW else f"{flat[: _PREVIEW - 1]}…"
