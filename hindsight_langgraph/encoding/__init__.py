"""Writing: from turns to memory units, as pure stages over plain values (SPEC B)."""
