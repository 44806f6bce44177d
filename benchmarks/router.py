"""How well queries are sent to their region: five-fold cross-validation of the route head.

    python benchmarks/router.py [--data DIR] [--json] [--cache DIR] [--save PATH]

Prints one JSON object: `accuracy` and the same under `en` and `zh` for the head, `rules` for the keyword rules, `unseen` for a head that
saw none of the rows. The probes of the labelled dialogues, which have regions as well, are learnt from in every fold. `--save` writes the
head fitted on everything, which is what ships.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.gold import dialogue_paths
from benchmarks.options import gold_of, parser, tell
from benchmarks.vectors import MODEL, CachedEmbedder, Matrix
from hindsight_langgraph.recall.cues import read_cues
from hindsight_langgraph.recall.recollection import Query
from hindsight_langgraph.recall.route import route
from hindsight_langgraph.recall.route_head import LinearRouteHead
from hindsight_langgraph.records import Region
from hindsight_langgraph.training.router import Example, shipped_examples, train_router

FOLDS, REPEATS = 5, 5
NOW = datetime(2025, 6, 1, tzinfo=UTC)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cache", type=Path, default=Path(".cache"))
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    rows = [json.loads(line) for line in (gold_of(given.data) / "routing.jsonl").read_text().splitlines()]
    embedder = CachedEmbedder(given.cache)

    def embed(texts: Sequence[str]) -> Matrix:
        return embedder.queries("routing", texts)

    labelled = [Example(query=row["query"], region=Region(row["region"])) for row in rows]
    written = [*shipped_examples(), *_probes(gold_of(given.data))]
    vectors = dict(zip((e.query for e in labelled), embedder.queries("routing", [e.query for e in labelled]), strict=True))
    right: dict[str, list[bool]] = {"head": [], "rules": [], "unseen": []}
    languages: list[str] = []
    unseen = train_router(shipped_examples(), embed=embed, model=MODEL)
    for repeat in range(REPEATS):
        for train, test in _folds(len(rows), random.Random(repeat)):
            head = train_router([*written, *(labelled[i] for i in train)], embed=embed, model=MODEL)
            for i in test:
                languages.append(rows[i]["lang"])
                for name, judge in (("head", head), ("rules", None), ("unseen", unseen)):
                    right[name].append(_region(labelled[i].query, vectors[labelled[i].query], judge) is labelled[i].region)
    tell(_report(right, languages), as_json=given.json)
    if given.save:
        train_router([*written, *labelled], embed=embed, model=MODEL).save(given.save)


def _probes(gold: Path) -> list[Example]:
    found = (probe for path in dialogue_paths(gold) for probe in json.loads(path.read_text())["probes"])
    return [Example(query=probe["query"], region=Region(probe["region"])) for probe in found]


def _region(query: str, vector: Sequence[float], head: LinearRouteHead | None) -> Region:
    return route(read_cues(Query(text=query), now=NOW), words=query, vector=vector, head=head, asked=None).best


def _folds(size: int, rng: random.Random) -> list[tuple[list[int], list[int]]]:
    order = rng.sample(range(size), size)
    return [([i for i in order if i not in set(order[k::FOLDS])], order[k::FOLDS]) for k in range(FOLDS)]


def _report(right: dict[str, list[bool]], languages: list[str]) -> dict[str, float]:
    def share(name: str, language: str | None = None) -> float:
        mine = [told for told, own in zip(right[name], languages, strict=True) if language in (None, own)]
        return round(sum(mine) / len(mine), 4)

    return {
        "accuracy": share("head"),
        "en": share("head", "en"),
        "zh": share("head", "zh"),
        "rules": share("rules"),
        "unseen": share("unseen"),
    }


if __name__ == "__main__":
    main()
