"""Signals end a command in the same clean way at every moment, and the next one sweeps what a killed one left."""

from __future__ import annotations

import fcntl
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from marks import parametrized

from polydl.errors import ResourceError
from polydl.execute.child import Child, InputHolder
from polydl.system.files import replacing, temporary_directory
from polydl.system.interruption import EXIT_STATUS, Interrupted, Interruption

ROOT = Path(__file__).parents[1]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Sends itself the signal as soon as a module of that name is imported. What follows are arguments of polydl.
DURING_IMPORTS = """\
import os, sys
_, module, number, *sys.argv[1:] = sys.argv
class Finder:
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), int(number))
sys.meta_path.insert(0, Finder())
from polydl.start import main
main()
"""


def ordinary_signals() -> None:
    """A shell without job control starts what runs in its background with interrupts ignored."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def command(
    code: str, *arguments: object, ignored: signal.Signals | None = None, options: tuple[str, ...] = ("-P",)
) -> subprocess.CompletedProcess[str]:
    def prepare() -> None:
        ordinary_signals()
        if ignored is not None:
            signal.signal(ignored, signal.SIG_IGN)

    words = [sys.executable, *options, "-c", code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, preexec_fn=prepare, timeout=60, check=False)


@pytest.mark.parametrize("module", ["polydl.cli", "click", "polydl.commands.records"])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_during_the_imports_ends_without_a_traceback(module: str, number: signal.Signals) -> None:
    ended = command(DURING_IMPORTS, module, int(number), "records", "--help")
    assert ended.returncode == EXIT_STATUS
    text = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    # Click ends the line that a terminal shows ^C in.
    assert ended.stderr.removeprefix("\n") == f"polydl: {text}\n"


def test_ctrl_c_before_anything_is_imported_ends_without_a_traceback() -> None:
    ended = command(DURING_IMPORTS, "polydl.system.interruption", int(signal.SIGINT), "records", "--help")
    assert (ended.returncode, ended.stderr) == (130, "polydl: interrupted\n")


def test_ctrl_c_is_answered_before_python_imports_what_takes_longer_than_that() -> None:
    """Without what the environment of the tests imports when Python starts."""
    code = f"import sys\nsys.path[:0] = [{str(ROOT)!r}]\n" + DURING_IMPORTS
    ended = command(code, "enum", int(signal.SIGINT), "records", "--help", options=("-P", "-S"))
    assert (ended.returncode, ended.stderr) == (130, "polydl: interrupted\n")


def test_a_signal_that_is_ignored_stays_so() -> None:
    ended = command(DURING_IMPORTS, "click", int(signal.SIGHUP), "no-command", ignored=signal.SIGHUP)
    assert ended.returncode == 2, "click's own status for a command that does not exist"
    assert "Traceback" not in ended.stderr


def test_signals_that_come_together_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("polydl.system.interruption.time", SimpleNamespace(monotonic=lambda: now))
    interruption = Interruption()
    with pytest.raises(Interrupted):
        interruption._raise(signal.SIGHUP, None)
    now += 0.9
    interruption._raise(signal.SIGTERM, None)
    assert interruption.exit_status == EXIT_STATUS
    assert interruption.text == "ended by SIGHUP"
    now += 1.1
    with pytest.raises(Interrupted):
        interruption._raise(signal.SIGTERM, None)


# ---- temporary folders


_RAISED_WHERE_PYTHON_IGNORES_IT = """\
import os, signal, time, weakref
from polydl.system.interruption import INTERRUPTION, Interrupted
INTERRUPTION.unwind()
class Thing: pass
thing = Thing()
seen = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
try:
    del thing
    time.sleep(600)
    print("lost")
except Interrupted:
    print("raised", INTERRUPTION.text)
"""


_RAISED_WHERE_ISL_IGNORES_IT = """\
import os, signal, time, types
import islpy
from polydl.system.interruption import INTERRUPTION, Interrupted
INTERRUPTION.unwind()
names = {"__name__": "islpy._monkeypatch", "os": os, "signal": signal}
called = types.FunctionType((lambda piece: os.kill(os.getpid(), signal.SIGTERM)).__code__, names)
try:
    islpy.Set("{ [i] : 0 <= i <= 3 }").foreach_basic_set(called)
    time.sleep(600)
    print("lost")
except Interrupted:
    print("raised", INTERRUPTION.text)
"""


# The clean-up goes on for as long as several signals are taken for one.
_RAISED_AT_THE_END_OF_WHAT_DEFERS_IT = _RAISED_WHERE_PYTHON_IGNORES_IT.replace(
    "    time.sleep(600)\n", "    with INTERRUPTION.deferred():\n        time.sleep(0.1)\n"
).replace("except Interrupted:\n", "except Interrupted:\n    time.sleep(1.2)\n")


@pytest.mark.parametrize(
    "code",
    [_RAISED_WHERE_PYTHON_IGNORES_IT, _RAISED_WHERE_ISL_IGNORES_IT, _RAISED_AT_THE_END_OF_WHAT_DEFERS_IT],
    ids=["Python", "isl", "deferred"],
)
def test_a_signal_in_a_callback_is_not_lost(code: str) -> None:
    """Python and isl ignore what it raises, and would show a traceback; isl has an error then that says nothing."""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.stdout, ended.stderr) == ("raised ended by SIGTERM\n", "")


def test_a_folder_goes_with_the_process_that_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    kept = [tmp_path / name for name in ("polydl-results", "polydl-tmp-", "polydl-tmp-results-of-mine")]
    for folder in kept:
        folder.mkdir()
    code = (
        "import os, signal\nfrom polydl.system.files import temporary_directory\n"
        "with temporary_directory() as folder:\n"
        "    (folder / 'a').write_text('b')\n    os.kill(os.getpid(), {signal})\n"
    )
    sweeping = "from polydl.system.files import temporary_directory\nwith temporary_directory(): pass"
    living = subprocess.Popen([sys.executable, "-P", "-c", code.format(signal="signal.SIGSTOP")])
    os.waitpid(living.pid, os.WUNTRACED)
    [folder] = set(tmp_path.iterdir()) - set(kept)
    assert command(code.format(signal="signal.SIGKILL")).returncode == -signal.SIGKILL
    assert len(set(tmp_path.iterdir()) - set(kept)) == 2
    assert command(sweeping).returncode == 0
    assert set(tmp_path.iterdir()) == {*kept, folder}, "neither a living process's nor what is named otherwise"
    living.kill()
    living.wait()
    assert command(sweeping).returncode == 0
    assert set(tmp_path.iterdir()) == set(kept)


def test_a_folder_that_was_swept_before_it_was_locked_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Path] = []
    lock = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if not taken and path.name.startswith("polydl-tmp-"):
            taken.append(path)
            path.rmdir()
        lock(descriptor, operation)

    monkeypatch.setattr("polydl.system.files.fcntl.flock", late)
    with temporary_directory() as folder:
        assert folder.is_dir()
        assert taken
        assert folder not in taken


# Sends itself a signal in the middle of a function that makes or removes a folder.
IN_THE_MIDDLE = """\
import os, shutil, sys, tempfile
from polydl.system.files import temporary_directory
from polydl.system.interruption import INTERRUPTION
INTERRUPTION.unwind()
module = {"tempfile": tempfile, "shutil": shutil}[sys.argv[1]]
function = getattr(module, sys.argv[2])
def struck(*arguments, **options):
    result = function(*arguments, **options)
    os.kill(os.getpid(), int(sys.argv[3]))
    return result
setattr(module, sys.argv[2], struck)
try:
    with temporary_directory() as folder:
        (folder / "a").touch()
        print("in use")
except KeyboardInterrupt:
    print(INTERRUPTION.text)
"""


@pytest.mark.parametrize(("place", "said"), [("tempfile mkdtemp", []), ("shutil rmtree", ["in use"])])
def test_a_signal_while_a_folder_is_made_or_removed_leaves_nothing(
    place: str, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ended = command(IN_THE_MIDDLE, *place.split(), int(signal.SIGTERM))
    assert ended.stdout.splitlines() == [*said, "ended by SIGTERM"], ended.stderr
    assert list(tmp_path.iterdir()) == []


# A thread that must not be interrupted ends after the main one got the signal, which waits for something else.
BESIDE = """\
import os, sys, threading
from polydl.system.interruption import INTERRUPTION
INTERRUPTION.unwind()
begun, go_on = threading.Event(), threading.Event()
def work():
    with INTERRUPTION.deferred():
        begun.set()
        go_on.wait()
    print("done")
beside = threading.Thread(target=work)
beside.start()
begun.wait()
os.kill(os.getpid(), int(sys.argv[1]))
try:
    go_on.set()
    threading.Event().wait(30)
    print("not interrupted")
except KeyboardInterrupt:
    beside.join()
    print(INTERRUPTION.text)
"""


def test_what_another_thread_deferred_interrupts_the_main_one() -> None:
    ended = command(BESIDE, int(signal.SIGTERM))
    assert ended.stdout.splitlines() == ["done", "ended by SIGTERM"], ended.stderr


# Sends itself a signal just when a program has been started that has started another.
JUST_STARTED = """\
import os, subprocess, sys, time
from polydl.system.process_group import run_in_group
from polydl.system.interruption import INTERRUPTION
INTERRUPTION.unwind()
started = []
class Struck(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        started.append(int(self.stdout.readline()))
        os.kill(os.getpid(), int(sys.argv[1]))
subprocess.Popen = Struck
try:
    run_in_group(["/bin/sh", "-c", "sleep 60 & echo $!; wait"], timeout_seconds=60)
except KeyboardInterrupt:
    # A zombie has ended; whoever adopted it may take its time. Before that, its files are closed.
    deadline = time.monotonic() + 30
    state = ""
    while state not in ("gone", "Z") and time.monotonic() < deadline:
        try:
            state = open(f"/proc/{started[0]}/stat").read().split()[2]
        except (FileNotFoundError, ProcessLookupError):
            state = "gone"
    print(state)
"""


def test_a_signal_just_after_a_program_was_started_kills_all_of_it() -> None:
    ended = command(JUST_STARTED, int(signal.SIGTERM))
    assert ended.stdout in ("gone\n", "Z\n"), ended.stderr


def test_no_place_for_temporary_folders_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc")
    with pytest.raises(ResourceError, match="no temporary folder") as raised, temporary_directory():
        pass
    assert "TMPDIR" in (raised.value.remedy or "")


def test_an_unfinished_file_goes_when_the_next_one_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom polydl.system.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n    file.write(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert command(code, path).returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert left.name.startswith(".a.json.")
    with replacing(path) as file:
        file.write(b"whole")
        with replacing(path) as other:
            other.write(b"at the same time")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"whole"


# ---- whole commands


@pytest.fixture
def kills(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``experiments.robustness.kills``, which observes commands from outside."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])
    return import_module("experiments.robustness.kills")


@pytest.fixture
def place(kills: Any, tmp_path: Path, quick_command: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("experiments.robustness.observed.POLYDL", quick_command)
    return kills.Workplace(tmp_path).prepare()


@pytest.mark.native
@parametrized("number", [signal.SIGTERM, signal.SIGHUP], quick=1)
def test_a_signal_in_the_middle_leaves_nothing(number: signal.Signals, place: Any) -> None:
    environment = place.environment("one")
    with subprocess.Popen(
        place.command("--top-k", "60", "--max-variants", "60"), cwd=place.root, env=environment, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=ordinary_signals,
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 60
        while not any(name.endswith(".so") for _, _, names in os.walk(place.temporary) for name in names):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
    assert process.returncode == EXIT_STATUS, err
    assert any(
        err.strip().endswith(f"polydl: ended by {each.name}") for each in (signal.Signals(number), signal.SIGHUP)
    )
    assert place.left_in_temporary() == []
    assert place.unfinished() == []


@pytest.mark.native
@pytest.mark.slow
def test_strikes_at_random_moments(kills: Any, place: Any) -> None:
    numbers = [signal.SIGKILL] * 4 + [*SIGNALS] * 2
    document = kills.run(place, numbers, seed=1, limit_seconds=math.inf)
    assert document["faults"] == []
    assert document["landed"] == {"SIGKILL": 4, "SIGINT": 2, "SIGTERM": 2, "SIGHUP": 2}
    assert document["records"] > 0


@pytest.mark.slow
@pytest.mark.native
def test_what_is_lost_is_seen(kills: Any, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself: a command that takes lines away, and leaves a folder and a process, is found out."""
    (place.records / "answers").mkdir(parents=True)
    (place.records / "nest.jsonl").write_text(json.dumps({"version": 1}) + "\n")
    script = (
        f"import os, subprocess, time\nos.truncate({str(place.records / 'nest.jsonl')!r}, 3)\n"
        f"os.mkdir({str(place.temporary / 'left')!r})\n"
        "subprocess.Popen(['sleep', '20'], start_new_session=True, stderr=subprocess.DEVNULL)\n"
        f"open({str(place.root / 'done')!r}, 'w').close()\ntime.sleep(60)\n"
    )

    def until_it_is_done(_seconds: float) -> None:
        while not (place.root / "done").exists():
            time.sleep(0.01)

    monkeypatch.setattr(kills, "time", SimpleNamespace(sleep=until_it_is_done, monotonic=time.monotonic))
    monkeypatch.setattr(kills.Workplace, "command", lambda self, *more, nest=0: [sys.executable, "-c", script])
    faults = " ".join(kills.strike(place, signal.SIGTERM, 1.0).faults)
    assert "lost lines of nest.jsonl" in faults
    assert "processes are left: sleep 20" in faults
    assert "left: left" in faults


# ---- processes


@pytest.mark.native
@pytest.mark.parametrize("when", ["before the answer", "within the answer"])
def test_a_process_that_was_asked_when_the_interruption_came_answers_other_questions(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the answer to the first would be taken for that to the next."""
    with InputHolder([min(os.sched_getaffinity(0))], tmp_path, []) as holder:
        worker = Child([0], tmp_path, holder=holder)
        genuine, calls = os.read, []

        def read(descriptor: int, count: int) -> bytes:
            calls.append(descriptor)
            if when == "before the answer" or len(calls) == 2:
                monkeypatch.setattr("polydl.execute.child.os.read", genuine)
                raise KeyboardInterrupt
            return genuine(descriptor, 5)

        monkeypatch.setattr("polydl.execute.child.os.read", read)
        with pytest.raises(KeyboardInterrupt):
            Child([0], tmp_path, holder=holder)
        process = worker._process
        worker.close()
        assert process.returncode == -signal.SIGKILL


@pytest.mark.native
def test_what_became_of_a_worker_can_be_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interruption came when the worker had been waited for, and before the answer was read."""
    with InputHolder([min(os.sched_getaffinity(0))], tmp_path, []) as holder:
        worker = Child([0], tmp_path, holder=holder)
        os.killpg(worker._process.pid, signal.SIGKILL)
        genuine = os.read

        def read(descriptor: int, count: int) -> bytes:
            answered, _, _ = select.select([descriptor], [], [], 20)
            assert answered
            monkeypatch.setattr("polydl.execute.child.os.read", genuine)
            raise KeyboardInterrupt

        monkeypatch.setattr("polydl.execute.child.os.read", read)
        with pytest.raises(KeyboardInterrupt):
            worker._process.wait()
        worker.close()
        assert worker._process.returncode == -signal.SIGKILL
