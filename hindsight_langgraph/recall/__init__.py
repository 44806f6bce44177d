"""Recall: from a question to a recollection, as pure stages over plain values (SPEC C, D)."""
