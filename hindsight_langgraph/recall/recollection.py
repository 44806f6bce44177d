"""What is asked of recall, what comes back, with the reason for every choice (SPEC D1, D15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import orjson
from pydantic import AwareDatetime, Field

from hindsight_langgraph.records import MemoryUnit, Record, Region, Scope, TimeAnchor, TracedRun

PART_CHARS = 600
"""The most of a goal, sub-step or tool result that a composite query carries."""
QUERY_CHARS = 1_600
"""The most of the asked text: what an embedding model of 512 tokens can read, with its context."""


class Query(Record):
    """What is asked: the words, and the task that they are asked in (SPEC D1)."""

    text: str
    goal: str = ""
    sub_step: str = ""
    last_result: str = ""
    """What the last tool gave back, or a summary of it."""
    entities: tuple[str, ...] = ()
    """Ids of things the caller knows to be meant, besides those that the words name."""
    regions: tuple[Region, ...] | None = None
    """The regions to search; None leaves it to the router."""

    @property
    def composite(self) -> str:
        """Sub-step, goal and last result after the words themselves, each shortened; blank only if all of them are."""
        parts = (
            shorten(self.text, QUERY_CHARS),
            *(shorten(part, PART_CHARS) for part in (self.sub_step, self.goal, self.last_result)),
        )
        return "\n".join(dict.fromkeys(part for part in parts if part))


def shorten(text: str, limit: int) -> str:
    """`text` without surplus white space; a longer one keeps its head and its tail, since a question stands at either end."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    head = limit * 3 // 5
    return f"{flat[:head].rstrip()} … {flat[-(limit - head - 3) :].lstrip()}"


class Question(StrEnum):
    """What sort of answer a query wants."""

    STATE = "state"
    """How something is: the plain case."""
    HOW_TO = "how_to"
    WHEN = "when"
    OUTCOME = "outcome"
    """How something ended, or where it stands now."""
    LATEST = "latest"
    """The last time, the newest of several."""
    EARLIEST = "earliest"
    """The first time, what was said at first."""
    AFTER = "after"
    """What came after something."""
    BEFORE = "before"
    """What came before something."""


class Cues(Record):
    """What a query gives to search by (SPEC D4)."""

    text: str
    entities: tuple[str, ...] = ()
    times: tuple[TimeAnchor, ...] = ()
    topics: tuple[str, ...] = ()
    """Index terms of the query, each once."""
    question: Question = Question.STATE
    event: tuple[str, ...] = ()
    """Index terms of the event that a question about an end, a first, a last or what came next goes from."""
    through: bool = False
    """True when it asks for a thing through another one: the sister of my flatmate."""
    background: bool = False
    """True when it asks for what lies behind something: why, the context."""
    history: bool = False
    """True when it asks for what used to be: superseded units may answer."""
    past: bool = False
    """True when it refers to something past, so that episodes are likely (SPEC D2)."""
    backward: bool = False
    """True when its answer may lie in what has been superseded since: it asks when something was, or about a past time."""
    distant: bool = False
    """True when it asks for the distant past, so that cold storage is searched too (SPEC D14)."""


class Route(Record):
    """Which regions a query is sent to (SPEC D2)."""

    scores: Mapping[Region, float]
    best: Region
    regions: tuple[Region, ...]
    """The regions searched: the best alone when the route is sure, all of them otherwise."""
    sure: bool
    by: str
    """Who decided: "rules", "head", "caller" or the name of a plugged-in router."""


class Standing(StrEnum):
    """Whether what a unit says holds at the moment that is asked about."""

    CURRENT = "current"
    HISTORY = "history"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A unit that recall chose."""

    unit: MemoryUnit
    score: float
    terms: Mapping[str, float]
    """Every term of the score by its name, before weighting."""
    standing: Standing = Standing.CURRENT
    why: tuple[str, ...] = ()


class Stage(StrEnum):
    """Where a candidate was dropped."""

    FILTER = "filter"
    ABSTAIN = "abstain"
    REPEAT = "repeat"
    CUT = "cut"
    BUDGET = "budget"


@dataclass(frozen=True, kw_only=True, slots=True)
class Dropped:
    """A candidate that recall did not choose, with the reason; a plain value, since one recall makes hundreds."""

    unit: MemoryUnit
    score: float
    terms: Mapping[str, float]
    stage: Stage
    reason: str


class Block(Record):
    """The text that enters the prompt."""

    text: str = ""
    tokens: int = Field(default=0, ge=0)
    used: tuple[str, ...] = ()
    """Ids of the units that it holds, in order."""
    shortened: tuple[str, ...] = ()
    """Ids of those that had to be cut to fit."""


class Recollection(Record):
    """The answer of one recall: what is injected, and every candidate with its reasons (SPEC D15)."""

    query: Query
    at: AwareDatetime
    as_of: AwareDatetime | None = None
    cues: Cues
    route: Route
    items: tuple[Item, ...] = ()
    """Best first; what `text` is made of."""
    dropped: tuple[Dropped, ...] = ()
    abstained: str = ""
    """Why nothing is injected although candidates were found; blank otherwise."""
    degraded: tuple[str, ...] = ()
    """What could not be asked, and why; empty when all went well."""
    block: Block = Block()
    run: TracedRun | None = None
    """The run that shows this recall; None with tracing off."""

    @property
    def text(self) -> str:
        """The fenced block for the prompt, blank when nothing was recalled."""
        return self.block.text

    @property
    def tokens(self) -> int:
        """Tokens of `text` by the counter that recall was given."""
        return self.block.tokens

    @property
    def units(self) -> tuple[MemoryUnit, ...]:
        """The recalled units, best first."""
        return tuple(item.unit for item in self.items)

    @property
    def ranking(self) -> tuple[MemoryUnit, ...]:
        """Every unit that may be recalled, best first: the chosen ones, then those below the cut or over the budget."""
        rest = sorted((d for d in self.dropped if d.stage in (Stage.ABSTAIN, Stage.CUT, Stage.BUDGET)), key=lambda d: -d.score)
        return (*self.units, *(d.unit for d in rest))

    def log_entry(self) -> bytes:
        """The recall as the log keeps it (SPEC D15): units by id, every candidate with its score terms and its fate, as UTF-8 JSON.

        About 40 KB for 200 candidates; the units themselves are in the store.
        """
        told = {
            "query": self.query.model_dump(mode="json", exclude_defaults=True),
            "at": self.at,
            "as_of": self.as_of,
            "cues": self.cues.model_dump(mode="json", exclude_defaults=True, exclude={"text", "topics"}),
            "route": self.route.model_dump(mode="json"),
            "items": [_logged(item) | {"standing": item.standing, "why": item.why} for item in self.items],
            "dropped": [_logged(item) | {"stage": item.stage, "reason": item.reason} for item in self.dropped],
            "abstained": self.abstained,
            "degraded": self.degraded,
            "injected": self.block.used,
            "tokens": self.block.tokens,
            "run": self.run.model_dump() if self.run else None,
        }
        return orjson.dumps({name: value for name, value in told.items() if value})

    def readable_by(self, scope: Scope) -> bool:
        """Whether `scope` may read all of it; a recollection of another user that got into its hands it may not."""
        return all(unit.owner in scope.readers for unit in self.units)

    def explain(self) -> str:
        """Every candidate with its score terms, one a line, for people."""
        lines = [
            f"query: {self.cues.text}",
            f"route: {self.route.best} ({'sure' if self.route.sure else 'unsure'}, {self.route.by})",
        ]
        lines += [f"degraded: {reason}" for reason in self.degraded]
        lines += [f"abstained: {self.abstained}"] * bool(self.abstained)
        lines += [f"+ {_scored(item)} | {'; '.join(item.why)}" for item in self.items]
        lines += [f"- {_scored(item)} | {item.reason}" for item in self.dropped]
        return "\n".join(lines)


def _logged(item: Item | Dropped) -> dict[str, object]:
    terms = {name: round(value, 3) for name, value in item.terms.items() if value}
    return {"id": item.unit.id, "score": round(item.score, 4), "terms": terms}


def _scored(item: Item | Dropped) -> str:
    terms = " ".join(f"{name}={value:.3f}" for name, value in item.terms.items())
    return f"{item.score:.3f} {shorten(item.unit.content, 80)} ({terms})"
