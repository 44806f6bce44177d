"""A coding helper that learns procedures and failures."""
