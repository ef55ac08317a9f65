"""The tables of docs/backends.md, printed from the capability table and from the tests: `make docs` writes them, a test compares them."""

from __future__ import annotations

import ast
from pathlib import Path

from gangline.operator.backends import BUILT_IN
from gangline.operator.backends.capabilities import CAPABILITIES
from gangline.operator.backends.contract import Capabilities

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "backends.md"
TESTS = REPOSITORY / "tests" / "backends"
BEGIN, END = "<!-- capabilities: printed by `make docs` -->\n", "<!-- end of capabilities -->"
SHOWN = {"kai": ("tests/backends/test_kai.py", "tests/operator/test_operator_backends.py", "tests/journeys/test_skeleton.py")}
"""Backends that more than their own file of tests shows."""
TOGETHER = {"On a server": "test_journeys", "From one backend to another": "test_moves", "What stands in the way": "test_bad_input"}
"""Files of tests about all of them."""


def files(backend: str) -> tuple[str, ...]:
    return SHOWN.get(backend, (f"tests/backends/test_{backend}.py",))


def row(name: str, can: Capabilities) -> str:
    backend = name.split()[0]
    cells = [f"`{name}`" if name == backend else name, "yes" if can.gang else "no", can.groups, ", ".join(can.required) or "–",
             ", ".join(can.preferred) or "–", "yes" if can.both else "no", "yes" if can.queue else "no", "yes" if can.reuse else "no",
             " ".join(f"`{file}`" for file in files(backend))]
    return f"| {' | '.join(cells)} |"


def sentences(file: str) -> list[str]:
    """The tests of a file as sentences."""
    tree = ast.parse((REPOSITORY / file).read_text())
    found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")]
    return [name.removeprefix("test_").replace("_", " ") for name in found]


def table() -> str:
    lines = [("| backend | gang | each group's minimum | required topology for | preferred topology for | both at once | queue "
              "| reuse of places | shown by |"),
             "|---|---|---|---|---|---|---|---|---|", *(row(name, can) for name, can in CAPABILITIES.items())]
    for backend in BUILT_IN:
        own = f"tests/backends/test_{backend}.py"
        lines += ["", f"### {backend}", "", f"Shown by `{own}`:", "", *(f"* {sentence}" for sentence in sentences(own))]
    for title, name in TOGETHER.items():
        file = f"tests/backends/{name}.py"
        lines += ["", f"### {title}", "", f"Shown by `{file}`:", "", *(f"* {sentence}" for sentence in sentences(file))]
    return "\n".join(lines)


def written() -> str:
    """The page with fresh tables."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written())
