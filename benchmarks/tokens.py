"""What recall costs: tokens injected per question, and recall per 100 tokens, against the naive top five and the whole history.

    python benchmarks/tokens.py [--data DIR] [--json] [--sets locomo,gold] [--cache DIR]

For each set and method: `tokens`, the median of what enters the prompt for a question by the library's own estimate (wrapper, labels and dates
included for `ours`; bare texts one a line for the others); `recall`, the share of the evidence that is in it; `per_100`, the recall that 100 tokens buy
(mean recall over mean tokens). `ours` is recall as shipped, with its cut and its budget; `ours_top5` leaves the cut away, so that five
items enter; `naive_top5` the five nearest by bare embedding; `history` everything said so far. LoCoMo is asked without its adversarial
category; on the labelled dialogues recall is 1 where an expected turn is there, and questions without an answer count for tokens alone; there `misled` is the share of questions
that are shown something superseded as if it held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.bench_memory import SPACE, BenchMemory
from benchmarks.corpora import SETS, asked_of
from benchmarks.gold import dialogue_paths, read_dialogue, recall_probes
from benchmarks.options import gold_of, parser, sets_of, tell
from benchmarks.vectors import CachedEmbedder
from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.recall.pipeline import tools_for
from hindsight_langgraph.recall.recollection import Recollection
from hindsight_langgraph.recall.tokens import estimate_tokens
from hindsight_langgraph.records import MemoryUnit, Scope

NAIVE_TOP = 5
METHODS: Mapping[str, RecallConfig] = {"ours": RecallConfig(), "ours_top5": RecallConfig(dynamic_cut=False)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one question cost by one method."""

    method: str
    tokens: int
    recall: float | None
    """None where nothing is to be found."""
    misleads: bool = False
    """Whether something that has been superseded is among it as if it held."""


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sets", default="locomo,gold")
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    given = options.parse_args()
    embedder, report = CachedEmbedder(given.cache), dict[str, object]()
    for name in given.sets.split(","):
        costs = gold(gold_of(given.data), embedder) if name == "gold" else public(name, sets_of(given.data), embedder)
        report[name] = summary(list(costs))
    tell(report, as_json=given.json)


def public(name: str, data: Path, embedder: CachedEmbedder) -> Iterator[Cost]:
    """Every question of a public set, each asked in its own space."""
    tools = tools_for(SPACE)
    spaces = list(SETS[name](data))
    with BenchMemory(name, embedder) as memory:
        memory.put([unit for space in spaces for unit in space.units])
        for space in spaces:
            plain = embedder.documents(f"{name}-plain", [unit.content for unit in space.units])
            whole = estimate_tokens(_lines(space.units))
            for question in asked_of(name, space):
                for method, config in METHODS.items():
                    found = memory.recall(
                        question.text, scope=Scope(user_id=space.id), now=question.at, config=config, tools=tools
                    )
                    yield Cost(method=method, tokens=found.tokens, recall=_share(_told(found), question.gold))
                nearest = np.argsort(-(plain @ embedder.queries(name, [question.text])[0]), kind="stable")[:NAIVE_TOP]
                yield naive([space.units[i] for i in nearest], question.gold)
                yield Cost(method="history", tokens=whole, recall=1.0)


def naive(units: Sequence[MemoryUnit], gold: frozenset[str]) -> Cost:
    """The nearest units, as they are."""
    return Cost(method="naive_top5", tokens=estimate_tokens(_lines(units)), recall=_share({unit.id for unit in units}, gold))


def gold(folder: Path, embedder: CachedEmbedder) -> Iterator[Cost]:
    """Every probe of the labelled dialogues, at its moment."""
    for path in dialogue_paths(folder):
        for method, config in METHODS.items():
            with BenchMemory("gold", embedder) as memory:
                for asked in recall_probes(path, memory, config=config, tools=tools_for(SPACE), supersession="match"):
                    told = frozenset[str]().union(*asked.sources)
                    shown = (sources for sources, holds in zip(asked.sources, asked.current, strict=True) if holds)
                    misleads = any(asked.probe.forbidden & sources for sources in shown)
                    yield Cost(
                        method=method, tokens=asked.found.tokens, recall=_any(told, asked.probe.expected), misleads=misleads
                    )
        yield from _gold_baselines(path, embedder)


def _gold_baselines(path: Path, embedder: CachedEmbedder) -> Iterator[Cost]:
    """The naive top five among the labelled memories written so far, none superseded; and every turn so far."""
    memories, probes, turns, _ = read_dialogue(path)
    vectors = embedder.documents("gold-plain", [memory.statement.content for memory in memories])
    for probe in probes:
        known = [i for i, memory in enumerate(memories) if memory.turn.at is not None and memory.turn.at <= probe.at]
        likeness = vectors[known] @ embedder.queries("gold", [probe.query])[0] if known else np.zeros(0)
        nearest = [memories[known[i]].statement for i in np.argsort(-likeness, kind="stable")[:NAIVE_TOP]]
        told = frozenset(turn for statement in nearest for turn in statement.turn_ids)
        text = "\n".join(statement.content for statement in nearest)
        yield Cost(
            method="naive_top5",
            tokens=estimate_tokens(text),
            recall=_any(told, probe.expected),
            misleads=bool(told & probe.forbidden),
        )
        said = "\n".join(f"{turn.role}: {turn.text}" for turn in turns if turn.at is not None and turn.at <= probe.at)
        yield Cost(
            method="history", tokens=estimate_tokens(said), recall=1.0 if probe.expected else None, misleads=bool(probe.forbidden)
        )


def _told(found: Recollection) -> set[str]:
    return {unit.id for unit in found.units}


def _lines(units: Iterable[MemoryUnit]) -> str:
    return "\n".join(f"{unit.speaker_name or unit.speaker} ({unit.moment:%Y-%m-%d}): {unit.content}" for unit in units)


def _share(told: set[str], gold: frozenset[str]) -> float:
    return len(told & gold) / len(gold)


def _any(told: frozenset[str], expected: frozenset[str]) -> float | None:
    return float(bool(told & expected)) if expected else None


def summary(costs: Sequence[Cost]) -> dict[str, dict[str, float]]:
    """Median tokens, recall in percent, and percent of recall per 100 tokens, by method."""
    report: dict[str, dict[str, float]] = {}
    for method in dict.fromkeys(cost.method for cost in costs):
        tokens = [cost.tokens for cost in costs if cost.method == method]
        known = [cost.recall for cost in costs if cost.method == method and cost.recall is not None]
        recall, mean = 100 * sum(known) / len(known), sum(tokens) / len(tokens)
        report[method] = {
            "tokens": median(tokens),
            "recall": round(recall, 2),
            "per_100": round(100 * recall / mean, 2),
            "misled": round(100 * sum(cost.misleads for cost in costs if cost.method == method) / len(tokens), 2),
            "most_tokens": max(tokens),
            "n": len(tokens),
        }
    return report


if __name__ == "__main__":
    main()
