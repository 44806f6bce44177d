"""A personal assistant that remembers."""
