"""What a consolidation did, or would do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from hindsight_langgraph.consolidation.changes import Change, PassName
from hindsight_langgraph.records import Record

Level = Literal["light", "full"]


class ConsolidationReport(Record):
    """The changes of one run, by pass."""

    level: Level
    owner: str
    at: datetime
    changes: Mapping[PassName, tuple[Change, ...]]
    waiting: int = 0
    """Turns and raw texts that could not be read yet; the run is due again for them."""
    dry_run: bool = False
    busy: bool = False
    """True when another run had this owner, so that nothing was done."""

    def of(self, verb: str) -> list[Change]:
        """The changes of one verb: merge, retire, link, adjust, add, archive."""
        return [change for changes in self.changes.values() for change in changes if change.verb == verb]

    @property
    def merged(self) -> int:
        """Units that gave way to one that says the same."""
        return len(self.of("merge"))

    @property
    def linked(self) -> int:
        """Pairs that were linked."""
        return len(self.of("link"))

    @property
    def superseded(self) -> int:
        """Units that a later statement contradicts."""
        return len(self.of("retire"))

    @property
    def archived(self) -> int:
        """Units that moved to the cold collection."""
        return len(self.of("archive"))

    def lines(self) -> list[str]:
        """A readable account."""
        if self.busy:
            return [f"{self.owner} is being consolidated already; nothing was done"]
        verb = "would make" if self.dry_run else "made"
        counts = ", ".join(f"{name} {len(changes)}" for name, changes in self.changes.items() if changes) or "none"
        head = [f"{self.level} pass over {self.owner} {verb} {sum(map(len, self.changes.values()))} changes: {counts}"]
        waits = [f"{self.waiting} texts wait for a model or store"] if self.waiting else []
        return [*head, *waits, *(change.line() for changes in self.changes.values() for change in changes)]
