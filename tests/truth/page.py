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

`gangline explain NAME` says why a workload waits, or what became of it, and which change would start it.

```
gangline explain job/train                 # or set/NAME, gang/NAME, pod/NAME, pytorchjob/NAME …
gangline explain train                     # a bare name will do if only one workload has it
gangline explain -A                        # everything that waits, in every namespace
gangline explain job/train --fix 1 -o yaml # the first remedy as objects: patches of what exists, and new objects
gangline explain job/train --try           # tries each remedy on a copy of the cluster; changes nothing
gangline explain job/train --watch         # prints the answer again when it changes, until the job runs
gangline explain job/train -o json         # cause, facts and changes for programs; `how`: patch, new or replace
```

## How to read an answer

```text
x waits: 4 GPUs short                                                  the cause, in one sentence
  needs     4 GPUs for 4 pods                                          what the whole gang asks for
  node n has 0 of 8 GPUs free; the pod asks for 1 GPU                  what each node says
  old (queue default-queue, 8 GPUs) has the same priority …            who holds the room, and why it is not taken back
  would start if   there was 1 more node (Node/n-more-1) with …        a change that starts the gang
              or   Job/old had spec.suspend: true (now false)          another one; the least harmful comes first
  next try  when something changes; 1st of 1 in queue default-queue    its place among those that wait
```

- The answer is worked out when you ask, from the objects as they are then. The scheduler's own cycle is run on
  them.
- Each remedy is one complete set of changes. It was tried before it is printed: with that cycle, or, where controllers
  must make new pods, on a copy of the whole platform. `gangline explain NAME --fix 1 -o yaml | gangline apply -f -`
  applies the first one.
- "and behind that" names what else is in the way once the first obstacle is gone. The remedy covers all of it.
- Where no remedy is printed, no change of objects is known that helps: start the missing component, or ask whoever owns
  the gate, the image or the finalizer.

Each cause below is a case of `tests/truth/matrix.py`. The test plays it: it makes the cluster, asks, applies the first
remedy as printed, and waits until the gang runs. This page is printed from the same cases by `make docs`.
"""
STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z( \([^)]*\))?")
CLOCK = re.compile(r"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC")
SPOKEN = re.compile(r"\b\d+ (?:d|h|min|s)(?: \d+ (?:h|min|s))?\b")
MADE_UP = re.compile(
    r"\b((?:x|old|urgent|a|b|big|first|agent)(?:-0)?(?:-g-\d)?(?:-[a-z])?(?:-0)?)-(?:[a-z0-9]{5,10}-)?[a-z0-9]{5}(-gpu-[a-z0-9]{5})?\b"
)
VOLUME = re.compile(r"\bpvc-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
GANG_POD = re.compile(r"\b(pods? (?:x|old))-(?:master-|worker-)?\d+(?![-\w])")
"""Which of equal pods finds no node depends on names that the server makes up."""


def steady(text: str) -> str:
    """Without what differs from run to run."""
    text = GANG_POD.sub(r"\1-…", text)
    text = VOLUME.sub("pvc-…", text)
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
