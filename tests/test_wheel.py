"""The wheel as a stranger has it: built as the recipe of the image builds it, put into an environment of its own
without this checkout, and used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


def recipe(*words: str) -> list[list[str]]:
    """What instructions of the Dockerfile with these names say, in their order, word by word."""
    lines = (REPOSITORY / "Dockerfile").read_text().splitlines()
    return [line.split()[1:] for line in lines if line.split()[:1] and line.split()[0] in words]


def source_of_image(folder: Path) -> Path:
    """Only what the recipe copies from this repository."""
    for *sources, target in recipe("COPY"):
        for source in sources:
            given, there = REPOSITORY / source, folder / target.lstrip("/")
            if given.is_dir():
                shutil.copytree(given, there, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                there.mkdir(parents=True, exist_ok=True)
                shutil.copy(given, there)
    return folder / "source"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    told = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(source_of_image(folder))]
    built = subprocess.run(told, capture_output=True, text=True, check=False)
    if built.returncode and any(
        word in built.stderr for word in ("Could not find a version", "No matching", "ConnectionError")
    ):
        pytest.skip("the wheel cannot be built: no package index is reachable")
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("gangline-*.whl")
    return file


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `gangline` is, in an environment that has the wheel, and what it depends on from this environment."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    told = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(packages),
        str(wheel),
    ]
    subprocess.run(told, check=True)
    outside = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "dependencies.pth").write_text(f"{outside}\n")
    (home / "bin" / "gangline").write_text(f"#!{home}/bin/python\nfrom gangline.cli import main\nmain()\n")
    (home / "bin" / "gangline").chmod(0o755)
    return home / "bin"


def called(programs: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(folder), "PATH": f"{programs}:/usr/bin:/bin"}
    told = [str(programs / "gangline"), *words]
    return subprocess.run(told, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_the_wheel_holds_examples_styles_and_entry_points_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"gangline/examples/01-gang/llm.yaml", "gangline/examples/jobs.csv"} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "bench/"))]
    (entries,) = [name for name in names if name.endswith("entry_points.txt")]
    text = zipfile.ZipFile(wheel).read(entries).decode()
    assert "gangline = gangline.start:main" in text and "kubectl-gangline = gangline.start:main" in text


def test_the_image_starts_gangline_as_nobody() -> None:
    ((user,),) = recipe("USER")
    assert all(int(part) >= 1000 for part in user.split(":"))
    ((entry,),) = recipe("ENTRYPOINT")
    assert json.loads(entry) == ["gangline"]


def test_the_installed_package_is_not_this_checkout(programs: Path, tmp_path: Path) -> None:
    where = subprocess.run(
        [str(programs / "python"), "-c", "import gangline; print(gangline.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(programs.parent) in where


def test_it_writes_the_examples_and_plays_the_demo(programs: Path, tmp_path: Path) -> None:
    written = called(programs, tmp_path, "examples", "mine")
    assert written.returncode == 0, written.stderr
    assert (tmp_path / "mine" / "04-waiting").is_dir()
    played = called(programs, tmp_path, "demo")
    assert played.returncode == 0, played.stdout + played.stderr
    assert "all 6 scenes went well" in played.stdout
