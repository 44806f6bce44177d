"""Working memory of one task: goal, constraints, tool results, open sub-problems (SPEC A3).

At most 20 fields; past that the oldest ten are folded into one `_summary`. Summary and removal are one atomic step that is refused
when a folded field changed meanwhile, so that no failure and no race loses a field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import orjson
from pydantic import JsonValue

from hindsight_langgraph import keys
from hindsight_langgraph.config import WorkingConfig
from hindsight_langgraph.errors import CallError, ModelError
from hindsight_langgraph.ops import ChatMessage, Complete, FoldFields, ReadFields, WriteFields
from hindsight_langgraph.plan import Plan, ask
from hindsight_langgraph.records import Scope

SUMMARY: Final = "_summary"
Fields: TypeAlias = dict[str, JsonValue]

_FOLD_PROMPT = (
    "Condense the working notes of a task into one paragraph of at most {limit} characters. Keep names, numbers, decisions and open "
    "problems. Answer with the paragraph only.\n\n{notes}"
)


def read_task(scope: Scope) -> Plan[Fields]:
    """The fields of the task in hand, oldest written first; empty when there is none or it expired."""
    stored = yield from ask(ReadFields(key=keys.working(scope)))
    return {name: orjson.loads(value) for name, value in stored.items()}


def write_task(
    scope: Scope, fields: Mapping[str, JsonValue], *, config: WorkingConfig, chat: bool, duration_s: float | None = None
) -> Plan[None]:
    """Set fields of the task in hand, restart its time to live, and fold it when it has too many.

    Args:
        scope: whose task.
        fields: JSON values by name; names must not begin with an underscore.
        config: limits and times.
        chat: whether a small chat model can be asked for the summary; without one a rule condenses.
        duration_s: expected duration of the task in seconds; None takes the configured one.

    Raises:
        CallError: a name is blank or begins with an underscore, or a value is no JSON value.
    """
    ttl_s = config.ttl_factor * (duration_s or config.task_duration_s)
    encoded = {_checked(name): _encode(name, value) for name, value in fields.items()}
    if encoded:
        yield from ask(WriteFields(key=keys.working(scope), fields=encoded, ttl_s=ttl_s))
    stored = yield from ask(ReadFields(key=keys.working(scope)))
    if len(stored) > config.max_fields:
        yield from _fold(scope, stored, config=config, chat=chat, ttl_s=ttl_s)


def _checked(name: str) -> str:
    if not name.strip() or name.startswith("_"):
        raise CallError(f"working memory field {name!r}: a name must not be blank or begin with an underscore")
    return name


def _encode(name: str, value: JsonValue) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise CallError(f"working memory field {name!r} holds a {type(value).__name__}: {error}; pass a JSON value") from error


def _fold(scope: Scope, stored: Mapping[str, bytes], *, config: WorkingConfig, chat: bool, ttl_s: float) -> Plan[None]:
    oldest = [name for name in stored if name != SUMMARY][: config.fold_fields]
    drop = {name: stored[name] for name in oldest}
    if SUMMARY in stored:  # what was folded before is folded again, so that there is always one summary
        drop[SUMMARY] = stored[SUMMARY]
    notes = [f"{name}: {value.decode()}" for name, value in drop.items()]
    summary = condense(notes, config.summary_chars)
    if chat:
        prompt = _FOLD_PROMPT.format(limit=config.summary_chars, notes="\n".join(notes))
        try:
            answer = yield from ask(Complete(messages=(ChatMessage(role="user", text=prompt),), max_tokens=200))
        except ModelError:
            return  # the fields stay as they are; the next write tries again
        summary = condense([answer.text], config.summary_chars) or summary
    yield from ask(FoldFields(key=keys.working(scope), put={SUMMARY: orjson.dumps(summary)}, drop=drop, ttl_s=ttl_s))


def condense(notes: Sequence[str], limit: int) -> str:
    """One line of at most `limit` characters in which every note keeps an equal share; a cut is marked."""
    lines = [" ".join(note.split()) for note in notes]
    share = max(8, limit // max(1, len(lines)) - 2)
    line = "; ".join(
        text if len(text) <= share or len(lines) == 1 else text[: share - 1].rstrip() + "…" for text in lines if text
    )
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
