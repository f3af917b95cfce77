"""The package as Python finds it: at the root of a checkout, by ``python -m``, and its names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import polydl
from polydl.errors import missing_dependency

ROOT = Path(__file__).parents[1]
IMPORT = "import polydl.microkernels, polydl.ranking, polydl.fusion, polydl.variants; print(polydl.ranking.__file__)"


def ran(code: str, directory: Path, *search: Path) -> str:
    """What an interpreter prints that knows of no installed package but those in ``search``."""
    path = ["", *map(str, search)]
    ended = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {path!r}; {code}"],
        cwd=directory,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_the_root_of_a_checkout_has_the_whole_package() -> None:
    assert ran(IMPORT, ROOT) == str(ROOT / "ranking" / "__init__.py")


def test_an_installed_package_is_used_at_the_root_of_a_checkout(tmp_path: Path) -> None:
    installed = tmp_path / "polydl"
    for part in ("", "microkernels", "ranking", "fusion", "variants"):
        (installed / part).mkdir()
        (installed / part / "__init__.py").touch()
    assert ran(IMPORT, ROOT, tmp_path) == str(installed / "ranking" / "__init__.py")


def test_names_are_those_that_are_public() -> None:
    names = [name for name in dir(polydl) if not name.startswith("_")]
    assert names == sorted(polydl.__all__)
    assert "TYPE_CHECKING" not in names


def test_without_its_dependencies_polydl_says_so() -> None:
    code = (
        "import polydl, sys\n"
        "try:\n    polydl.optimize\n"
        "except ImportError as error:\n    print(error)\n    print(isinstance(error, polydl.PolydlError))\n"
    )
    said = ran(f"exec({code!r})", ROOT).splitlines()
    assert said[0].startswith("polydl's dependencies are not installed for ")
    assert "run `make .venv/installed` in " in said[1]
    assert said[-1] == "True"
    command = [sys.executable, "-S", "-m", "polydl", "optimize"]
    ended = subprocess.run(command, cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("polydl: polydl's dependencies are not installed for ")
    assert "Traceback" not in ended.stderr


def test_other_modules_that_are_missing_are_no_dependencies() -> None:
    assert missing_dependency(ModuleNotFoundError("x", name="polydl.nothing")) is None
    assert missing_dependency(ModuleNotFoundError("x", name="torch")) is None
    assert missing_dependency(ModuleNotFoundError("x", name="clang.cindex")) is not None
    assert missing_dependency(ValueError()) is None


@pytest.mark.parametrize("arguments", [["--version"], ["optimize", "--help"]])
def test_python_m_polydl_is_the_command(arguments: list[str]) -> None:
    ended = subprocess.run([sys.executable, "-m", "polydl", *arguments], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(("polydl, version", "Usage: polydl optimize"))
