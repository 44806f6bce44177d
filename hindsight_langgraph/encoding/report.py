"""What writing did, turn by turn, with its reasons."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from hindsight_langgraph.encoding.match import Outcome
from hindsight_langgraph.records import Kind, Record, Region, TimeAnchor, Unit01


class WriteStatus(StrEnum):
    """How writing went. Everything but `OK` leaves something to do again."""

    OK = "ok"
    PARTIAL = "partial"
    """Some of what the extractor said could not be used; the rest is stored."""
    FAILED = "failed"
    """An extraction failed; its turns are kept raw and named in `failed_turns`."""


class StatementReport(Record):
    """What became of one statement."""

    unit_id: str
    content: str
    kind: Kind
    region: Region
    anchor: TimeAnchor | None = None
    outcome: Outcome
    same_as: str | None = None
    supersedes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


class TurnReport(Record):
    """What was decided about one turn."""

    turn_id: str
    kept: bool
    score: Unit01 = 0.0
    reasons: tuple[str, ...] = ()
    statements: tuple[StatementReport, ...] = ()
    already_written: bool = False
    """An earlier run of the same step wrote it."""
    failed: bool = False
    cut: bool = False
    """The chat model's answer about it was cut short, with more room too: what was whole of it is stored, and the turn as it was said."""
    text: str = ""
    """Beginning of the turn, without its secrets."""


class WriteReport(Record):
    """What one call of `write_turns` decided and did; with `dry_run`, what it would have done."""

    status: WriteStatus = WriteStatus.OK
    turns: tuple[TurnReport, ...] = ()
    written: tuple[str, ...] = ()
    """Ids of new units."""
    bumped: tuple[str, ...] = ()
    """Ids of stored units that a duplicate confirmed."""
    superseded: tuple[str, ...] = ()
    redactions: dict[str, int] = Field(default_factory=dict)
    """How many secrets of each sort were taken out."""
    failed_turns: tuple[str, ...] = ()
    rejected: int = 0
    """Items of a model's answer that could not be used."""
    model_calls: int = 0
    """Requests to the chat model."""
    embedded: bool = True
    """False when the embedding model was down: units are found by words until they are embedded."""
    dry_run: bool = False

    @property
    def filtered_share(self) -> float:
        """Part of the turns that the gate let go, from 0 to 1; 0 when there was none."""
        return sum(not turn.kept for turn in self.turns) / len(self.turns) if self.turns else 0.0

    def lines(self) -> list[str]:
        """The report for a person, one line per turn and statement."""
        kept = sum(turn.kept for turn in self.turns)
        head = f"{kept} of {len(self.turns)} turns kept, {len(self.written)} written, {len(self.bumped)} confirmed, "
        head += f"{len(self.superseded)} superseded, {self.model_calls} model calls, status {self.status}"
        if self.redactions:
            head += f", taken out: {', '.join(f'{count} {sort}' for sort, count in sorted(self.redactions.items()))}"
        found = [head + (" (dry run)" if self.dry_run else "")]
        for turn in self.turns:
            mark = "=" if turn.already_written else "!" if turn.failed else "+" if turn.kept else "-"
            found.append(f"{mark} {turn.score:.2f} {turn.text}  [{', '.join(turn.reasons)}]")
            for statement in turn.statements:
                target = statement.same_as or ", ".join(statement.supersedes)
                found.append(f"    {statement.outcome} {statement.kind}: {statement.content}{f'  → {target}' if target else ''}")
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())
