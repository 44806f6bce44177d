"""One shard of Qdrant Edge: answers the requests of an engine about one place, and maps its errors."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from hindsight_langgraph.backends.engine import (
    CONTEXT,
    DENSE,
    TEXT,
    Count,
    CountValues,
    EngineOp,
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
    point_of,
)
from hindsight_langgraph.backends.filters import Between, Condition, Conditions, HasId, OneOf, Unembedded
from hindsight_langgraph.backends.payload import FLOATS, KEYWORDS, MOMENT, REVISION, TENANT, WRITES, Payload
from hindsight_langgraph.backends.payload_memory import PayloadMemory
from hindsight_langgraph.errors import StoreCorrupt, StoreError, StoreLocked, StoreRejected, StoreUnavailable
from hindsight_langgraph.records import SparseVector

_ALL_VALUES: Final = 1_000_000
"""More distinct values than a field has: counting by value leaves none out."""
_NEVER_KB: Final = 2**40
_NOT_INDEXED: Final = frozenset({"agent", "attribute", WRITES})
"""Text fields that are only asked for beside an indexed one; so are the integers. An index costs 20 ms when a store is created."""
_CONFIG: Final = "edge_config.json"


def shard_path(root: Path, place: Place) -> Path:
    """The directory of a place."""
    return root / checked_name(place)


class EdgeShard:
    """An open shard. Not locked here: the store lets one request at a time through.

    No graph is built (m=0): a scan under the owner's filter takes about a millisecond, a graph minutes that hold the GIL. Nor are vectors
    quantised: int8 with exact scores for twice as many as wanted finds the same hundred of one owner's 100,000 in 4.6 ms instead of 11.5,
    but making it takes 12 s that hold the GIL.
    """

    def __init__(self, root: Path, place: Place) -> None:
        """Open the shard of a place, creating it where it is missing.

        Raises:
            StoreLocked: another process has it open.
            StoreCorrupt: its files cannot be read.
        """
        self._path = shard_path(root, place)
        with edge_errors(f"opening {self._path}", unknown=StoreCorrupt):
            if not (self._path / _CONFIG).exists():
                _create(self._path, place)
            self._shard = _edge().EdgeShard.load(str(self._path))
        self._memories: defaultdict[tuple[str, ...], PayloadMemory] = defaultdict(PayloadMemory)
        """By the fields that were asked for."""

    def answer(self, op: EngineOp[Any]) -> Any:
        """Answer one request about this place."""
        for memory in self._memories.values():
            memory.forget(op)
        with edge_errors(f"{type(op).__name__} in {self._path}"):
            match op:
                case Rank():
                    return self._rank(op)
                case Scroll():
                    return self._scroll(op)
                case Count():
                    return self._shard.count(_edge().CountRequest(exact=True, filter=_filter(op.conditions)))
                case CountValues():
                    request = _edge().FacetRequest(op.field, limit=_ALL_VALUES, exact=True, filter=_filter(op.conditions))
                    return {str(hit.value): hit.count for hit in self._shard.facet(request).hits}
                case Upsert():
                    return self._upsert(op)
                case SetDense():
                    vectors = [_edge().PointVectors(each, {DENSE: list(vector)}) for each, vector in op.vectors]
                    at = _filter((OneOf(field=REVISION, values=(op.revision,)),))
                    self._shard.update(_edge().UpdateOperation.update_vectors(vectors, condition=at))
                    return None
                case Overwrite():
                    for conditions, payload in op.changes:
                        self._shard.update(_edge().UpdateOperation.overwrite_payload_by_filter(_filter(conditions), payload))
                    return None
                case Remove():
                    for conditions in op.conditions:
                        self._shard.update(_edge().UpdateOperation.delete_points_by_filter(_filter(conditions)))
                    return None
                case _:
                    raise StoreRejected(f"{type(op).__name__} is not a request about a place")

    def flush(self) -> None:
        """Write everything to disk: safe against loss of power afterwards."""
        with edge_errors(f"flushing {self._path}"):
            self._shard.flush()

    def compact(self) -> bool:
        """Rewrite segments of 1,000 points and more of which over a fifth is deleted; reply whether there was one.

        Holds the GIL for as long as it takes: a tenth of a second at 5,000 units, seconds at 100,000.
        """
        with edge_errors(f"compacting {self._path}"):
            return bool(self._shard.optimize())

    def close(self) -> None:
        """Flush and let go of the directory."""
        with edge_errors(f"closing {self._path}"):
            self._shard.flush()
            self._shard.close()

    def _rank(self, op: Rank) -> list[list[Ranked]]:
        found = self._shard.query_batch(_edge().QueryBatchRequest([_query(ranking) for ranking in op.rankings]))
        ranked = [[(each.id.int, each.score) for each in points] for points in found]
        wanted = dict.fromkeys(number for points in ranked for number, _ in points)
        known = self._memories[op.fields].payloads(wanted, lambda numbers: self._payloads(numbers, op.fields))
        return [[Ranked(*known[number], score) for number, score in points] for points in ranked]

    def _payloads(self, numbers: list[int], fields: tuple[str, ...]) -> dict[int, Payload]:
        found = self._shard.retrieve([UUID(int=number) for number in numbers], with_payload=list(fields), with_vector=False)
        return {each.id.int: each.payload or {} for each in found}

    def _scroll(self, op: Scroll) -> tuple[list[Point], str | None]:
        request = _edge().ScrollRequest(
            offset=None if op.start is None else UUID(op.start),
            limit=op.limit,
            filter=_filter(op.conditions),
            with_payload=list(op.fields) or False,
            with_vector=op.with_vectors,
        )
        found, after = self._shard.scroll(request)
        return [point_of(each) for each in found], None if after is None else str(after)

    def _upsert(self, op: Upsert) -> None:
        edge = _edge()
        points = [edge.Point(point.id, _vectors(point), point.payload) for point in op.points]
        older = None
        if op.older_than is not None:
            older = edge.Filter(must=[edge.FieldCondition(REVISION, range=edge.RangeFloat(lt=float(op.older_than)))])
        self._shard.update(edge.UpdateOperation.upsert_points(points, condition=older))


def _edge() -> Any:
    """The engine's module, imported where it is needed; its stubs name classes that strict checkers cannot find."""
    import qdrant_edge

    return qdrant_edge


def _create(path: Path, place: Place) -> None:
    """Make an empty shard beside its place, then put it there in one step: a crash leaves no half-made store."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=path.parent))
    edge = _edge()
    try:
        shard = edge.EdgeShard.create(str(made), _config(place))
        for name, index in _indexes().items():
            shard.update(edge.UpdateOperation.create_field_index(name, index))
        shard.close()
        with contextlib.suppress(OSError):  # another process was faster; its shard is as good, if it is not locked
            made.rename(path)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _config(place: Place) -> Any:
    edge = _edge()
    words = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=place.space.dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={TEXT: words, CONTEXT: words},
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000),
        optimizers=edge.EdgeOptimizersConfig(
            deleted_threshold=0.2,
            vacuum_min_vector_number=1_000,
            default_segment_number=1,
            indexing_threshold=_NEVER_KB,  # only deletions are a reason to rewrite a segment
            max_segment_size=_NEVER_KB,
        ),
    )


def _indexes() -> dict[str, Any]:
    edge = _edge()
    indexes: dict[str, Any] = {TENANT: edge.KeywordIndexParams(is_tenant=True, enable_hnsw=False)}
    indexes |= {name: edge.KeywordIndexParams(enable_hnsw=False) for name in KEYWORDS}
    indexes |= {name: edge.FloatIndexParams(enable_hnsw=False) for name in FLOATS}
    return {name: index for name, index in indexes.items() if name not in _NOT_INDEXED}


def _condition(condition: Condition) -> Any:
    edge = _edge()
    match condition:
        case OneOf():
            one = len(condition.values) == 1  # measured: a search under one MatchValue costs two thirds of one under MatchAny
            matching = edge.MatchValue(condition.values[0]) if one else edge.MatchAny(list(condition.values))
            return edge.FieldCondition(condition.field, match=matching)
        case Between():
            bounds = edge.RangeFloat(gte=condition.low, gt=condition.above, lt=condition.below)
            return edge.FieldCondition(condition.field, range=bounds)
        case HasId():
            return edge.HasIdCondition({UUID(each) for each in condition.ids})
        case Unembedded():
            return edge.Filter(must_not=[edge.HasVectorCondition(DENSE)])


def _filter(conditions: Conditions) -> Any:
    return _edge().Filter(must=[_condition(each) for each in conditions])


def _query(ranking: Ranking) -> Any:
    edge = _edge()
    params = None
    if ranking.vector is None:
        query = edge.OrderBy(MOMENT, edge.Direction.Desc)
    elif isinstance(ranking.vector, SparseVector):
        query = edge.Query.Nearest(_sparse(ranking.vector), using=ranking.using)
        params = edge.SearchParams(idf=edge.IdfParams(corpus=_filter(ranking.corpus)))
    else:
        query = edge.Query.Nearest(list(ranking.vector), using=ranking.using)
    return edge.QueryRequest(
        limit=ranking.limit, query=query, filter=_filter(ranking.conditions), with_payload=False, params=params
    )


def _sparse(vector: SparseVector) -> Any:
    return _edge().SparseVector(list(vector.indices), list(vector.values))


def _vectors(point: Point) -> dict[str, Any]:
    vectors: dict[str, Any] = {
        name: _sparse(words) for name, words in ((TEXT, point.text), (CONTEXT, point.context)) if words.indices
    }
    return vectors if point.dense is None else vectors | {DENSE: list(point.dense)}


@contextlib.contextmanager
def edge_errors(doing: str, *, unknown: type[StoreError] = StoreUnavailable) -> Generator[None]:
    """Turn what the engine raises, which is always a bare `Exception` or a Rust panic, into the tree of `errors.py`."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreUnavailable(f"{doing}: {error}; check that the directory exists and can be written to") from error
    except Exception as error:
        raise _mapped(doing, str(error), unknown) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3 derives it from BaseException, so that it would pass every handler
            raise
        raise StoreCorrupt(f"{doing}: the engine gave up: {error}; restore the store from an export") from error


def _mapped(doing: str, said: str, unknown: type[StoreError]) -> StoreError:
    if "WouldBlock" in said:
        return StoreLocked(
            f"{doing}: another process, or another store in this one, has this directory open. An embedded store serves one process: "
            "close the other one, or use a Qdrant server (HINDSIGHT_QDRANT_URL) for several processes"
        )
    if "No space left" in said or "Permission denied" in said or "Read-only" in said:
        return StoreUnavailable(f"{doing}: {said}; free some space or fix the permissions, then try again")
    if "dimension error" in said or "Wrong input" in said or "failed to" in said or "Validation" in said:
        return unknown(f"{doing}: {said}") if unknown is StoreCorrupt else StoreRejected(f"{doing}: {said}")
    return unknown(f"{doing}: {said}")
