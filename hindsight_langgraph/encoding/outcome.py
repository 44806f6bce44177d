"""Put together the report of one write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindsight_langgraph.encoding.decide import Decided
from hindsight_langgraph.encoding.reading import Judged
from hindsight_langgraph.encoding.report import StatementReport, TurnReport, WriteReport, WriteStatus
from hindsight_langgraph.encoding.split import clip
from hindsight_langgraph.encoding.statement import ExtractionStatus
from hindsight_langgraph.records import Status, Turn

SHOWN: Final = 120
"""Weight of a turn's text in its report."""


def write_report(
    turns: Sequence[Turn],
    judged: Sequence[Judged],
    decided: Decided,
    *,
    redactions: dict[str, int],
    model_calls: int,
    embedded: bool,
    changed: Sequence[str],
    dry_run: bool,
) -> WriteReport:
    """The report of what was decided and changed; with `dry_run`, of what would have been."""
    by_turn = {id(one.turn): one for one in judged}
    failed = tuple(one.turn.id for one in judged if one.failed)
    rejected = sum(one.extraction.rejected for one in judged if one.extraction is not None)
    partial = any(one.extraction is not None and one.extraction.status is ExtractionStatus.PARTIAL for one in judged)
    done = set(changed) if not dry_run else {change.unit_id for change in decided.changes}
    return WriteReport(
        status=WriteStatus.FAILED if failed else WriteStatus.PARTIAL if partial else WriteStatus.OK,
        turns=tuple(_turn_report(turn, by_turn.get(id(turn)), decided) for turn in turns),
        written=tuple(decided.new),
        bumped=tuple(dict.fromkeys(c.unit_id for c in decided.changes if c.verb == "confirm" and c.unit_id in done)),
        superseded=tuple(
            dict.fromkeys(
                [unit.id for unit in decided.new.values() if unit.status is Status.SUPERSEDED]
                + [c.unit_id for c in decided.changes if c.verb == "retire" and c.unit_id in done]
            )
        ),
        redactions=redactions,
        failed_turns=failed,
        rejected=rejected,
        model_calls=model_calls,
        embedded=embedded,
        dry_run=dry_run,
    )


def _turn_report(turn: Turn, one: Judged | None, decided: Decided) -> TurnReport:
    text = clip(" ".join(turn.text.split()), SHOWN)
    if one is None:
        return TurnReport(turn_id=turn.id, kept=True, already_written=True, reasons=("written before",), text=text)
    statements = tuple(
        StatementReport(
            unit_id=unit.id,
            content=unit.content,
            kind=unit.kind,
            region=unit.region,
            anchor=unit.anchor,
            outcome=found.outcome,
            same_as=found.same_as,
            supersedes=found.supersedes,
            reasons=found.reasons,
        )
        for unit in one.drafts
        if (found := decided.matches.get(unit.id)) is not None
    )
    return TurnReport(
        turn_id=turn.id,
        kept=one.verdict.keep,
        score=one.verdict.score,
        reasons=one.verdict.reasons,
        statements=statements,
        failed=one.failed,
        cut=one.cut,
        text=text,
    )
