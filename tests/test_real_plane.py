"""Where the programs of a real control plane are looked for, and what is said where there are none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from journeys import kubectl
from real import differences_table, plane
from real.plane import PROGRAMS, REPOSITORY, Plane, missing, program


def test_programs_of_kubebuilder_assets_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*PROGRAMS, "kubectl"):
        (tmp_path / name).touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.delenv("GANGLINE_KUBECTL", raising=False)
    assert missing() == ""
    assert {program(name).parent for name in PROGRAMS} == {tmp_path}
    assert kubectl.find() == str(tmp_path / "kubectl")


def test_what_kubebuilder_assets_lack_is_taken_from_what_was_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "etcd").touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert program("etcd").parent == tmp_path
    assert program("kube-scheduler") == REPOSITORY / ".cache" / "bin" / "kube-scheduler"


def test_without_programs_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plane, "REPOSITORY", tmp_path)
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    assert missing() == ("no real control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler not found; "
                         "run `make real` (needs Go), or set KUBEBUILDER_ASSETS")


def test_the_page_lists_every_deliberate_difference_of_the_embedded_server() -> None:
    assert differences_table.PAGE.read_text() == differences_table.written(), "run `make docs`"


def test_make_test_real_skips_with_that_line_where_there_is_no_go(tmp_path: Path) -> None:
    """In a copy of the repository without what was built, on a PATH without Go."""
    for name in ("Makefile", "pyproject.toml", "tests", "src", ".venv"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (tmp_path / "tests").unlink()
    (tmp_path / "tests" / "real").mkdir(parents=True)
    for name in ("__init__.py", "plane.py", "go.mod"):
        if (REPOSITORY / "tests" / "real" / name).exists():
            (tmp_path / "tests" / "real" / name).write_bytes((REPOSITORY / "tests" / "real" / name).read_bytes())
    tools = _without_go(tmp_path)
    shown = subprocess.run(["make", "test-real", "READY=", "DEV="], cwd=tmp_path, env={"PATH": tools, "HOME": str(tmp_path)},
                           capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("skipped: no real control plane: etcd, ") and shown.stdout.count("\n") == 1


def _without_go(folder: Path) -> str:
    """A PATH of everything on the present one, except Go."""
    made = folder / "bin"
    made.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for tool in Path(place).iterdir() if Path(place).is_dir() else ():
            link = made / tool.name
            if tool.name not in ("go", "gofmt") and not link.is_symlink():
                link.symlink_to(tool)
    return str(made)


async def test_a_plane_starts_where_it_is_told_and_ends_whole(tmp_path: Path) -> None:
    if missing():
        pytest.skip(missing())
    made = Plane(tmp_path, controllers="", scheduler=False)
    await made.start()
    pids = made.processes()
    assert sorted(pids) == ["etcd", "kube-apiserver"]
    await made.stop()
    assert not [pid for pid in pids.values() if _lives(pid)]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
