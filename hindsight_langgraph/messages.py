"""Messages of any chat framework as turns, and a recollection as messages.

Read by shape, not by class: LangChain messages, OpenAI-style dicts and (role, text) pairs are all taken. Text parts of list content
are joined; images and files become attachments (a description and a reference, never their bytes, SPEC A12).
"""

# Messages of other libraries are read by shape, so that their parts have no known type until they are checked.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from langchain_core.messages import HumanMessage

from hindsight_langgraph.errors import CallError
from hindsight_langgraph.records import Attachment, Role, Turn

RECOLLECTION_ID: Final = "hindsight-recollection"
"""Message id of an injected recollection; turns with it are never remembered."""

MEMORY_TOOLS: Final = frozenset({"memory_search", "memory_write", "memory_forget"})
"""Names of the memory's own tools; what they answer comes from memory and is not taken in once more."""
_SUMMARY: Final = "summarization"
"""`lc_source` of a message that stands for messages that LangChain summarised away; nobody said it."""

_ROLES: Final = {
    "human": Role.USER, "user": Role.USER, "ai": Role.ASSISTANT, "assistant": Role.ASSISTANT, "aimessagechunk": Role.ASSISTANT,
    "humanmessagechunk": Role.USER, "tool": Role.TOOL, "function": Role.TOOL, "system": Role.SYSTEM, "developer": Role.SYSTEM,
}  # fmt: skip
_MOMENTS: Final = ("created_at", "timestamp", "sent_at")
_READ: Final = (
    "type",
    "role",
    "content",
    "id",
    "name",
    "status",
    "additional_kwargs",
    "response_metadata",
    "tool_calls",
    "tool_call_id",
    *_MOMENTS,
)
_NO_ATTACHMENT: Final = frozenset({"tool_use", "tool_call", "reasoning", "thinking", "text"})
Fields = Mapping[str, Any]
"""What a message or a part of its content says, by name."""
_DATA_URI = re.compile(
    r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/]{16,}(?:\r?\n[A-Za-z0-9+/]{40,})*(?:\r?\n[A-Za-z0-9+/]+(?==))?={0,2}"
)


def read_turns(messages: Iterable[Any], *, at: datetime | None = None, earlier: Iterable[Any] = ()) -> list[Turn]:
    """Turns of a conversation, in order; messages without any text or attachment are left out.

    Args:
        messages: LangChain messages, dicts with `role` and `content`, (role, text) pairs, or turns.
        at: when the messages that carry no time of their own were said, each a microsecond after the one before it, so that they
            keep their order; None leaves their moment unknown.
        earlier: messages before these, which may have called the tools whose answers are among them.

    Raises:
        CallError: something is not a message; says which and what was expected.
    """
    turns: list[Turn] = []
    calls: dict[str, _Call] = {}
    for message in earlier:
        if not isinstance(message, Turn):
            fields = _fields(message, 0)
            calls |= _calls_of(fields.get("tool_calls"), str(fields.get("id") or ""))
    for place, message in enumerate(messages):
        turn = (
            message
            if isinstance(message, Turn)
            else _read(message, place, at and at + timedelta(microseconds=place), turns[-1].id if turns else "", calls)
        )
        if turn is not None and not _is_ours(turn) and (turn.text.strip() or turn.attachments):
            turns.append(turn)
    return turns


def given_up(messages: Iterable[Any], *, at: datetime) -> list[Turn]:
    """The tool calls that nobody had answered when the user last began to speak, each as a failed turn that says so."""
    open_calls: dict[str, _Call] = {}
    overtaken: dict[str, _Call] = {}
    before: Role | None = None
    for place, message in enumerate(messages):
        fields = _fields(message, place)
        role = _ROLES.get(str(fields.get("role") or fields.get("type") or "").lower())
        if role is Role.ASSISTANT:
            open_calls |= _calls_of(fields.get("tool_calls"), str(fields.get("id") or ""))
        elif role is Role.TOOL:
            open_calls.pop(str(fields.get("tool_call_id")), None)
            overtaken.pop(str(fields.get("tool_call_id")), None)
        elif role is Role.USER and fields.get("id") != RECOLLECTION_ID and before is not Role.USER:
            overtaken, open_calls = open_calls, {}
        before = role
    return [
        Turn(id=f"cancelled:{name}", role=Role.TOOL, text="cancelled: the user spoke again before it answered", at=at, tool=call.name,
             arguments=call.arguments, group=call.asked_in, error=True)
        for name, call in overtaken.items()
    ]  # fmt: skip


def _is_ours(turn: Turn) -> bool:
    return turn.id == RECOLLECTION_ID or (turn.role is Role.TOOL and turn.tool in MEMORY_TOOLS)


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool call that a message asked for."""

    name: str
    arguments: str
    asked_in: str


def _read(message: Any, place: int, at: datetime | None, before: str, calls: dict[str, _Call]) -> Turn | None:
    fields = _fields(message, place)
    if _is_summary(fields):
        return None
    name = str(fields.get("role") or fields.get("type") or "").lower()
    role = _ROLES.get(name)
    if role is None:
        if name in {"remove", "chat"}:  # RemoveMessage deletes, ChatMessage has a role of its own that no rule knows
            return None
        raise CallError(f"message {place} has the role {name!r}; expected one of {', '.join(sorted(_ROLES))}")
    text, attachments = _read_content(fields.get("content"))
    given = str(fields.get("id") or "") or _derived_id(before, place, role, text)
    asked = _calls_of(fields.get("tool_calls"), given) if role is Role.ASSISTANT else {}
    calls.update(asked)
    answered = calls.get(str(fields.get("tool_call_id"))) if role is Role.TOOL else None
    return Turn(
        id=given,
        role=role,
        text=text,
        at=_moment(fields.get("additional_kwargs"), fields.get("response_metadata"), fields) or at,
        speaker=fields.get("name") if role is Role.USER else None,
        tool=(fields.get("name") or (answered.name if answered else None)) if role is Role.TOOL else None,
        arguments=answered.arguments if answered else "",
        group=answered.asked_in if answered else "",
        calls=tuple(call.name for call in asked.values()),
        error=fields.get("status") == "error",
        attachments=attachments,
    )


def _is_summary(fields: Fields) -> bool:
    extra = fields.get("additional_kwargs")
    return isinstance(extra, Mapping) and extra.get("lc_source") == _SUMMARY


def _fields(message: Any, place: int) -> Fields:
    if isinstance(message, Mapping):
        return message
    if isinstance(message, tuple | list) and len(message) == 2:
        return {"role": message[0], "content": message[1]}
    if hasattr(message, "content") and hasattr(message, "type"):
        return {name: getattr(message, name, None) for name in _READ}
    raise CallError(
        f"message {place} is a {type(message).__name__}; expected a LangChain message, a dict with role and content, or a Turn"
    )


def _calls_of(calls: Any, asked_in: str) -> dict[str, _Call]:
    """The tool calls of a message by their ids, in LangChain's form or in OpenAI's."""
    found: dict[str, _Call] = {}
    for call in calls if isinstance(calls, Sequence) and not isinstance(calls, str) else ():
        if not isinstance(call, Mapping):
            continue
        inner = call.get("function")
        if isinstance(inner, Mapping):
            name, arguments = inner.get("name"), inner.get("arguments")
        else:
            name, arguments = call.get("name"), call.get("args")
        found[str(call.get("id"))] = _Call(
            str(name or "tool"), arguments if isinstance(arguments, str) else _json(arguments), asked_in
        )
    return found


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return str(value)


def _derived_id(before: str, place: int, role: Role, text: str) -> str:
    """An id for a message that has none: the same conversation read twice gives the same ids."""
    return hashlib.blake2b(f"{before}\0{place}\0{role}\0{text}".encode(), digest_size=16).hexdigest()


def _read_content(content: Any) -> tuple[str, tuple[Attachment, ...]]:
    if content is None:
        return "", ()
    if isinstance(content, str):
        return _without_bytes(content)
    if not isinstance(content, Sequence):
        return _without_bytes(str(content))
    texts: list[str] = []
    attachments: list[Attachment] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            if isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif part.get("type") not in _NO_ATTACHMENT:
                attachments.append(_attachment(part))
    text, inline = _without_bytes("\n".join(texts))
    return text, (*attachments, *inline)


def _without_bytes(text: str) -> tuple[str, tuple[Attachment, ...]]:
    """The text with each inline base64 file replaced by a note of what was there."""
    found: list[Attachment] = []

    def note(match: re.Match[str]) -> str:
        media_type = match.group(0)[5:].split(";", 1)[0]
        found.append(Attachment(description=f"inline {media_type}", media_type=media_type))
        return f"[{media_type}, {len(match.group(0))} characters left out]"

    return (_DATA_URI.sub(note, text), tuple(found)) if "base64," in text else (text, ())


def _attachment(part: Fields) -> Attachment:
    kind = str(part.get("type") or "file")
    link: Any = part.get("image_url") or part.get("url") or part.get("file_id") or part.get("source") or ""
    if isinstance(link, Mapping):
        link = link.get("url") or link.get("file_id") or ""
    media_type = str(part.get("mime_type") or part.get("media_type") or "")
    if str(link).startswith("data:"):
        media_type, link = media_type or str(link)[5:].split(";", 1)[0], ""
    return Attachment(
        description=str(part.get("alt") or part.get("title") or kind.replace("_url", "")),
        reference=str(link),
        media_type=media_type,
    )


def _moment(*places: Any) -> datetime | None:
    """The message's own time, where a host wrote one under a usual name."""
    for place in places:
        if not isinstance(place, Mapping):
            continue
        for name in _MOMENTS:
            value = place.get(name)
            if isinstance(value, datetime):
                return value if value.tzinfo else value.replace(tzinfo=UTC)
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e11:
                return datetime.fromtimestamp(value, UTC)
            if isinstance(value, str):
                try:
                    parsed = datetime.fromisoformat(value)
                except ValueError:
                    continue
                return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return None


def inject(messages: Sequence[Any], block: str) -> list[Any]:
    """The messages for one model call, with `block` just before the last message of the user (SPEC D11).

    The input is not changed, and nothing injected is written back: a block that an earlier call injected is taken out. Among messages
    that are dicts, the block is one too.
    """
    kept = without_injected(messages)
    if not block:
        return kept
    plain = any(isinstance(message, Mapping) for message in kept)
    injected: Any = {"role": "user", "content": block, "id": RECOLLECTION_ID, "name": "memory"}
    if not plain:
        injected = HumanMessage(block, id=RECOLLECTION_ID, name="memory")
    users = [place for place, message in enumerate(kept) if _role_of(message, place) is Role.USER]
    place = users[-1] if users else len(kept)
    return [*kept[:place], injected, *kept[place:]]


def without_injected(messages: Sequence[Any]) -> list[Any]:
    """The messages without a block that was injected."""
    return [message for message in messages if _id_of(message) != RECOLLECTION_ID]


def _id_of(message: Any) -> Any:
    return message.get("id") if isinstance(message, Mapping) else getattr(message, "id", None)


def _role_of(message: Any, place: int) -> Role | None:
    fields = _fields(message, place)
    return _ROLES.get(str(fields.get("role") or fields.get("type") or "").lower())
