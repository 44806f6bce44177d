"""Find text that gives orders to the assistant about its own behaviour: to be kept only as a quoted claim of its author."""

from __future__ import annotations

import re

_ORDER = re.compile(r"ignore (?:all |the )?previous instructions[^.!?]*|忽略之前的指令[^。！？]*", re.IGNORECASE)


def find_orders(text: str) -> tuple[tuple[int, int], ...]:
    """Spans (start, end) of the orders in a text, in order, not overlapping."""
    return tuple(match.span() for match in _ORDER.finditer(text))


def is_instruction_to_assistant(text: str) -> bool:
    """True when the text tries to change how the assistant itself behaves (prompt injection, role play as system)."""
    return bool(find_orders(text))
