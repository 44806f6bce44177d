"""Scripts that fit what ships as data."""
