"""The command ``polydl`` as it is installed: which Python it runs, and signals that come before polydl handles them."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from polydl.system.interruption import EXIT_STATUS, INTERRUPTION

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLYDL = Path(sysconfig.get_path("scripts")) / "polydl"
SOURCE = Path(__file__).parents[1] / "examples" / "conv.c"
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"

pytestmark = pytest.mark.skipif(not POLYDL.exists(), reason="polydl is not installed here")


def ordinary_signals() -> None:
    """A shell without job control starts what runs in its background with interrupts ignored."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("milliseconds", random.Random(1).choices(range(61), k=12))
def test_ctrl_c_at_any_moment_ends_the_command_without_a_traceback(milliseconds: int) -> None:
    started = subprocess.Popen(
        [str(POLYDL), "parse", str(SOURCE)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=ordinary_signals,
    )  # fmt: skip
    time.sleep(milliseconds / 1e3)
    too_late = started.poll() is not None
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=120)
    assert "Traceback" not in said
    before_the_launcher = (-signal.SIGINT, "")
    expected = (before_the_launcher, (130, "polydl: interrupted\n"))
    assert (started.returncode, said.removeprefix("\n")) in expected or (too_late and started.returncode == 0)


@pytest.mark.parametrize("words", [(str(POLYDL),), (sys.executable, "-P", "-m", "polydl")], ids=["launcher", "module"])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_waits_is_answered_once_it_can_be(number: signal.Signals, words: tuple[str, ...]) -> None:
    def pending() -> None:
        ordinary_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
        os.kill(os.getpid(), number)

    ended = subprocess.run(
        [*words, "parse", str(SOURCE)], capture_output=True, text=True, preexec_fn=pending, timeout=120, check=False
    )
    text = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert (ended.returncode, ended.stdout, ended.stderr) == (EXIT_STATUS, "", f"polydl: {text}\n")


def test_an_ignored_signal_stays_ignored() -> None:
    def ignored() -> None:
        ordinary_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.kill(os.getpid(), signal.SIGHUP)

    ended = subprocess.run(
        [str(POLYDL), "--version"], capture_output=True, preexec_fn=ignored, timeout=120, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_programs_that_the_command_starts_have_no_blocked_signals() -> None:
    code = (
        "import os, signal\n"
        f"from {INTERRUPTION.__module__} import INTERRUPTION\n"
        f"signal.pthread_sigmask(signal.SIG_BLOCK, {[int(number) for number in SIGNALS]})\n"
        "INTERRUPTION.end_at_once()\n"
        "os.execvp('grep', ['grep', 'SigBlk', '/proc/self/status'])\n"
    )
    shown = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert int(shown.stdout.split()[1], 16) == 0


def installed(prefix: Path) -> Path:
    """The launcher in another place, with a package's metadata and no Python beside it."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib" / PYTHON / "site-packages" / "polydl-0.1.0.dist-info").mkdir(parents=True)
    return Path(shutil.copy(POLYDL, prefix / "bin" / "polydl"))


def python_that_says(folder: Path, word: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / PYTHON).write_text(f'#!/bin/sh\necho "{word} $4 $5"\n')
    (folder / PYTHON).chmod(0o755)


@pytest.mark.parametrize("name", ["plain", "with [odd] *? \\letters"])
def test_the_launcher_runs_the_python_that_it_was_installed_for(tmp_path: Path, name: str) -> None:
    launcher = installed(tmp_path / name)
    link = tmp_path / "link"
    link.symlink_to(launcher)
    environment = {"PATH": f"{tmp_path / 'path'}:/usr/bin:/bin"}

    def said() -> str:
        words = [str(link), "parse", "a file.c"]
        return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=True).stdout

    python_that_says(tmp_path / "path", "a user's:")
    assert said() == "a user's: parse a file.c\n"
    python_that_says(launcher.parent, "beside:")
    assert said() == "beside: parse a file.c\n"


def test_without_a_python_the_launcher_says_so(tmp_path: Path) -> None:
    launcher = installed(tmp_path / "prefix")
    shutil.rmtree(tmp_path / "prefix" / "lib")
    ended = subprocess.run([str(launcher)], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr == f"polydl: there is no Python that polydl is installed for in {tmp_path / 'prefix'}\n"
