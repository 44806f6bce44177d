"""How well the memory decides what to write, without a chat model: `python benchmarks/encoding.py --data ../shared --json`.

Each labelled dialogue is written turn by turn into a real embedded store, by heads that learnt from the other dialogues only. English
and Chinese apart. With `--json` the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from hindsight_langgraph.backends.qdrant_edge import EdgeLongTermStore
from hindsight_langgraph.backends.sqlite_store import SqliteWorkingStore
from hindsight_langgraph.clock import SystemClock
from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.heads import Heads
from hindsight_langgraph.encoding.redact import SecretRedactor
from hindsight_langgraph.encoding.report import TurnReport, WriteReport
from hindsight_langgraph.encoding.statement import Extraction, ExtractionStatus, Statement
from hindsight_langgraph.encoding.write import WritingTools, write_turns
from hindsight_langgraph.models.embedders import CachedEmbedder, LocalEmbedder
from hindsight_langgraph.ops import Embed, ScanUnits, Where
from hindsight_langgraph.plan import Op, Plan, drive
from hindsight_langgraph.ports import Embedder
from hindsight_langgraph.records import Kind, MemoryUnit, Scope, Status, Triple, Turn
from hindsight_langgraph.runtime import Runtime
from hindsight_langgraph.training.dialogues import Dialogue, read_dialogues
from hindsight_langgraph.training.heads import unbiased_heads

LANGUAGES = ("en", "zh")


@dataclass(kw_only=True)
class Run:
    """One dialogue, written."""

    dialogue: Dialogue
    reports: dict[str, TurnReport]
    units: list[MemoryUnit]
    seconds: float = 0.0
    """CPU time of everything but embedding; unlike the clock it does not depend on what else the machine does."""


@dataclass
class Timed:
    """Answers ops, keeping the time of embedding apart."""

    runtime: Runtime
    embedding_s: float = 0.0

    def __call__(self, op: Op[Any]) -> Any:
        """Answer one request."""
        if not isinstance(op, Embed):
            return self.runtime.answer(op)
        start = time.process_time()
        try:
            return self.runtime.answer(op)
        finally:
            self.embedding_s += time.process_time() - start


@contextmanager
def embedded(embedder: Embedder) -> Iterator[Runtime]:
    """The embedded stores in a directory of their own."""
    clock = SystemClock()
    with tempfile.TemporaryDirectory() as directory:
        working = SqliteWorkingStore(Path(directory) / "working.sqlite", timeout_s=2.0, clock=clock)
        long_term = EdgeLongTermStore(Path(directory) / "units", embedder.space)
        try:
            yield Runtime(working=working, long_term=long_term, embedder=embedder, chat=None, clock=clock, retry_after_s=10.0)
        finally:
            long_term.close()
            working.close()


def write_dialogue(dialogue: Dialogue, tools: WritingTools, embedder: Embedder, *, whole_sessions: bool = False) -> Run:
    """Write one dialogue as an agent would, turn by turn (or session by session), each with what was said before it."""
    reports: dict[str, TurnReport] = {}
    with embedded(embedder) as runtime:
        _all_units(runtime, dialogue)  # opens the store: a second of disk work that no later write pays again
        answer = Timed(runtime)
        start = time.process_time()
        for number, session in enumerate(dialogue.sessions):
            scope = Scope(user_id=dialogue.name, session_id=f"{dialogue.name}-{number}")
            batches = [list(session)] if whole_sessions else [[turn] for turn in session]
            said: list[Turn] = []
            for batch in batches:
                report = drive(_plan(batch, said, scope, tools), answer)
                reports |= {turn.turn_id: turn for turn in report.turns}
                said += batch
        seconds = time.process_time() - start - answer.embedding_s
        units = _all_units(runtime, dialogue)
    return Run(dialogue=dialogue, reports=reports, units=units, seconds=seconds)


def _plan(batch: Sequence[Turn], said: Sequence[Turn], scope: Scope, tools: WritingTools) -> Plan[WriteReport]:
    now = batch[-1].at
    if now is None:
        raise ValueError("a labelled turn has a time")
    return write_turns(batch, context=said[-12:], scope=scope, now=now, config=WriteConfig(), tools=tools)


def _all_units(runtime: Runtime, dialogue: Dialogue) -> list[MemoryUnit]:
    page = runtime.answer(ScanUnits(where=Where(owners=(Scope(user_id=dialogue.name).owner,)), limit=10_000))
    return [item.unit for item in page.units]


# --- counting ------------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Counts over some dialogues, and the figures that they come to."""

    turns: int = 0
    kept: int = 0
    worth: int = 0
    right: int = 0
    typed: int = 0
    typed_right: int = 0
    dated: int = 0
    dated_right: int = 0
    undated: int = 0
    invented: int = 0
    updates: int = 0
    updates_found: int = 0
    lasting: int = 0
    retired_wrongly: int = 0
    mistakes: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """The figures, as shares."""
        precision, recall = _share(self.right, self.kept), _share(self.right, self.worth)
        return {
            "remember_precision": precision,
            "remember_recall": recall,
            "remember_f1": round(2 * precision * recall / (precision + recall), 4) if precision + recall else 0.0,
            "filtered_share": round(1 - _share(self.kept, self.turns), 4),
            "type_accuracy": _share(self.typed_right, self.typed),
            "date_accuracy": _share(self.dated_right, self.dated),
            "dates_invented": _share(self.invented, self.undated),
            "supersessions_found": _share(self.updates_found, self.updates),
            "wrongly_retired": _share(self.retired_wrongly, self.lasting),
        }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def count(tally: Tally, run: Run) -> None:
    """Add one written dialogue to a tally."""
    dialogue = run.dialogue
    kept = {turn for unit in run.units for turn in unit.sources}
    said = [turn for session in dialogue.sessions for turn in session]
    tally.turns += len(said)
    tally.kept += len(kept)
    tally.worth += len(dialogue.kinds)
    tally.right += len(kept & set(dialogue.kinds))
    for turn in said:
        if (turn.id in kept) != (turn.id in dialogue.kinds):
            tally.mistakes.append(f"gate   {'kept  ' if turn.id in kept else 'missed'} {turn.text}")
    _count_kinds_and_dates(tally, run, kept)
    _count_updates(tally, run)


def _count_kinds_and_dates(tally: Tally, run: Run, kept: set[str]) -> None:
    texts = {turn.id: turn.text for session in run.dialogue.sessions for turn in session}
    for memory in run.dialogue.memories:
        turn_id = memory["turn_ids"][-1]
        if turn_id not in kept or not run.reports[turn_id].statements:
            continue
        statements = [s for turn in memory["turn_ids"] for s in run.reports[turn].statements]
        tally.typed += 1
        right = Kind(memory["type"]) in {s.kind for s in run.reports[turn_id].statements}
        tally.typed_right += right
        if not right:
            tally.mistakes.append(f"kind   {memory['type']} read as {run.reports[turn_id].statements[0].kind}: {texts[turn_id]}")
        days = {s.anchor.start.date() for s in statements if s.anchor is not None}
        if memory["event_time"]:
            tally.dated += 1
            wanted = date.fromisoformat(memory["event_time"][:10])
            tally.dated_right += wanted in days
            if wanted not in days:
                tally.mistakes.append(f"date   {wanted} read as {sorted(map(str, days))}: {texts[turn_id]}")
        else:
            tally.undated += 1
            tally.invented += bool(days)


def _count_updates(tally: Tally, run: Run) -> None:
    texts = {turn.id: turn.text for session in run.dialogue.sessions for turn in session}
    by_id = {unit.id: unit for unit in run.units}
    retired = [
        (set(unit.sources), set(by_id[unit.superseded_by].sources) if unit.superseded_by in by_id else set[str]())
        for unit in run.units
        if unit.status is Status.SUPERSEDED
    ]
    tally.updates += len(run.dialogue.updates)
    for old, new in sorted(run.dialogue.updates):
        found = any(old in olds and new in news for olds, news in retired)
        tally.updates_found += found
        if not found:
            tally.mistakes.append(f"update missed: {texts[old]}  ←  {texts[new]}")
    replaced = run.dialogue.replaced
    tally.lasting += len(run.dialogue.memories) - len({old for old, _ in run.dialogue.updates})
    for olds, news in retired:
        if not olds & replaced:
            tally.retired_wrongly += 1
            tally.mistakes.append(f"update wrong: {[texts[turn] for turn in olds]}  ←  {[texts[turn] for turn in news]}")


# --- the gold memories as the model's answers ----------------------------------------------------------------------------


class GoldExtractor:
    """Answers what the labels say of each turn, as a perfect model would."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._memories = dialogue.memories

    def extract(self, turns: Sequence[Turn], *, context: Sequence[Turn], scope: Scope) -> Plan[Extraction]:
        """The labelled memories that one of `turns` completes."""
        del context, scope
        yield from ()
        ids = {turn.id for turn in turns}
        found = tuple(_statement(memory) for memory in self._memories if memory["turn_ids"][-1] in ids)
        return Extraction(statements=found, status=ExtractionStatus.OK_WITH_FACTS if found else ExtractionStatus.OK_NOTHING)


def _statement(memory: Any) -> Statement:
    triple = Triple(subject=memory["subject"], attribute=memory["attribute"], value=memory["value"])
    return Statement(kind=Kind(memory["type"]), content=memory["content"], triple=triple, turn_ids=tuple(memory["turn_ids"]))


def gold_through(dialogue: Dialogue, heads: Heads, embedder: Embedder) -> tuple[int, int, int]:
    """Memories lost, memories written twice, and units that a second run of everything adds."""
    open_gate = replace(heads.gate, threshold=0.0)
    tools = _tools(replace(heads, gate=open_gate, words=None), embedder, extractor=GoldExtractor(dialogue))
    with embedded(embedder) as runtime:
        sizes: list[int] = []
        for _ in range(2):
            for number, session in enumerate(dialogue.sessions):
                scope = Scope(user_id=dialogue.name, session_id=f"{dialogue.name}-{number}")
                for i, turn in enumerate(session):
                    drive(_plan([turn], session[:i], scope, tools), runtime.answer)
            sizes.append(len(_all_units(runtime, dialogue)))
        units = _all_units(runtime, dialogue)
    lost = sum(not any(set(m["turn_ids"]) <= set(u.sources) for u in units) for m in dialogue.memories)
    return lost, max(0, sizes[0] - len(dialogue.memories)), sizes[1] - sizes[0]


def _tools(heads: Heads, embedder: Embedder, *, extractor: GoldExtractor | None = None) -> WritingTools:
    return WritingTools(heads=heads, aliases=AliasTable(), redactor=SecretRedactor(), space=embedder.space, extractor=extractor)


# --- the command ---------------------------------------------------------------------------------------------------------


def measure(gold: Path, *, mistakes: bool = False) -> dict[str, Any]:
    """All figures over the labelled dialogues under `gold`."""
    embedder = CachedEmbedder(LocalEmbedder(threads=1), size=100_000)
    dialogues = read_dialogues(gold)
    tallies = {language: Tally() for language in ("all", *LANGUAGES)}
    lost = doubled = again = turns = 0
    seconds = 0.0
    for number, dialogue in enumerate(dialogues, start=1):
        print(f"{number}/{len(dialogues)} {dialogue.name}", file=sys.stderr)
        heads = unbiased_heads(dialogue.name, gold, embedder)
        run = write_dialogue(dialogue, _tools(heads, embedder), embedder)
        for name in ("all", dialogue.language):
            count(tallies[name], run)
        timed = write_dialogue(dialogue, _tools(heads, embedder), embedder, whole_sessions=True)
        seconds, turns = seconds + timed.seconds, turns + len(timed.reports)
        one_lost, one_doubled, one_again = gold_through(dialogue, heads, embedder)
        lost, doubled, again = lost + one_lost, doubled + one_doubled, again + one_again
    if mistakes:
        print("\n".join(sorted(tallies["all"].mistakes)))
    return {
        **tallies["all"].figures(),
        **{language: tallies[language].figures() for language in LANGUAGES},
        "gold_lost": lost,
        "gold_doubled": doubled,
        "gold_written_again": again,
        "turns_per_s": round(turns / seconds) if seconds else 0,
        "model_call_share": round(1 - tallies["all"].figures()["filtered_share"], 4),
    }


def table(figures: dict[str, Any]) -> str:
    """The figures for a person."""
    names = [name for name, value in figures["en"].items() if isinstance(value, float)]
    lines = [f"{'':22} {'all':>7} {'en':>7} {'zh':>7}"]
    lines += [f"{name:22} {figures[name]:7.3f} {figures['en'][name]:7.3f} {figures['zh'][name]:7.3f}" for name in names]
    rest = [name for name in figures if name not in names and name not in LANGUAGES]
    return "\n".join([*lines, *(f"{name:22} {figures[name]:>7}" for name in rest)])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared"), help="directory that holds gold/dialogues")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--mistakes", action="store_true", help="list every mistake")
    arguments = parser.parse_args()
    figures = measure(arguments.data / "gold", mistakes=arguments.mistakes)
    print(table(figures))
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
