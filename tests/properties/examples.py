"""How many examples a property gets that takes long over each: all of them when `make properties` looks for new ones; a
third in `make test`, which tries the same ones every time, so that more would be tried in vain."""

from __future__ import annotations

import os

SEARCHING = os.environ.get("HYPOTHESIS_PROFILE") == "searching"


def examples(number: int) -> int:
    return number if SEARCHING else -(-number // 3)
