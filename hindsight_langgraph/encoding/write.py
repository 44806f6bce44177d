"""The plan of writing: from turns to stored units (SPEC B; issue point 1).

redact → split → gate → extract → normalise → match → store. Every stage is a function of its own over plain values; this module only
passes their results on and asks for what they need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from hindsight_langgraph.config import WriteConfig
from hindsight_langgraph.encoding.decide import Decided, decide, settle_twins, structured, unfinished
from hindsight_langgraph.encoding.embed import embed_texts
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.encoding.features import Vector
from hindsight_langgraph.encoding.learned import read_learned, store_aliases
from hindsight_langgraph.encoding.match import Match, Outcome
from hindsight_langgraph.encoding.outcome import write_report
from hindsight_langgraph.encoding.policies import by_policy, hold, read_held, release
from hindsight_langgraph.encoding.reading import WritingTools, asked, drafts, embed_turns, extract, judge_turn
from hindsight_langgraph.encoding.redact import secrets_of
from hindsight_langgraph.encoding.report import WriteReport
from hindsight_langgraph.encoding.store import make_changes, put, written_units
from hindsight_langgraph.lexical import index_text
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.records import MemoryUnit, Role, Scope, Turn

__all__ = ["WritingTools", "approve", "write_turns"]


def write_turns(
    turns: Sequence[Turn],
    *,
    context: Sequence[Turn],
    scope: Scope,
    now: datetime,
    config: WriteConfig,
    tools: WritingTools,
    dry_run: bool = False,
) -> Plan[WriteReport]:
    """Write what is worth remembering of `turns`.

    Writing the same turns again, after a crash, a retry, a resume or in a fork, writes nothing a second time.

    Args:
        turns: what was said, in order; blank ones are passed over.
        context: the turns before them, for ellipsis; they are read, not written.
        scope: whose memory it is.
        now: the moment of writing; relative times are resolved against each turn's own moment.
        config: thresholds and limits.
        tools: heads, aliases, redactor, embedding space, extractor.
        dry_run: decide everything and write nothing.

    Raises:
        StoreError: the long-term store did not take it; writing the turns again is safe.
        Conflict: a unit was changed by others again and again; write the turns again.
    """
    clean, redactions = _redact(turns, tools)
    before_turns, _ = _redact(context, tools)
    history = [*before_turns, *clean]
    secrets = _secrets((*context, *turns), history)
    learned = yield from read_learned(scope)
    aliases = AliasTable({**tools.aliases.learned, **learned.aliases})
    for turn in clean:
        if turn.role is Role.USER:
            aliases = aliases.learn(turn.text)
    stored = yield from written_units(scope, [turn.id for turn in clean if turn.text.strip()])
    fresh = [turn for turn in clean if not _is_written(turn, stored) and turn.id not in learned.forgotten]
    vectors = yield from embed_turns(fresh, history, tools)
    judged = [judge_turn(turn, history, vectors, tools) for turn in fresh]
    calls = 0
    for one in judged:
        if one.verdict.keep:
            calls += yield from extract(one, vectors=vectors, scope=scope, aliases=aliases, tools=tools, config=config)
            one.drafts = drafts(one, scope=scope, aliases=aliases, redactor=tools.redactor, secrets=secrets, now=now)
    known = {unit.id for unit in stored} | learned.forgotten
    allowed = by_policy([unit for one in judged for unit in one.drafts if unit.id not in known], config.policies)
    units = allowed.keep
    unit_vectors = yield from _embed_units(units, tools)
    before = asked(judged, vectors)
    named = {unit_id: value for one in judged for unit_id, value in one.replaced_values.items()}
    decided = yield from decide(
        units, unit_vectors, before, replaced_values=named, scope=scope, tools=tools, config=config, now=now
    )
    decided.matches |= {unit.id: Match(outcome=Outcome.HELD, reasons=("policy: ask",)) for unit in allowed.ask}
    decided.matches |= {unit.id: Match(outcome=Outcome.DROPPED, reasons=("policy: drop",)) for unit in allowed.drop}
    decided.changes.extend(unfinished(stored))
    decided.changes.extend(structured(judged, stored))
    changed: list[str] = []
    if not dry_run:
        yield from hold(scope, allowed.ask, now=now)
        changed = yield from _commit(decided, unit_vectors, scope=scope, tools=tools, config=config, now=now)
        yield from store_aliases(scope, _newly_taught(aliases, learned.aliases, tools.aliases.learned))
    embedded = tools.space is not None and all(unit_id in unit_vectors for unit_id in decided.new)
    return write_report(
        clean, judged, decided, redactions=redactions, model_calls=calls, embedded=embedded, changed=changed, dry_run=dry_run
    )


def approve(ids: Sequence[str], *, scope: Scope, now: datetime, config: WriteConfig, tools: WritingTools) -> Plan[int]:
    """Write units that were held for a decision, as if they had been kept at once. Returns how many of `ids` were held."""
    units = [unit for unit in (yield from read_held(scope)) if unit.id in ids]
    vectors = yield from _embed_units(units, tools)
    decided = yield from decide(units, vectors, {}, replaced_values={}, scope=scope, tools=tools, config=config, now=now)
    yield from _commit(decided, vectors, scope=scope, tools=tools, config=config, now=now)
    return (yield from release(scope, [unit.id for unit in units]))


# --- stages --------------------------------------------------------------------------------------------------------------


def _commit(
    decided: Decided,
    vectors: Mapping[str, Vector],
    *,
    scope: Scope,
    tools: WritingTools,
    config: WriteConfig,
    now: datetime,
) -> Plan[list[str]]:
    """Store what was decided. Returns the ids of the units that changed."""
    yield from put(tuple(decided.new.values()), vectors)
    changed = yield from make_changes(decided.changes, scope=scope, now=now)
    return changed + (yield from settle_twins(decided, vectors, scope=scope, tools=tools, config=config, now=now))


def _redact(turns: Sequence[Turn], tools: WritingTools) -> tuple[list[Turn], dict[str, int]]:
    """The turns without their secrets, and how many were taken out, here or before."""
    clean: list[Turn] = []
    counts: Counter[str] = Counter()
    for turn in turns:
        text, found = tools.redactor(turn.text)
        clean.append(turn if text == turn.text else turn.model_copy(update={"text": text}))
        counts.update(found)
        counts.update(tools.redactions.get(turn.id, {}))
    return clean, dict(counts)


def _secrets(turns: Sequence[Turn], clean: Sequence[Turn]) -> tuple[str, ...]:
    """What was taken out of the turns: a model may know it from elsewhere and echo it (CASES O24)."""
    return tuple(
        dict.fromkeys(
            secret for turn, redacted in zip(turns, clean, strict=True) for secret in secrets_of(turn.text, redacted.text)
        )
    )


def _is_written(turn: Turn, stored: Sequence[MemoryUnit]) -> bool:
    """Whether an earlier run wrote this very text; a message that was edited under its old id is read again."""
    return any(
        turn.id in unit.sources and not unit.raw and bool(unit.source_text) and unit.source_text.removesuffix("…") in turn.text
        for unit in stored
    )


def _newly_taught(aliases: AliasTable, *known: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in aliases.learned.items() if all(other.get(name) != value for other in known)}


def _embed_units(drafts: Sequence[MemoryUnit], tools: WritingTools) -> Plan[dict[str, Vector]]:
    if tools.space is None:
        return {}
    by_text = yield from embed_texts(index_text(unit) for unit in drafts)
    return {unit.id: by_text[index_text(unit)] for unit in drafts if index_text(unit) in by_text}
