"""Quality of recall on public sets and on the labelled probes, through the real store and the real plan.

    python benchmarks/recall.py [--data DIR] [--json] [--sets locomo,realtalk,beam,memdaily,gold] [--cache DIR] [--out FILE]

One object a set (`locomo`, `locomo_tune` for conversations 0 to 4, `locomo_report` for 5 to 9, `realtalk`, `beam`, `memdaily`), each with
`linear` (the weighted sum), `ours` (recall as it ships), the baselines, and for LoCoMo what `hindsight train` learns, by conversation folds:
`adapter` (a query adapter) and `folds` (with a ranker as well);
`gold` with the shares of `benchmarks.gold`; `ablations` with one term or stage off at a time on the sets that no weight was fitted on.
LoCoMo is asked without its adversarial category. Every unit is one message; it is searched among its own user's units.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.baselines import Baselines
from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import SETS, Space, asked_of
from benchmarks.gold import Asked, dialogue_paths, measure, recall_probes
from benchmarks.metrics import Row, judge, mean, summary
from benchmarks.options import gold_of, parser, sets_of
from benchmarks.ranker import by_folds
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.pipeline import tools_for
from hindsight_langgraph.records import Scope

ABLATIONS: Mapping[str, RecallConfig] = {
    "all": RecallConfig(),
    "without_walk": RecallConfig(walk=False),
    "without_dense": RecallConfig(off=("dense", "place_dense")),
    "without_text": RecallConfig(off=("text",)),
    "without_context": RecallConfig(off=("context", "place_context")),
    "without_places": RecallConfig(off=("place_dense", "place_context")),
    "without_neighbours": RecallConfig(off=("nearby", "flow")),
    "without_words_around": RecallConfig(off=("around",)),
    "without_conversation": RecallConfig(off=("conversation", "conversation_best")),
    "without_all_around": RecallConfig(off=("nearby", "flow", "around", "conversation", "conversation_best")),
    "without_speaker": RecallConfig(off=("speaker", "self")),
    "without_date": RecallConfig(off=("date",)),
    "without_answer_form": RecallConfig(off=("form",)),
    "without_length": RecallConfig(off=("length", "digits")),
    "without_questions_asked": RecallConfig(off=("asks", "replies")),
    "without_standing_rules": RecallConfig(off=("standing",)),
    "without_entities": RecallConfig(entity_top=0, off=("entity", "rival")),
    "channels_top_20": RecallConfig(dense_top=20, lexical_top=20),
    **{f"preset_{preset}": RecallConfig(preset=preset) for preset in ("balanced", "decay", "weighted", "associative", "causal")},
}
"""One stage or term off at a time, and the other presets."""
ABLATED = ("locomo_report", "realtalk", "beam")


@dataclass(kw_only=True, slots=True)
class Answers:
    """What every method ranked, of one set."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    ablated: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sets", default="locomo,realtalk,beam,memdaily,gold")
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument(
        "--skip-baselines", action="store_true", help="they need every message embedded a second time, without its prefix"
    )
    options.add_argument("--ablate-every", type=int, default=4, help="each which question is asked with one term off; 0 for none")
    options.add_argument("--skip-folds", action="store_true", help="they need the extra `train`")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    embedder, report, ablations = CachedEmbedder(given.cache), dict[str, object](), dict[str, object]()
    for name in given.sets.split(","):
        if name == "gold":
            report["gold"] = gold(gold_of(given.data), embedder, compare=bool(given.ablate_every))
        else:
            answers = ask_set(name, sets_of(given.data), embedder, compare=not given.skip_baselines, ablate=given.ablate_every)
            if name == "locomo" and not given.skip_folds:
                answers.rows |= by_folds(name, sets_of(given.data), embedder)
            report |= tables(name, answers)
            ablations |= losses(name, answers)
        print(json.dumps({key: value for key, value in report.items() if key.startswith(name)}, indent=1), flush=True)
    if ablations:
        report["ablations"] = ablations
        print(json.dumps(ablations, indent=1))
    if given.out:
        given.out.write_text(json.dumps(report, indent=1) + "\n")
    if given.json:
        print(json.dumps(report))


def ask_set(name: str, data: Path, embedder: CachedEmbedder, *, compare: bool, ablate: int) -> Answers:
    """Every question of a public set by every method."""
    spaces, answers = list(SETS[name](data)), Answers()
    with BenchMemory(name, embedder) as memory:
        memory.put([unit for space in spaces for unit in space.units])
        for place, space in enumerate(spaces):
            held_out = name in ABLATED or (name == "locomo" and place >= 5)
            ask_space(name, space, memory, answers, ablate=ablate if held_out else 0)
            if compare:
                for method, row in baselines(name, space, embedder):
                    answers.rows[method].append(row)
    return answers


def ask_space(name: str, space: Space, memory: BenchMemory, answers: Answers, *, ablate: int) -> None:
    """Every question of a space, by recall as it ships and by the weighted sum; each `ablate`th with one term off at a time."""
    tools, scope = tools_for(SPACE), Scope(user_id=space.id)
    session_of = {unit.id: unit.session_id for unit in space.units}
    shipped = {"ours": RecallConfig(), "linear": RecallConfig(ranker=False)} if tools.ranker else {"ours": RecallConfig()}
    for place, question in enumerate(asked_of(name, space)):
        more = ABLATIONS if ablate and place % ablate == 0 else {}
        for method, config in {**shipped, **more}.items():
            found = memory.recall(question.text, scope=scope, now=question.at, config=config, tools=tools)
            row = (space.id, question.category, judge([unit.id for unit in found.ranking], question.gold, session_of))
            (answers.rows if method in shipped else answers.ablated)[method].append(row)
            if method == "ours" and not tools.ranker:
                answers.rows["linear"].append(row)


def baselines(name: str, space: Space, embedder: CachedEmbedder) -> Iterator[tuple[str, Row]]:
    """Every question of a space by the usual ways."""
    usual, session_of = Baselines(name, space, embedder), {unit.id: unit.session_id for unit in space.units}
    for question in asked_of(name, space):
        for method, ranking in usual.rankings(question.text).items():
            yield method, (space.id, question.category, judge(ranking, question.gold, session_of))


def tables(name: str, answers: Answers) -> dict[str, object]:
    """The table of one public set, and for LoCoMo those of its two halves."""
    rows = answers.rows
    report: dict[str, object] = {name: {method: summary(found) for method, found in rows.items()}}
    if name == "locomo":
        first = set(list(dict.fromkeys(row[0] for row in answers.rows["ours"]))[:5])
        for half, inside in (("locomo_tune", True), ("locomo_report", False)):
            report[half] = {m: summary([row for row in found if (row[0] in first) == inside]) for m, found in rows.items()}
    return report


def losses(name: str, answers: Answers) -> dict[str, object]:
    """What each ablation reaches, and loses against all of it."""
    if not answers.ablated:
        return {}
    means = {method: mean([judged for _, _, judged in rows]) for method, rows in answers.ablated.items()}
    whole = means["all"]
    told = {
        method: {k: found[k] for k in ("r10", "mrr")} | {f"{k}_loss": round(whole[k] - found[k], 2) for k in ("r10", "mrr")}
        for method, found in means.items()
    }
    return {"locomo_report" if name == "locomo" else name: told}


def gold(folder: Path, embedder: CachedEmbedder, *, compare: bool) -> dict[str, object]:
    """The shares over the probes of the labelled dialogues, as recall is shipped and with one stage off at a time."""
    shipped = probes(folder, embedder, RecallConfig())
    if not compare:
        return dict(shipped)
    variants = {
        "without_ranker": RecallConfig(ranker=False),
        "without_walk": RecallConfig(walk=False),
        "without_cut": RecallConfig(dynamic_cut=False),
        "without_abstention": RecallConfig(abstain=False),
        "route_only": RecallConfig(route_only=True),
        "entity_filter": RecallConfig(entity_filter=True),
        **{preset: RecallConfig(preset=preset) for preset in ("balanced", "decay", "weighted", "associative", "causal")},
    }
    report = {name: probes(folder, embedder, config) for name, config in variants.items()}
    for supersession in ("labels", "none"):
        report[f"supersession_{supersession}"] = probes(folder, embedder, RecallConfig(), supersession=supersession)
    return {**shipped, "variants": report}


def probes(folder: Path, embedder: CachedEmbedder, config: RecallConfig, *, supersession: str = "match") -> dict[str, float]:
    """The shares under one configuration."""
    found: list[Asked] = []
    for path in dialogue_paths(folder):
        with BenchMemory("gold", embedder) as memory:
            found += recall_probes(path, memory, config=config, tools=tools_for(SPACE), supersession=supersession)
    return measure(found)


if __name__ == "__main__":
    main()
