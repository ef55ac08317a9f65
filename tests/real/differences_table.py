"""The table of scripts on which the embedded server differs from Kubernetes on purpose, in docs/compat.md: `make docs`
writes it from differences.yaml, a test compares it, and a run of the scripts sums it up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from real.plane import REPOSITORY
from real.scripts import folders, scripts
from yaml_loading import load_yaml

PAGE = REPOSITORY / "docs" / "compat.md"
BEGIN, END = "<!-- servers: printed by `make docs` -->\n", "<!-- end of servers -->"


def differences() -> dict[str, str]:
    """Area and name of a script → why the answers differ."""
    found: dict[str, str] = load_yaml((Path(__file__).parent / "differences.yaml").read_text()) or {}
    return {name: reason.strip() for name, reason in found.items()}


def summary() -> str:
    cases = [case for folder in ("", *folders()) for case in scripts(folder)]
    played = Counter(case["area"] for case in cases)
    steps = sum(len(case["steps"]) for case in cases)
    areas = ", ".join(f"{area} {count}" for area, count in sorted(played.items()))
    return (
        f"{played.total()} scripts with {steps} requests ({areas}) are played on both servers; "
        f"{len(differences())} differ on purpose."
    )


def table() -> str:
    rows = [
        f"| {name.partition(': ')[0]} | {name.partition(': ')[2]} | {reason} |"
        for name, reason in sorted(differences().items())
    ]
    return "\n".join([summary(), "", "| area | script | why ours differs |", "|---|---|---|", *rows])


def written() -> str:
    """The page with a fresh table."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written())
