"""Managed memory for LangGraph agents: recall before the plan, annotate after the step, consolidate when idle."""
