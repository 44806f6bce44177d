"""Which method of a working backend answers which request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hindsight_langgraph import ops
from hindsight_langgraph.errors import StoreRejected


class WorkingRequests(ABC):
    """One method a request, each documented where the request is defined (`ops.working`).

    A backend replies with the value itself or with a plan that ends in it.
    """

    __slots__ = ()

    def answer(self, op: ops.WorkingOp[Any]) -> Any:
        """Hand a request to its method."""
        match op:
            case ops.ReadFields():
                return self._read_fields(op)
            case ops.WriteFields():
                return self._write_fields(op)
            case ops.FoldFields():
                return self._fold_fields(op)
            case ops.DropFields():
                return self._drop_fields(op)
            case ops.AddCount():
                return self._add_count(op)
            case ops.AppendLog():
                return self._append_log(op)
            case ops.ReadLog():
                return self._read_log(op)
            case ops.ReplaceEntry():
                return self._replace_entry(op)
            case ops.DropEntries():
                return self._drop_entries(op)
            case ops.ListKeys():
                return self._list_keys(op)
            case ops.DeleteKeys():
                return self._delete_keys(op)
            case ops.SetDue():
                return self._set_due(op)
            case ops.ClaimDue():
                return self._claim_due(op)
            case ops.SettleDue():
                return self._settle_due(op)
            case ops.ExtendLease():
                return self._extend_lease(op)
            case ops.PeekDue():
                return self._peek_due(op)
            case _:
                raise StoreRejected(f"a working store does not answer {type(op).__name__}")

    @abstractmethod
    def _read_fields(self, op: ops.ReadFields) -> Any: ...

    @abstractmethod
    def _write_fields(self, op: ops.WriteFields) -> Any: ...

    @abstractmethod
    def _fold_fields(self, op: ops.FoldFields) -> Any: ...

    @abstractmethod
    def _drop_fields(self, op: ops.DropFields) -> Any: ...

    @abstractmethod
    def _add_count(self, op: ops.AddCount) -> Any: ...

    @abstractmethod
    def _append_log(self, op: ops.AppendLog) -> Any: ...

    @abstractmethod
    def _read_log(self, op: ops.ReadLog) -> Any: ...

    @abstractmethod
    def _replace_entry(self, op: ops.ReplaceEntry) -> Any: ...

    @abstractmethod
    def _drop_entries(self, op: ops.DropEntries) -> Any: ...

    @abstractmethod
    def _list_keys(self, op: ops.ListKeys) -> Any: ...

    @abstractmethod
    def _delete_keys(self, op: ops.DeleteKeys) -> Any: ...

    @abstractmethod
    def _set_due(self, op: ops.SetDue) -> Any: ...

    @abstractmethod
    def _claim_due(self, op: ops.ClaimDue) -> Any: ...

    @abstractmethod
    def _settle_due(self, op: ops.SettleDue) -> Any: ...

    @abstractmethod
    def _extend_lease(self, op: ops.ExtendLease) -> Any: ...

    @abstractmethod
    def _peek_due(self, op: ops.PeekDue) -> Any: ...
