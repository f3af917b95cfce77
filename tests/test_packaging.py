from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS: dict[str, str] = SETTINGS["tool"]["scikit-build"]["wheel"]["packages"]

pytest.importorskip("scikit_build_core", reason="wheels are built with the build back-end of this environment")


def _wheel(directory: Path, *definitions: str) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--quiet"]
    settings = [word for definition in definitions for word in ("--config-settings", f"cmake.define.{definition}")]
    built = subprocess.run([*command, "-w", str(directory), *settings], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    [wheel] = directory.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def without_libxsmm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment where polydl was built on a machine without LIBXSMM."""
    directory = tmp_path_factory.mktemp("bare")
    wheel = _wheel(directory, f"LIBXSMM_ROOT={directory}")
    venv.create(directory / "venv", symlinks=True)
    scheme = {"base": str(directory / "venv"), "platbase": str(directory / "venv")}
    site = Path(sysconfig.get_path("purelib", "venv", scheme))
    # The dependencies of this environment, but not the polydl that is installed in it: what a .pth
    # file of ours names is searched without reading the .pth files there.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return directory / "venv" / "bin" / "python"


def _python(interpreter: Path, code: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(interpreter), "-P", "-c", code]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.native
def test_the_wheel_holds_polydl_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"polydl"}
    assert len(tops) == 3
    assert [name.partition("/")[2] for name in names if ".data/" in name] == ["scripts/polydl"]
    sources = [name for name in names if name.startswith("polydl/native/") and name.endswith(".c")]
    assert not [*sources, *(name for name in names if "__pycache__" in name)]


def test_the_wheel_brings_what_compiles_the_peers_and_profiles_of_processors(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("onednn.cpp", "openblas.c", "nest_timer.c", "peer.h", "memory.h"):
        assert f"polydl/bench/peers/{name}" in names
    assert "polydl/machine/profiles/zen4.toml" in names


def test_the_wheel_holds_every_folder_that_is_mapped(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for package, folder in FOLDERS.items():
        sources = list((ROOT / folder).rglob("*.py"))
        assert sources
        for source in sources:
            assert f"{package}/{source.relative_to(ROOT / folder)}" in names
    assert {"polydl/py.typed", "polydl/native/runtime.h", "polydl/native/libpolydl_runtime.so"} <= names


def test_the_wheel_serves_every_python_3_and_brings_its_licence(wheel: Path) -> None:
    assert "-py3-none-linux_" in wheel.name
    archive = zipfile.ZipFile(wheel)
    [licence] = [name for name in archive.namelist() if name.endswith("/LICENSE")]
    assert archive.read(licence).decode() == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_every_folder_imports_as_a_part_of_polydl() -> None:
    modules = [package.replace("/", ".") for package in FOLDERS]
    code = f"import importlib\nfor name in {modules!r}: importlib.import_module(name)"
    _python(Path(sys.executable), code)


def test_importing_polydl_imports_nothing_heavy() -> None:
    code = "import sys, polydl; print([m for m in ('numpy', 'islpy', 'cffi', 'tensorflow') if m in sys.modules])"
    assert _python(Path(sys.executable), code).strip() == "[]"


@pytest.mark.slow
@pytest.mark.native
def test_without_libxsmm_polydl_installs_and_names_one_command(without_libxsmm: Path) -> None:
    code = (
        "import json, polydl\n"
        "from polydl import native\n"
        "from polydl.doctor import examine, ready\n"
        "components = examine()\n"
        "[c] = [c for c in components if c.name == 'LIBXSMM']\n"
        "print(json.dumps([polydl.__file__, ready(components), c.present, c.self_test, c.remedy]))\n"
    )
    file, ready, present, text, remedy = json.loads(_python(without_libxsmm, code))
    assert file.startswith(str(without_libxsmm.parents[1]))
    assert ready
    assert not present
    assert "LIBXSMM is not installed" in text
    assert "apt-get install -y libxsmm-dev && " in remedy
    assert "pip install --force-reinstall --no-deps" in remedy


def _tools(directory: Path, **replaced: str | None) -> dict[str, str]:
    """An environment whose PATH holds what .ci/prepare runs, but for what is replaced (a script) or left out."""
    names = ["sh", "sed", "tr", "cat", "rm", "id", "gcc", "make", "cmake", "apt-get"]
    scripts = {"apt-get": "#!/bin/sh\nexit 9\n", "id": "#!/bin/sh\necho 1000\n", "cmake": "#!/bin/sh\n", **replaced}
    for name in names:
        script = scripts.get(name, f'#!/bin/sh\nexec "$(PATH=/usr/bin:/bin command -v {name})" "$@"\n')
        if script is not None:
            (directory / name).write_text(script)
            (directory / name).chmod(0o755)
    (directory / "python3").symlink_to(Path(sys.executable).resolve())
    return {"PATH": str(directory)}


@pytest.mark.native
def test_without_root_the_missing_packages_are_one_line(tmp_path: Path) -> None:
    environment = _tools(tmp_path, cmake=None)
    ended = subprocess.run([str(ROOT / ".ci/prepare")], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ended.returncode == 1
    [command] = [line for line in ended.stderr.splitlines() if line.startswith("sudo ")]
    assert command.startswith("sudo apt-get install -y ")
    assert "cmake" in command.split()
    assert "gcc" not in command.split()
    assert not (tmp_path / ".venv").exists()


@pytest.mark.native
def test_without_apt_the_missing_packages_are_named(tmp_path: Path) -> None:
    environment = _tools(tmp_path, **{"make": None, "apt-get": None})
    ended = subprocess.run([str(ROOT / ".ci/prepare")], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ended.returncode == 1
    assert ended.stderr.startswith("polydl needs what Debian calls: make")


@pytest.mark.native
def test_make_lists_its_targets() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("optimize", "test", "lint", "types", "format", "clean"):
        assert f"make {target} " in listed
