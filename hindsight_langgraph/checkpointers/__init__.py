"""Checkpointers: LangGraph savers on plain Redis and SQLite."""

from hindsight_langgraph.checkpointers.saver import HindsightSaver

__all__ = ["HindsightSaver"]
