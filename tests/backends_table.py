"""The tables of docs/backends.md, printed from the capability table and from the tests: `make docs` writes them, a test
compares them."""

from __future__ import annotations

import ast
from pathlib import Path

from gangline.operator.backends import BUILT_IN, capability_rows
from gangline.operator.backends.contract import Capabilities
from gangline.operator.backends.default_generations import KUBE_135, KUBE_136, KUBE_137
from real.schedulers.scheduler import Scheduler
from real.schedulers.table import SCHEDULERS

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "backends.md"
TESTS = REPOSITORY / "tests" / "backends"
BEGIN, END = "<!-- capabilities: printed by `make docs` -->\n", "<!-- end of capabilities -->"
SHOWN = {
    "kai": ("tests/backends/test_kai.py", "tests/operator/test_operator_backends.py", "tests/journeys/test_skeleton.py")
}
"""Backends that more than their own file of tests shows."""
PROOF = "tests/real/test_backends.py"
KUBE = {"default": KUBE_135, "default-1.36": KUBE_136, "default-1.37": KUBE_137}
PROVEN = {KUBE.get(name, name): scheduler for name, scheduler in SCHEDULERS.items()}
"""The row of capabilities that each real scheduler is there for."""
NOT_RUN = "not run against the real scheduler"
OURS = "our own scheduler half"
TOGETHER = {
    "At admission": "test_admission",
    "On a server": "test_journeys",
    "Whose is what": "test_ownership",
    "From one backend to another": "test_moves",
    "What stands in the way": "test_bad_input",
    "Places of an earlier gang": "test_places",
    "A gang that starts again": "test_lives",
    "On the platform of `gangline up`": "test_whole_platform",
    "As a process of its own": "test_rights",
    "Configuration that changes": "test_config_reload",
}
"""Files of tests about all of them."""


def files(backend: str) -> tuple[str, ...]:
    return SHOWN.get(backend, (f"tests/backends/test_{backend}.py",))


def row(name: str, can: Capabilities) -> str:
    backend = name.split()[0]
    cells = [
        f"`{name}`" if name == backend else name,
        "yes" if can.gang else "no",
        can.groups,
        ", ".join(can.required) or "–",
        ", ".join(can.preferred) or "–",
        "yes" if can.both else "no",
        "yes" if can.queue else "no",
        "yes" if can.reuse else "no",
        " ".join(f"`{file}`" for file in (*files(backend), *([PROOF] if _ran(name) else ()))),
        _real(name, can),
    ]
    return f"| {' | '.join(cells)} |"


def _ran(name: str) -> Scheduler | None:
    """The real scheduler that a row of capabilities has been run against."""
    found = PROVEN.get(name)
    return found if found is not None and not found.not_run else None


def _real(name: str, can: Capabilities) -> str:
    if (ran := _ran(name)) is not None:
        return f"{ran.product} {ran.version}"
    part = PROVEN.get(name)
    if part is not None and not part.not_run.startswith(NOT_RUN):
        return f"{part.product} {part.version}, in part"
    return OURS if name == "kai" else NOT_RUN if can.gang else "–"


def proofs() -> list[str]:
    """What was shown on the real schedulers, and what could not be."""
    lines = [
        "",
        "### On the real schedulers",
        "",
        (
            f"Shown by `{PROOF}` (`make test-real SCHEDULERS=…` and `RELEASES=…`): a gang of two groups, prefill with "
            f"3 pods of which it "
            "needs 2 and decode with 4 of which it needs 3, on a real control plane with simulated nodes:"
        ),
        "",
    ]
    lines += [f"* {sentence}" for sentence in sentences(PROOF)]
    lines += ["", "| backend | scheduler | what a gang without room says in the scheduler's words |", "|---|---|---|"]
    for name, scheduler in SCHEDULERS.items():
        lines.append(
            f"| `{name}` | {scheduler.product} {scheduler.version} | {scheduler.not_run or f'“{scheduler.why}”'} |"
        )
    return lines


def sentences(file: str) -> list[str]:
    """The tests of a file as sentences."""
    tree = ast.parse((REPOSITORY / file).read_text())
    found = [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    return [name.removeprefix("test_").replace("_", " ") for name in found]


def table() -> str:
    lines = [
        (
            "| backend | gang | each group's minimum | required topology for | preferred topology for | both at once "
            "| queue "
            "| reuse of places | shown by | run against |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
        *(row(name, can) for name, can in capability_rows().items()),
    ]
    for backend in BUILT_IN:
        own = f"tests/backends/test_{backend}.py"
        lines += ["", f"### {backend}", "", f"Shown by `{own}`:", "", *(f"* {sentence}" for sentence in sentences(own))]
    for title, name in TOGETHER.items():
        file = f"tests/backends/{name}.py"
        lines += ["", f"### {title}", "", f"Shown by `{file}`:", "", *(f"* {sentence}" for sentence in sentences(file))]
    return "\n".join([*lines, *proofs()])


def written() -> str:
    """The page with fresh tables."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written())
