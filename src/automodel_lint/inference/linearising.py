"""The order in which the bases of a class are looked through."""

from __future__ import annotations

from typing import TypeVar

Item = TypeVar("Item")


def merged_orders(orders: list[list[Item]]) -> list[Item]:
    """Return the C3 linearisation of several orders.

    Where they contradict each other (Python would refuse the class), it goes depth first.
    """
    orders = [list(o) for o in orders if o]
    result: list[Item] = []
    while orders:
        for order in orders:
            head = order[0]
            if not any(head in other[1:] for other in orders):
                break
        else:
            head = orders[0][0]
        result.append(head)
        orders = [[a for a in order if a is not head and a != head] for order in orders]
        orders = [o for o in orders if o]
    return result
