"""The probes of the labelled dialogues, asked of their memories as they were written up to that moment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.bench_memory import SPACE, BenchMemory
from hindsight_langgraph.config import RecallConfig, WriteConfig
from hindsight_langgraph.encoding.changes import Change
from hindsight_langgraph.encoding.drafts import draft
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.features import embedding_text
from hindsight_langgraph.encoding.heads import Heads, load_heads
from hindsight_langgraph.encoding.match import Outcome, match
from hindsight_langgraph.encoding.statement import Statement
from hindsight_langgraph.encoding.store import find_pools, make_changes, put
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.ops import Embed
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.recall.pipeline import RecallTools
from hindsight_langgraph.recall.recollection import Recollection, Standing
from hindsight_langgraph.records import Kind, Precision, Role, Scope, TimeAnchor, Triple, Turn

TURN_GAP = timedelta(seconds=20)
"""Turns of the dialogues have no time of their own; they follow the start of their session at this pace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One question with what is expected and what is forbidden at its moment."""

    id: str
    query: str
    at: datetime
    kind: str
    expected: frozenset[str]
    forbidden: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What one recall did for one probe."""

    probe: Probe
    found: Recollection
    hidden: bool
    """Whether the answer was hidden from the store."""
    sources: tuple[frozenset[str], ...]
    """Source turns of each injected item, best first."""
    current: tuple[bool, ...]
    """Whether each is shown as holding now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One labelled memory, ready to be written."""

    id: str
    turn: Turn
    previous: Turn | None
    statement: Statement


def read_dialogue(path: Path) -> tuple[list[Memory], list[Probe], list[Turn], list[tuple[str, str]]]:
    """The memories of a dialogue in the order they were said, its probes in theirs, its turns, and (old, new) supersessions."""
    document = json.loads(path.read_text(encoding="utf-8"))
    turns: list[Turn] = []
    for session in document["sessions"]:
        start = datetime.fromisoformat(session["start"])
        turns += [
            Turn(id=t["id"], role=Role(t["role"]), text=t["content"], at=start + TURN_GAP * i)
            for i, t in enumerate(session["turns"])
        ]
    place = {turn.id: i for i, turn in enumerate(turns)}
    memories = [_memory(labelled, turns, place) for labelled in document["gold_memories"]]
    probes = [
        Probe(
            id=p["id"], query=p["query"], at=datetime.fromisoformat(p["at"]), kind=p["kind"],
            expected=frozenset(p["expect_any_turns"]), forbidden=frozenset(p["forbid_turns"]),
        )
        for p in document["probes"]
    ]  # fmt: skip
    pairs = [(pair["old"], pair["new"]) for pair in document["supersessions"]]
    return sorted(memories, key=lambda m: place[m.turn.id]), sorted(probes, key=lambda p: p.at), turns, pairs


def _memory(labelled: Mapping[str, Any], turns: list[Turn], place: Mapping[str, int]) -> Memory:
    last = max(place[turn] for turn in labelled["turn_ids"])
    day = datetime.fromisoformat(labelled["event_time"]) if labelled["event_time"] else None
    said = turns[last].at
    assert said is not None
    start = day.replace(tzinfo=said.tzinfo) if day is not None else None
    anchor = TimeAnchor(start=start, end=start + timedelta(days=1), precision=Precision.DAY) if start is not None else None
    return Memory(
        id=labelled["id"],
        turn=turns[last],
        previous=turns[last - 1] if last else None,
        statement=Statement(
            kind=Kind(labelled["type"]),
            content=labelled["content"],
            triple=Triple(subject=labelled["subject"], attribute=labelled["attribute"], value=labelled["value"]),
            entities=tuple(labelled["entities"]),
            turn_ids=tuple(sorted(labelled["turn_ids"], key=place.__getitem__)),
            source_text=turns[last].text,
            anchor=anchor,
        ),
    )


class Writing:
    """Writes labelled memories through the stages of writing that follow extraction."""

    def __init__(self, *, heads: Heads, supersession: str, pairs: list[tuple[str, str]]) -> None:
        self._heads = heads
        self._supersession = supersession
        self._old_of: dict[str, list[str]] = {}
        for old, new in pairs:
            self._old_of.setdefault(new, []).append(old)
        self._unit_of: dict[str, str] = {}

    def write(self, memory: Memory, *, scope: Scope, aliases: AliasTable) -> Plan[None]:
        """Draft, match and store one memory; what it replaces is retired."""
        now = memory.turn.at
        assert now is not None
        unit = draft(memory.statement, turn=memory.turn, previous=memory.previous, scope=scope, aliases=aliases, now=now)
        vector = (yield from ask(Embed(texts=(index_text(unit),), purpose="document")))[0]
        self._unit_of[memory.id] = unit.id
        if self._supersession == "labels":
            yield from put([unit], {unit.id: vector})
            old = [self._unit_of[name] for name in self._old_of.get(memory.id, ()) if name in self._unit_of]
            yield from make_changes([Change(unit_id=name, verb="retire", by=unit) for name in old], scope=scope, now=now)
            return
        if self._supersession == "none":
            yield from put([unit], {unit.id: vector})
            return
        asked = yield from self._asked(memory, unit.id)
        pool = (yield from find_pools([unit], {unit.id: vector}, asked=asked, scope=scope, space=SPACE))[0]
        found = match(unit, pool, heads=self._heads, config=WriteConfig())
        if found.outcome is Outcome.DUPLICATE and found.same_as is not None:
            yield from make_changes([Change(unit_id=found.same_as, verb="confirm", by=unit)], scope=scope, now=now)
            return
        yield from put([unit.model_copy(update={"related": found.related, "supersedes": found.supersedes})], {unit.id: vector})
        yield from make_changes([Change(unit_id=name, verb="retire", by=unit) for name in found.supersedes], scope=scope, now=now)

    @staticmethod
    def _asked(memory: Memory, unit_id: str) -> Plan[dict[str, tuple[float, ...]]]:
        """The embedding of the turn before, by the unit's id."""
        if memory.previous is None:
            return {}
        vectors = yield from ask(Embed(texts=(embedding_text(memory.previous),), purpose="document"))
        return {unit_id: vectors[0]}


def dialogue_paths(gold: Path) -> list[Path]:
    """The files of the labelled dialogues, by name."""
    return sorted((gold / "dialogues").glob("*.json"))


def recall_probes(
    path: Path, memory: BenchMemory, *, config: RecallConfig, tools: RecallTools, supersession: str, hiding: bool = False
) -> Iterator[Asked]:
    """Write a dialogue's memories in time order, asking each probe at its moment.

    Args:
        path: the dialogue.
        memory: an empty one.
        config: settings of recall.
        tools: tools of recall; the aliases taught so far are added.
        supersession: "match" as writing decides it, "labels" by the file, "none" for every memory active.
        hiding: ask every answerable probe once more with its answer hidden.
    """
    memories, probes, turns, pairs = read_dialogue(path)
    scope, aliases = Scope(user_id=path.stem), AliasTable()
    writing = Writing(heads=load_heads(SPACE), supersession=supersession, pairs=pairs)
    for probe in probes:
        while turns and _moment(turns[0]) <= probe.at:
            aliases = aliases.learn(turns.pop(0).text)
        while memories and _moment(memories[0].turn) <= probe.at:
            memory.run(writing.write(memories.pop(0), scope=scope, aliases=aliases))
        for hidden in (frozenset[str](), probe.expected) if hiding and probe.expected else (frozenset[str](),):
            asked = replace(tools, aliases=aliases, forgotten=hidden)
            found = memory.recall(probe.query, scope=scope, now=probe.at, config=config, tools=asked)
            yield Asked(
                probe=probe,
                found=found,
                hidden=bool(hidden),
                sources=tuple(frozenset(item.unit.sources) for item in found.items),
                current=tuple(item.standing is Standing.CURRENT for item in found.items),
            )


def _moment(turn: Turn) -> datetime:
    assert turn.at is not None
    return turn.at


def measure(outcomes: list[Asked]) -> dict[str, float]:
    """The shares that the benchmark reports.

    expected: an expected turn among the injected ones; first: at the first place; forbidden: a superseded turn shown as current;
    abstain: nothing injected where nothing answers; refused: nothing injected where something does.
    """
    answerable = [o for o in outcomes if o.probe.expected]
    guarded = [o for o in outcomes if o.probe.forbidden]
    silent = [o for o in outcomes if not o.probe.expected]
    return {
        "expected": _share(any(o.probe.expected & s for s in o.sources) for o in answerable),
        "first": _share(bool(o.sources) and bool(o.probe.expected & o.sources[0]) for o in answerable),
        "forbidden": _share(
            any(o.probe.forbidden & s and now for s, now in zip(o.sources, o.current, strict=True)) for o in guarded
        ),
        "abstain": _share(not o.sources for o in silent),
        "refused": _share(not o.sources for o in answerable),
        "items": round(sum(len(o.sources) for o in outcomes) / len(outcomes), 2),
        "tokens": round(sum(o.found.tokens for o in outcomes) / len(outcomes), 1),
    }


def _share(found: Iterable[bool]) -> float:
    values = list(found)
    return round(sum(values) / len(values), 4) if values else 0.0
