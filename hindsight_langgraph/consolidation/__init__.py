"""Consolidation: many units become fewer, better ones (SPEC F)."""
