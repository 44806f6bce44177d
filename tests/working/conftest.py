"""Working memory is tested on the stores of the contract suite."""

from tests.contracts.conftest import open_working, working, working_backend, working_prefix

__all__ = ["open_working", "working", "working_backend", "working_prefix"]
