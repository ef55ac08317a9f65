"""What the embedded server says is what Kubernetes says: every script of the corpus, on both, answer by answer."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from real.differences_table import differences
from real.pair import Pair, pair
from real.plane import missing
from real.scripts import folders, scripts, title

DIFFERENCES = differences()
CASES = {title(case): case for case in scripts()}
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    async with pair(tmp_path_factory.mktemp("plane")) as made:
        yield made


@pytest.mark.parametrize("name", CASES)
async def test_both_servers_answer_alike(both: Pair, name: str) -> None:
    told = await both.difference(CASES[name])
    if name in DIFFERENCES:
        assert told, f"{name} no longer differs: take it out of differences.yaml"
        return
    assert not told, f"real (-) against embedded (+):\n  {told}"


async def test_every_listed_difference_names_a_script_and_a_reason() -> None:
    known = {*CASES, *(title(case) for folder in folders() for case in scripts(folder))}
    assert [name for name in DIFFERENCES if name not in known] == []
    assert all(isinstance(reason, str) and len(reason) > 20 for reason in DIFFERENCES.values())
