"""A task worth remembering as one episode: goal, chain of events, cause, outcome, lesson (SPEC A6, B8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from hindsight_langgraph.annotation.course import Course, course_of
from hindsight_langgraph.annotation.marks import marks, words
from hindsight_langgraph.annotation.signals import Signal, signal_of
from hindsight_langgraph.annotation.trajectory import Step, StepKind
from hindsight_langgraph.annotation.verdict import Case, Effect, Judgement, memory_ref, step_ref
from hindsight_langgraph.encoding.entities import AliasTable, find_entities
from hindsight_langgraph.encoding.identity import unit_id
from hindsight_langgraph.records import CausalRole, Episode, EpisodeEvent, Kind, MemoryUnit, Record, Region, Role, Scope, Unit01

SAME_SITUATION: Final = 0.8
"""Similarity (see `similarity.py`) from which a task is one that an episode tells already."""
SAME_WORDS: Final = 0.5
"""Share of words that two errors, or two corrections, have in common when they say the same."""
REPEAT: Final = 0.02
"""What each repetition adds to an episode's importance."""
SOURCES_MOST: Final = 200
"""Steps that an episode names as its sources; of one that came true often, the latest."""
_EVENT_CHARS: Final = 160
_LASTING: Final = re.compile(
    r"\bfrom now on\b|\bin (?:the )?future\b|\balways\b|\bnever\b|\bevery time\b|\bnext time\b|\bby default\b|以后|今后|往后|每次|一直|下次|永远|默认",
    re.IGNORECASE,
)


class Worth(Record):
    """Why a task is worth an episode, by the weights of SPEC B8."""

    outcome: Unit01
    correction: Unit01
    exception: Unit01
    novelty: Unit01

    @property
    def total(self) -> float:
        """The weighted sum, from 0 to 1."""
        return 0.3 * self.outcome + 0.3 * self.correction + 0.2 * self.exception + 0.2 * self.novelty


def worth_of(case: Case, *, novelty: float) -> Worth:
    """What a task is worth as an episode.

    A failure that passed by itself is no exception met, and a wish for this once is no correction.

    Args:
        case: the finished task.
        novelty: 1 when no episode tells of such a task yet, 0 when one tells the same.
    """
    course = course_of(case.steps)
    return Worth(
        outcome=float(case.outcome.success is not None),
        correction=float(bool(_corrections(case, course))),
        exception=float(bool(course.fatal or course.symptoms) or any(not recovery.passing for recovery in course.recoveries)),
        novelty=novelty,
    )


def same_way(one: Episode, other: Episode) -> bool:
    """Whether two tasks of one goal went the same way: both well or both badly, with the same failure and the same words of the user.

    A task that failed otherwise, was put right this time, or taught something else is news (SPEC E). The numbers in an error may differ
    (moments, identifiers), those in what the user corrected may not.
    """
    return (
        one.success is other.success
        and _alike(words(one.error), words(other.error))
        and _alike(
            words(one.user_correction) | marks(one.user_correction), words(other.user_correction) | marks(other.user_correction)
        )
    )


def _alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return len(mine & theirs) >= SAME_WORDS * len(mine | theirs)


def repeated(stored: MemoryUnit, again: MemoryUnit) -> MemoryUnit:
    """An episode that came true once more: counted, as fresh as the last time, and weightier. The revision is raised."""
    return stored.model_copy(
        update={
            "confirmations": stored.confirmations + 1,
            "said_at": max(stored.moment, again.moment),
            "updated_at": again.updated_at,
            "sources": tuple(dict.fromkeys((*stored.sources, *again.sources)))[-SOURCES_MOST:],
            "importance": min(1.0, stored.importance + REPEAT),
            "revision": stored.revision + 1,
        }
    )


def episode_unit(
    case: Case, judgements: Sequence[Judgement], *, scope: Scope, now: datetime, aliases: AliasTable, importance: float
) -> MemoryUnit:
    """The episode as a unit; the same task gives the same id, so that a repeated annotation writes it once."""
    episode = episode_of(case)
    content = _account(case, episode, judgements)
    at = case.steps[-1].at if case.steps else now
    return MemoryUnit(
        id=unit_id(scope.owner, sources=(scope.session_id, scope.task, *(step.id for step in case.steps)), content=case.goal),
        owner=scope.owner,
        content=content,
        region=Region.EPISODIC,
        kind=Kind.EPISODE,
        session_id=scope.session_id,
        agent_id=scope.agent_id,
        domain=scope.domain,
        source_text="\n".join(event.content for event in episode.events),
        sources=tuple(step.id for step in case.steps),
        speaker=Role.ASSISTANT,
        entities=find_entities(f"{case.goal}\n{content}", aliases),
        episode=episode,
        tags=("lesson", *(("failure",) if episode.success is False else ())),
        said_at=at,
        created_at=now,
        updated_at=now,
        base_importance=importance,
        importance=importance,
        confidence=0.9,
        role=CausalRole.DIRECT_CAUSE if episode.success is False else None,
    )


def episode_of(case: Case) -> Episode:
    """The record of what happened."""
    course = course_of(case.steps)
    failed = [case.steps[i].content for i in course.errors]
    corrections = _corrections(case, course)
    return Episode(
        goal=_short(case.goal, 400),
        events=tuple(EpisodeEvent(step=i + 1, kind=step.kind, content=_event(step)) for i, step in enumerate(case.steps)),
        outcome=_short(case.outcome.feedback or case.outcome.error or _closing(case, course), 400),
        success=case.outcome.success,
        error=_short(case.outcome.error or (failed[-1] if failed else ""), 400),
        user_correction=_short(corrections[-1] if corrections else "", 400),
        participants=("user", "assistant"),
        tags=tuple(dict.fromkeys(step.tool for step in case.steps if step.tool)),
    )


def _corrections(case: Case, course: Course) -> list[str]:
    """What the user put right, in the task or about it."""
    said = [(case.steps[i].content, signal) for i, signal in course.users.items()]
    if case.outcome.feedback:
        said.append((case.outcome.feedback, signal_of(case.outcome.feedback)))
    found = [text for text, signal in said if signal is Signal.CORRECT or (signal is Signal.CHANGE and _LASTING.search(text))]
    if case.outcome.success is False and case.outcome.feedback and case.outcome.feedback not in found:
        found.append(case.outcome.feedback)
    return found


def _account(case: Case, episode: Episode, judgements: Sequence[Judgement]) -> str:
    """The episode in words, in the language of the task: what was wanted, how it ended, why, and what to do next time."""
    zh = bool(re.search(r"[\u4e00-\u9fff]", case.goal))
    cause, lesson = _cause(case, judgements), _lesson(case, judgements, zh=zh)
    ended = {True: ("成功", "it succeeded"), False: ("失败", "it failed"), None: ("结果未知", "how it ended is unknown")}[
        episode.success
    ]
    how = f"（{episode.outcome}）" if zh and episode.outcome else f" ({episode.outcome})" if episode.outcome else ""
    parts = [f"任务：{episode.goal}", f"{ended[0]}{how}"] if zh else [f"Task: {episode.goal}", f"Outcome: {ended[1]}{how}"]
    if cause:
        parts.append(f"原因：{cause}" if zh else f"Cause: {cause}")
    if lesson:
        parts.append(lesson)
    return ("；" if zh else ". ").join(part.rstrip(" .。；;") for part in parts) + ("。" if zh else ".")


def _cause(case: Case, judgements: Sequence[Judgement]) -> str:
    """What the outcome turned on, the weightiest first."""
    texts = {step_ref(step): _event(step) for step in case.steps} | {memory_ref(m.id): m.content for m in case.memories}
    causes = sorted((j for j in judgements if j.role is CausalRole.DIRECT_CAUSE), key=lambda j: -j.importance)
    return "; ".join(_short(texts[judgement.ref], _EVENT_CHARS).rstrip(".。") for judgement in causes[:2])


def _lesson(case: Case, judgements: Sequence[Judgement], *, zh: bool) -> str:
    """What to do, or for a failure what not to do, when the situation returns."""
    course = course_of(case.steps)
    corrections = _corrections(case, course)
    parts: list[str] = []
    if case.outcome.success is False:
        blamed = [
            j
            for j in judgements
            if j.role is CausalRole.DIRECT_CAUSE and j.effect is Effect.NEGATIVE and j.ref.startswith("step:")
        ]
        steps = {step_ref(step): step for step in case.steps}
        worst = [_event(steps[j.ref]) for j in sorted(blamed, key=lambda j: -j.importance)[:1]]
        parts += [f"不要再：{text}" if zh else f"Do not do again: {text}" for text in worst]
    if corrections:
        parts.append(f"用户要求：{_short(corrections[-1], 240)}" if zh else f"The user said: {_short(corrections[-1], 240)}")
    elif case.outcome.success:
        right = [_event(case.steps[i]) for r in course.recoveries if not r.passing for i in (*r.plans[-1:], *r.calls[-1:])]
        parts += [("有效做法：" if zh else "What worked: ") + "; ".join(text.rstrip(".。") for text in right)] if right else []
    return ("；" if zh else ". ").join(part.rstrip(".。") for part in parts)


def _event(step: Step) -> str:
    if step.kind is not StepKind.TOOL:
        return _short(step.content, _EVENT_CHARS)
    call = f"{step.tool or 'tool'} {step.arguments}".strip()
    return f"{_short(call, _EVENT_CHARS)} → {_short(step.content, _EVENT_CHARS)}"


def _closing(case: Case, course: Course) -> str:
    return case.steps[course.last_message].content if course.last_message is not None else ""


def _short(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"
