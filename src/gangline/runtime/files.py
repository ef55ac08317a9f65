"""How many files and sockets a process may have open.

Called once at the start of a process that listens (`gangline up`), never by a component.
"""

from __future__ import annotations

import resource

ENOUGH = 65_536


def allow_many() -> None:
    """As many as the system lets this user have: the usual 1,024 are for programs of another time."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
