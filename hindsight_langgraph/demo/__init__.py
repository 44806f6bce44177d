"""The demo: a LangGraph agent with the three memory nodes over a shipped conversation, and an interactive chat."""
