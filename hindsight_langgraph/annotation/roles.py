"""Rules for the causal role, effect and importance of each step (SPEC E2).

The importances are the middle of what people find acceptable for such a step; a rule that is not sure says so.
"""

from __future__ import annotations

from typing import Final

from hindsight_langgraph.annotation.course import Course, Recovery, course_of, is_read, same_call
from hindsight_langgraph.annotation.marks import marks, values, words
from hindsight_langgraph.annotation.signals import Signal, is_question
from hindsight_langgraph.annotation.trajectory import StepKind
from hindsight_langgraph.annotation.verdict import Case, Effect, Judgement, step_ref
from hindsight_langgraph.records import CausalRole

Finding = tuple[CausalRole, Effect, float, str, bool]
"""Role, effect, importance, reason, sure."""

_CAUSE: Final = CausalRole.DIRECT_CAUSE
_CONTEXT: Final = CausalRole.CONTEXT
_GOOD: Final = Effect.POSITIVE
_BAD: Final = Effect.NEGATIVE
_NEUTRAL: Final = Effect.NONE


def judge_steps(case: Case) -> list[Judgement]:
    """One judgement a step, in order."""
    course = course_of(case.steps)
    if case.outcome.success is False:
        complaint = f"{case.outcome.feedback}\n{case.outcome.error}"
        return [_judgement(step_ref(step), _after_failure(course, i, complaint)) for i, step in enumerate(case.steps)]
    return [_judgement(step_ref(step), _after_success(course, i)) for i, step in enumerate(case.steps)]


def _judgement(ref: str, finding: Finding) -> Judgement:
    role, effect, importance, reason, sure = finding
    return Judgement(ref=ref, role=role, effect=effect, importance=importance, reason=reason, sure=sure)


def _after_success(course: Course, i: int) -> Finding:
    step, turn = course.steps[i], course.turn
    if step.kind is StepKind.GOAL:
        return _user(course, i)
    if turn is not None and i < turn:
        return _before_turn(course, i, turn)
    if step.error or step.cancelled:
        return _mended(course, i)
    for recovery in course.recoveries:
        if not recovery.passing and i in recovery.plans and _leads_on(course, recovery, i):
            return _CAUSE, _GOOD, 0.78, "decided what put the failure right", True
        if i in recovery.calls:
            return (
                (_CAUSE, _GOOD, 0.58, "worked at the next try", True)
                if recovery.passing
                else (_CAUSE, _GOOD, 0.72, "put the failure right", True)
            )
    if (finding := _found_and_mended(course, i)) is not None:
        return finding
    if i in course.product:
        if turn is not None:
            return _CAUSE, _GOOD, 0.62, "did what the user had asked for", True
        return _CAUSE, _GOOD, 0.58, "delivered what was asked for", True
    if step.kind is StepKind.TOOL:
        return _supporting_call(course, i, turn)
    if step.kind is StepKind.PLAN:
        return _plan(course, i, turn)
    if i == course.last_message and not course.acts_after(i):
        return _CONTEXT, _GOOD, 0.2, "tells the result", True
    if turn is not None and not any(turn < j < i for j in course.tools) and not is_question(step.content):
        return _CAUSE, _GOOD, 0.6, "did anew what the user wanted otherwise", False
    return _CONTEXT, _GOOD, 0.4, "brought the user in on the way", False


def _found_and_mended(course: Course, i: int) -> Finding | None:
    """In a task that set out to mend something: what showed the fault, and what was decided by it."""
    if not course.symptoms or i in course.checks:
        return None
    if i == course.symptoms[-1]:
        return _CAUSE, _GOOD, 0.66, "showed what was wrong", False
    if i in course.tools and i > course.symptoms[-1] and not is_read(course.steps[i].tool):
        return _CAUSE, _GOOD, 0.66, "put right what was found", i in course.product
    following = course.next_tool(i)
    if (
        course.steps[i].kind is StepKind.PLAN
        and i > course.symptoms[-1]
        and following is not None
        and following not in course.checks
    ):
        return _CAUSE, _GOOD, 0.76, "decided what put right what was found", True
    return None


def _user(course: Course, i: int) -> Finding:
    match course.users[i]:
        case Signal.CORRECT:
            return _CAUSE, _GOOD, 0.88, "the user's correction turned the task", True
        case Signal.CHANGE:
            return _CAUSE, _GOOD, 0.62, "the user asked for it otherwise", True
        case _ if any(e < i and not _mended_before(course, e, i) for e in course.errors):
            return _CAUSE, _GOOD, 0.8, "the user's words came between a failure and what put it right", False
        case Signal.NONE if _told_what_was_needed(course, i):
            return _CAUSE, _GOOD, 0.62, "the user told what a later call needed", False
        case _:
            return _CONTEXT, _GOOD, 0.35, "the user agreed or told more", True


def _told_what_was_needed(course: Course, i: int) -> bool:
    said = marks(course.steps[i].content) | words(course.steps[i].content)
    before = "\n".join(value for j in course.tools if j < i for value in values(course.steps[j].arguments))
    offered = "\n".join(step.content for step in course.steps[:i] if step.kind is StepKind.MESSAGE)
    after = "\n".join(value for j in course.tools if j > i for value in values(course.steps[j].arguments))
    known = f"{before}\n{offered}"
    return bool(said & (marks(after) | words(after)) - marks(known) - words(known))


def _mended_before(course: Course, error: int, place: int) -> bool:
    return any(error in recovery.errors and recovery.calls and recovery.calls[-1] < place for recovery in course.recoveries)


def _before_turn(course: Course, i: int, turn: int) -> Finding:
    step, corrected = course.steps[i], course.users[turn] is Signal.CORRECT
    if step.error:
        return _CONTEXT, _BAD, 0.4, "failed, before the user stepped in", True
    if not corrected:
        importance = 0.2 if step.kind is StepKind.MESSAGE else 0.35
        return _CONTEXT, _GOOD, importance, "laid the ground for what the user then wanted otherwise", True
    redone = {course.steps[j].tool for j in course.tools if j > turn}
    if step.kind is StepKind.TOOL and is_read(step.tool) and step.tool not in redone:
        return _CONTEXT, _GOOD, 0.3, "gave what stayed true after the correction", False
    return _CONTEXT, _BAD, 0.44, "went the way that the user corrected", True


def _mended(course: Course, i: int) -> Finding:
    recovery = next((r for r in course.recoveries if i in r.errors), None)
    if recovery is not None and recovery.passing and len(recovery.errors) == 1:
        return _CONTEXT, _BAD, 0.2, "a passing failure", True
    return _CONTEXT, _BAD, 0.42, "a failure that was put right" if recovery else "a failure that the result did without", True


def _leads_on(course: Course, recovery: Recovery, i: int) -> bool:
    """A decision to do the same again put nothing right."""
    following = course.next_tool(i)
    return following is not None and not (
        course.steps[following].error and same_call(course.steps[following], course.steps[recovery.errors[0]])
    )


def _supporting_call(course: Course, i: int, turn: int | None) -> Finding:
    if i in course.checks:
        return _CONTEXT, _GOOD, 0.33, "checked what had been done", True
    if turn is not None and i > turn:
        return _CAUSE, _GOOD, 0.6, "did what the user had asked for", False
    if not is_read(course.steps[i].tool) and not course.errors:
        return _CONTEXT, _GOOD, 0.35, "did a part on the way", False
    return _CONTEXT, _GOOD, 0.3, "fetched what a later step worked on", True


def _plan(course: Course, i: int, turn: int | None) -> Finding:
    if turn is not None and i > turn:
        return _CAUSE, _GOOD, 0.68, "took up what the user had said", True
    following = course.next_tool(i)
    failed = next((r for r in course.recoveries if following is not None and following in r.errors), None)
    if failed is not None and not failed.outside and not any(i in r.plans for r in course.recoveries):
        return _CONTEXT, _BAD, 0.35, "rested on what turned out wrong", True
    return _CONTEXT, _GOOD, 0.3, "said how to go about it", True


def _after_failure(course: Course, i: int, complaint: str) -> Finding:
    step = course.steps[i]
    if step.kind is StepKind.GOAL:
        return _CONTEXT, _GOOD, 0.4, "the user told what was wanted", False
    if course.fatal:
        return _stuck(course, i)
    return _wrong(course, i, complaint)


def _stuck(course: Course, i: int) -> Finding:
    """The task ended in failures that nothing put right."""
    step, fatal = course.steps[i], course.fatal
    if i in fatal:
        if i == fatal[-1]:
            return _CAUSE, _BAD, 0.85, "the failure that ended the task", True
        if i == fatal[0] or not _same_tool(course, i, fatal[0]):
            return _CONTEXT, _BAD, 0.5, "the first failure", True
        return _CAUSE, _BAD, 0.8, "did again what had failed", True
    if step.error or step.cancelled:
        return _CONTEXT, _BAD, 0.4, "a failure that was put right", True
    if step.kind is StepKind.TOOL:
        return _CONTEXT, _GOOD, 0.25, "went well, before the failure", True
    if i == course.last_message:
        return _CONTEXT, _NEUTRAL, 0.2, "tells the result", True
    if step.kind is StepKind.PLAN and i > fatal[0]:
        following = course.next_tool(i)
        if following is not None and same_call(course.steps[following], course.steps[fatal[0]]):
            return _CONTEXT, _BAD, 0.5, "decided to do the same again", False
        return _CONTEXT, _GOOD, 0.35, "saw what was wrong, and did not get there", False
    if step.kind is StepKind.PLAN:
        return _CONTEXT, _BAD, 0.45, "set the way that failed", False
    return _CONTEXT, _NEUTRAL, 0.25, "said on the way", True


def _same_tool(course: Course, one: int, other: int) -> bool:
    return course.steps[one].tool == course.steps[other].tool


def _culprit(course: Course, acts: list[int], complaint: str) -> int | None:
    """The act that the complaint is about: the one that shares most with it, of several the last."""
    if not acts:
        return course.product[-1] if course.product else None
    told = marks(complaint) | words(complaint)

    def shares(place: int) -> int:
        text = "\n".join(values(course.steps[place].arguments))
        return len(told & (marks(text) | words(text)))

    return max(acts, key=lambda place: (shares(place), place))


def _made_for(course: Course, maker: int, taker: int) -> bool:
    """Whether a call took up what an earlier one had made, by the name that this one gave it."""
    return bool(marks(course.steps[maker].content) & marks("\n".join(values(course.steps[taker].arguments))))


def _wrong(course: Course, i: int, complaint: str) -> Finding:
    """Every call worked, and the result was wrong."""
    step = course.steps[i]
    acts = [j for j in course.tools if not course.steps[j].error and j not in course.checks and not is_read(course.steps[j].tool)]
    culprit = _culprit(course, acts, complaint)
    if i == culprit:
        return _CAUSE, _BAD, 0.78, "did what turned out wrong", True
    if step.error or step.cancelled:
        return _CONTEXT, _BAD, 0.4, "a failure that was put right", True
    if step.kind is StepKind.PLAN and culprit is not None and i < culprit:
        return _CAUSE, _BAD, 0.7, "decided what turned out wrong", i == 0
    if i in course.checks:
        return _CONTEXT, _NEUTRAL, 0.2, "checked, and could not see it", True
    if i in acts and culprit is not None and i > culprit:
        return _CONTEXT, _BAD, 0.5, "carried on what was wrong", False
    if i in acts and culprit is not None and _made_for(course, i, culprit):
        return _CONTEXT, _BAD, 0.5, "made what turned out wrong", False
    if step.kind is StepKind.TOOL:
        return _CONTEXT, _GOOD, 0.22, "was right in itself", True
    return _CONTEXT, _NEUTRAL, 0.2, "tells the result", True
