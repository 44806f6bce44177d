"""Fit the ranker that ships, or test one by folds.

    python -m benchmarks.ranker --data DATA --gold GOLD [--cache DIR] --save PATH       what ships: RealMem and the probes only
    python -m benchmarks.ranker --data DATA --folds locomo [--cache DIR]                what a deployment learns, by five folds

Candidates come from the real plan with the weighted sum alone, so that what is learnt is to correct it. By folds, all that `hindsight train`
fits is fitted on other conversations than those asked about: the query adapter, and the ranker on what is found with one. A ranker learns
from candidates found with adapters that saw neither its own conversation nor the one asked about.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.adapter import contrasts_of, questions
from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import SETS, Question, Space, asked_of
from benchmarks.gold import dialogue_paths, recall_probes
from benchmarks.metrics import Row, judge, summary
from benchmarks.options import gold_of, parser, sets_of, tell
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.pipeline import RecallTools, tools_for
from hindsight_langgraph.recall.query_adapter import QueryAdapter
from hindsight_langgraph.recall.ranker import FEATURES, POOL, RANKER_VERSION, mix, rows
from hindsight_langgraph.recall.recollection import Item, Recollection, Stage
from hindsight_langgraph.records import Scope
from hindsight_langgraph.training.adapter import fit_adapter
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
        table = by_folds(given.folds, sets_of(given.data), embedder)
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
    for space in SETS[name](data):
        yield from cases_of(name, space, embedder, tools=tools_for(SPACE))


def cases_of(name: str, space: Space, embedder: CachedEmbedder, *, tools: RecallTools) -> list[Case]:
    """Every question of one space with its candidates."""
    found: list[Case] = []
    session_of, scope = {unit.id: unit.session_id for unit in space.units}, Scope(user_id=space.id)
    with BenchMemory(name, embedder) as memory:
        memory.put(space.units)
        for question in asked_of(name, space):
            as_of = question.at if name in ("realmem", "realmem_turns") else None
            told = memory.recall(question.text, scope=scope, now=question.at, config=LINEAR, tools=tools, as_of=as_of)
            if case := case_of(told, question, source=f"{name}/{space.id}", session_of=session_of):
                found.append(case)
    return found


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


def by_folds(name: str, data: Path, embedder: CachedEmbedder) -> dict[str, list[Row]]:
    """What is learnt does for conversations it never saw: `adapter` with the weighted sum, `folds` with a ranker as well."""
    spaces = list(SETS[name](data))
    fold_of = {space.id: place % FOLDS for place, space in enumerate(spaces)}
    learner = _Learner(name=name, spaces=spaces, fold_of=fold_of, embedder=embedder)
    table: dict[str, list[Row]] = {"adapter": [], "folds": []}
    for fold in range(FOLDS):
        taught = [case for space in spaces if fold_of[space.id] != fold for case in learner.cases(space, unseen=fold)]
        trees = train_ranker([case.group for case in taught])
        for space in (space for space in spaces if fold_of[space.id] == fold):
            for case in learner.cases(space, unseen=fold):
                linear = case.group.rows[:, FEATURES.index("linear")]
                for method, scores in (("adapter", linear), ("folds", mix(linear, trees.predict(case.group.rows)))):
                    ranking = [case.ids[i] for i in np.argsort(-scores, kind="stable")]
                    table[method].append((space.id, case.category, judge(ranking, case.gold, case.session_of)))
    return table


@dataclass(kw_only=True)
class _Learner:
    """Candidates by adapters that never saw the conversation."""

    name: str
    spaces: Sequence[Space]
    fold_of: Mapping[str, int]
    embedder: CachedEmbedder
    adapters: dict[frozenset[int], QueryAdapter] = field(default_factory=dict)

    def cases(self, space: Space, *, unseen: int) -> list[Case]:
        """The questions of a space with what is found by an adapter that saw neither its fold nor the one `unseen`."""
        left_out = frozenset({self.fold_of[space.id], unseen})
        if left_out not in self.adapters:
            self.adapters[left_out] = self._adapter(left_out)
        return cases_of(self.name, space, self.embedder, tools=replace(tools_for(SPACE), adapter=self.adapters[left_out]))

    def _adapter(self, left_out: frozenset[int]) -> QueryAdapter:
        rng = random.Random(0)
        seen = [space for space in self.spaces if self.fold_of[space.id] not in left_out]
        contrasts = [
            contrast
            for space in seen
            for question in questions(self.name, space, self.embedder)
            for contrast in contrasts_of(question, space.id, rng)
        ]
        return fit_adapter(contrasts, space=SPACE).adapter


if __name__ == "__main__":
    main()
