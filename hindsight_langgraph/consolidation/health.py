"""The state of one owner's memory, and what to do about it (SPEC F8)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pydantic import Field

from hindsight_langgraph.records import Record

_SHARE_AIM: Final = (0.20, 0.30)
"""Stored to raw text (SPEC F8)."""
_MANY_PENDING: Final = 20
_BAR: Final = 30


class Health(Record):
    """Figures of one owner's memory."""

    units: int
    by_region: dict[str, int]
    by_status: dict[str, int]
    by_tier: dict[str, int]
    by_kind: dict[str, int]
    cold: int
    pending: int
    """Turns accepted and not yet written."""
    unused: tuple[str, ...] = ()
    """Important memories, half a month old or more, that no recall ever brought; the most important first."""
    growth: dict[str, int] = Field(default_factory=dict)
    """Memories said by month, `2025-03`, oldest first."""
    stored_chars: int = 0
    raw_chars: int = 0
    """Text of the active memories, and of everything that was taken in since the first turn."""
    sampled: bool = False
    """True when growth is counted over a part of a large memory, and its texts are estimated from that."""
    last_full: datetime | None = None
    """When the last full pass began."""

    @property
    def share(self) -> float | None:
        """Stored to raw text; None while there is nothing."""
        return self.stored_chars / self.raw_chars if self.raw_chars else None

    def advice(self) -> list[str]:
        """What to do, most urgent first; empty when all is well."""
        found: list[str] = []
        if self.pending >= _MANY_PENDING:
            found.append(f"{self.pending} turns wait to be written: check the embedding and chat models (`hindsight doctor`)")
        if self.units and self.last_full is None:
            found.append("never consolidated: add ConsolidateOnIdle to the graph, or run `hindsight consolidate`")
        if self.share is not None and self.share > _SHARE_AIM[1] and self.units > _MANY_PENDING:
            found.append(
                f"the memory keeps {self.share:.0%} of what it read; {_SHARE_AIM[0]:.0%} to {_SHARE_AIM[1]:.0%} is the aim: a chat model "
                "extracts shorter memories, and a full pass merges and archives"
            )
        if len(self.unused) >= 3:
            found.append(f"{len(self.unused)} important memories were never recalled: check what they say, forget what is wrong")
        superseded = self.by_status.get("superseded", 0)
        if superseded > self.units / 2 > _MANY_PENDING:
            found.append(
                f"{superseded} of {self.units} memories are history: lower consolidation.hard_days to archive them sooner"
            )
        return found

    def lines(self) -> list[str]:
        """A readable account with bars."""
        head = f"{self.units} memories, {self.cold} in cold storage, {self.pending} turns pending"
        tables = {
            "region": self.by_region, "status": self.by_status, "tier": self.by_tier, "kind": self.by_kind, "said in": self.growth
        }  # fmt: skip
        rows = [line for name, table in tables.items() if table for line in ("", name, *bars(table))]
        share = [] if self.share is None else ["", f"stored / raw text: {self.share:.0%}{' (estimated)' if self.sampled else ''}"]
        unused = ["", "important, never recalled:", *(f"  {text}" for text in self.unused[:5])] if self.unused else []
        todo = self.advice()
        return [head, *rows, *share, *unused, "", *(f"→ {line}" for line in todo or ["nothing to do"])]


def bars(table: dict[str, int]) -> list[str]:
    """One bar a row, the longest `_BAR` characters; every count above 0 is visible."""
    most = max(table.values(), default=0)
    width = max((len(name) for name in table), default=0)
    return [
        f"  {name:<{width}}  {'█' * max(1, round(_BAR * count / most)) if count else '':<{_BAR}}  {count}"
        for name, count in table.items()
    ]
