"""Where the programs of a real control plane are looked for, and what is said where there are none."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from journeys import kubectl
from real import differences_table, plane
from real.leash import leashed
from real.plane import PROGRAMS, REPOSITORY, Plane, missing, program


def test_programs_of_kubebuilder_assets_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*PROGRAMS, "kubectl"):
        (tmp_path / name).touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.delenv("GANGLINE_KUBECTL", raising=False)
    assert missing() == ""
    assert {program(name).parent for name in PROGRAMS} == {tmp_path}
    assert kubectl.find() == str(tmp_path / "kubectl")


def test_what_kubebuilder_assets_lack_is_taken_from_what_was_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "etcd").touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert program("etcd").parent == tmp_path
    assert program("kube-scheduler") == REPOSITORY / ".cache" / "bin" / "kube-scheduler"


def test_without_programs_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plane, "REPOSITORY", tmp_path)
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    assert missing() == (
        "no real control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler not found; "
        "run `make real` (needs Go), or set KUBEBUILDER_ASSETS"
    )


def test_the_page_lists_every_deliberate_difference_of_the_embedded_server() -> None:
    assert differences_table.PAGE.read_text() == differences_table.written(), "run `make docs`"


def test_make_test_real_skips_with_that_line_where_there_is_no_go(tmp_path: Path) -> None:
    """In a copy of the repository without what was built, on a PATH without Go."""
    for name in ("Makefile", "pyproject.toml", "src"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "tests" / "real").mkdir(parents=True)
    for name in ("__init__.py", "plane.py", "releases.py", "leash.py", "go.mod"):
        if (REPOSITORY / "tests" / "real" / name).exists():
            (tmp_path / "tests" / "real" / name).write_bytes((REPOSITORY / "tests" / "real" / name).read_bytes())
    tools = _without_go(tmp_path)
    shown = subprocess.run(
        ["make", "test-real", "READY=", "DEV="],
        cwd=tmp_path,
        env={"PATH": tools, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
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


HOLDER = """
import signal, subprocess, sys
from real.leash import leashed
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background was told to ignore it
command = leashed(["bash", "-c", "sleep 600 & echo $$ $!; wait"], group=sys.argv[1] == "group")
held = subprocess.Popen(command, stdout=subprocess.PIPE)
print(held.stdout.readline().decode(), end="", flush=True)
held.wait()
"""
PLANE_HOLDER = """
import asyncio, pathlib, sys
from real.plane import Plane
async def hold():
    plane = Plane(pathlib.Path(sys.argv[1]))
    await plane.start()
    print(*plane.processes().values(), flush=True)
    await asyncio.sleep(600)
asyncio.run(hold())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a program with its parent")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda item: item.name)
def test_a_program_on_a_leash_ends_with_the_process_that_holds_it(how: signal.Signals) -> None:
    bash, sleeper = _held(HOLDER, "alone", end_by=how)
    assert _ends(bash)
    os.kill(sleeper, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a program with its parent")
def test_a_group_on_a_leash_ends_with_everything_it_started() -> None:
    bash, sleeper = _held(HOLDER, "group", end_by=signal.SIGKILL)
    assert _ends(bash) and _ends(sleeper)


def test_a_group_on_a_leash_tells_how_its_program_ended() -> None:
    assert subprocess.run(leashed(["bash", "-c", "exit 7"], group=True), check=False).returncode == 7


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a program with its parent")
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=lambda item: item.name)
def test_no_program_of_a_plane_outlives_the_process_that_started_it(tmp_path: Path, how: signal.Signals) -> None:
    pids = _held(PLANE_HOLDER, str(tmp_path), end_by=how)
    assert len(pids) == len(PROGRAMS)
    assert [pid for pid in pids if not _ends(pid)] == []


def _held(script: str, *arguments: str, end_by: signal.Signals) -> list[int]:
    """What a process that was ended like this had started, which it tells by process ids."""
    known = os.environ | {"PYTHONPATH": str(REPOSITORY / "tests")}
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        pids = [int(item) for item in holder.stdout.readline().split()]
        holder.send_signal(end_by)
    return pids


def _ends(pid: int, seconds: float = 30) -> bool:
    """Whether a process is at its end before so many seconds are over; nobody may have collected it."""
    with contextlib.suppress(ProcessLookupError):
        watched = os.pidfd_open(pid)
        try:
            return bool(select.select([watched], [], [], seconds)[0])
        finally:
            os.close(watched)
    return True


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
