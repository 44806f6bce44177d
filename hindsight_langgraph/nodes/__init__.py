"""Graph nodes: recall before the plan, annotate after the step, consolidate on idle."""
