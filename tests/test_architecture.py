"""The tree keeps its shape: pure files stay pure, the tour names only files that exist, nothing names a machine."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import compat_table
import house_numbers
import rooms_picture

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src" / "gangline"

PURE = {
    "admission/scheduling/podgroups.py",
    "admission/scheduling/pods.py",
    "admission/scheduling/queues.py",
    "admission/scheduling/topologies.py",
    "admission/sets",
    "admission/registration.py",
    "admission/reviews.py",
    "api",
    "cluster/kinds",
    "cluster/schema",
    "cluster/server/patch",
    "grouper/defaults.py",
    "grouper/fields.py",
    "grouper/grouping.py",
    "grouper/groupers",
    "grouper/jq",
    "grouper/look.py",
    "grouper/owners.py",
    "grouper/plan.py",
    "grouper/rights.py",
    "grouper/topowner.py",
    "grouper/write.py",
    "installer/config_reader.py",
    "installer/contract.py",
    "installer/objects",
    "installer/plan.py",
    "installer/release",
    "installer/settings.py",
    "installer/status.py",
    *(
        f"why/{name}.py"
        for name in (
            "answers",
            "cause",
            "causes",
            "changes",
            "objects",
            "remedies",
            "replay",
            "subjects",
            "waiting",
            "workloads",
        )
    ),
    "why/fixes",
    "why/needs",
    "why/nodes",
    "why/pods",
    "why/queues",
    "why/schedulers",
    "why/states",
    "why/words",
    "scheduler/time",
    "lab/jobs.py",
    "lab/fleet.py",
    "lab/engine.py",
    "lab/measures.py",
    "lab/table.py",
    "lab/report.py",
    "lab/plots.py",
    "lab/formats",
    "lab/selection.py",
    "dashboard/gang_parts.py",
    "dashboard/gangs.py",
    "dashboard/look.py",
    "dashboard/map",
    "dashboard/model.py",
    "dashboard/nodes.py",
    "dashboard/page_data.py",
    *(f"dashboard/past/{name}.py" for name in ("charts", "data", "memory", "times", "view")),
    "dashboard/pages.py",
    "dashboard/queues.py",
    "dashboard/selection.py",
    "dashboard/views.py",
    "dashboard/writing",
    "operator/backends",
    "operator/cliques/gates.py",
    "operator/cliques/look.py",
    "operator/cliques/rollout.py",
    "operator/cliques/tell.py",
    "operator/cliques/think.py",
    "operator/desired",
    "operator/gangs/conditions.py",
    "operator/gangs/gang_info.py",
    "operator/gangs/look.py",
    "operator/gangs/placement.py",
    "operator/gangs/tell.py",
    "operator/gangs/think.py",
    "operator/gangs/translation.py",
    "operator/groups/look.py",
    "operator/groups/rollout.py",
    "operator/groups/tell.py",
    "operator/groups/think.py",
    "operator/memory/lookups.py",
    "operator/memory/pace.py",
    "operator/memory/remembered.py",
    "operator/memory/scheduler_timeout.py",
    "operator/memory/settled.py",
    "operator/memory/trims.py",
    "operator/plan.py",
    "operator/rights.py",
    "operator/sets/access.py",
    "operator/sets/adoption.py",
    "operator/sets/autoscalers.py",
    "operator/sets/look.py",
    "operator/sets/progress.py",
    "operator/sets/rollout.py",
    "operator/sets/scaling_groups.py",
    "operator/sets/support.py",
    "operator/sets/tell.py",
    "operator/sets/think.py",
    "operator/settings.py",
    "operator/status.py",
    "operator/topologies/tell.py",
    "operator/topologies/think.py",
    "rules",
    "scheduler/actions",
    "scheduler/combine.py",
    "scheduler/cycle.py",
    "scheduler/decisions.py",
    "scheduler/fairness",
    "scheduler/hooks.py",
    "scheduler/matching.py",
    "scheduler/model",
    "scheduler/objects",
    "scheduler/placing",
    "scheduler/plugin.py",
    "scheduler/plugins",
    *(
        f"scheduler/recording/{name}.py"
        for name in (
            "evicted",
            "following",
            "lines",
            "memory",
            "redacting",
            "replaying",
            "segments",
            "stories",
            "usage",
        )
    ),
    "scheduler/records",
    "scheduler/refusals.py",
    "scheduler/session.py",
    "scheduler/snapshots",
    "scheduler/statement.py",
    "scheduler/thought",
    "scheduler/victims",
    "scheduler/why",
}
"""Files and folders that think: they do no input or output."""
IMPURE_IMPORTS = {
    "asyncio",
    "logging",
    "random",
    "time",
    "socket",
    "aiohttp",
    "secrets",
    "sqlite3",
    "gangline.client",
    "gangline.runtime",
}


def pure_files() -> list[Path]:
    files: list[Path] = []
    for name in sorted(PURE):
        path = SOURCE / name
        files += [path] if path.suffix else sorted(path.rglob("*.py"))
    return files


def test_there_are_pure_files() -> None:
    assert len(pure_files()) > 40


def test_a_pure_file_has_no_async_def_and_imports_no_input_or_output() -> None:
    files = [str(file.relative_to(SOURCE)) for file in pure_files()]
    assert len(files) > 500
    acts = {file: _what_acts(house_numbers.trees()[file]) for file in files}
    assert {file: what for file, what in acts.items() if what} == {}


def _what_acts(tree: ast.Module) -> list[str]:
    waits = [node.name for node in house_numbers.walked(tree) if isinstance(node, ast.AsyncFunctionDef)]
    return [*waits, *sorted(name for name in _imports(tree) if _impure(name))]


def _imports(tree: ast.Module) -> set[str]:
    """Modules imported for use (imports for types only do not count)."""
    typing_only = {
        id(inner)
        for node in house_numbers.walked(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = set()
    for node in house_numbers.walked(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def _impure(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in IMPURE_IMPORTS)


@pytest.mark.parametrize("page", ["tour.md", "mission.md"])
def test_a_page_names_only_files_that_exist(page: str) -> None:
    named = re.findall(r"`((?:src|tests|docs|examples|bench)/[\w./-]+)`", (REPOSITORY / "docs" / page).read_text())
    assert len(named) > 15
    assert [name for name in named if not (REPOSITORY / name).exists()] == []


def test_the_architecture_has_a_row_for_every_room_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)/` \|", (REPOSITORY / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    rooms = [folder.parent.name for folder in SOURCE.glob("*/__init__.py")]
    assert sorted(rows) == sorted(rooms)


def promises() -> list[list[str]]:
    """The rows of the mission: number, promise, done by, shown by."""
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in (REPOSITORY / "docs/mission.md").read_text().splitlines()
        if re.match(r"\| [A-Z]\d+ \|", line)
    ]
    assert len(rows) > 40
    return rows


@pytest.mark.parametrize("row", promises(), ids=lambda row: row[0])
def test_each_promise_is_shown_by_a_test_that_needs_neither_recordings_nor_a_real_control_plane(row: list[str]) -> None:
    shown = [Path(name) for name in re.findall(r"`(tests/[\w./-]+\.py)`", row[3])]
    plain = [path for path in shown if path.parts[1] not in ("real", "conformance")]
    assert plain, f"{row[0]} names no test of `make test`"
    assert [path for path in plain if "def test_" not in (REPOSITORY / path).read_text()] == []


def test_every_module_says_what_lives_there() -> None:
    texts = {str(file.relative_to(SOURCE)): file.read_text().strip() for file in sorted(SOURCE.rglob("*.py"))}
    silent = [name for name, text in texts.items() if text and not re.match(r'r?"""\S', text)]
    assert silent == []


def test_the_page_of_differences_says_what_the_settings_say() -> None:
    assert compat_table.PAGE.read_text() == compat_table.written(), "run `make docs`"


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return house_numbers.trees()


def test_a_class_name_means_one_class(modules: dict[str, ast.Module]) -> None:
    assert house_numbers.classes_of_one_name(modules) == {}


def test_a_file_thinks_or_acts(modules: dict[str, ast.Module]) -> None:
    assert house_numbers.mixed_files(modules) == {}


def test_no_function_has_more_branches_than_fit_the_eye(modules: dict[str, ast.Module]) -> None:
    assert house_numbers.complex_functions(modules) == {}


def test_no_ternary_stands_in_a_ternary(modules: dict[str, ast.Module]) -> None:
    assert house_numbers.nested_ternaries(modules) == []


def test_no_member_is_found_by_a_string(modules: dict[str, ast.Module]) -> None:
    assert house_numbers.found_by_a_string(modules) == []


def test_locals_say_what_they_hold(modules: dict[str, ast.Module]) -> None:
    assert house_numbers.vague_names(modules) == {}


def test_no_file_but_a_table_is_longer_than_a_few_screens() -> None:
    assert house_numbers.long_files() == {}
    assert [name for name in house_numbers.TABLES if not (SOURCE / name).exists()] == []


def test_no_line_but_of_a_table_is_wider_than_the_page() -> None:
    assert house_numbers.long_lines() == []


def test_no_folder_holds_more_files_than_a_reader_tells_apart() -> None:
    assert house_numbers.full_folders() == {}


def test_no_room_imports_from_a_row_above_its_own() -> None:
    assert rooms_picture.upward() == []


def test_the_picture_of_the_rooms_is_drawn_from_the_imports() -> None:
    assert rooms_picture.PICTURE.read_text() == rooms_picture.picture(), "run `make docs`"
