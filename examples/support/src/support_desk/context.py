"""What a run is given besides messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(kw_only=True)
class Context:
    """The context of one run: `graph.invoke(..., context=Context(user_id="alice"))`."""

    user_id: str
    """Says which customer is served: whose memory is read and written."""
