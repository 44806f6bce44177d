"""The course that a task took: what failed, what put it right, what was delivered, where the user stepped in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindsight_langgraph.annotation.marks import marks, values, words
from hindsight_langgraph.annotation.signals import Signal, signal_during
from hindsight_langgraph.annotation.trajectory import Step, StepKind

_READS: Final = frozenset(
    ["get", "list", "read", "search", "find", "query", "select", "fetch", "describe", "show", "look", "lookup", "check", "head", "stat", "status", "verify", "validate", "test", "view", "inspect", "count", "diff", "ls", "cat", "ping", "health", "peek", "browse", "open", "scan", "compare", "preview", "load", "retrieve", "info", "exists", "track", "trace", "explain", "profile", "monitor", "measure", "logs", "log", "smoke"]
)  # fmt: skip
_OUTSIDE: Final = re.compile(
    r"\b(?:4(?:08|23|25|29)|50[0234]|52\d)\b|time[ds]?[ -]?out|timeout|too many|rate.?limit|throttl|quota|temporar|unavailable|overload|busy|try again"
    r"|retry|connection (?:reset|refused|lost|closed|aborted)|network|unreachable|locked by|in use|econn|超时|限流|频控|频率|过于频繁|繁忙|暂时|稍后|不可用|断开|网络|维护",
    re.IGNORECASE,
)  # fmt: skip


_HOLDS: Final = re.compile(
    r"\b(?:ready|healthy|pass(?:ed|es)?|ok|valid|consistent|match(?:es)?|verified|in sync|up and running)\b|一致|通过|正常|无误|健康|吻合",
    re.IGNORECASE,
)
"""What a call answers that looked whether something holds."""
_SYMPTOM: Final = re.compile(
    r"(?:crash|killed|panic|traceback|deadlock|corrupt|exhausted|overflow|refused|denied|unreachable|exceeded|expired)"
    r"|\b[1-9]\d* (?:failed|errors?|failures?)\b|\bexit(?:ed)?(?: with)?(?: code)? [1-9]|\b(?:is|are|was) (?:down|missing|broken|full)\b"
    r"|崩溃|宕机|报错|被拒|损坏|溢出|已过期|已满|连不上|打不开|[1-9]\d* ?(?:个|项|条)?(?:失败|错误)",
    re.IGNORECASE,
)
_NO_SYMPTOM: Final = re.compile(
    r"\b(?:no|not|never|without|zero|0)\b(?:\s+\w+){0,2}\s*$|(?:没有?|无|未|不|零|0 ?(?:个|项|条)?)\s*$", re.IGNORECASE
)

_LOOK_BACK: Final = 40
"""Characters before the name of a fault in which "no" may stand."""


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
    symptoms: tuple[int, ...]
    """Reads, before anything was done, that showed what was wrong, in a task without failed calls."""

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
    checks |= _looks_after(steps, tools, recoveries)
    users = {i: signal_during(step.content) for i, step in enumerate(steps) if step.kind is StepKind.GOAL}
    turn = max((i for i, signal in users.items() if signal in (Signal.CORRECT, Signal.CHANGE)), default=-1)
    return Course(
        steps=tuple(steps), tools=tools, errors=errors, checks=checks, product=_product(steps, tools, checks, turn),
        recoveries=recoveries, fatal=fatal, users=users, symptoms=_symptoms(steps, tools, errors),
    )  # fmt: skip


def is_read(tool: str | None) -> bool:
    """Whether a tool only looks, by its name. A name that says nothing is taken to do something."""
    parts = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool or "").lower())
    return any(part in _READS for part in parts)


def shows_a_fault(answer: str) -> bool:
    """Whether what a tool answered tells that something is broken."""
    return any(
        not _NO_SYMPTOM.search(answer[max(0, match.start() - _LOOK_BACK) : match.start()]) for match in _SYMPTOM.finditer(answer)
    )


def comes_from_outside(error: str) -> bool:
    """Whether a failure is of the kind that passes, or that no better call could have avoided."""
    return bool(_OUTSIDE.search(error))


def same_call(one: Step, other: Step) -> bool:
    """Whether two steps call the same tool with the same arguments."""
    return one.tool == other.tool and one.arguments == other.arguments


def _is_check(steps: Sequence[Step], place: int, tools: Sequence[int]) -> bool:
    step = steps[place]
    if not is_read(step.tool) and not _HOLDS.search(step.content):
        return False
    if any(steps[i].error and steps[i].tool == step.tool for i in tools if i < place):
        return False  # another try, not a look
    made = [i for i in tools if i < place and not steps[i].error and not is_read(steps[i].tool)]
    mine = _argument_marks(step) if made else frozenset[str]()
    if is_read(step.tool):
        return any(mine & _argument_marks(steps[i]) for i in made)
    return bool(mine) and any(steps[i].tool != step.tool and mine <= _argument_marks(steps[i]) for i in made)


def _looks_after(steps: Sequence[Step], tools: Sequence[int], recoveries: Sequence[Recovery]) -> frozenset[int]:
    """What was looked at once the failure was put right and nothing was done any more."""
    mended = [r.calls[-1] for r in recoveries if not r.passing and r.calls and not is_read(steps[r.calls[-1]].tool)]
    last_act = max((i for i in tools if not is_read(steps[i].tool)), default=-1)
    return frozenset(i for i in tools if mended and i > last_act >= mended[-1] and not steps[i].error)


def _symptoms(steps: Sequence[Step], tools: Sequence[int], errors: Sequence[int]) -> tuple[int, ...]:
    """A task that ends in looking has none: it was asked to look, and what it saw is its result."""
    acts = [i for i in tools if not is_read(steps[i].tool)]
    if errors or not acts:
        return ()
    return tuple(i for i in tools if i < acts[0] and shows_a_fault(steps[i].content))


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
