"""Checkpointers: LangGraph savers on plain Redis and SQLite."""

from hindsight_langgraph.checkpointers.observations import Observation, Observer
from hindsight_langgraph.checkpointers.observing import ObservingSaver
from hindsight_langgraph.checkpointers.platform import create_checkpointer
from hindsight_langgraph.checkpointers.saver import HindsightSaver

__all__ = ["HindsightSaver", "Observation", "Observer", "ObservingSaver", "create_checkpointer"]
