"""Asks the chat model where the rules of consolidation know less: what a memory states, whether two are one, how a story sums up.

The rules' answer stands wherever the model gives none: no model, no calls left, an outage, an answer that cannot be used. Each pass asks
at most `consolidation.model_calls` times, one request after the other, so that the lease of the run can be kept in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from hindsight_langgraph.consolidation.changes import Add, Change, Link, Merge, Read
from hindsight_langgraph.consolidation.made import WORDED, is_made
from hindsight_langgraph.consolidation.model_answers import read_statements, read_summaries, read_verdicts
from hindsight_langgraph.encoding.local_extractor import RETRACTION
from hindsight_langgraph.encoding.statement import QUOTED_CLAIM
from hindsight_langgraph.errors import ModelError
from hindsight_langgraph.flows.settings import FlowSettings
from hindsight_langgraph.models.consolidation_prompts import pairs_request, summaries_request, triples_request
from hindsight_langgraph.ops import Answer, Complete, FetchUnits, Probe, SearchUnits, Where
from hindsight_langgraph.plan import Plan, ask, replied
from hindsight_langgraph.records import Kind, MemoryUnit, Role, Scope, Status

Beat = Callable[[], Plan[object]]
"""Run before each request: keeps the lease of a run whose model takes its time."""

STATEMENTS: Final = 12
PAIRS: Final = 10
STORIES: Final = 4
"""How many memories, pairs and stories one request shows."""
_STATING: Final = frozenset({Kind.PREFERENCE, Kind.FACT, Kind.DECISION, Kind.TASK_STATE, Kind.CORRECTION, Kind.ENTITY})

T = TypeVar("T")


def no_beat() -> Plan[None]:
    """For a run that holds no lease."""
    return replied(None)


def read_triples(scope: Scope, *, settings: FlowSettings, beat: Beat) -> Plan[list[Read]]:
    """What the newest memories state that no rule could read a statement off; one that was read once is not asked about again."""
    if not may_ask(settings):
        return []
    where = Where(owners=(scope.owner,), statuses=(Status.ACTIVE,), raw=False)
    hits = yield from ask(SearchUnits(probes=(Probe(where=where, limit=settings.config.consolidation.batch, newest=True),)))
    units = [hit.unit for hit in hits[0] if _is_unread(hit.unit)]
    found: list[Read] = []
    for batch in _batches(units, STATEMENTS, settings):
        answer = yield from _asked(triples_request([unit.content for unit in batch]), beat)
        if answer is None:
            break
        read = read_statements(answer, batch)
        found += [
            Read(unit=unit.id, text=unit.content, seen=unit.revision, triple=read[unit.id]) for unit in batch if unit.id in read
        ]
    return found


def decide_pairs(
    changes: Sequence[Change], units: Mapping[str, MemoryUnit], *, settings: FlowSettings, beat: Beat
) -> Plan[list[Change]]:
    """The changes with those links turned into merges whose two units the model says are one."""
    unsure = [change for change in changes if isinstance(change, Link) and change.unsure]
    if not unsure or not may_ask(settings):
        return list(changes)
    taken = {key for change in changes if isinstance(change, Merge) for key in change.ids}
    merges: dict[frozenset[str], Merge] = {}
    for batch in _batches(unsure, PAIRS, settings):
        pairs = [_in_order(units[link.first], units[link.second]) for link in batch]
        answer = yield from _asked(pairs_request([(one.content, other.content) for one, other in pairs]), beat)
        if answer is None:
            break
        for place, verdict in read_verdicts(answer, most=len(pairs)).items():
            older, newer = pairs[place]
            if verdict == "different" or taken & {older.id, newer.id}:
                continue
            taken |= {older.id, newer.id}
            kept, gone = (newer, older) if verdict == "second_says_more" else (older, newer)
            merges[frozenset((older.id, newer.id))] = Merge(
                kept=kept.id, gone=gone.id, kept_text=kept.content, gone_text=gone.content, reason=f"the model says: {verdict}"
            )
    rest = [change for change in changes if frozenset(change.ids) not in merges]
    return [*merges.values(), *rest]


def word_summaries(
    adds: Sequence[Add], evidence: Mapping[str, MemoryUnit], *, scope: Scope, settings: FlowSettings, beat: Beat
) -> Plan[list[Add]]:
    """The summaries in the model's words; one of the same evidence that has them already is left as it is stored."""
    if not adds:
        return []
    stored = yield from ask(FetchUnits(where=Where(owners=(scope.owner,), ids=tuple(add.made.id for add in adds))))
    done = {unit.id for unit in stored if WORDED in unit.tags for add in adds if _is_same(unit, add.made)}
    left = [add for add in adds if add.made.id not in done]
    if not may_ask(settings):
        return left
    worded: dict[str, Add] = {}
    for batch in _batches(left, STORIES, settings):
        stories = [_story(add, evidence) for add in batch]
        answer = yield from _asked(summaries_request(stories), beat)
        if answer is None:
            break
        for place, text in read_summaries(answer, stories).items():
            made = batch[place].made
            tags = tuple(dict.fromkeys((*made.tags, WORDED)))
            worded[made.id] = batch[place].model_copy(update={"made": made.model_copy(update={"content": text, "tags": tags})})
    return [worded.get(add.made.id, add) for add in left]


def may_ask(settings: FlowSettings) -> bool:
    """Whether consolidation may ask a chat model at all."""
    return settings.chat and settings.config.consolidation.model_calls > 0


def _asked(request: Complete, beat: Beat) -> Plan[Answer | None]:
    """The answer, or None where the model gives none: then it is not asked again in this pass."""
    yield from beat()
    try:
        return (yield from ask(request))
    except ModelError:
        return None


def _batches(items: Sequence[T], size: int, settings: FlowSettings) -> Iterator[Sequence[T]]:
    for call in range(min(settings.config.consolidation.model_calls, -(-len(items) // size))):
        yield items[call * size : (call + 1) * size]


def _is_unread(unit: MemoryUnit) -> bool:
    no_statement = {Read.NOTHING, RETRACTION, QUOTED_CLAIM}
    return (
        unit.triple is None
        and unit.kind in _STATING
        and unit.speaker is Role.USER
        and not is_made(unit)
        and no_statement.isdisjoint(unit.tags)
    )


def _in_order(one: MemoryUnit, other: MemoryUnit) -> tuple[MemoryUnit, MemoryUnit]:
    return (one, other) if (one.moment, one.id) <= (other.moment, other.id) else (other, one)


def _is_same(stored: MemoryUnit, made: MemoryUnit) -> bool:
    return stored.id == made.id and set(stored.related) == set(made.related)


def _story(add: Add, evidence: Mapping[str, MemoryUnit]) -> tuple[str, list[str]]:
    units = [evidence[key] for key in add.made.related if key in evidence]
    return add.about, [f"{unit.moment:%Y-%m-%d}: {unit.content}" for unit in units]
