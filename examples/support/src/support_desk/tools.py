"""What the desk can do. A tool that fails says so to the model, and to the memory."""

from __future__ import annotations

from langchain_core.tools import tool
from langgraph.types import interrupt

ORDERS = {"A-17": "shipped on Monday", "A-18": "waits for payment"}


@tool
def order_status(order: str) -> str:
    """Where an order stands, by its number."""
    if order not in ORDERS:
        raise ValueError(f"no order {order}; numbers look like A-17")
    return f"{order}: {ORDERS[order]}"


@tool
def refund(order: str, euros: float) -> str:
    """Refund an order; a person has to agree first."""
    if interrupt({"refund": order, "euros": euros}) != "yes":
        return f"the refund of {order} was declined"
    return f"{euros:.2f} euros of {order} were refunded"


TOOLS = [order_status, refund]
