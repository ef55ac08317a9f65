"""docs/guide/why.md, printed from the matrix: each case is put on a platform and asked about. Run by `make docs`.

Names that a controller makes up and times differ from run to run; they are printed as … so that the page stays the
same.
"""

from __future__ import annotations

import asyncio
import logging
import re

from journeys.story import REPOSITORY
from truth.matrix import CHAPTERS
from truth.player import asked, at_rest

PAGE = REPOSITORY / "docs" / "guide" / "why.md"
HEAD = """# Why it does not run

`gangline explain NAME` says why a workload waits or what became of it, and which change would start it. It reads the
cluster as it stands now and runs the scheduler's own cycle on what it read; what it tells as a remedy was tried that
way, or on a copy of the whole platform.

```
gangline explain job/train                 # or set/NAME, gang/NAME, pod/NAME …; a bare name if it means one thing
gangline explain -A                        # everything that waits, in every namespace
gangline explain job/train --fix 1 -o yaml # the first remedy as objects: patches of what exists, and new objects
gangline explain job/train --try           # plays each remedy on a copy of the cluster and reports; nothing is touched
gangline explain job/train --watch         # says it anew when it changes, until it runs
gangline explain job/train -o json         # cause, facts and changes for programs
```

Every cause below is a case of `tests/truth/matrix.py`, played by `tests/truth/test_matrix.py`: the cluster, the answer,
the first remedy applied as printed, the gang running. This page is printed from the same cases (`make docs`).
"""
STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z( \([^)]*\))?")
CLOCK = re.compile(r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC")
SPOKEN = re.compile(r"\b\d+ (?:d|h|min|s)(?: \d+ (?:h|min|s))?\b")
MADE_UP = re.compile(
    r"\b((?:x|old|urgent|a|b|big|first|agent)(?:-0)?(?:-g-\d)?(?:-[a-z])?)-(?:[a-z0-9]{5,10}-)?[a-z0-9]{5}(-gpu-[a-z0-9]{5})?\b"
)
GANG_POD = re.compile(r"\b(pods? (?:x|old))-\d+(?![-\w])")
"""Which of equal pods finds no node depends on names that the server makes up."""


def steady(text: str) -> str:
    """Without what differs from run to run."""
    text = GANG_POD.sub(r"\1-…", text)
    return MADE_UP.sub(r"\1-…", SPOKEN.sub("…", STAMP.sub("…", CLOCK.sub("…", text))))


async def written() -> str:
    parts = [HEAD]
    for title, cases in CHAPTERS.items():
        parts.append(f"\n## {title}\n")
        for case in cases:
            async with at_rest(case) as story:
                text, _ = await asked(story, case.ask)
            parts.append(
                f"\n### {case.name[0].upper()}{case.name[1:]}\n\n```\n$ gangline explain "
                f"{case.ask}\n{steady(text)}\n```\n"
            )
    return "".join(parts)


if __name__ == "__main__":
    logging.getLogger("gangline").setLevel(logging.CRITICAL)
    PAGE.write_text(asyncio.run(written()))
