"""Fit the ranker that ships, or test one by folds.

    python -m benchmarks.ranker --data DATA --gold GOLD [--cache DIR] --save PATH       what ships: RealMem and the probes only
    python -m benchmarks.ranker --data DATA --folds locomo [--cache DIR]                five folds by conversation, for comparison

Candidates come from the real plan with the weighted sum alone, so that what is learnt is to correct it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import ADVERSARIAL, SETS, Question
from benchmarks.gold import dialogue_paths, recall_probes
from benchmarks.metrics import Row, judge, summary
from benchmarks.options import gold_of, parser, sets_of, tell
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.pipeline import RecallTools, tools_for
from hindsight_langgraph.recall.ranker import FEATURES, POOL, RANKER_VERSION, mix, rows
from hindsight_langgraph.recall.recollection import Item, Recollection, Stage
from hindsight_langgraph.records import Scope
from hindsight_langgraph.training.ranker import Group, train_ranker

LINEAR = RecallConfig(ranker=False, abstain=False, dynamic_cut=False)
CORPORA = ("realmem", "realmem_turns", "realmem_sources")
FOLDS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One question with its candidates, best first by the weighted sum."""

    group: Group
    category: str
    ids: tuple[str, ...]
    gold: frozenset[str]
    session_of: Mapping[str, str]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument("--folds")
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    embedder = CachedEmbedder(given.cache)
    if given.folds:
        table = by_folds(list(cases(given.folds, sets_of(given.data), embedder)))
        tell({name: summary(found) for name, found in table.items()}, as_json=given.json)
        return
    groups = [case.group for name in CORPORA for case in cases(name, sets_of(given.data), embedder)]
    groups += list(probe_groups(gold_of(given.data), embedder))
    trees = train_ranker(groups)
    tell({"questions": len(groups), "trees": len(trees.feature)}, as_json=given.json)
    if given.save:
        trees.save(given.save, version=RANKER_VERSION)


def cases(name: str, data: Path, embedder: CachedEmbedder) -> Iterator[Case]:
    """Every question of a public set with its candidates; training sets are asked as of the question's own moment."""
    tools = tools_for(SPACE)
    for space in SETS[name](data):
        with BenchMemory(name, embedder) as memory:
            memory.put(space.units)
            session_of = {unit.id: unit.session_id for unit in space.units}
            for question in space.questions:
                if not question.gold or (name == "locomo" and question.category == ADVERSARIAL):
                    continue
                as_of = question.at if name in ("realmem", "realmem_turns") else None
                scope = Scope(user_id=space.id)
                found = memory.recall(question.text, scope=scope, now=question.at, config=LINEAR, tools=tools, as_of=as_of)
                if case := case_of(found, question, source=f"{name}/{space.id}", session_of=session_of):
                    yield case


def case_of(found: Recollection, question: Question, *, source: str, session_of: Mapping[str, str]) -> Case | None:
    """One question with its candidates as the weighted sum ranked them; None where there are none."""
    ranked = candidates(found)
    if not ranked:
        return None
    wanted = np.array([item.unit.id in question.gold for item in ranked], dtype=np.int8)
    group = Group(source=source, rows=rows(ranked, found.cues), wanted=wanted)
    return Case(
        group=group,
        category=question.category,
        ids=tuple(item.unit.id for item in ranked),
        gold=question.gold,
        session_of=session_of,
    )


def probe_groups(gold: Path, embedder: CachedEmbedder) -> Iterator[Group]:
    """The answerable probes of the labelled dialogues."""
    tools: RecallTools = tools_for(SPACE)
    for path in dialogue_paths(gold):
        with BenchMemory("gold", embedder) as memory:
            for asked in recall_probes(path, memory, config=LINEAR, tools=tools, supersession="match"):
                ranked = candidates(asked.found)
                if asked.probe.expected and ranked:
                    wanted = np.array([bool(set(item.unit.sources) & asked.probe.expected) for item in ranked], dtype=np.int8)
                    yield Group(source=f"gold/{path.stem}", rows=rows(ranked, asked.found.cues), wanted=wanted)


def candidates(found: Recollection) -> list[Item]:
    """The pool of one recall, best first by the weighted sum."""
    below = [Item(unit=d.unit, score=d.score, terms=d.terms) for d in found.dropped if d.stage in (Stage.CUT, Stage.REPEAT)]
    return sorted((*found.items, *below), key=lambda item: -item.score)[:POOL]


def by_folds(found: Sequence[Case]) -> dict[str, list[Row]]:
    """What a ranker does that never saw the conversation that it is asked about, and the weighted sum on the same candidates."""
    places = {source: i for i, source in enumerate(dict.fromkeys(case.group.source for case in found))}
    table: dict[str, list[Row]] = {"folds": [], "linear": []}
    for fold in range(FOLDS):
        trees = train_ranker([case.group for case in found if places[case.group.source] % FOLDS != fold])
        for case in (case for case in found if places[case.group.source] % FOLDS == fold):
            linear = case.group.rows[:, FEATURES.index("linear")]
            for name, scores in (("folds", mix(linear, trees.predict(case.group.rows))), ("linear", linear)):
                ranking = [case.ids[i] for i in np.argsort(-scores, kind="stable")]
                space = case.group.source.split("/", 1)[1]
                table[name].append((space, case.category, judge(ranking, case.gold, case.session_of)))
    return table


if __name__ == "__main__":
    main()
