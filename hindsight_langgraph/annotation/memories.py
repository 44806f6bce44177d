"""Rules for the causal role, effect and importance of each memory that a task was given (SPEC E2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hindsight_langgraph.annotation.course import Course, course_of
from hindsight_langgraph.annotation.marks import clauses, marks, shared, values, words
from hindsight_langgraph.annotation.roles import judge_steps
from hindsight_langgraph.annotation.signals import Signal, is_reproach, overruled, praised, tells_a_change
from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.annotation.used import use_of
from hindsight_langgraph.annotation.verdict import Case, Effect, Given, Judgement, Use, memory_ref
from hindsight_langgraph.records import CausalRole

_MANNER: Final = re.compile(
    r"\b(?:messages?|repl(?:y|ies)|answers?|explanations?|summar(?:y|ies)|tone|wording|jargon|emojis?|greetings?|small ?talk|(?:be|is|being) brief|concise)\b"
    r"|结论|语气|回复|回答|说话|简短|啰嗦|寒暄|措辞|称呼|表情",
    re.IGNORECASE,
)
"""How the user wants to be spoken to: it bears on every task a little."""


ENOUGH_WORDS: Final = 2
"""So many words of a memory that the user upholds and no step carries show that it was not heeded."""
_TASTE: Final = re.compile(
    r"\b(?:prefers?|likes?|loves?|wants?|dislikes?|hates?|enjoys?|favou?rs?|fond of)\b|喜欢|偏好|偏爱|习惯|讨厌|不爱|爱用|爱吃|爱喝|想要",
    re.IGNORECASE,
)
"""A taste of the user's: heeding it makes the result better, and seldom decides whether there is one."""


def judge_memories(case: Case, *, likeness: Mapping[str, Mapping[int, float]] | None = None) -> list[Judgement]:
    """One judgement a memory, in order.

    Args:
        case: the finished task.
        likeness: by memory id and place of a step, how alike both are in meaning, where an embedding model is at hand.
    """
    course = course_of(case.steps)
    steps = judge_steps(case)
    causes = frozenset(i for i, judgement in enumerate(steps) if judgement.role is CausalRole.DIRECT_CAUSE)
    detours = frozenset(i for i, judgement in enumerate(steps) if judgement.effect is Effect.NEGATIVE)
    return [_judge(memory, case, course, causes, detours, likeness=(likeness or {}).get(memory.id)) for memory in case.memories]


def _judge(
    memory: Given,
    case: Case,
    course: Course,
    causes: frozenset[int],
    detours: frozenset[int],
    *,
    likeness: Mapping[int, float] | None,
) -> Judgement:
    others = [other for other in case.memories if other is not memory]
    use = use_of(memory, case.steps, goal=case.goal, others=others, likeness=likeness)
    said = "\n".join([case.steps[i].content for i in course.users] + [case.outcome.feedback, case.outcome.error])
    blamed = case.outcome.success is False and bool((causes | detours) & set(use.steps))
    refuted, against = _refuted(memory, case, course, followed=blamed, decisive=use.decisive)
    confirmed = _confirmed(memory, said, case)
    thanked = bool(_told(memory, praised(said), case))

    def judged(role: CausalRole, effect: Effect, importance: float, reason: str, *, sure: bool = True) -> Judgement:
        return Judgement(
            ref=memory_ref(memory.id), role=role, effect=effect, importance=importance, reason=reason, sure=sure, use=use
        )

    if case.outcome.success is False:
        if use.used and refuted and not thanked and not confirmed:
            return judged(CausalRole.DIRECT_CAUSE, Effect.NEGATIVE, 0.88, f"was followed, and is not so: {against}")
        if confirmed or (not use.used and _wanted(memory, said, case)):
            return judged(CausalRole.CONTEXT, Effect.NONE, 0.5, "would have prevented it, and was not used")
        if use.used and thanked:
            return judged(CausalRole.CONTEXT, Effect.POSITIVE, 0.3, "was followed, and the user found that part good")
        if use.used:
            return judged(
                CausalRole.CONTEXT, Effect.NONE, 0.2, "was used, and did not make the difference", sure=_away_from(use, causes)
            )
    elif use.used and refuted:
        return judged(CausalRole.CONTEXT, Effect.NEGATIVE, 0.65, f"was followed until the user said otherwise: {against}")
    elif use.used and set(use.steps) <= detours:
        return judged(CausalRole.CONTEXT, Effect.NEGATIVE, 0.5, f"led into what was put right later: {use.reason}", sure=False)
    elif use.used and use.decisive and causes & set(use.steps) and (use.named or not _TASTE.search(memory.content)):
        return judged(
            CausalRole.DIRECT_CAUSE, Effect.POSITIVE, 0.7, f"told what the deciding call needed: {use.reason}", sure=False
        )
    elif use.used:
        importance = 0.45 if thanked else 0.35 if use.decisive else 0.27
        return judged(CausalRole.CONTEXT, Effect.POSITIVE, importance, f"was used: {use.reason}", sure=thanked)
    if _MANNER.search(memory.content):
        return judged(CausalRole.CONTEXT, Effect.NONE, 0.15, "says how the user wants to be spoken to")
    return judged(CausalRole.NOISE, Effect.NONE, 0.04, use.reason, sure=not shared(memory.content, case.goal))


def _refuted(memory: Given, case: Case, course: Course, *, followed: bool, decisive: bool) -> tuple[bool, str]:
    """Whether the user's words say that what the memory holds is not, or no longer, so.

    Of a memory that the failing step followed, a complaint or an error that so much as names it is enough; of one that told that step
    what to do, word that its matter changed.
    """
    corrections = [case.steps[i].content for i, signal in course.users.items() if signal is Signal.CORRECT]
    parts = [clause for text in corrections for clause in overruled(text).splitlines()]
    if case.outcome.success is False:
        praise = praised(case.outcome.feedback).splitlines()
        parts += (
            [*(clause for clause in clauses(case.outcome.feedback) if clause not in praise), *clauses(case.outcome.error)]
            if followed
            else overruled(case.outcome.feedback).splitlines()
        )
    for clause in parts:
        if common := _told(memory, clause, case) - marks(case.goal) - words(case.goal):
            return True, f"the user said {', '.join(sorted(common)[:3])} is otherwise"
    if followed and decisive:
        for clause in tells_a_change(case.outcome.feedback).splitlines():
            if common := _told(memory, clause, case):
                return True, f"the user said {', '.join(sorted(common)[:3])} changed"
    return False, ""


def _confirmed(memory: Given, said: str, case: Case) -> bool:
    """Whether the user names what the memory holds and no step went by: then it was right, and was not heeded.

    Told by a name or number, by two words that the user upholds, or by a reproach that this was known and still holds.
    """
    done = frozenset[str]().union(*(marks(part) for step in case.steps for part in (step.content, *values(step.arguments))))
    if marks(memory.content) & marks(said) - done - marks(case.goal):
        return True
    for clause in clauses(said):
        if overruled(clause):
            continue
        common = _told(memory, clause, case) - words(case.goal) - marks(case.goal)
        if common and is_reproach(clause):
            return True
        gone_by = frozenset[str]().union(*(words(step.content) | words("\n".join(values(step.arguments))) for step in case.steps))
        if len(common - gone_by - done) >= ENOUGH_WORDS:
            return True
    return False


def _told(memory: Given, text: str, case: Case) -> frozenset[str]:
    return shared(memory.content, text) - _names(case)


def _wanted(memory: Given, said: str, case: Case) -> bool:
    """Whether the user's complaint asks for what the memory holds."""
    common = _told(memory, said, case) - words(case.goal)
    return len(common) >= 2 or bool(common and is_reproach(said))


def _names(case: Case) -> frozenset[str]:
    """Words that say nothing here: the product's own names in nearly every step."""
    spoken = [words(step.content) for step in case.steps if step.kind is not StepKind.TOOL]
    return spoken[0].intersection(*spoken[1:]) if len(spoken) > 2 else frozenset()


def _away_from(use: Use, causes: frozenset[int]) -> bool:
    return not causes & set(use.steps)
