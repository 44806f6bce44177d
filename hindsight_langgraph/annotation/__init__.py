"""Annotation: what a task did and how it ended (SPEC E)."""
