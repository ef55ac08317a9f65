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
PRINTED = ("capabilities", "tests")
"""The parts of the page that are printed, in their order."""
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
SENTENCES = "Each test has a sentence as its name. `make test TESTS=FILE` runs the tests of a file."
TOGETHER = {
    "admission": "test_admission",
    "a set from create to delete, with every backend": "test_journeys",
    "which fields and objects belong to whom": "test_ownership",
    "moving a set to another backend": "test_moves",
    "missing queues, kinds and schedulers": "test_bad_input",
    "reuse of places": "test_places",
    "gangs that start again": "test_lives",
    "the platform of `gangline up`": "test_whole_platform",
    "a backend as its own process, and its rights": "test_rights",
    "configuration that changes": "test_config_reload",
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
            f"`make test-real` with `SCHEDULERS=…` or `RELEASES=…` runs `{PROOF}` on a real control plane with "
            "simulated nodes. A set has two cliques: prefill with 3 pods, of which 2 must run, and decode with 4 pods, "
            "of which 3 must run. The tests:"
        ),
        "",
    ]
    lines += [f"* {sentence}" for sentence in sentences(PROOF)]
    lines += ["", "| backend | scheduler | what the scheduler says of a gang without room |", "|---|---|---|"]
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


def capabilities() -> list[str]:
    return [
        (
            "| backend | gang | each group's minimum | required topology for | preferred topology for | both at once "
            "| queue "
            "| reuse of places | shown by | run against |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
        *(row(name, can) for name, can in capability_rows().items()),
    ]


def tests() -> list[str]:
    lines = [*proofs(), "", "### On the embedded server", "", SENTENCES, "", "| about | file |", "|---|---|"]
    titles = {f"`{backend}`": f"test_{backend}" for backend in BUILT_IN} | TOGETHER
    for title, name in titles.items():
        lines.append(f"| {title} | `tests/backends/{name}.py` |")
    return lines[1:]


def written() -> str:
    """The page with fresh parts."""
    page = PAGE.read_text()
    for name, lines in zip(PRINTED, (capabilities(), tests()), strict=True):
        begin, end = f"<!-- {name}: printed by `make docs` -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        text = "\n".join(lines)
        page = f"{before}{begin}\n{text}\n\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written())
