"""Which components are there, and does each really work?

Every self-test does a small piece of real work in a process of its own, so that a broken
component is a line in the report and not the end of it. Packages that take seconds to import,
and that only some commands need, are looked up.
"""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from polydl.errors import MissingComponentError, PolydlError
from polydl.execute.toolchain import Toolchain
from polydl.native import libxsmm_remedy, privileged, reinstall_command
from polydl.system.control_groups import usable_processors
from polydl.system.files import reason_of, temporary_directory
from polydl.system.sandbox import sandboxed

_TIMEOUT_SECONDS = 60
# What compilers are tested with that polydl doesn't take.
_FLAGS = ("-O3", "-march=native", "-fopenmp")
# The name of a package, its module, the distributions that may bring it, the usual one first, and what needs it.
_PACKAGES = (
    ("matplotlib", "matplotlib", ("matplotlib",), "figures and pages need it"),
    ("Jinja2", "jinja2", ("Jinja2",), "only pages of results need it"),
    ("Pygments", "pygments", ("Pygments",), "only pages of results need it"),
    ("PyTorch", "torch", ("torch",), "only its models and bench need it"),
    ("onnx", "onnx", ("onnx",), "only ONNX models and bench need it"),
    ("distributed", "distributed", ("distributed",), "only many machines need it"),
    ("TensorFlow", "tensorflow", ("tensorflow", "tensorflow-cpu"), "only training a ranker needs it"),
)
# Without omp.h, which distributions ship apart from the library.
_OPENMP = """#include <stdio.h>
int omp_get_num_threads(void);
int main(void) {
  int sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
  for (int i = 0; i < 10; ++i)
    sum += i * (omp_get_num_threads() > 0);
  printf("%d", sum);
  return 0;
}
"""


@dataclass(frozen=True)
class Component:
    """A component that polydl needs or can use, and whether it works."""

    name: str
    #: whether it is there
    present: bool
    #: whether its self-test passed
    works: bool
    #: whether the main job can't run without it
    required: bool
    #: "" where it is not known
    version: str
    #: path of the program or of the package; "" where it is not known
    where: str
    #: the command that brings it
    remedy: str
    #: what the self-test did, or why it failed
    self_test: str


def examine() -> tuple[Component, ...]:
    """All components, in the order in which a job needs them. Takes a few seconds."""
    reinstall = reinstall_command()

    def apt(package: str) -> str:
        return privileged(f"apt-get install -y {package}")

    checks = (
        lambda: _compiler("C compiler", ("gcc", "clang", "cc"), apt("gcc libc6-dev"), required=True),
        lambda: _in_child("pet", "pet", _pip("cffi tadashi"), required=True),
        lambda: _in_child("islpy", "islpy", _pip("islpy"), required=True),
        lambda: _in_child("libclang", "libclang", _pip("libclang"), required=True),
        lambda: _in_child("NumPy", "numpy", _pip("numpy"), required=True),
        lambda: _in_child("runtime library", "runtime", reinstall, required=True),
        lambda: _in_child("LIBXSMM", "libxsmm", libxsmm_remedy(), required=False),
        lambda: _compiler("clang", ("clang",), apt("clang libomp-dev"), required=False),
        lambda: _valgrind(apt("valgrind")),
        lambda: _bubblewrap(apt("bubblewrap")),
        *(partial(_looked_up, *package) for package in _PACKAGES),
    )
    with ThreadPoolExecutor(usable_processors()) as pool:
        return tuple(pool.map(lambda check: check(), checks))


def _pip(package: str) -> str:
    """Works for a package that is absent and for one that is damaged."""
    return f"{shlex.quote(sys.executable)} -m pip install --force-reinstall {package}"


def ready(components: tuple[Component, ...]) -> bool:
    """Whether the main job can run: every required component is there and works."""
    return all(component.works for component in components if component.required)


def _in_child(name: str, test: str, remedy: str, *, required: bool) -> Component:
    with temporary_directory() as directory:
        result = directory / "result.json"
        # -P: a folder called polydl in the current directory is not the package that is examined.
        command = [sys.executable, "-P", "-m", "polydl.self_tests", test, str(result)]
        ended = _run(command, directory)
        outcome: dict[str, str] = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    if "text" in outcome:
        return Component(name, True, True, required, outcome["version"], outcome["where"], remedy, outcome["text"])
    error = outcome.get("error") or ended or "the self-test ended without a result"
    present = not error.startswith(("ModuleNotFoundError", "MissingComponentError"))
    return Component(name, present, False, required, "", "", remedy, error)


def _compiler(name: str, programs: tuple[str, ...], remedy: str, *, required: bool) -> Component:
    """The first of the programs that works, or else the first that is there."""
    paths = tuple(filter(None, map(shutil.which, programs)))
    if not paths:
        return Component(name, False, False, required, "", "", remedy, f"no {' or '.join(programs)} on the PATH")
    broken: list[Component] = []
    for path in paths:
        lines = _output([path, "--version"]).splitlines() or [""]
        failure = _openmp_failure(path)
        text = "compiled and ran an OpenMP program" if failure is None else failure
        component = Component(name, True, failure is None, required, lines[0], path, remedy, text)
        if component.works:
            return component
        broken.append(component)
    return broken[0]


def _openmp_failure(compiler: str) -> str | None:
    """What is wrong with an OpenMP program that it makes with polydl's flags; None if nothing is."""
    flags: tuple[str, ...] = _FLAGS
    with suppress(PolydlError):
        flags = Toolchain.find(compiler).flags
    with temporary_directory() as directory:
        source, program = directory / "test.c", directory / "test"
        source.write_text(_OPENMP, encoding="utf-8")
        failure = _run([compiler, *flags, str(source), "-o", str(program)], directory)
        if failure is None and (answer := _output([str(program)])) != "45":
            failure = f"an OpenMP program printed {answer!r}, not '45'"
    return failure


def _looked_up(name: str, module: str, distributions: tuple[str, ...], need: str) -> Component:
    """A package that is not imported."""
    spec = find_spec(module)
    where = "" if spec is None else spec.origin or ""
    present = where != ""
    installed = ""
    for distribution in distributions:
        with suppress(PackageNotFoundError):
            installed = installed or version(distribution)
    text = "looked up without importing it" if present else f"not installed; {need}"
    return Component(name, present, present, False, installed, where, _pip(distributions[0]), text)


def _valgrind(remedy: str) -> Component:
    path = shutil.which("valgrind")
    if path is None:
        return Component("valgrind", False, False, False, "", "", remedy, "no valgrind on the PATH")
    with temporary_directory() as directory:
        command = [path, "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null", "/bin/true"]
        failure = _run(command, directory)
    text = "simulated the caches of a small program" if failure is None else failure
    return Component("valgrind", True, failure is None, False, _output([path, "--version"]).strip(), path, remedy, text)


def _bubblewrap(remedy: str) -> Component:
    path = shutil.which("bwrap")
    if path is None:
        return Component("bubblewrap", False, False, False, "", "", remedy, "no bwrap on the PATH; --sandbox needs it")
    failure: str | None = None
    try:
        with sandboxed():
            pass
    except MissingComponentError as error:
        failure, remedy = error.message, error.remedy or remedy
    text = "ran a program in a sandbox" if failure is None else failure
    return Component(
        "bubblewrap", True, failure is None, False, _output([path, "--version"]).strip(), path, remedy, text
    )


def _run(command: list[str], directory: Path) -> str | None:
    """Runs a command; None if it ended well, else how it ended with the last of what it wrote."""
    try:
        ended = subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {_TIMEOUT_SECONDS} seconds"
    except OSError as error:
        return f"{command[0]} can't be run: {reason_of(error)}"
    if ended.returncode == 0:
        return None
    status = ended.returncode
    how = f"crashed ({signal.Signals(-status).name})" if status < 0 else f"ended with status {status}"
    written = ended.stdout.strip()
    return f"{how}: {written[-2000:]}" if written else how


def _output(command: list[str]) -> str:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout
