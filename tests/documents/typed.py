"""What the pages tell people to type: the command lines of their blocks, and the list of those that no test can run.

Reads text and lists; runs nothing. `test_blocks.py` runs every command that is not listed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from documents.pages import REPOSITORY, CodeBlock, blocks, name

SHELL = ("", "sh", "console")
"""Languages of blocks that show what is typed; output and other text that is not typed alone is `text`."""
OF_THE_PAST = re.compile(r"gangline (history|why-evicted|replay|recording) |\.gangline/recording")
COMMENT = re.compile(r"\s+# .*$")

NOT_RUN = {
    "sets up the shell that people type in; the tests have their own": (
        "*: export KUBECONFIG=*",
        "*: . .venv/bin/activate",
    ),
    "of the repository itself: make, pip": (
        "README.md: make demo",
        "README.md: make up",
        "README.md: pip install .",
        "docs/start.md: make demo",
        "docs/start.md: make up",
        "docs/guide/install.md: make olm *",
    ),
    "needs an image that is in a registry, and a cluster that runs it": (
        "*: gangline install --image IMAGE",
        "*: gangline install --image registry.example/team/gangline:0.1.0",
        "docs/guide/install.md: docker build *",
    ),
    "needs Helm, which tests/real/test_chart.py has": (
        "README.md: helm install *",
        "docs/guide/install.md: helm install *",
        "docs/guide/upgrade.md: helm *",
        "docs/guide/install.md: kubectl wait --for=condition=Ready * configs.kai.scheduler/kai-config",
    ),
    "takes away what the installer brought; tests/installer plays it": ("docs/guide/install.md: gangline uninstall*",),
    "serves until Ctrl-C; tests/cli plays it": ("*: gangline up*", "*: gangline dashboard*"),
    "goes on until the gang runs; tests/truth/test_forms.py plays it": (
        "docs/guide/why.md: gangline explain job/train --watch",
    ),
    "asks a server on a port of this machine that the tests do not take": ("docs/guide/dashboard.md: curl *",),
    "needs a collector of traces": ("docs/guide/monitoring.md: OTEL_EXPORTER_OTLP_ENDPOINT=*",),
    "runs a program inside a container; simulated nodes have none": ("docs/guide/history.md: kubectl exec *",),
    "followed to the letter on a real control plane by tests/real/test_guide.py": ("docs/guide/real-cluster.md: *",),
    "shows beforehand what later blocks lead to; tests/documents/test_readme.py compares every line": (
        "README.md, block 1: gangline explain large",
    ),
    "printed from cases that tests/truth/test_matrix.py plays": ("docs/guide/why.md: gangline explain *x",),
}
"""By reason: `page: command` or `page, block N: command`, where `*` stands for anything."""


@dataclass(frozen=True, slots=True)
class TypedCommand:
    page: str
    block: int
    """Which of the page's blocks it stands in, from 1."""
    text: str

    @property
    def program(self) -> str:
        return self.text.split()[0]

    @property
    def reads_recording(self) -> bool:
        return bool(OF_THE_PAST.search(self.text))

    def is_like(self, pattern: str) -> bool:
        places = (self.page, f"{self.page}, block {self.block}")
        return any(fnmatchcase(f"{place}: {self.text}", pattern) for place in places)

    def why_not_run(self) -> str:
        """The reason it is listed for; empty: it is run."""
        found = (reason for reason, patterns in NOT_RUN.items() if any(map(self.is_like, patterns)))
        return next(found, "")


def with_commands() -> list[Path]:
    """The pages that people type from."""
    return [
        REPOSITORY / "README.md",
        *(page for folder in (".", "from", "guide") for page in sorted((REPOSITORY / "docs" / folder).glob("*.md"))),
    ]


@cache
def commands(page: Path) -> tuple[TypedCommand, ...]:
    """What a page tells to type, in its order."""
    return tuple(
        TypedCommand(name(page), number, line)
        for number, block in enumerate(blocks(page), start=1)
        if block.language in SHELL
        for line in lines_typed(block)
    )


def lines_typed(block: CodeBlock) -> list[str]:
    """Lines after a prompt, the rest being output; without any prompt, every line. Comments are left out."""
    lines = block.text.replace("\\\n", " ").splitlines()
    prompted = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [COMMENT.sub("", line).strip() for line in prompted or lines if line.strip()]
