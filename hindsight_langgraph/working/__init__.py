"""Working memory: the task in hand, the last turns, and what waits to be written (SPEC A3, A4)."""
