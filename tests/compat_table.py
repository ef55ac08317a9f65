"""The table of deliberate differences in docs/compat.md, printed from `Manner`: `make docs` writes it, a test compares
it."""

from __future__ import annotations

import ast
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "compat.md"
BEGIN, END = "<!-- differences: printed by `make docs` -->\n", "<!-- end of differences -->"


def rows() -> list[str]:
    tree = ast.parse((REPOSITORY / "src" / "gangline" / "config.py").read_text())
    manner = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Manner")
    found = []
    for setting, text in zip(manner.body, manner.body[1:], strict=False):
        if (
            isinstance(setting, ast.AnnAssign)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            assert isinstance(setting.target, ast.Name)
            compat = "grove" if "GROVE" in ast.unparse(setting) else "kai"
            found.append(f"| `{setting.target.id}` | {compat} | {' '.join(text.value.value.split())} |")
    return found


def table() -> str:
    return "\n".join(
        [
            "| setting | switched on by | when it is on |",
            "|---|---|---|",
            *sorted(rows(), key=lambda row: row.split("|")[2]),
        ]
    )


def written() -> str:
    """The page with a fresh table."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written())
