"""The course that a task took: what failed, what put it right, what was delivered, where the user stepped in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_langgraph.annotation.marks import marks, values, words
from hindsight_langgraph.annotation.signals import Signal, signal_of
from hindsight_langgraph.annotation.trajectory import Step, StepKind

_READS: Final = frozenset(
    ["get", "list", "read", "search", "find", "query", "select", "fetch", "describe", "show", "look", "lookup", "check", "head", "stat", "status", "verify", "validate", "test", "view", "inspect", "count", "diff", "ls", "cat", "ping", "health", "peek", "browse", "open", "scan", "compare", "preview", "load", "retrieve", "info", "exists"]
)  # fmt: skip
_OUTSIDE: Final = re.compile(
    r"\b(?:4(?:08|23|25|29)|50[0234]|52\d)\b|time[ds]?[ -]?out|timeout|too many|rate.?limit|throttl|quota|temporar|unavailable|overload|busy|try again"
    r"|retry|connection (?:reset|refused|lost|closed|aborted)|network|unreachable|locked by|in use|econn|超时|限流|频控|频率|过于频繁|繁忙|暂时|稍后|不可用|断开|网络|维护",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """A failure that was put right."""

    errors: tuple[int, ...]
    plans: tuple[int, ...]
    """Decisions between the failure and what put it right."""
    calls: tuple[int, ...]
    """Calls that put it right, the last of them the one that worked."""
    passing: bool
    """The same call simply worked the next time: there is nothing to learn."""
    outside: bool
    """The failure came from outside (limits, outages), not from a wrong assumption."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """What stands where among the steps of one task; every number is a place."""

    steps: tuple[Step, ...]
    tools: tuple[int, ...]
    errors: tuple[int, ...]
    checks: frozenset[int]
    """Reads of what an earlier call had made."""
    product: tuple[int, ...]
    """The calls, or else the message, that delivered what was asked for."""
    recoveries: tuple[Recovery, ...]
    fatal: tuple[int, ...]
    """Failures that nothing put right."""
    users: dict[int, Signal]
    """What the user said during the task."""

    @property
    def turn(self) -> int | None:
        """Where the user last changed the course."""
        return max((i for i, signal in self.users.items() if signal in (Signal.CORRECT, Signal.CHANGE)), default=None)

    @property
    def last_message(self) -> int | None:
        """The agent's closing words."""
        return max((i for i, step in enumerate(self.steps) if step.kind is StepKind.MESSAGE), default=None)

    def acts_after(self, place: int) -> bool:
        """Whether a call or the user followed."""
        return any(step.kind in (StepKind.TOOL, StepKind.GOAL) for step in self.steps[place + 1 :])

    def next_tool(self, place: int) -> int | None:
        """The first call after a place."""
        return next((i for i in self.tools if i > place), None)


def course_of(steps: Sequence[Step]) -> Course:
    """Read the course of a task from its steps."""
    tools = tuple(i for i, step in enumerate(steps) if step.kind is StepKind.TOOL)
    errors = tuple(i for i, step in enumerate(steps) if step.error)
    checks = frozenset(i for i in tools if not steps[i].error and _is_check(steps, i, tools))
    recoveries, fatal = _recoveries(steps, tools, errors, checks)
    users = {i: signal_of(step.content) for i, step in enumerate(steps) if step.kind is StepKind.GOAL}
    turn = max((i for i, signal in users.items() if signal in (Signal.CORRECT, Signal.CHANGE)), default=-1)
    return Course(
        steps=tuple(steps), tools=tools, errors=errors, checks=checks, product=_product(steps, tools, checks, turn),
        recoveries=recoveries, fatal=fatal, users=users,
    )  # fmt: skip


def is_read(tool: str | None) -> bool:
    """Whether a tool only looks, by its name. A name that says nothing is taken to do something."""
    parts = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool or "").lower())
    return any(part in _READS for part in parts)


def comes_from_outside(error: str) -> bool:
    """Whether a failure is of the kind that passes, or that no better call could have avoided."""
    return bool(_OUTSIDE.search(error))


def same_call(one: Step, other: Step) -> bool:
    """Whether two steps call the same tool with the same arguments."""
    return one.tool == other.tool and one.arguments == other.arguments


def _is_check(steps: Sequence[Step], place: int, tools: Sequence[int]) -> bool:
    if not is_read(steps[place].tool):
        return False
    mine = _argument_marks(steps[place])
    made = [i for i in tools if i < place and not steps[i].error and not is_read(steps[i].tool)]
    return any(mine & _argument_marks(steps[i]) for i in made)


def _argument_marks(step: Step) -> frozenset[str]:
    return frozenset(mark for mark in _argument_words(step) if len(mark) > 2)


def _argument_words(step: Step) -> frozenset[str]:
    text = "\n".join(values(step.arguments))
    return marks(text) | words(text)


def _product(steps: Sequence[Step], tools: Sequence[int], checks: frozenset[int], turn: int) -> tuple[int, ...]:
    done = [i for i in tools if not steps[i].error and i not in checks]
    after = [i for i in done if i > turn] if turn >= 0 else done
    if not after and turn >= 0:  # what came after the user stepped in were words alone
        done = []
    if not done:
        said = [i for i, step in enumerate(steps) if step.kind is StepKind.MESSAGE and i > turn]
        return tuple(said[-1:])
    last = after[-1]
    run = [last]
    for i in reversed([i for i in after if i < last]):
        if steps[i].tool != steps[last].tool:
            break
        run.insert(0, i)
    return tuple(run)


def _recoveries(
    steps: Sequence[Step], tools: Sequence[int], errors: Sequence[int], checks: frozenset[int]
) -> tuple[tuple[Recovery, ...], tuple[int, ...]]:
    """Each run of failures with what put it right; failures without such are fatal."""
    found: list[Recovery] = []
    open_errors: list[int] = []
    for i in range(len(steps)):
        if i in errors:
            open_errors.append(i)
        elif open_errors and i in tools and i not in checks and i == _mending_call(steps, tools, errors, open_errors):
            found.append(_recovery(steps, tools, open_errors, i))
            open_errors = []
    return tuple(found), tuple(open_errors)


def _mending_call(steps: Sequence[Step], tools: Sequence[int], errors: Sequence[int], failed: Sequence[int]) -> int | None:
    """The call that put failures right: of the tool that had failed the one most like it, else the first that did something."""
    next_error = next((e for e in errors if e > failed[-1]), len(steps))
    following = [i for i in tools if failed[-1] < i < next_error]
    retried = [i for i in following if steps[i].tool == steps[failed[-1]].tool]
    if retried:
        return max(retried, key=lambda i: (_likeness(steps[i], steps[failed[-1]]), -i))
    return next((i for i in following if not is_read(steps[i].tool)), following[0] if following else None)


def _likeness(one: Step, other: Step) -> float:
    mine, its = _argument_words(one), _argument_words(other)
    return len(mine & its) / len(mine | its) if mine | its else 1.0


def _recovery(steps: Sequence[Step], tools: Sequence[int], failed: Sequence[int], call: int) -> Recovery:
    calls = tuple(j for j in tools if failed[-1] < j <= call)
    plans = tuple(j for j in range(failed[0], call) if steps[j].kind in (StepKind.PLAN, StepKind.MESSAGE))
    return Recovery(
        errors=tuple(failed),
        plans=plans,
        calls=calls,
        passing=len(failed) <= 2 and len(calls) == 1 and not plans and same_call(steps[call], steps[failed[-1]]),
        outside=all(comes_from_outside(steps[e].content) for e in failed),
    )
