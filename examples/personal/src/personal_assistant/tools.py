"""What the assistant can do."""

from __future__ import annotations

from datetime import UTC, datetime

from langchain_core.tools import tool


@tool
def today() -> str:
    """The date of today, YYYY-MM-DD."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


TOOLS = [today]
