"""later"""
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from ..session import Session

def run(session: Session) -> None:
    """later"""
