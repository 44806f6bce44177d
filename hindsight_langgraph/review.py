"""Reads reviewed runs of a LangSmith project and hands each review to the memory (SPEC G5).

A review is feedback that a person left on any run of a trace: a score, a corrected answer, a comment. The trace's own recall runs say
whose memory answered and what it put before the model.
"""

# LangSmith types its dicts without arguments, so that its functions are known in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from hindsight_langgraph.errors import StoreUnavailable
from hindsight_langgraph.feedback import OWN_KEYS
from hindsight_langgraph.flows.reviewing import Applied, Review
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.records import Scope
from hindsight_langgraph.tracing import RECALL_RUN, SESSION, TASK, USER

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Feedback, Run

GOOD: Final = 0.5
"""Scores from here up to 1 are a thumbs-up; 0 and less a thumbs-down; between them, and over 1, nobody knows."""
CORRECTION_CHARS: Final = 2_000


def review_project(
    memory: HindsightMemory,
    client: Client,
    project: str,
    *,
    dry_run: bool = False,
    progress: Callable[[Sequence[Feedback]], Iterator[Feedback]] = iter,
) -> list[Applied]:
    """Take in every review of a project, oldest first. Those that were taken in before are left alone.

    Args:
        memory: that answered in these traces.
        client: of LangSmith.
        project: name of the project.
        dry_run: only say what would be done.
        progress: walks the feedback while it shows how far it is.

    Raises:
        StoreUnavailable: LangSmith does not answer; what was taken in by then is, and a rerun goes on from there.
    """
    from langsmith.utils import LangSmithError

    try:
        found = client.read_project(project_name=project)
        left = [one for one in client.list_feedback(session=[str(found.id)]) if one.key not in OWN_KEYS and _trace_of(one)]
        left.sort(key=lambda one: (one.created_at, str(one.id)))
        done: list[Applied] = []
        for one in progress(left):
            runs = recall_runs(client, str(found.id), str(_trace_of(one)))
            done += [memory.review(review, dry_run=dry_run) for review in reviews_of(one, runs)]
    except LangSmithError as error:
        raise StoreUnavailable(f"LangSmith, project {project!r}: {error}; run the review again, it goes on from here") from error
    return done


def recall_runs(client: Client, project_id: str, trace_id: str) -> list[Run]:
    """The runs of a trace that recalled."""
    with warnings.catch_warnings():  # its successor speaks to the newest backends only
        warnings.simplefilter("ignore", DeprecationWarning)
        found = list(client.list_runs(project_id=project_id, trace_id=trace_id, run_type="retriever"))
    return [run for run in found if run.name == RECALL_RUN]


def reviews_of(feedback: Feedback, runs: Sequence[Run]) -> list[Review]:
    """The review that feedback is, once for each user and task whose memory answered in the trace."""
    by_scope: dict[Scope, list[Run]] = {}
    for run in runs:
        scope = _scope_of(run)
        if scope is not None:
            by_scope.setdefault(scope, []).append(run)
    return [
        Review(
            id=str(feedback.id),
            at=feedback.created_at,
            scope=scope,
            question=next((str(run.inputs.get("query", "")) for run in own), ""),
            unit_ids=tuple(dict.fromkeys(unit_id for run in own for unit_id in _shown(run))),
            success=verdict_of(feedback.score),
            comment=feedback.comment or "",
            correction=correction_text(feedback.correction),
        )
        for scope, own in by_scope.items()
    ]


def verdict_of(score: float | bool | None) -> bool | None:
    """What a score says of an answer: thumbs are 1 and 0 (or -1); on a scale of its own it says nothing that we could know."""
    if score is None or score > 1 or 0 < score < GOOD:
        return None
    return score >= GOOD


def correction_text(correction: object) -> str:
    """The words of a corrected answer, whatever form it was edited in."""
    if isinstance(correction, str):
        return correction.strip()[:CORRECTION_CHARS]
    return "\n".join(dict.fromkeys(_words(correction)))[:CORRECTION_CHARS]


def _words(value: object, name: str = "") -> Iterator[str]:
    """Texts within a value; a message's content without its role, type and ids."""
    if isinstance(value, str):
        if value.strip() and name not in {"role", "type", "id", "name", "model"}:
            yield value.strip()
    elif isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, object]", value).items():
            yield from _words(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[object]", value):
            yield from _words(inner)


def _scope_of(run: Run) -> Scope | None:
    told: Mapping[str, Any] = (run.extra or {}).get("metadata") or {}
    user = str(told.get(USER) or "")
    if not user.strip():
        return None
    return Scope(user_id=user, session_id=str(told.get(SESSION) or "default"), task_id=told.get(TASK))


def _shown(run: Run) -> list[str]:
    documents: Sequence[Mapping[str, Any]] = (run.outputs or {}).get("documents") or []
    metadata: list[Mapping[str, Any]] = [document.get("metadata") or {} for document in documents]
    return [str(one["id"]) for one in metadata if one.get("kept") and one.get("id")]


def _trace_of(feedback: Feedback) -> object:
    return feedback.trace_id or feedback.run_id
