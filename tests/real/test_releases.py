"""The Workload API of newer releases of Kubernetes on the embedded server: what it says is what that release says,
script by script.

`make test-real RELEASES=1.36,1.37` builds their programs and plays these.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from real.differences_table import differences
from real.pair import Pair, pair
from real.plane import missing
from real.releases import RELEASES
from real.scripts import folders, scripts, title

DIFFERENCES = differences()
ASKED = [name for name in os.environ.get("GANGLINE_RELEASES", "").split(",") if name]
CASES = {(folder, title(case)): case for folder in folders() for case in scripts(folder)}
pytestmark = [pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    """Servers of a release, with all gates of the Workload API on or, in a plain folder, those it needs."""
    release = RELEASES[request.param.removesuffix("-plain")]
    if release.name not in ASKED:
        pytest.skip(f"built and run on demand: make test-real RELEASES={release.name}")
    if why := missing(release):
        pytest.skip(why)
    async with pair(
        tmp_path_factory.mktemp("plane"), release, () if request.param.endswith("-plain") else release.more
    ) as made:
        yield made


@pytest.mark.parametrize(("both", "name"), CASES, indirect=["both"], ids=[name for _, name in CASES])
async def test_both_servers_answer_alike(both: Pair, name: str) -> None:
    told = await both.difference(CASES[name.partition(" ")[0], name])
    if name in DIFFERENCES:
        assert told, f"{name} no longer differs: take it out of differences.yaml"
        return
    assert not told, f"real (-) against embedded (+):\n  {told}"
