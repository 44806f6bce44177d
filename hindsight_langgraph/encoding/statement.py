"""What an extractor says: the form that every extractor shares.

An extractor reads turns and answers an `Extraction`: statements, how the reading went, how much of it was unusable. The pipeline
turns statements into units; it never needs to know which extractor made them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from hindsight_langgraph.plan import Plan
from hindsight_langgraph.records import Kind, Record, Relation, Role, Scope, TimeAnchor, Triple, Turn, Unit01

QUOTED_CLAIM = "quoted_claim"
"""Tag of a statement that gives orders to the assistant: it is kept only as something its author said, never as a rule."""


class Statement(Record):
    """One thing worth remembering, as one extractor put it (SPEC B3)."""

    kind: Kind
    content: str = Field(min_length=1)
    """Self-contained: no pronouns without their noun, absolute dates."""
    triple: Triple | None = None
    entities: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    confidence: Unit01 = 0.8
    importance: Unit01 | None = None
    """None where the extractor has no view of its own: the base importance of the kind applies (SPEC B5)."""
    turn_ids: tuple[str, ...] = Field(min_length=1)
    """Ids of the turns that it was read from, in order; the last one is the turn that said it."""
    source_text: str = ""
    speaker: Role = Role.USER
    """Who said it: what an assistant proposed is never credited to the user."""
    anchor: TimeAnchor | None = None
    tags: tuple[str, ...] = ()
    supersedes_hint: str = ""
    """The value that it replaces, in words, where the text names one ("instead of Vim"); empty otherwise."""


class ExtractionStatus(StrEnum):
    """How reading a piece went (CASES O04). Only the two `ok` ones settle the source; the others leave it pending."""

    OK_WITH_FACTS = "ok-with-facts"
    OK_NOTHING = "ok-nothing"
    PARTIAL = "partial"
    """Good items kept, bad ones counted."""
    FAILED = "failed"
    """Nothing usable was said; that is not the same as nothing to remember."""


class Extraction(Record):
    """The answer of an extractor."""

    statements: tuple[Statement, ...] = ()
    status: ExtractionStatus
    rejected: int = Field(default=0, ge=0)
    """Items of the answer that could not be used."""
    reason: str = ""
    """Why it failed or is partial; empty when all went well."""
    cut: bool = False
    """Whether the answer ended before its last item: the turns may hold more than was read."""


class Extractor(Protocol):
    """Reads turns. A plan, so that an extractor may ask models without knowing whether its caller blocks or awaits."""

    def extract(self, turns: Sequence[Turn], *, context: Sequence[Turn], scope: Scope) -> Plan[Extraction]:
        """Read `turns`, which the gate let through; `context` are the turns before them, for ellipsis; they yield nothing.

        Raises nothing of its own: a model that fails makes the extraction `FAILED`.
        """
        ...
