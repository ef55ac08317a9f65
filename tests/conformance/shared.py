"""Where the recorded cases of the upstream systems lie, and how a suite that is absent is skipped.

The recordings are not part of this repository: they stand beside it, in `../shared/conformance/<suite>`. Nothing here
reads a case; each suite's runner does that."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def suite_folder(suite: str) -> Path:
    """The folder of a suite; GANGLINE_CONFORMANCE may point to another place than `../shared/conformance`."""
    root = os.environ.get("GANGLINE_CONFORMANCE")
    return (Path(root) if root else REPOSITORY.parent / "shared" / "conformance") / suite


def known_failures(suite: str) -> set[str]:
    """Ids that are known to fail; the list may only shrink."""
    path = Path(__file__).parent / "known-failures" / f"{suite}.txt"
    if not path.exists():
        return set()
    lines = (line.split("#", 1)[0].strip() for line in path.read_text().splitlines())
    return {line for line in lines if line}
