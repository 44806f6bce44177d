"""Read from a conversation how its task ended: thanks, correction, abandonment, a final error. Unknown stays unknown (SPEC E1, E2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hindsight_langgraph.annotation.signals import Signal, is_question, signal_of
from hindsight_langgraph.annotation.trajectory import Outcome, Step, StepKind

_BARE_CONSENT: Final = re.compile(
    r"^\W*(?:yes|yep|yeah|sure|ok(?:ay)?|right|correct|exactly|go ahead|please do|do it|好的?|可以|行|对|是的?|嗯)\b.{0,60}$",
    re.IGNORECASE | re.DOTALL,
)
_THANKS: Final = re.compile(r"\bthank|\bthanks\b|\bcheers\b|谢|辛苦", re.IGNORECASE)
_GIVES_UP: Final = re.compile(
    r"\b(?:i (?:could not|couldn't|was unable|am unable|cannot|can't|failed to)|unable to|gave up|did not (?:work|succeed)|failed)\b|没能|无法|失败|不能完成|没有成功|做不到",
    re.IGNORECASE,
)


def read_outcome(steps: Sequence[Step]) -> Outcome | None:
    """How the task ended as far as the conversation says, or None when it does not say.

    Args:
        steps: of one task, in order; the user's first words are the request.

    The user's last words count, unless work went on after a correction: then it is open again how it ends. An answer to a question
    of the agent accepts nothing.
    """
    spoken = [i for i, step in enumerate(steps) if step.kind is StepKind.GOAL]
    last = spoken[-1] if spoken else -1
    said_after = any(step.kind in (StepKind.MESSAGE, StepKind.TOOL, StepKind.PLAN) for step in steps[: last + 1])
    if len(spoken) > 1 and said_after and (told := _told(steps, last)) is not None:
        return told
    return _ended_in_error(steps, last)


def _told(steps: Sequence[Step], last: int) -> Outcome | None:
    step = steps[last]
    signal = signal_of(step.content)
    work_after = any(later.kind in (StepKind.TOOL, StepKind.PLAN) for later in steps[last + 1 :])
    if signal is Signal.ABANDON:
        return Outcome(at=step.at, success=False, feedback=step.content, error="given up by the user", read=True)
    if signal is Signal.ACCEPT and not _is_consent(steps, last):
        return Outcome(at=step.at, success=True, feedback=step.content, read=True)
    if signal is Signal.CORRECT and not work_after:
        return Outcome(at=step.at, success=False, feedback=step.content, read=True)
    return None


def _is_consent(steps: Sequence[Step], place: int) -> bool:
    asked = next((step for step in reversed(steps[:place]) if step.kind is StepKind.MESSAGE), None)
    said = steps[place].content
    return asked is not None and is_question(asked.content) and bool(_BARE_CONSENT.match(said)) and not _THANKS.search(said)


def _ended_in_error(steps: Sequence[Step], last: int) -> Outcome | None:
    """A run that broke off, or whose last call failed and whose last words say so."""
    done = [step for step in steps[last + 1 :] if step.kind is not StepKind.RECALL]
    if not done:
        return None
    if done[-1].kind is StepKind.ERROR:
        return Outcome(at=done[-1].at, success=False, error=done[-1].content, read=True)
    calls = [step for step in done if step.kind is StepKind.TOOL]
    closing = done[-1]
    if calls and calls[-1].error and closing.kind is StepKind.MESSAGE and _GIVES_UP.search(closing.content):
        return Outcome(at=closing.at, success=False, error=calls[-1].content, read=True)
    return None
