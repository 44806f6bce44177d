"""Checkpointers: LangGraph savers on plain Redis and SQLite."""
