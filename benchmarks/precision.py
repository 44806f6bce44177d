"""PrecisionMemBench through the public API: what must not be returned, and how much is returned besides what may be.

    python benchmarks/precision.py [--data DIR] [--json] [--verbose]

The beliefs are brought in as the export of a memory that holds them: superseded ones as superseded, resolved ones as over, each in its own
domain and under its own user. Every case is one recall in a scope of its domains. `must_not_held` is the share of
cases in which nothing is returned that the case forbids, or that no case may see: another user's belief, a superseded or resolved one as
current, one of another domain. `precise` is the share of cases in which nothing is returned but what the case allows; `found` the share of the
beliefs a case asks for that are returned.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from benchmarks.options import parser, sets_of, tell
from hindsight_langgraph import HindsightMemory
from hindsight_langgraph.codec import encode_unit
from hindsight_langgraph.encoding.entities import normalise
from hindsight_langgraph.lexical import context_text, document_vector, index_text
from hindsight_langgraph.recall.recollection import Recollection, Standing
from hindsight_langgraph.records import REGION_OF, Kind, MemoryUnit, Scope, Status, user_owner
from hindsight_langgraph.transfer import header

KIND = {
    "preference": Kind.PREFERENCE,
    "decision": Kind.DECISION,
    "entity": Kind.FACT,
    "open_question": Kind.TASK_STATE,
    "relation": Kind.FACT,
}
UNIVERSAL = "user:universal"


class Fixed:
    """A clock that stands on the day after the newest belief."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        """The moment."""
        return self._moment


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One question in its scope, with the ids that it forbids, allows and asks for."""

    id: str
    category: str
    query: str
    user: str
    domains: tuple[str, ...]
    limit: int | None
    forbidden: frozenset[str]
    allowed: frozenset[str]
    wanted: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What one recall returned of what it should not have, or not."""

    case: Case
    leaked: tuple[str, ...]
    extra: tuple[str, ...]
    found: float | None
    """None where the case asks for nothing."""


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--verbose", action="store_true", help="name every leak, and every belief too many")
    given = options.parse_args()
    folder = sets_of(given.data) / "precisionmembench"
    beliefs = json.loads((folder / "beliefs.seed.json").read_text())
    cases = [*single_cases(folder), *session_cases(folder)]
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as directory:
        verdicts = list(ask(beliefs, cases, Path(directory)))
    if given.verbose:
        for verdict in verdicts:
            if verdict.leaked or verdict.extra:
                print(verdict.case.id, "leaked", verdict.leaked, "extra", verdict.extra)
    tell(figures(verdicts), as_json=given.json)


def single_cases(folder: Path) -> Iterator[Case]:
    """The cases of one question each."""
    for row in json.loads((folder / "retrieval.cases.json").read_text()):
        limit = row.get("budget", {}).get("maxBeliefs")
        yield _case(
            row["caseId"],
            row["category"],
            row["query"],
            row["expect"],
            row["scope"],
            user=row.get("userId", "test-user"),
            limit=limit,
        )


def session_cases(folder: Path) -> Iterator[Case]:
    """The user's turns of the session cases, each asked by itself."""
    for row in json.loads((folder / "session-retrieval.cases.json").read_text()):
        for turn in row["turns"]:
            name = f"{row['caseId']}/{turn['turnIndex']}"
            yield _case(name, "session", turn["userMessage"], turn["expect"], turn["scope"], user="test-user", limit=None)


def _case(
    name: str, category: str, query: str, expect: Mapping[str, Any], scope: list[str], *, user: str, limit: int | None
) -> Case:
    """A belief that one part of the answer excludes and another one includes is allowed: we return one list."""
    parts = [part for part in expect.values() if isinstance(part, dict)]
    wanted = _ids(parts, "mustInclude")
    allowed = wanted | _ids(parts, "shouldOnlyInclude")
    return Case(
        id=name, category=category, query=query, user=user, domains=tuple(s.removeprefix("domain:") for s in scope if s != UNIVERSAL),
        limit=limit, forbidden=_ids(parts, "mustExclude", "mustNotSurface") - allowed, allowed=allowed, wanted=wanted,
    )  # fmt: skip


def _ids(parts: Iterable[Mapping[str, Any]], *names: str) -> frozenset[str]:
    return frozenset(belief for part in parts for name in names for belief in part.get(name, ()))


def ask(beliefs: list[dict[str, Any]], cases: Iterable[Case], directory: Path) -> Iterator[Verdict]:
    """Every case, asked of one memory that holds every belief."""
    now = max(datetime.fromisoformat(belief["updated_at"]) for belief in beliefs) + timedelta(days=1)
    with HindsightMemory.open(directory / "memory", embeddings="local", clock=Fixed(now)) as memory:
        memory.import_lines([header(memory.space), *(_line(unit_of(belief)) for belief in beliefs)])
        memory.reembed()
        for case in cases:
            found = memory.recall(case.query, scope=Scope(user_id=case.user, more_domains=case.domains))
            yield judge(case, found, {belief["_id"]: belief for belief in beliefs})


def judge(case: Case, found: Recollection, beliefs: Mapping[str, Mapping[str, Any]]) -> Verdict:
    """What was returned beyond what may be."""
    items = found.items[: case.limit] if case.limit is not None else found.items
    shown = [item.unit.id for item in items]
    barred = {
        item.unit.id for item in items if _is_barred(beliefs[item.unit.id], case, current=item.standing is Standing.CURRENT)
    }
    standing = {
        name for name, belief in beliefs.items() if belief["pinned"] or UNIVERSAL in belief["scope"]
    }  # what is always in force
    return Verdict(
        case=case,
        leaked=tuple(name for name in shown if name in case.forbidden or name in barred),
        extra=tuple(name for name in shown if name not in case.allowed | standing),
        found=sum(name in shown for name in case.wanted | case.allowed) / len(case.allowed) if case.allowed else None,
    )


def _is_barred(belief: Mapping[str, Any], case: Case, *, current: bool) -> bool:
    """What nobody may see in any case: another user's, what has been replaced or resolved as if it held, another domain's."""
    domains = {scope.removeprefix("domain:") for scope in belief["scope"]}
    over = belief["epistemic_status"] == "superseded" or belief["resolved_at"] is not None
    elsewhere = UNIVERSAL not in belief["scope"] and bool(case.domains) and not domains & set(case.domains)
    return belief["user_id"] != case.user or (over and current) or elsewhere


def unit_of(belief: Mapping[str, Any]) -> MemoryUnit:
    """A belief as a stored unit: its names are its entities, its scope its domain."""
    scopes = [scope.removeprefix("domain:") for scope in belief["scope"] if scope != UNIVERSAL]
    kind, at = KIND[belief["type"]], datetime.fromisoformat(belief["created_at"])
    over = datetime.fromisoformat(belief["resolved_at"]) if belief["resolved_at"] else None
    replaced = belief["epistemic_status"] == "superseded"
    names = (belief["canonical_name"].replace("_", " "), *belief["aliases"])
    return MemoryUnit(
        id=belief["_id"], owner=user_owner(belief["user_id"]), content=belief["content"], region=REGION_OF[kind], kind=kind,
        domain=scopes[0] if scopes else None, entities=tuple(dict.fromkeys(normalise(name) for name in names)), said_at=at, created_at=at,
        updated_at=datetime.fromisoformat(belief["updated_at"]), confidence=belief["confidence"],
        status=Status.SUPERSEDED if replaced else Status.ACTIVE, superseded_by=belief["superseded_by"], valid_to=over,
    )  # fmt: skip


def _line(unit: MemoryUnit) -> bytes:
    words, around = document_vector(index_text(unit)), document_vector(context_text(unit))
    return orjson.dumps(
        {
            "unit": orjson.loads(encode_unit(unit)),
            "collection": "live",
            "dense": None,
            "text": [list(words.indices), list(words.values)],
            "context": [list(around.indices), list(around.values)],
        }
    )


def figures(verdicts: list[Verdict]) -> dict[str, object]:
    """The shares, and the cases that leak by name."""
    asked = [verdict.found for verdict in verdicts if verdict.found is not None]
    return {
        "cases": len(verdicts),
        "forbidding_cases": sum(bool(verdict.case.forbidden) for verdict in verdicts),
        "must_not_held": round(sum(not verdict.leaked for verdict in verdicts) / len(verdicts), 4),
        "leaks": {verdict.case.id: verdict.leaked for verdict in verdicts if verdict.leaked},
        "precise": round(sum(not verdict.extra for verdict in verdicts) / len(verdicts), 4),
        "found": round(sum(asked) / len(asked), 4),
    }


if __name__ == "__main__":
    main()
