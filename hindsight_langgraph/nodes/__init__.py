"""Graph nodes: recall before the plan, annotate after the step, consolidate on idle."""

from hindsight_langgraph.nodes.annotate import AnnotateAfterStep
from hindsight_langgraph.nodes.consolidate import ConsolidateOnIdle
from hindsight_langgraph.nodes.recall import RecallBeforePlan, arecollect, recollect
from hindsight_langgraph.nodes.state import MemoryState, Recalled

__all__ = ["AnnotateAfterStep", "ConsolidateOnIdle", "MemoryState", "RecallBeforePlan", "Recalled", "arecollect", "recollect"]
