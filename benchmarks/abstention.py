"""When does recall hold its tongue? Leave-one-dialogue-out over the probes of the labelled dialogues.

    python -m benchmarks.abstention [--data DIR] [--json] [--cache DIR] [--more DIR…] [--save PATH]

Each answerable probe is asked twice, once with its answer hidden from the store: that gives as many hard unanswerable questions.
`--more` names directories with further dialogues to learn from; the shares over each are under `more`. `--save` writes the head fitted on everything, which is what ships.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.bench_memory import BenchMemory
from benchmarks.gold import dialogue_paths, recall_probes
from benchmarks.options import gold_of, parser, tell
from benchmarks.vectors import MODEL, CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.evidence import evidence
from hindsight_langgraph.recall.pipeline import RecallTools
from hindsight_langgraph.recall.recollection import Item, Recollection
from hindsight_langgraph.recall.route_head import shipped_head
from hindsight_langgraph.similarity import COSINE_FLOORS
from hindsight_langgraph.training.abstention import Trial, held_out, train_abstention

FLOOR = COSINE_FLOORS[MODEL]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument("--more", type=Path, nargs="*", default=[])
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    folders, embedder = [gold_of(given.data), *map(gold_of, given.more)], CachedEmbedder(given.cache)
    found = [list(collect(folder, embedder)) for folder in folders]
    judged = [trial for trials in found for trial in trials if trial.evidence]
    held = [(id(trial), odds) for trial, odds in held_out(judged, model=MODEL, cosine_floor=FLOOR)]
    head = train_abstention(judged, model=MODEL, cosine_floor=FLOOR)
    told = [_report(trials, dict(held), head.threshold) for trials in found]
    tell(told[0] | ({"more": told[1:]} if given.more else {}), as_json=given.json)
    if given.save:
        head.save(given.save)


def collect(gold: Path, embedder: CachedEmbedder) -> Iterator[Trial]:
    """The evidence of every probe, asked as it is and with its answer hidden; empty evidence where a rule abstains already."""
    tools = RecallTools(head=shipped_head(MODEL), cosine_floor=FLOOR)
    for path in dialogue_paths(gold):
        with BenchMemory("gold", embedder) as memory:
            for outcome in recall_probes(
                path, memory, config=RecallConfig(dynamic_cut=False), tools=tools, supersession="match", hiding=True
            ):
                probe = outcome.probe
                answerable = bool(probe.expected) and not outcome.hidden
                yield Trial(group=path.stem, evidence=_evidence(outcome.found), answerable=answerable, asked=not outcome.hidden)


def _evidence(found: Recollection) -> dict[str, float]:
    ranked = [Item(unit=d.unit, score=d.score, terms=d.terms) for d in found.dropped if d.stage in ("cut", "budget")]
    items = [*found.items, *sorted(ranked, key=lambda item: -item.score)]
    return evidence(items, found.cues, found.route, cosine_floor=FLOOR) if items and not found.abstained else {}


def _report(trials: list[Trial], held: Mapping[int, float], threshold: float) -> dict[str, float]:
    """The shares over the questions that were asked as they are; where a rule abstains, the odds are none."""
    asked = [(trial.answerable, held.get(id(trial), 0.0)) for trial in trials if trial.asked]
    yes, no = [odds for answerable, odds in asked if answerable], [odds for answerable, odds in asked if not answerable]
    pairs = [(a > b) + 0.5 * (a == b) for a in yes for b in no]
    return {
        "abstain": round(sum(odds < threshold for odds in no) / len(no), 4),
        "refused": round(sum(odds < threshold for odds in yes) / len(yes), 4),
        "auc": round(sum(pairs) / len(pairs), 4),
        "by_rule": sum(not trial.evidence for trial in trials if trial.asked),
        "trials": len(trials),
    }


if __name__ == "__main__":
    main()
