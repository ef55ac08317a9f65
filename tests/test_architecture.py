"""The tree keeps its shape: pure files stay pure, the tour names only files that exist, nothing names a machine."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import compat_table

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src" / "gangline"

SHELLS = {
    "components.py",
    "local.py",
    "extend.py",
    "client",
    "runtime",
    "cli",
    "dashboard",
    "world",
    "apiserver",
    "binder",
    "controllers",
    "operator",
    "grouper",
    "admission/webhook.py",
    "scheduler/loop/service.py",
    "installer",
    "config.py",
    "errors.py",
}
"""Files and folders that may do input and output (in mixed folders, the pure parts below are named in PURE)."""
PURE = {
    "operator/desired",
    "operator/backends",
    "operator/status.py",
    "operator/rollout.py",
    "operator/termination.py",
    "operator/gangs.py",
    "operator/plan.py",
    "operator/adoption.py",
    "operator/tell.py",
    "operator/rights.py",
    "admission/sets/podcliqueset.py",
    "admission/sets/immutable.py",
    "admission/sets/topology.py",
    "admission/sets/topologybinding.py",
    "admission/sets/authorizer.py",
    "grouper/groupers",
    "grouper/owners.py",
    "grouper/plan.py",
    "grouper/look.py",
    "grouper/write.py",
    "grouper/defaults.py",
    "grouper/fields.py",
    "grouper/grouping.py",
    "grouper/topowner.py",
    "grouper/jq.py",
    "grouper/jq_functions.py",
    "grouper/rights.py",
    "admission/scheduling/pods.py",
    "admission/scheduling/podgroups.py",
    "admission/scheduling/queues.py",
    "admission/scheduling/topologies.py",
    "admission/registration.py",
    "schema",
    "apiserver/apply",
    "apiserver/builtin",
    "cluster/server/patch/json_patch.py",
    "cluster/server/patch/strategic.py",
    "scheduler/model",
    "installer/contract.py",
    "installer/settings.py",
    "installer/config_reader.py",
    "installer/objects/services.py",
    "installer/objects/shapes.py",
    "installer/objects/roles.py",
    "installer/objects/webhooks.py",
    "installer/objects/monitoring.py",
    "installer/objects/numa.py",
    "installer/objects/desired.py",
    "installer/objects/shards.py",
    "installer/plan.py",
    "installer/status.py",
    "installer/release/manifests.py",
    "installer/release/chart.py",
    "installer/release/values.py",
    "scheduler/actions",
    "scheduler/plugins",
    "scheduler/fairness",
    "scheduler/cycle.py",
    "scheduler/session.py",
    "scheduler/statement.py",
    "scheduler/plugin.py",
    "scheduler/hooks.py",
    "scheduler/combine.py",
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
    "scheduler/placing",
    "scheduler/victims",
    "scheduler/why",
    "scheduler/snapshots",
    "rules",
    "api",
    "dashboard/model.py",
    "dashboard/look.py",
    "dashboard/gangs.py",
    "dashboard/queues.py",
    "dashboard/nodes.py",
    "dashboard/pages.py",
    "dashboard/html.py",
    "dashboard/parts.py",
    "dashboard/sections.py",
    "dashboard/views.py",
    "dashboard/sheet.py",
}
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
    return [file for file in files if file.exists()]


def test_there_are_pure_files() -> None:
    assert len(pure_files()) > 40


@pytest.mark.parametrize("file", pure_files(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_pure_file_has_no_async_def_and_imports_no_input_or_output(file: Path) -> None:
    tree = ast.parse(file.read_text())
    assert not [node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]
    assert not sorted(name for name in _imports(tree) if _impure(name))


def _imports(tree: ast.Module) -> set[str]:
    """Modules imported for use (imports for types only do not count)."""
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
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
