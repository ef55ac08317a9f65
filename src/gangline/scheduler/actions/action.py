"""`CycleAction`: the contract of what a cycle runs, one after the other, in the order that the configuration gives.

A subclass says `name` and `run`; the table is in `__init__.py`. An action changes the model only inside statements, so
that leaving one without `commit()` undoes everything it tried. Nothing here runs an action: `cycle.py` does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


class CycleAction(ABC):
    name: str
    """What the configuration, metrics and messages call it."""
    takes_room: bool = False
    """It searches for victims, so that a waiting gang gets their room: such searches have a budget, and their evictions
    may have a price."""

    @abstractmethod
    def run(self, session: Session) -> None: ...
