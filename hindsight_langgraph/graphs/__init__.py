"""Work that the memory does as LangGraph graphs."""
