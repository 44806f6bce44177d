"""What the demo prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hindsight_langgraph.demo.script import Line, Question, Session
from hindsight_langgraph.encoding.report import TurnReport, WriteReport
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.records import MemoryUnit, Role, Status

TERMS = ("dense", "text", "context", "entity", "neighbour")
"""The score terms that the table shows; `recollection.explain()` has all of them."""


def show_session(console: Console, session: Session) -> None:
    """The heading of one conversation."""
    console.print()
    console.rule(f"[bold]{session.id}[/]  {session.start:%A %d %B %Y, %H:%M}", align="left", style="cyan")


def show_turn(console: Console, line: Line, report: TurnReport | None) -> None:
    """One turn of the user, and what became of it."""
    if line.role is not Role.USER:
        return
    text = Text(line.text, overflow="fold")
    if report is None or not report.kept:
        reasons = ", ".join(report.reasons) if report else "known from before"
        mark = Text(" =" if report is None else " –", style="dim")
        console.print(mark, text, Text(f"  ({reasons})"), style="dim")
        return
    console.print(Text(" +", style="bold green"), text, Text(f"  ({', '.join(report.reasons)})", style="dim"))
    for statement in report.statements:
        line_text = Text(f"     {statement.outcome} {statement.kind}: ", style="green").append(statement.content, style="default")
        if statement.supersedes:
            line_text.append(f"   retires {len(statement.supersedes)} older", style="yellow")
        console.print(line_text)


def show_counts(console: Console, reports: Sequence[WriteReport]) -> None:
    """Totals of a part."""
    turns = [turn for report in reports for turn in report.turns]
    kept = sum(turn.kept for turn in turns)
    hidden = sum(count for report in reports for count in report.redactions.values())
    console.print(
        f"\n[bold]{len(turns)} turns[/]: {kept} kept, {len(turns) - kept} filtered; "
        f"{sum(len(r.written) for r in reports)} units written, {sum(len(r.bumped) for r in reports)} confirmed, "
        f"{sum(len(r.superseded) for r in reports)} superseded" + (f"; {hidden} secrets taken out" if hidden else "")
    )


def show_changes(console: Console, units: Sequence[MemoryUnit]) -> None:
    """What changed over time: each superseded unit with the one that took its place."""
    by_id: Mapping[str, MemoryUnit] = {unit.id: unit for unit in units}
    table = Table(title="What changed, and what is kept as history", title_justify="left", show_lines=True)
    table.add_column("was", style="dim strike")
    table.add_column("until")
    table.add_column("is now", style="green")
    for unit in units:
        successor = by_id.get(unit.superseded_by or "")
        if unit.status is Status.SUPERSEDED and successor is not None:
            until = f"{unit.valid_to:%d %b}" if unit.valid_to else ""
            table.add_row(escape(unit.content), until, escape(successor.content))
    if table.row_count:
        console.print()
        console.print(table)


def show_answer(console: Console, question: Question, recollection: Recollection, answer: str, *, right: bool) -> None:
    """One question in a new session: the memories that were injected, with their scores, and the answer."""
    table = Table(box=None, pad_edge=False)
    table.add_column("score", justify="right")
    for name in TERMS:
        table.add_column(name, justify="right", style="dim")
    table.add_column("standing", style="dim")
    table.add_column("memory")
    for item in recollection.items:
        table.add_row(
            f"{item.score:.2f}",
            *(f"{item.terms.get(name, 0.0):.2f}" for name in TERMS),
            str(item.standing),
            escape(item.unit.content),
        )
    for reason in recollection.degraded:
        table.add_row("", *("" for _ in TERMS), "degraded", escape(reason))
    title = Text(f"{'✔' if right else '✘'} {question.question}")
    said = Text(f"\n{answer}", style="bold").append(f"  [{recollection.tokens} tokens injected]", style="not bold dim")
    console.print(Panel(Group(table, said), title=title, title_align="left", border_style="green" if right else "red"))
