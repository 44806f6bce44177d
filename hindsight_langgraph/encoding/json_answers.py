"""Find the JSON value in a chat model's answer: behind thinking, inside fences and chatter, or cut short."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, cast


def as_list(value: object) -> list[object] | None:
    """The value where it is a JSON list."""
    return cast("list[object]", value) if isinstance(value, list) else None


def as_object(value: object) -> dict[str, object] | None:
    """The value where it is a JSON object, its names in lower case with single blanks for "_" and "-"."""
    if not isinstance(value, dict):
        return None
    return {plain_name(key): inner for key, inner in cast("dict[object, object]", value).items()}


def plain_name(name: object) -> str:
    """A name as models vary it: "Memory_List" and "memory list" are one."""
    return re.sub(r"[\s_-]+", " ", str(name)).strip().lower()


_THOUGHT: Final = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_END: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START: Final = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def read_json(text: str, *, wanted: Callable[[object], bool]) -> tuple[object, bool]:
    """The JSON value that a chat model's answer carries (None when none), and whether it was complete.

    Thinking is dropped (closed, unopened or never closed), but only outside JSON: a value may hold "<think>" or a fence. Of
    several values the last one that is `wanted` is meant: drafts come first.
    """
    candidates = list(_values(_without_thoughts(text)))
    if not candidates:
        return None, "{" not in text and "[" not in text
    for value, whole in reversed(candidates):
        if wanted(value):
            return value, whole
    return candidates[-1]


def _without_thoughts(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith(("{", "[")) and _loads(stripped) is not None:
        return stripped
    text = _THOUGHT.sub("", text) if _opens_outside_json(text) else text
    end = _last_outside_json(_THOUGHT_END, text)
    if end:
        text = text[end:]
    start = _THOUGHT_START.search(text)
    return text[: start.start()] if start and not re.search(r"[{\[]", text[: start.start()]) else text


def _opens_outside_json(text: str) -> bool:
    start = _THOUGHT_START.search(text)
    return start is not None and not re.search(r"[{\[]", text[: start.start()])


def _last_outside_json(pattern: re.Pattern[str], text: str) -> int:
    """The end of the last match that a complete JSON value follows, 0 when there is none."""
    for match in reversed(list(pattern.finditer(text))):
        if re.search(r"[{\[]", text[match.end() :]) and next(_values(text[match.end() :]), (None, False))[1]:
            return match.end()
    return 0


def _loads(text: str) -> object:
    """The value of a text that is JSON and nothing else, tolerating raw line breaks in strings; None otherwise."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _values(text: str) -> Iterator[tuple[object, bool]]:
    """Every object or list at the top level of a text, in order; the last may be one that was cut short."""
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_MOST_VALUES):
        start = _next_open(text, position)
        if start < 0:
            return
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            salvaged = _salvage(text[start:])
            if salvaged is not None:
                yield salvaged
                return
            if _JSON_OPENING.match(text, start) and not _scan(text[start:])[0]:
                return  # cut inside its first item: an object within it is a part, not a fact
            position = start + 1
        else:
            yield value, True


def _next_open(text: str, position: int) -> int:
    match = re.compile(r"[{\[]").search(text, position)
    return match.start() if match else -1


_JSON_OPENING: Final = re.compile(r"[{\[]\s*[\"{\[]")
_MOST_VALUES: Final = 64
"""How many openings are tried: an answer of nothing but brackets must not cost quadratic time."""
_TRAILING_COMMA: Final = re.compile(r",(?=\s*[}\]])")


def _salvage(text: str) -> tuple[object, bool] | None:
    """A value with trailing commas, or one that was cut short, closed after its last complete item. None when it is neither."""
    end, closers, safe = _scan(text)
    if end:
        value = _loads(_TRAILING_COMMA.sub("", text[:end]))
        return None if value is None else (value, True)
    if safe is None or not closers:
        return None
    cut, open_there = safe
    value = _loads(text[:cut] + open_there)
    return None if value is None else (value, False)


def _scan(text: str) -> tuple[int, str, tuple[int, str] | None]:
    """Walk over one value: where it ends (0 when it does not), what would close it, the last place behind a whole item."""
    stack: list[str] = []
    safe: tuple[int, str] | None = None
    quoted = escaped = False
    for index, char in enumerate(text):
        if quoted:
            quoted, escaped = (char != '"' or escaped), char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]":
            if not stack or stack.pop() != char:
                return 0, "", None
            if not stack:
                return index + 1, "", safe
            if char == "}" and stack in (["]"], ["}", "]"]):  # one whole item of the list, not a part of one
                safe = (index + 1, "".join(reversed(stack)))
    return 0, "".join(reversed(stack)), safe
