"""From a request to an engine to calls of qdrant-client's methods: the same for its blocking and its awaiting client."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hindsight_langgraph.backends.engine import (
    CONTEXT,
    DENSE,
    TEXT,
    Count,
    CountValues,
    EngineOp,
    ListPlaces,
    OpenPlace,
    Overwrite,
    Place,
    Point,
    Rank,
    Ranked,
    Ranking,
    Remove,
    Scroll,
    SetDense,
    Upsert,
    checked_name,
    parse_place,
    point_of,
)
from hindsight_langgraph.backends.filters import Between, Condition, Conditions, HasId, OneOf, Unembedded
from hindsight_langgraph.backends.payload import FLOATS, INTEGERS, KEYWORDS, MOMENT, REVISION, TENANT
from hindsight_langgraph.errors import Conflict, StoreRejected
from hindsight_langgraph.plan import Op, Plan, ask
from hindsight_langgraph.records import SparseVector

_ALL_VALUES: Final = 100_000
"""Most distinct values that a count by value asks for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call(Op[Any]):
    """Call one method of a client."""

    method: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """How collections are named and made.

    A graph is built for each owner (`payload_m`), none over all of them (m=0): the tenant recipe of Qdrant's manual. 16 and 100
    suit up to 100,000 units an owner, 32 and 200 up to a million.
    """

    prefix: str
    payload_m: int = 16
    ef_construct: int = 100


def calls(op: EngineOp[Any], settings: ServerSettings) -> Plan[Any]:
    """Answer one request of the long-term plans."""
    match op:
        case ListPlaces():
            listed = yield from _call("get_collections")
            names = [each.name for each in listed.collections]
            head = f"{settings.prefix}."
            return [
                place for name in names if name.startswith(head) and (place := parse_place(name.removeprefix(head))) is not None
            ]
        case OpenPlace():
            yield from _open(op.place, settings)
        case Rank():
            requests = [_query(ranking, op.fields) for ranking in op.rankings]
            found = yield from _call("query_batch_points", collection_name=_name(op.place, settings), requests=requests)
            return [[Ranked(str(each.id), each.payload or {}, each.score) for each in reply.points] for reply in found]
        case Scroll():
            return (yield from _scroll(op, settings))
        case Count():
            counted = yield from _call(
                "count", collection_name=_name(op.place, settings), count_filter=_filter(op.conditions), exact=True
            )
            return counted.count
        case CountValues():
            faceted = yield from _call(
                "facet",
                collection_name=_name(op.place, settings),
                key=op.field,
                facet_filter=_filter(op.conditions),
                limit=_ALL_VALUES,
                exact=True,
            )
            return {str(hit.value): hit.count for hit in faceted.hits}
        case Upsert() | SetDense() | Overwrite() | Remove():
            yield from _write(op, settings)
        case _:
            raise StoreRejected(f"{type(op).__name__} is not a request to an engine")
    return None


def _call(method: str, **arguments: Any) -> Plan[Any]:
    return (yield from ask(Call(method=method, arguments=arguments)))


def _name(place: Place, settings: ServerSettings) -> str:
    return f"{settings.prefix}.{checked_name(place)}"


def _models() -> Any:
    """The client's models, imported where they are needed: importing them costs more than a second."""
    from qdrant_client import models

    return models


def _open(place: Place, settings: ServerSettings) -> Plan[None]:
    """Create the collection and its indexes where they are missing.

    Several processes may do so at once: each step may have been taken by another one already.
    """
    name = _name(place, settings)
    if not (yield from _call("collection_exists", collection_name=name)):
        with contextlib.suppress(Conflict):  # another process was faster
            yield from _call("create_collection", collection_name=name, **_collection(place, settings))
    info = yield from _call("get_collection", collection_name=name)
    for field, schema in _indexes().items():
        if field not in info.payload_schema:
            yield from _call("create_payload_index", collection_name=name, field_name=field, field_schema=schema, wait=True)


def _collection(place: Place, settings: ServerSettings) -> dict[str, Any]:
    models = _models()
    words = models.SparseVectorParams(modifier=models.Modifier.IDF)
    return {
        "vectors_config": {DENSE: models.VectorParams(size=place.space.dimension, distance=models.Distance.COSINE)},
        "sparse_vectors_config": {TEXT: words, CONTEXT: words},
        "hnsw_config": models.HnswConfigDiff(m=0, payload_m=settings.payload_m, ef_construct=settings.ef_construct),
    }


def _indexes() -> dict[str, Any]:
    models = _models()
    keyword, integer, number = models.KeywordIndexType.KEYWORD, models.IntegerIndexType.INTEGER, models.FloatIndexType.FLOAT
    indexes: dict[str, Any] = {TENANT: models.KeywordIndexParams(type=keyword, is_tenant=True)}
    indexes |= {name: models.KeywordIndexParams(type=keyword, enable_hnsw=False) for name in KEYWORDS}
    indexes |= {name: models.IntegerIndexParams(type=integer, lookup=True, range=True, enable_hnsw=False) for name in INTEGERS}
    return indexes | {name: models.FloatIndexParams(type=number, enable_hnsw=False) for name in FLOATS}


def _condition(condition: Condition) -> Any:
    models = _models()
    match condition:
        case OneOf():
            one = len(condition.values) == 1
            matching = models.MatchValue(value=condition.values[0]) if one else models.MatchAny(any=list(condition.values))
            return models.FieldCondition(key=condition.field, match=matching)
        case Between():
            bounds = models.Range(gte=condition.low, gt=condition.above, lt=condition.below)
            return models.FieldCondition(key=condition.field, range=bounds)
        case HasId():
            return models.HasIdCondition(has_id=list(condition.ids))
        case Unembedded():
            return models.Filter(must_not=[models.HasVectorCondition(has_vector=DENSE)])


def _filter(conditions: Conditions) -> Any:
    return _models().Filter(must=[_condition(each) for each in conditions])


def _query(ranking: Ranking, fields: tuple[str, ...]) -> Any:
    models = _models()
    common: dict[str, Any] = {"filter": _filter(ranking.conditions), "limit": ranking.limit, "with_payload": list(fields)}
    if ranking.vector is None:
        order = models.OrderBy(key=MOMENT, direction=models.Direction.DESC)
        return models.QueryRequest(query=models.OrderByQuery(order_by=order), **common)
    if isinstance(ranking.vector, SparseVector):
        corpus = models.SearchParams(idf=models.IdfCorpusParams(corpus=_filter(ranking.corpus)))
        return models.QueryRequest(query=_sparse(ranking.vector), using=ranking.using, params=corpus, **common)
    return models.QueryRequest(query=list(ranking.vector), using=ranking.using, **common)


def _scroll(op: Scroll, settings: ServerSettings) -> Plan[tuple[list[Point], str | None]]:
    found, after = yield from _call(
        "scroll",
        collection_name=_name(op.place, settings),
        scroll_filter=_filter(op.conditions),
        limit=op.limit,
        offset=op.start,
        with_payload=list(op.fields) or False,
        with_vectors=op.with_vectors,
    )
    return [point_of(each) for each in found], None if after is None else str(after)


def _write(op: Upsert | SetDense | Overwrite | Remove, settings: ServerSettings) -> Plan[None]:
    """One round trip that returns when the write is visible. Ordered strongly, so that replicas agree on who was first."""
    models = _models()
    operations: list[Any]
    match op:
        case Upsert():
            operations = [
                models.UpsertOperation(upsert=models.PointsList(points=[_struct(each) for each in op.points], **_only_older(op)))
            ]
        case SetDense():
            vectors = [models.PointVectors(id=each, vector={DENSE: list(vector)}) for each, vector in op.vectors]
            at = _filter((OneOf(field=REVISION, values=(op.revision,)),))
            operations = [models.UpdateVectorsOperation(update_vectors=models.UpdateVectors(points=vectors, update_filter=at))]
        case Overwrite():
            operations = [
                models.OverwritePayloadOperation(overwrite_payload=models.SetPayload(payload=payload, filter=_filter(conditions)))
                for conditions, payload in op.changes
            ]
        case Remove():
            operations = [models.DeleteOperation(delete=models.FilterSelector(filter=_filter(each))) for each in op.conditions]
    yield from _call(
        "batch_update_points",
        collection_name=_name(op.place, settings),
        update_operations=operations,
        wait=True,
        ordering=models.WriteOrdering.STRONG,
    )


def _only_older(op: Upsert) -> dict[str, Any]:
    if op.older_than is None:
        return {}
    models = _models()
    older = models.FieldCondition(key=REVISION, range=models.Range(lt=op.older_than))
    return {"update_filter": models.Filter(must=[older])}


def _sparse(vector: SparseVector) -> Any:
    return _models().SparseVector(indices=list(vector.indices), values=list(vector.values))


def _struct(point: Point) -> Any:
    vectors: dict[str, Any] = {
        name: _sparse(words) for name, words in ((TEXT, point.text), (CONTEXT, point.context)) if words.indices
    }
    if point.dense is not None:
        vectors[DENSE] = list(point.dense)
    return _models().PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))
