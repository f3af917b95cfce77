from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from compiled_once import before_compilers
from few_samples import EXAMINED, FEW, RATIO, VARIANTS_WIN, write_command
from hypothesis import HealthCheck, settings

from polydl import pipeline
from polydl.calibration.first_use import ELEMENTS, versions_of
from polydl.errors import MissingComponentError
from polydl.execute import local, toolchain
from polydl.execute.resources import choose_cores
from polydl.execute.toolchain import Toolchain
from polydl.frontend.child import fork_server
from polydl.machine.call_times import CallTimes, write_call_times
from polydl.machine.system import default_directory, find
from polydl.microkernels.amx import AMX
from polydl.start import collect_seldom

# As in the command; thousands of collected tests are searched for cycles otherwise, again and again.
collect_seldom()

# The same examples in every run, and no failure because a machine is slow.
settings.register_profile(
    "deterministic", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("deterministic")

COMPILERS = ("gcc", "g++", "cc", "c++", "c89", "c99", "cpp", "clang", "clang++")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--complete", action="store_true", help="a skipped test fails, unless nothing can be done")
    parser.addoption("--without-polybench", action="store_true", help="PolyBench could not be fetched")
    parser.addoption("--update-golden", action="store_true", help="write the generated C to tests/golden")


_COMPILED = pytest.StashKey[Path | None]()


def pytest_configure(config: pytest.Config) -> None:
    """Processes of the tests compile the same text once between them."""
    config.stash[_COMPILED] = None if "PYTEST_XDIST_WORKER" in os.environ else before_compilers()


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = config.stash[_COMPILED]
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


# Parts of the reasons for what no installation brings, which CONTRIBUTING.md lists.
LACKING = (
    "the processor has no ",
    "has no such kernels for this processor",
    "computes wrong sums on this processor",
    "the system does not let processes use tile registers",
    "the system makes no sandboxes",
    "needs two cores",
    "PolyBench could not be fetched",
    "Pluto is not built",
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ``--complete``, whatever is skipped for want of something that can be installed fails."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.config.getoption("--complete"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(part in reason for part in LACKING):
            report.outcome = "failed"
            report.longrepr = f"{reason} (with --complete, all that a test needs is there)"
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need an instruction set are skipped on processors without it."""
    cpuinfo = Path("/proc/cpuinfo")
    wide = cpuinfo.exists() and " avx512f " in cpuinfo.read_text()
    reasons = {"amx": AMX.unavailable(), "avx512": None if wide else "the processor has no AVX-512"}
    for item in items:
        for mark, reason in reasons.items():
            if reason is not None and item.get_closest_marker(mark):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests with a parameter ``compiler``, a command or its first word, are skipped where there is no such program."""
    call = getattr(item, "callspec", None)
    words = str(call.params.get("compiler", "") if call is not None else "").split()
    if words and shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")


def pytest_collection_finish() -> None:
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def caches_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor change what the user's directories hold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        # As in a pipe, whatever terminal the tests were started from.
        patch.delenv("COLUMNS", raising=False)
        take_microkernels_for_used()
        yield


def take_microkernels_for_used() -> None:
    """No test has calls timed because it is the first one to use a microkernel here."""
    system = find()
    known = []
    with suppress(MissingComponentError):
        toolchain = Toolchain.find()
        kernels = [kernel for kernel in pipeline.microkernels() if kernel.unavailable() is None]
        for kernel, (element, width) in product(kernels, ELEMENTS.items()):
            if (element, element) in kernel.elements:
                versions = versions_of(kernel.on(system.core), element, system.vector_bytes, toolchain)
                known.append(CallTimes(kernel.name, element, system.vector_bytes // width, versions, True, ()))
    default_directory().mkdir(parents=True)
    write_call_times(default_directory(), system.identity.cpu_id, known)


@pytest.fixture(scope="session", autouse=True)
def one_fork_server() -> Iterator[None]:
    """The front-end's passes in this process need no interpreter each."""
    with fork_server():
        yield


@pytest.fixture(scope="session", autouse=True)
def few_samples() -> Iterator[None]:
    """What tests measure is measured in few rounds: on a busy machine no number of them settles anything."""
    with pytest.MonkeyPatch.context() as patch:
        for name, number in FEW.items():
            patch.setattr(f"polydl.optimization.measuring.{name}", number)
            patch.setattr(f"polydl.libraries.measuring.{name}", number)
        yield


@pytest.fixture(scope="session", autouse=True)
def two_threads_on_one_core() -> Iterator[None]:
    """Where this process may use one core alone, two threads share it: what they compute is the same."""
    with pytest.MonkeyPatch.context() as patch:
        allowed = tuple(sorted(os.sched_getaffinity(0)))
        if len(allowed) == 1:
            patch.setattr(
                local, "choose_cores", lambda threads: (*allowed, *allowed) if threads == 2 else choose_cores(threads)
            )
        yield


@pytest.fixture(scope="session")
def quick_command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A command ``polydl`` that takes few samples, and compiles as with ``second_level``."""
    return write_command(tmp_path_factory.mktemp("quick"))


@pytest.fixture(scope="session")
def winning_command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``quick_command`` where no sample makes the plain nest the winner."""
    return write_command(tmp_path_factory.mktemp("winning"), VARIANTS_WIN)


@pytest.fixture
def second_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers get -O2 in place of -O3, which takes a third of the time.

    For what asks what is computed or written, and not how fast: pragmas and intrinsics are obeyed there, too. Compilers
    are called what they are with -O3, as in ``SECOND_LEVEL``.
    """
    genuine, name = toolchain._examined, vars(Toolchain)["name"].fget
    monkeypatch.setattr(EXAMINED, lambda path, changed: genuine(path, changed).cautious)
    monkeypatch.setattr(Toolchain, "name", property(lambda compiler: name(compiler).replace("-O2", "-O3")))


@pytest.fixture
def variants_win(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sample makes the plain nest the winner."""
    monkeypatch.setattr(RATIO, lambda *_: 2.0)


@pytest.fixture(autouse=True)
def records_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test is answered from what another one measured."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="session")
def commands_but_compilers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with links to all commands of the search path, but to those that compile C."""
    folder = tmp_path_factory.mktemp("commands")
    for directory in map(Path, os.get_exec_path()):
        for command in sorted(directory.iterdir()) if directory.is_dir() else ():
            link, kind = folder / command.name, command.name.rpartition("linux-gnu-")[2].split("-")[0]
            if kind not in COMPILERS and not link.is_symlink():
                link.symlink_to(command)
    return str(folder)


@pytest.fixture(autouse=True)
def no_compiler_unless_native(
    request: pytest.FixtureRequest, commands_but_compilers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test finds a compiler only if its mark says that it needs one."""
    if request.node.get_closest_marker("native") is None:
        monkeypatch.setenv("PATH", commands_but_compilers)


@pytest.fixture(params=(80, 110, 200))
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The columns of the terminal."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    columns: int = request.param
    return columns
