"""Measures of the memory on public and on labelled data."""
