"""Managed memory for LangGraph agents: recall before the plan, annotate after the step, consolidate when idle."""

from hindsight_langgraph.config import HindsightConfig
from hindsight_langgraph.errors import HindsightError
from hindsight_langgraph.memory import HindsightMemory
from hindsight_langgraph.recall.recollection import Query, Recollection
from hindsight_langgraph.records import MemoryUnit, Scope, Turn

__all__ = ["HindsightConfig", "HindsightError", "HindsightMemory", "MemoryUnit", "Query", "Recollection", "Scope", "Turn"]
