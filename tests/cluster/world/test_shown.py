"""Every part of the world is shown by tests, as README.md beside this file says, on a server of either kind."""

from __future__ import annotations

import re
from pathlib import Path

from gangline.cluster.world.component import PARTS

HERE = Path(__file__).parent
ROW = re.compile(r"^\| ([a-z, ]+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
TESTS = re.compile(r"`([\w./]+\.py)`( ●)?: ([\w ·]+)")


def rows() -> dict[str, str]:
    """Part → what is said to show it."""
    text = (HERE / "README.md").read_text()
    return {part.strip(): shown for parts, shown in ROW.findall(text) for part in parts.split(",")}


def test_every_part_has_a_row() -> None:
    assert sorted(rows()) == sorted(PARTS)


def test_every_named_test_is_there() -> None:
    missing = []
    for part, shown in rows().items():
        for file, _, names in TESTS.findall(shown):
            text = (HERE / file).read_text()
            missing += [
                f"{part}: {file}: {name}"
                for name in re.findall(r"\w+", names)
                if name not in ("with", "our", "scheduler") and f"def test_{name}" not in text
            ]
    assert missing == []


def test_every_part_is_shown_on_both_servers_by_a_file_that_make_runs_there() -> None:
    made = (HERE.parents[2] / "Makefile").read_text()
    lived = re.search(r"tests/cluster/world/test_,([^)]+)\)", made)
    assert lived is not None
    on_both = {f"test_{name}" for name in lived[1].split()}
    for part, shown in rows().items():
        assert {file for file, both, _ in TESTS.findall(shown) if both} & on_both, part
