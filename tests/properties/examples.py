"""How many examples a property gets that takes long over each: all of them when `make properties` looks for new ones; a
third in `make test`, which tries the same ones every time, so that more would be tried in vain. `make properties
ARGS="--examples 10000 tests/properties/test_disruption.py"` gives each at least as many."""

from __future__ import annotations

import os

SEARCHING = os.environ.get("HYPOTHESIS_PROFILE") == "searching"
AT_LEAST = int(os.environ.get("LEAST_EXAMPLES", "0"))


def examples(number: int) -> int:
    return max(number if SEARCHING else -(-number // 3), AT_LEAST)
