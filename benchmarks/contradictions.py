"""How well consolidation finds what no longer holds: `python benchmarks/contradictions.py --data ../shared --json`.

The memories of each labelled dialogue are taken in time order and consolidated in full after each session, (a) from the labelled
triples, as a perfect extractor would give them, without the checks of the write side, and (b) from the texts alone, with the project's
own extraction by heads that learnt from the other dialogues only. With `--json` the last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.encoding import _all_units, _plan, _tools, embedded
from benchmarks.gold import dialogue_paths, read_dialogue
from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.consolidation.changes import PassName
from hindsight_langgraph.consolidation.run import Run
from hindsight_langgraph.encoding.drafts import draft
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.store import put
from hindsight_langgraph.flows import consolidating, deciding
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.models.embedders import CachedEmbedder, LocalEmbedder
from hindsight_langgraph.plan import Plan, drive
from hindsight_langgraph.ports import Embedder
from hindsight_langgraph.recall.pipeline import tools_for
from hindsight_langgraph.recall.tokens import estimate_tokens
from hindsight_langgraph.records import MemoryUnit, Scope, Status
from hindsight_langgraph.runtime import Runtime
from hindsight_langgraph.training.dialogues import Dialogue, read_dialogues
from hindsight_langgraph.training.heads import unbiased_heads

JUDGED = (PassName.DUPLICATES, PassName.CONTRADICTIONS)


@dataclass
class Tally:
    """Counts over the dialogues, and the shares that they come to.

    A supersession is found when the old memory is retired. Whatever else is retired is wrong, merged or not, except for the labelled
    repeats. A repeat is merged when one active memory says both: nothing active stems from the second saying alone.
    """

    labelled: int = 0
    found: int = 0
    lasting: int = 0
    wrong: int = 0
    twins: int = 0
    merged: int = 0
    mistakes: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """The shares."""
        return {
            "supersessions_found": _share(self.found, self.labelled),
            "wrongly_retired": _share(self.wrong, self.lasting),
            "duplicates_merged": _share(self.merged, self.twins),
        }

    def count(self, dialogue: Dialogue, twins: Sequence[tuple[str, str]], units: Sequence[MemoryUnit]) -> None:
        """Add one dialogue; a memory is known by the turn that completes it, `twins` are pairs of such turns."""
        texts = {turn.id: turn.text for session in dialogue.sessions for turn in session}
        by_id = {unit.id: unit for unit in units}
        completing = {turns[-1] for turns in dialogue.said_by.values()}
        pairs = {frozenset(pair) for pair in twins}
        retired = [unit for unit in units if unit.status is Status.SUPERSEDED]
        gone = {source for unit in retired for source in unit.sources} & completing
        olds = {old for old, _ in dialogue.updates}
        self.labelled += len(olds)
        self.found += len(olds & gone)
        self.mistakes += [f"missed: {texts[old]}  ←  {texts[new]}" for old, new in sorted(dialogue.updates) if old not in gone]
        self.lasting += len(dialogue.memories) - len(olds)
        for unit in retired:
            keeper = by_id.get(unit.superseded_by or "")
            by = set(keeper.sources) if keeper is not None else set[str]()
            is_twin = any(frozenset((one, other)) in pairs for one in unit.sources for other in by)
            if not set(unit.sources) & dialogue.replaced and not is_twin:
                self.wrong += 1
                self.mistakes.append(f"wrong: {[texts[turn] for turn in unit.sources]}  ←  {[texts[turn] for turn in by]}")
        self.twins += len(pairs)
        active = [set(unit.sources) for unit in units if unit.status is Status.ACTIVE]
        for one, other in twins:
            if any(one in sources for sources in active) and not any(
                one not in sources and other in sources for sources in active
            ):
                self.merged += 1
            else:
                self.mistakes.append(f"not merged: {texts[one]}  =  {texts[other]}")


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def settings_of(embedder: Embedder, tools: Any) -> FlowSettings:
    """The settings of a memory without servers."""
    return FlowSettings(
        config=HindsightConfig(), writing=tools, recalling=tools_for(embedder.space, counter=estimate_tokens),
        counter=estimate_tokens, space=embedder.space, chat=False,
    )  # fmt: skip


def full_pass(scope: Scope, now: datetime, settings: FlowSettings) -> Plan[None]:
    """The passes that are judged here, over everything that changed."""
    run: Run = yield from consolidating.start(scope, level="full", now=now, settings=settings, passes=JUDGED)
    for name in run.passes:
        yield from consolidating.apply(run, (yield from deciding.decide(name, run, settings=settings)))
    yield from consolidating.finish(run)


def from_triples(path: Path, runtime: Runtime, settings: FlowSettings) -> None:
    """Store the labelled memories as they are, session by session, each followed by a full pass."""
    memories, _, turns, _ = read_dialogue(path)
    scope = Scope(user_id=path.stem)
    days = sorted({turn.at.date() for turn in turns if turn.at is not None})
    for day in days:
        today = [memory for memory in memories if memory.turn.at is not None and memory.turn.at.date() == day]
        for memory in today:
            assert memory.turn.at is not None
            unit = draft(
                memory.statement,
                turn=memory.turn,
                previous=memory.previous,
                scope=scope,
                aliases=AliasTable(),
                now=memory.turn.at,
            )
            vector = runtime.embedder.embed((index_text(unit),), purpose="document")[0]
            drive(put([unit], {unit.id: vector}), runtime.answer)
        if today:
            last = max(memory.turn.at for memory in today if memory.turn.at is not None)
            drive(full_pass(scope, last, settings), runtime.answer)


def from_texts(dialogue: Dialogue, runtime: Runtime, settings: FlowSettings) -> None:
    """Write the turns as an agent would, session by session, each followed by a full pass."""
    for number, session in enumerate(dialogue.sessions):
        scope = Scope(user_id=dialogue.name, session_id=f"{dialogue.name}-{number}")
        for i, turn in enumerate(session):
            drive(_plan([turn], session[:i], scope, settings.writing), runtime.answer)
        assert session[-1].at is not None
        drive(full_pass(scope, session[-1].at, settings), runtime.answer)


def measure(gold: Path, *, mistakes: bool = False) -> dict[str, dict[str, float]]:
    """Both figures over the labelled dialogues under `gold`."""
    embedder = CachedEmbedder(LocalEmbedder(threads=1), size=100_000)
    tallies = {"triples": Tally(), "texts": Tally()}
    for path, dialogue in zip(dialogue_paths(gold), read_dialogues(gold), strict=True):
        print(dialogue.name, file=sys.stderr)
        labels = json.loads(path.read_text(encoding="utf-8"))["duplicates"]
        twins = [(dialogue.said_by[one][-1], dialogue.said_by[other][-1]) for one, other in labels]
        heads = unbiased_heads(dialogue.name, gold, embedder)
        settings = settings_of(embedder, _tools(heads, embedder))
        for name, tally in tallies.items():
            with embedded(embedder) as runtime:
                if name == "triples":
                    from_triples(path, runtime, settings)
                else:
                    from_texts(dialogue, runtime, settings)
                tally.count(dialogue, twins, _all_units(runtime, dialogue))
    if mistakes:
        for name, tally in tallies.items():
            print(f"{name}:\n  " + "\n  ".join(sorted(tally.mistakes)))
    return {name: tally.figures() for name, tally in tallies.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared"), help="directory that holds gold/dialogues")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--mistakes", action="store_true", help="list every mistake")
    arguments = parser.parse_args()
    figures = measure(arguments.data / "gold", mistakes=arguments.mistakes)
    for name, row in figures.items():
        print(f"{name:8} " + "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
