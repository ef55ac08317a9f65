"""The pytest fixture `gangline_cluster`: an embedded Kubernetes cluster for one test.

pytest finds this file by its entry point wherever gangline is installed; nothing else imports it. The cluster itself is
imported only when a test asks for it, so that other people's test runs pay nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gangline.cluster import Cluster


@pytest.fixture
def gangline_cluster() -> Iterator[Cluster]:
    """A cluster in memory with 4 simulated nodes, running in a thread; a new one for each test."""
    from gangline.cluster import Cluster

    with Cluster() as cluster:
        yield cluster
