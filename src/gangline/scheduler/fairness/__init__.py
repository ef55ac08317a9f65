"""Who is owed what: the arithmetic of sharing a cluster between queues, as pure functions.

    accounts.py    the books of one queue: quota, limit, weight, what it holds, what it asks for, its fair share
    divide.py      cluster total → fair share of every queue, level by level
    order.py       which of two queues goes first
    capacity.py    may this much more be handed to this queue?
    reclaim.py     may this queue take that much from those queues?

`plugins/capacity/proportion.py` keeps the books during a cycle and asks these functions. Nothing here knows a pod, a
node or a session.
"""

from __future__ import annotations

from gangline.scheduler.fairness.accounts import CPU, GPU, MEMORY, NOTHING, RESOURCES, UNLIMITED, Amounts, QueueAccount

__all__ = ["CPU", "GPU", "MEMORY", "NOTHING", "RESOURCES", "UNLIMITED", "Amounts", "QueueAccount"]
