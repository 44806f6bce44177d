"""Answer a query from memory: cues, route, channels, score, filter, cut, digest, inject, as one plan (SPEC D)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from hindsight_langgraph.config import RecallConfig
from hindsight_langgraph.encoding.entities import AliasTable
from hindsight_langgraph.errors import CallError, HindsightError, ModelError, StoreError
from hindsight_langgraph.ops import Embed, Probe, SearchUnits, Where
from hindsight_langgraph.plan import Plan, ask, together
from hindsight_langgraph.ports import TokenCounter
from hindsight_langgraph.recall import abstain, channels, cues, cut, digest, inject, route_head, score, walk
from hindsight_langgraph.recall.abstain import AbstentionHead, reason_to_abstain
from hindsight_langgraph.recall.domain_rankers import NO_DOMAIN
from hindsight_langgraph.recall.facts import FactsMemory
from hindsight_langgraph.recall.filter import Kept, sift
from hindsight_langgraph.recall.model_router import read_scores, routing_request
from hindsight_langgraph.recall.query_adapter import QueryAdapter
from hindsight_langgraph.recall.ranker import Ranker, shipped_ranker
from hindsight_langgraph.recall.recollection import Cues, Dropped, Item, Query, Recollection, Stage
from hindsight_langgraph.recall.route import RouteHead, route
from hindsight_langgraph.recall.score import Scored
from hindsight_langgraph.recall.tokens import estimate_tokens
from hindsight_langgraph.records import EmbeddingSpace, Hit, Scope, Turn
from hindsight_langgraph.similarity import COSINE_FLOORS

Vector = tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallTools:
    """What recall works with besides the stores."""

    counter: TokenCounter = estimate_tokens
    aliases: AliasTable = field(default_factory=AliasTable)
    """The user's entity aliases."""
    abstention: AbstentionHead | None = None
    """Tells when nothing found is an answer; None leaves it to the rules."""
    ranker: Ranker | None = None
    """Re-ranks what the weighted sum found; None leaves it at that."""
    learned: Mapping[str, Ranker] = field(default_factory=dict[str, Ranker])
    """By task domain (blank for none), the ranker that the deployment learnt from its own outcomes; it goes before `ranker`."""
    head: RouteHead | None = None
    """Classifies queries by region; None leaves it to the rules."""
    cosine_floor: float = 0.0
    """Cosine of two unrelated texts in the embedding space; far from 0 for some models (0.7 for e5)."""
    adapter: QueryAdapter | None = None
    """Turns the query's vector towards what helped before, for a search of its own; None searches by the embedding as it is."""
    chat: bool = False
    """Whether a chat model can be asked, for routing."""
    embeds: bool = True
    """False when no embedding model is to be asked; then words alone find."""
    forgotten: frozenset[str] = frozenset()
    """Ids of units or turns that were forgotten on request."""
    facts: FactsMemory = field(default_factory=FactsMemory, compare=False)
    """What was found out about the units of the last recalls."""


def tools_for(space: EmbeddingSpace, *, counter: TokenCounter = estimate_tokens, directory: Path | None = None) -> RecallTools:
    """The tools for an embedding space: the user's own route head from `directory`, what ships, or the rules where nothing does."""
    return RecallTools(
        counter=counter,
        head=route_head.shipped_head(space.model, directory=directory),
        abstention=abstain.shipped_head(space.model),
        ranker=shipped_ranker(),
        cosine_floor=COSINE_FLOORS.get(space.model, 0.0),
    )


def recall_units(
    query: Query,
    *,
    scope: Scope,
    now: datetime,
    config: RecallConfig,
    tools: RecallTools,
    session: Sequence[Turn] = (),
    as_of: datetime | None = None,
) -> Plan[Recollection]:
    """Recall what answers `query` for the scope's readers.

    A model or store that fails costs its channel and is named in `degraded`; whatever else was found is still used.

    Args:
        query: what is asked, and the task it is asked in.
        scope: who asks; nothing of another owner is ever read.
        now: the present moment, timezone-aware.
        config: settings of recall.
        tools: token counter, aliases, router.
        session: turns of the session buffer that are not in the prompt already.
        as_of: answer from what was known and valid at this moment.
    """
    read = cues.read_cues(query, now=now, timezone=scope.timezone, aliases=tools.aliases)
    if config.max_tokens == 0 or config.max_items == 0 or not read.text:
        return Recollection(
            query=query,
            at=now,
            as_of=as_of,
            cues=read,
            route=route(read, words=query.text, vector=None, head=None, asked=query.regions),
        )
    words = query.text or read.text
    vector, degraded = yield from _embedded(read.text, tools)
    head, unrouted = yield from _router(words, tools, config=config)
    way = route(read, words=words, vector=vector, head=head, asked=query.regions)
    adapted = tools.adapter.apply(vector) if tools.adapter is not None and vector is not None else None
    if adapted is not None and config.preset != "fused":  # the other presets know one likeness alone
        vector, adapted = adapted, None
    moment = as_of or now
    turns = channels.session_candidates(session, read, scope=scope, now=moment, config=config)

    def rank(replies: Mapping[str, Sequence[Hit]]) -> list[Scored]:
        found = channels.merge(replies, walks_by="dense" if vector is not None else "text")
        units = channels.without_repeats(found, channels.not_overtaken(turns, replies.get(channels.OVERTAKEN, ())))
        return score.score(units, read, way, now=moment, config=config, cosine_floor=tools.cosine_floor, facts_of=tools.facts.of)

    where = channels.readable(way, scope=scope, config=config, as_of=as_of)
    beside = channels.overtaken_probe(turns, scope=scope)
    if adapted is not None:
        beside |= channels.adapted_probe(adapted, where=where, config=config)
    ranked, more = yield from _ranked(read, vector, where=where, config=config, beside=beside, rank=rank)
    ranker = tools.learned.get(scope.domain or NO_DOMAIN, tools.ranker)
    if config.ranker and ranker is not None and config.preset == "fused":
        ranked = ranker.rerank(ranked, read)
    ranked = walk.walked(ranked, read) if config.walk else ranked
    kept, dropped = sift(ranked, read, scope=scope, now=now, as_of=as_of, config=config, forgotten=tools.forgotten)
    abstained = reason_to_abstain(kept, ranked, read, way, head=tools.abstention) if config.abstain else ""
    chosen, below = cut.select([] if abstained else kept, config, limit=config.max_items, background=read.background)
    below += [cut.dropped(k, Stage.ABSTAIN, abstained) for k in kept if abstained]
    recollection = Recollection(
        query=query, at=now, as_of=as_of, cues=read, route=way, items=tuple(_item(k) for k in chosen), dropped=(*dropped, *below), abstained=abstained, degraded=(*degraded, *unrouted, *more)
    )  # fmt: skip
    return write_out(recollection, config=config, counter=tools.counter)


def write_out(recollection: Recollection, *, config: RecallConfig, counter: TokenCounter) -> Recollection:
    """The recollection with its block for the prompt; items that found no room are dropped with that reason."""
    entries = [digest.digest(item, recollection.cues.topics) for item in recollection.items]
    block = inject.render(entries, max_tokens=config.max_tokens, counter=counter)
    told = tuple(item for item in recollection.items if item.unit.id in block.used)
    untold = [item for item in recollection.items if item.unit.id not in block.used]
    over = tuple(
        Dropped(unit=item.unit, score=item.score, terms=item.terms, stage=Stage.BUDGET, reason="over the token budget")
        for item in untold
    )
    return recollection.model_copy(update={"items": told, "dropped": (*recollection.dropped, *over), "block": block})


def _embedded(text: str, tools: RecallTools) -> Plan[tuple[Vector | None, tuple[str, ...]]]:
    if not tools.embeds:
        return None, ("no embedding model: found by words alone",)
    try:
        vectors = yield from ask(Embed(texts=(text,), purpose="query"))
    except ModelError as error:
        return None, (f"the embedding model failed, found by words alone: {error}",)
    return vectors[0], ()


def _router(words: str, tools: RecallTools, *, config: RecallConfig) -> Plan[tuple[RouteHead | None, tuple[str, ...]]]:
    """Who routes; a chat model that fails leaves it to the head."""
    if config.router == "model" and tools.chat:
        try:
            return read_scores((yield from ask(routing_request(words)))), ()
        except ModelError as error:
            return tools.head, (f"the routing model failed, routed without it: {error}",)
    return None if config.router == "rules" else tools.head, ()


def _ranked(
    read: Cues,
    vector: Vector | None,
    *,
    where: Where,
    config: RecallConfig,
    beside: Mapping[str, Probe],
    rank: Callable[[Mapping[str, Sequence[Hit]]], list[Scored]],
) -> Plan[tuple[list[Scored], tuple[str, ...]]]:
    """Search, and once more where the first hits lead on; what was found, best first, with what could not be asked.

    `beside` is asked in the first request as well.
    """
    probes = {**channels.build_probes(read, vector, where=where, config=config), **beside}
    replies, degraded = yield from _searched(probes, cold=read.distant)
    ranked = rank(replies)
    if not config.walk or _is_all(probes, replies):
        return ranked, degraded
    further = walk.second_probes(ranked, read, vector, where=where, config=config)
    if not further:
        return ranked, degraded
    later, more = yield from _searched(further, cold=read.distant)
    return rank({**replies, **later}), (*degraded, *more)


def _searched(probes: Mapping[str, Probe], *, cold: bool) -> Plan[tuple[dict[str, list[Hit]], tuple[str, ...]]]:
    """The hits of each probe, with what could not be asked; one round trip where all goes well."""
    if not probes:
        return {}, ()
    requests = [channels.search(probes)] + ([channels.search(probes, cold=True)] if cold else [])
    replies = yield from together(*requests)
    hits: dict[str, list[Hit]] = {name: [] for name in probes}
    degraded: list[str] = []
    for request, reply in zip(requests, replies, strict=True):
        if isinstance(reply, Exception):
            partial, reasons = yield from _one_by_one(probes, request, reply)
            degraded += reasons
        else:
            partial = dict(zip(probes, reply, strict=True))
        for name, found in partial.items():
            hits[name] += found
    return hits, tuple(degraded)


def _is_all(probes: Mapping[str, Probe], replies: Mapping[str, Sequence[Hit]]) -> bool:
    """Whether the first search has seen every unit that may be read: bare likeness found fewer than it may."""
    return "dense" in probes and 0 < len(replies["dense"]) < probes["dense"].limit


def _one_by_one(
    probes: Mapping[str, Probe], request: SearchUnits, error: Exception
) -> Plan[tuple[dict[str, list[Hit]], list[str]]]:
    """Ask each channel alone after the joint request failed, so that one bad channel does not lose the others."""
    if isinstance(error, CallError) or not isinstance(error, StoreError):
        raise error
    singles = [SearchUnits(probes=(probe,), collection=request.collection) for probe in probes.values()]
    replies = yield from together(*singles)
    found: dict[str, list[Hit]] = {}
    degraded: list[str] = []
    for name, reply in zip(probes, replies, strict=True):
        if isinstance(reply, HindsightError):
            degraded.append(f"channel {name} of the {request.collection} units failed: {reply}")
        elif isinstance(reply, Exception):
            raise reply
        else:
            found[name] = reply[0]
    return found, degraded


def _item(kept: Kept) -> Item:
    return Item(unit=kept.unit, score=kept.scored.score, terms=kept.scored.terms, standing=kept.standing, why=kept.why)
