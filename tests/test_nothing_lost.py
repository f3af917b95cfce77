"""An interrupted search hands out its best candidate so far, and the next one goes on from what was measured."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from few_samples import SECOND_LEVEL
from marks import parametrized

from polydl.cli import main
from polydl.execute.timing import Timer
from polydl.optimization.measuring import Measuring
from polydl.records.record import Record
from polydl.records.store import read
from polydl.system.interruption import EXIT_STATUS

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("second_level")]

MATMUL = """\
void matmul(float C[24][48], float A[24][40], float B[40][48]) {
#pragma scop
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 40; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
WORDS = [
    *("optimize", "matmul.c", "--max-variants", "3", "--top-k", "3", "--threads", "1", "--microkernel", "c"),
    *("--records", "kept", "--out", "fast"),
]
# Sends itself a signal at a call of a function: its number counts from 1. It compiles as this process does, which goes
# on with it.
STRUCK = f"""\
{SECOND_LEVEL}
import importlib, os, sys
from polydl.start import main
import polydl.execute.participant
# However slow the machine is, no run is a sample before the first one.
polydl.execute.participant.LONG_SECONDS = float("inf")
place, call, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
module, _, name = place.rpartition(".")
try:
    owner = importlib.import_module(module)
except ModuleNotFoundError:
    module, _, cls = module.rpartition(".")
    owner = getattr(importlib.import_module(module), cls)
function, calls = getattr(owner, name), [0]
def struck(*arguments, **options):
    calls[0] += 1
    if calls[0] == call:
        os.kill(os.getpid(), number)
    return function(*arguments, **options)
setattr(owner, name, struck)
sys.argv[1:] = sys.argv[4:]
main()
"""
SAMPLE = "polydl.execute.timing.Timer._sample"
FILES = {"matmul_polydl.c", "matmul_polydl.h", "libmatmul_polydl.so", "report.json"}


@pytest.fixture(autouse=True)
def nest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matmul.c").write_text(MATMUL)


def ordinary_signals() -> None:
    """A shell without job control starts what runs in its background with interrupts ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def struck(place: str, call: int, number: signal.Signals = signal.SIGINT) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-P", "-c", STRUCK, place, str(call), str(int(number)), *WORDS]
    ended = subprocess.run(words, capture_output=True, text=True, preexec_fn=ordinary_signals, timeout=120, check=False)
    assert ended.returncode == EXIT_STATUS, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended


def kept() -> list[Record]:
    return list(read(Path("kept")))


def report() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path("fast/report.json").read_text())
    return document


def emitted() -> set[str]:
    return FILES & {path.name for path in Path("fast").glob("*")}


def go_on() -> None:
    """The same command, to its end; what was measured before counts, and nothing is measured twice."""
    before = kept()
    assert main.main(WORDS, standalone_mode=False) == 0
    assert emitted() == FILES
    assert not report()["interrupted"]
    after = kept()
    assert after[: len(before)] == before
    complete = [record for record in after if record.complete and record.kind != "baseline"]
    assert len({record.id for record in complete}) == len(complete) == 4, "three picks and the original, each once"
    for record in before:
        [whole] = [one for one in after if one.complete and one.id == record.id]
        # Whether one counts as disturbed depends on the probes beside all others.
        known = [sample.seconds for sample in record.samples]
        assert [sample.seconds for sample in whole.samples[: len(known)]] == known


@parametrized(
    ("place", "call", "number"),
    [(SAMPLE, 1, signal.SIGINT), (SAMPLE, 6, signal.SIGTERM), (SAMPLE, 14, signal.SIGHUP)],
    quick=1,
)
def test_a_signal_while_timing_emits_the_best_so_far(place: str, call: int, number: signal.Signals) -> None:
    ended = struck(place, call, number)
    assert emitted() == FILES
    document = report()
    assert document["interrupted"]
    assert document["best"]["id"] in {each["id"] for each in document["candidates"] if each["status"] == "ok"}
    assert "3 of 3 picks were verified by then" in ended.stderr
    taken = {record.id: len(record.samples) for record in kept()}
    assert sum(taken.values()) == call - 1
    assert not any(record.complete for record in kept())
    go_on()
    assert sum(len(record.samples) for record in kept() if record.complete) > call - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("polydl.execute.checking.Checker.check_again", 2),
        ("polydl.optimization.exact_winner.with_exactness", 1),
        ("polydl.emission.emit.write_kernel", 1),
        ("polydl.report.documents.write_report", 1),
    ],
)
def test_a_signal_after_timing_emits_the_best(place: str, call: int) -> None:
    struck(place, call)
    assert emitted() == FILES
    go_on()


@pytest.mark.slow
def test_a_candidate_that_was_verified_and_not_timed_is_emitted() -> None:
    ended = struck("polydl.execute.checking.Checker.check", 3)
    assert emitted() == FILES
    [candidate] = report()["candidates"]
    assert candidate["samples"] == 0
    assert candidate["seconds_median"] > 0
    assert "1 of 3 picks were verified by then" in ended.stderr
    assert kept() == [], "what has no sample is no measurement to keep"
    go_on()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["polydl.execute.build.build", "polydl.execute.checking.Checker.check"])
def test_before_anything_is_verified_nothing_is_emitted(place: str) -> None:
    said = struck(place, 1).stderr
    assert said.endswith("polydl: interrupted\n")
    assert "verified by then" not in said
    assert emitted() == set()
    go_on()


@pytest.mark.slow
def test_what_was_sampled_is_recorded_while_timing_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed loses no more than the samples of one round."""
    rounds: list[int] = []
    sample = Timer._sample

    def seen(timer: Timer, participant: Any) -> None:
        rounds.append(len({(record.id, len(record.samples)) for record in kept() if not record.complete}))
        sample(timer, participant)

    monkeypatch.setattr(Timer, "_sample", seen)
    assert main.main(WORDS, standalone_mode=False) == 0
    complete = [record for record in kept() if record.complete]
    assert len(complete) == len({record.id for record in complete}) >= 4, "three picks, the original and other builds"
    first, second = rounds[: len(complete)], rounds[len(complete) : 2 * len(complete)]
    assert (set(first), set(second)) == ({0}, {len(complete)})


@pytest.mark.slow
def test_a_caller_gets_the_best_so_far_with_the_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    from polydl.optimization.optimize import optimize
    from polydl.optimization.optimized import OptimizationInterrupted

    calls = iter(range(100))
    sample = Timer._sample

    def interrupted(timer: Timer, participant: Any) -> None:
        if next(calls) == 5:
            raise KeyboardInterrupt
        sample(timer, participant)

    monkeypatch.setattr(Timer, "_sample", interrupted)
    with pytest.raises(OptimizationInterrupted) as raised:
        optimize("matmul.c", max_variants=2, top_k=2, microkernel="c", records="kept")
    result = raised.value.result
    assert result.interrupted
    assert result.winner is not None
    assert callable(result.best)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["polydl.optimization.measuring.Measuring.run", "polydl.emission.emit.write_winner"])
def test_the_best_is_emitted_if_the_interruption_comes_right_after_the_last_sample(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from polydl.optimization import optimized
    from polydl.optimization.optimize import optimize

    module, _, name = place.rpartition(".")
    owner = Measuring if module.endswith("Measuring") else import_module(module)
    genuine, calls = getattr(owner, name), []

    def interrupted(*arguments: Any) -> Any:
        answer = genuine(*arguments)
        calls.append(answer)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.raises(optimized.OptimizationInterrupted) as raised:
        optimize("matmul.c", max_variants=2, top_k=2, microkernel="c", records="kept", out="fast")
    assert raised.value.result.winner is not None
    assert emitted() == FILES - {"report.json"}


@pytest.fixture
def leader() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A search whose terminal is there only for it, and the other end of that terminal."""

    def prepare() -> None:
        ordinary_signals()
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    here, there = pty.openpty()
    words = [sys.executable, "-P", "-c", STRUCK, SAMPLE, "7", str(int(signal.SIGSTOP)), *WORDS]
    process = subprocess.Popen(words, stdin=there, stdout=there, stderr=there, preexec_fn=prepare)
    os.close(there)
    yield process, here
    process.kill()
    process.wait()


@pytest.mark.slow
def test_a_terminal_that_goes_away_takes_nothing_along(leader: tuple[subprocess.Popen[bytes], int]) -> None:
    process, here = leader
    deadline = time.monotonic() + 60
    while os.waitpid(process.pid, os.WUNTRACED | os.WNOHANG)[0] == 0:
        assert time.monotonic() < deadline
        # What is written must be read, or the search waits.
        os.set_blocking(here, False)
        try:
            os.read(here, 1 << 16)
        except BlockingIOError:
            time.sleep(0.02)
    os.close(here)
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=60) == EXIT_STATUS
    assert emitted() == FILES
    assert report()["interrupted"]


@pytest.mark.slow
def test_interruptions_at_random_moments(tmp_path: Path, quick_command: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each strike comes later after one that left nothing, and earlier after a command that came to its end."""
    chance = random.Random(0)
    words = [str(quick_command), *WORDS]
    start = time.monotonic()
    subprocess.run(words, capture_output=True, check=True, timeout=300)
    earliest, latest = 0.0, 1.2 * (time.monotonic() - start)
    for number in range(4):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("matmul.c").write_text(MATMUL)
        process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=ordinary_signals
        )
        seconds = chance.uniform(earliest, latest)
        try:
            _, said = process.communicate(timeout=seconds)
            latest = max(0.9 * latest, 1.1 * earliest)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=300)
        struck = f"strike {number}, after {seconds:.3f} s: {said.decode()}"
        # Python itself dies of a signal that comes before it runs any code.
        assert process.returncode in (0, 130, -signal.SIGINT), struck
        timed = any(record.kind == "variant" and record.samples for record in kept())
        assert emitted() in ([FILES] if timed else [set(), FILES]), struck
        if not emitted():
            earliest = max(earliest, 0.8 * min(seconds, latest))
            latest = max(latest, 1.25 * seconds)
        if process.returncode:
            go_on()
