"""Fit the ranker that ships, or test one by folds.

    python -m benchmarks.ranker --data DATA --gold GOLD [--cache DIR] --save PATH       what ships: RealMem and the probes only
    python -m benchmarks.ranker --data DATA --folds locomo [--cache DIR]                five folds by conversation, for comparison

Candidates come from the real plan with the weighted sum alone, so that what is learnt is to correct it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import SETS
from benchmarks.gold import dialogue_paths, recall_probes
from benchmarks.metrics import Judgement, judge, summary
from benchmarks.options import gold_of, parser, sets_of, tell
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.pipeline import RecallTools, tools_for
from hindsight_langgraph.recall.ranker import POOL, RANKER_VERSION, SHARE, rows
from hindsight_langgraph.recall.recollection import Item, Recollection, Stage
from hindsight_langgraph.records import Scope
from hindsight_langgraph.training.ranker import Group, train_ranker

LINEAR = RecallConfig(ranker=False, abstain=False, dynamic_cut=False)
CORPORA = ("realmem", "realmem_turns", "realmem_sources")
FOLDS = 5
ADVERSARIAL = "5"
Case = tuple[Group, str, list[str], frozenset[str], dict[str, str], list[float]]
"""The group with its category, candidate ids, evidence, sessions by id, and scores by the weighted sum."""


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument("--folds")
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    embedder = CachedEmbedder(given.cache)
    if given.folds:
        tell(by_folds(list(cases(given.folds, sets_of(given.data), embedder))), as_json=given.json)
        return
    groups = [case[0] for name in CORPORA for case in cases(name, sets_of(given.data), embedder)]
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
                ranked = candidates(found)
                if ranked:
                    wanted = np.array([item.unit.id in question.gold for item in ranked], dtype=np.int8)
                    group = Group(source=f"{name}/{space.id}", rows=rows(ranked, found.cues), wanted=wanted)
                    ids, scores = [item.unit.id for item in ranked], [item.score for item in ranked]
                    yield group, question.category, ids, question.gold, session_of, scores


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


def by_folds(found: Sequence[Case]) -> dict[str, object]:
    """The table of a ranker that never saw the conversation that it is asked about."""
    places = {source: i for i, source in enumerate(dict.fromkeys(case[0].source for case in found))}
    table: dict[str, list[tuple[str, str, Judgement]]] = defaultdict(list)
    for fold in range(FOLDS):
        trees = train_ranker([case[0] for case in found if places[case[0].source] % FOLDS != fold])
        for group, category, ids, gold, session_of, scores in (c for c in found if places[c[0].source] % FOLDS == fold):
            mixed = SHARE * spread(trees.predict(group.rows)) + (1 - SHARE) * spread(np.array(scores))
            for name, order in (("folds", mixed), ("linear", np.array(scores))):
                ranking = [ids[i] for i in np.argsort(-order, kind="stable")]
                table[name].append((group.source, category, judge(ranking, gold, session_of)))
    return {name: summary(judged) for name, judged in table.items()}


def spread(values: NDArray[Any]) -> NDArray[Any]:
    """Values between their least and their greatest."""
    span = values.max() - values.min()
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)


if __name__ == "__main__":
    main()
