"""A support desk with one memory per customer."""
