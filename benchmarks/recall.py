"""Quality of recall on public sets and on the labelled probes, through the real store and the real plan.

    python benchmarks/recall.py [--data DIR] [--json] [--sets locomo,realtalk,beam,memdaily,gold] [--cache DIR] [--out FILE]

One object a set (`locomo`, `locomo_tune` for conversations 0 to 4, `locomo_report` for 5 to 9, `realtalk`, `beam`, `memdaily`), each with
`linear` (the weighted sum), `ours` (with the shipped ranker) and the baselines; `gold` with the shares of `benchmarks.gold`.
LoCoMo is asked without its adversarial category. Every unit is one message; it is searched among its own user's units.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.baselines import Baselines
from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import SETS, Space
from benchmarks.gold import Asked, dialogue_paths, measure, recall_probes
from benchmarks.metrics import Judgement, judge, summary
from benchmarks.options import gold_of, parser, sets_of
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.pipeline import tools_for
from hindsight_langgraph.records import Scope

Rows = list[tuple[str, str, Judgement]]
ADVERSARIAL = "5"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sets", default="locomo,realtalk,beam,memdaily,gold")
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument(
        "--skip-baselines", action="store_true", help="they need every message embedded a second time, without its prefix"
    )
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    embedder, report = CachedEmbedder(given.cache), dict[str, object]()
    for name in given.sets.split(","):
        if name == "gold":
            report["gold"] = gold(gold_of(given.data), embedder)
        else:
            report |= public(name, sets_of(given.data), embedder, compare=not given.skip_baselines)
        print(json.dumps({key: value for key, value in report.items() if key.startswith(name)}, indent=1), flush=True)
    if given.out:
        given.out.write_text(json.dumps(report, indent=1) + "\n")
    if given.json:
        print(json.dumps(report))


def public(name: str, data: Path, embedder: CachedEmbedder, *, compare: bool) -> dict[str, object]:
    """The table of one public set, and for LoCoMo those of its two halves."""
    spaces, rows = list(SETS[name](data)), defaultdict[str, Rows](list)
    with BenchMemory(name, embedder) as memory:
        memory.put([unit for space in spaces for unit in space.units])
        for space in spaces:
            for method, judged in ask_space(name, space, memory, embedder, compare=compare):
                rows[method].append(judged)
    report: dict[str, object] = {name: {method: summary(found) for method, found in rows.items()}}
    if name == "locomo":
        first = {space.id for space in spaces[:5]}
        for half, inside in (("locomo_tune", True), ("locomo_report", False)):
            report[half] = {m: summary([row for row in found if (row[0] in first) == inside]) for m, found in rows.items()}
    return report


def ask_space(
    name: str, space: Space, memory: BenchMemory, embedder: CachedEmbedder, *, compare: bool
) -> Iterator[tuple[str, tuple[str, str, Judgement]]]:
    """Every question of a space by every method."""
    config, tools = RecallConfig(), tools_for(SPACE)
    methods = {"linear": config.model_copy(update={"ranker": False})} | ({"ours": config} if tools.ranker else {})
    session_of = {unit.id: unit.session_id for unit in space.units}
    asked = [q for q in space.questions if q.gold and not (name == "locomo" and q.category == ADVERSARIAL)]
    usual = Baselines(name, space, embedder) if compare else None
    for question in asked:
        rankings = usual.rankings(question.text) if usual is not None else {}
        for method, variant in methods.items():
            found = memory.recall(question.text, scope=Scope(user_id=space.id), now=question.at, config=variant, tools=tools)
            rankings[method] = [unit.id for unit in found.ranking]
        for method, ranking in rankings.items():
            yield method, (space.id, question.category, judge(ranking, question.gold, session_of))


def gold(folder: Path, embedder: CachedEmbedder) -> dict[str, object]:
    """The shares over the probes of the labelled dialogues, as recall is shipped and with one stage off at a time."""
    variants = {
        "shipped": RecallConfig(),
        "without_ranker": RecallConfig(ranker=False),
        "without_cut": RecallConfig(dynamic_cut=False),
        "without_abstention": RecallConfig(abstain=False),
        "route_only": RecallConfig(route_only=True),
        "entity_filter": RecallConfig(entity_filter=True),
        **{preset: RecallConfig(preset=preset) for preset in ("balanced", "decay", "weighted", "associative", "causal")},
    }
    report = {name: probes(folder, embedder, config) for name, config in variants.items()}
    for supersession in ("labels", "none"):
        report[f"supersession_{supersession}"] = probes(folder, embedder, RecallConfig(), supersession=supersession)
    return {**report.pop("shipped"), "variants": report}


def probes(folder: Path, embedder: CachedEmbedder, config: RecallConfig, *, supersession: str = "match") -> dict[str, float]:
    """The shares under one configuration."""
    found: list[Asked] = []
    for path in dialogue_paths(folder):
        with BenchMemory("gold", embedder) as memory:
            found += recall_probes(path, memory, config=config, tools=tools_for(SPACE), supersession=supersession)
    return measure(found)


if __name__ == "__main__":
    main()
