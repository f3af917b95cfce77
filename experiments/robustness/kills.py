"""Ends ``polydl optimize`` at random moments, and looks for what is lost and what is left behind.

    python -m experiments.robustness.kills --kills 1000 --signals 200 --seed 0 --out experiments/data/kills.jsonl
    python -m experiments.robustness.kills --table experiments/data/kills.jsonl

Each command is struck after a random part of the time that a whole one takes, by SIGKILL or by one of SIGINT, SIGTERM
and SIGHUP; by SIGINT once the command watches for signals. Where it had ended by then, the next one is struck in its
place. After each strike, the records must begin with what they
held before, answers must be whole, and no process may be left. After a signal, no temporary folder may be left either;
what SIGKILL leaves must be gone after the next command that is not struck. Ends with status 1 if anything is wrong.
``--limit-seconds`` begins no further strike; runs of other seeds add their lines to the file, which ``--table`` shows.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.json_lines import documents
from experiments.robustness.observed import (
    Workplace,
    finish,
    lost,
    new_mark,
    parsed,
    processes,
    seconds_until_gone,
    summary,
)
from experiments.tables import markdown

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STRUCK = ("SIGKILL", *(number.name for number in SIGNALS))
# Exit status of a command that a signal ended.
_INTERRUPTED = 130
_NONE = {"longest": 0.0}
# A compiler that lost its parent to SIGKILL ends by itself.
_ORPHAN_SECONDS, _CHILD_SECONDS = 60.0, 3.0
# A command that is not struck follows so many that are.
_BETWEEN = 25


@dataclass(frozen=True)
class Strike:
    """What one signal did."""

    signal: str
    #: after the start
    seconds: float
    #: as ``subprocess`` has it
    exit_status: int
    #: until the last process was gone; None if some were left
    gone_seconds: float | None
    #: names in the temporary folder that it left
    left: frozenset[str]
    #: what was wrong, in words
    faults: tuple[str, ...]

    @property
    def too_late(self) -> bool:
        """Whether the command had done all of its work before."""
        return self.exit_status == 0


def strike(place: Workplace, number: signal.Signals, seconds: float) -> Strike:
    """Start a command and send it a signal after so many seconds."""
    mark, before, earlier = new_mark(), place.lines(), set(place.left_in_temporary())
    with subprocess.Popen(
        place.command("--fresh"), cwd=place.root, env=place.environment(mark), text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=ordinary_signals,
    ) as process:  # fmt: skip
        if number == signal.SIGINT:
            wait_until_caught(process, signal.SIGTERM)
        time.sleep(seconds)
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    killed = number == signal.SIGKILL
    gone = seconds_until_gone(mark, _ORPHAN_SECONDS if killed else _CHILD_SECONDS)
    # A command that was killed before may have left some, which one that ends early does not sweep.
    left = [name for name in place.left_in_temporary() if name not in earlier]
    faults = [f"lost lines of {name}" for name in lost(before, place.lines())]
    faults += [f"the answer {name} is not whole" for name in place.odd_answers()]
    if gone is None:
        faults.append(f"processes are left: {_names(processes(mark))}")
    if not killed:
        # Python itself dies of a signal that comes before it runs any code.
        if process.returncode not in (0, _INTERRUPTED, -number):
            faults.append(f"exit status {process.returncode}: {err.strip()[-500:]}")
        if "Traceback" in err:
            faults.append(f"a traceback: {err.strip()[-500:]}")
        if left:
            faults.append(f"left: {', '.join(left)}")
    return Strike(number.name, seconds, process.returncode, gone, frozenset(left), tuple(faults))


def wait_until_caught(process: subprocess.Popen[str], number: signal.Signals) -> None:
    """Until the process has a handler for the signal, or has ended.

    An interrupt that comes while Python itself starts gets a traceback of Python's own, whatever the program.
    """
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        caught = re.search(r"^SigCgt:\s*(\w+)", status.read_text(), re.MULTILINE)
        if caught and int(caught[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.001)


def ordinary_signals() -> None:
    """A shell without job control starts what runs in its background with interrupts ignored, and ``nohup`` SIGHUP."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def whole(place: Workplace, charged: Collection[str] = ()) -> tuple[float, tuple[str, ...], frozenset[str]]:
    """Run a command to its end. Its seconds, what was wrong afterwards, and the names that were left then.

    ``charged`` are names in the temporary folder that were counted as faults before.
    """
    mark, start, before = new_mark(), time.monotonic(), place.lines()
    ended = subprocess.run(
        place.command("--fresh"), cwd=place.root, env=place.environment(mark), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    seconds = time.monotonic() - start
    faults = [f"lost lines of {name}" for name in lost(before, place.lines())]
    if ended.returncode:
        faults.append(f"exit status {ended.returncode}: {ended.stderr.strip()[-500:]}")
    if seconds_until_gone(mark, _CHILD_SECONDS) is None:
        faults.append("processes are left by a command that was not struck")
    left = [name for name in (*place.left_in_temporary(), *place.unfinished()) if name not in charged]
    if left:
        faults.append(f"left after a command that was not struck: {', '.join(left)}")
    return seconds, tuple(faults), frozenset(left)


def run(place: Workplace, numbers: Sequence[signal.Signals], seed: int, limit_seconds: float) -> dict[str, Any]:
    """Strikes in random order, until each of these signals has met a command that still ran. The figures as a document.

    A strike comes at a moment of the time that the last command took which ran to its end.
    """
    chance, start = random.Random(seed), time.monotonic()
    waiting = list(numbers)
    chance.shuffle(waiting)
    _, first_faults, first_left = whole(place)
    seconds, second_faults, second_left = whole(place, first_left)
    faults, strikes = [*first_faults, *second_faults], list[Strike]()
    charged = {*first_left, *second_left}
    while waiting and time.monotonic() - start <= limit_seconds:
        number = waiting[-1]
        strikes.append(strike(place, number, chance.uniform(0, seconds)))
        if not strikes[-1].too_late:
            waiting.pop()
        faults += strikes[-1].faults
        if number != signal.SIGKILL:
            charged |= strikes[-1].left
        for fault in strikes[-1].faults:
            print(f"{strikes[-1].signal} after {strikes[-1].seconds:.3f} s: {fault}", flush=True)
        if len(strikes) % _BETWEEN == 0:
            seconds, whole_faults, left = whole(place, charged)
            faults += whole_faults
            charged |= left
            for fault in whole_faults:
                print(fault, flush=True)
            print(f"{len(waiting)} are left, {seconds:.1f} s a command, {len(faults)} faults", flush=True)
    faults += whole(place, charged)[1]
    files = place.lines().values()
    return {
        "seed": seed,
        "command_seconds": round(seconds, 3),
        "strikes": dict(Counter(one.signal for one in strikes)),
        "landed": dict(Counter(one.signal for one in strikes if not one.too_late)),
        "ended_before": sum(one.too_late for one in strikes),
        "gone_seconds": {
            name: summary([one.gone_seconds or 0.0 for one in strikes if one.signal == name])
            for name in sorted({one.signal for one in strikes})
        },
        "kills_that_left_a_folder": sum(bool(one.left) for one in strikes if one.signal == "SIGKILL"),
        "records": sum(len(parsed(content)[0]) for content in files),
        "torn_lines": sum(parsed(content)[1] for content in files),
        "faults": faults,
        "seconds": round(time.monotonic() - start, 1),
    }


def table(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line of Markdown for each commit, and one for all of them.

    Strikes that met no running command are not counted among those of their signal where the document tells them apart.
    """
    heads = ("commit", "runs", *STRUCK, "met no running command", "faults", "kills that left a folder", "records",
             "torn lines", "longest until the last process was gone: SIGKILL", "other signals")  # fmt: skip
    commits = dict.fromkeys(document["commit"] for document in documents)
    groups = {name: [one for one in documents if one["commit"] == name] for name in commits} | {"all": documents}
    return markdown(heads, [[name, *_row(group)] for name, group in groups.items()])


def _row(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    # Earlier documents do not say which of the strikes came too late.
    strikes = [sum(one.get("landed", one["strikes"]).get(name, 0) for one in documents) for name in STRUCK]
    vain = sum(one["ended_before"] for one in documents)
    faults = sum(len(one["faults"]) for one in documents)
    kept = [sum(one[name] for one in documents) for name in ("kills_that_left_a_folder", "records", "torn_lines")]
    longest = {name: max(one["gone_seconds"].get(name, _NONE)["longest"] for one in documents) for name in STRUCK}
    killed = longest.pop("SIGKILL")
    numbers = (len(documents), *strikes, vain, faults, *kept)
    return [*map(str, numbers), f"{killed:.2f} s", f"{max(longest.values()):.2f} s"]


def _names(alive: Sequence[int]) -> str:
    names = []
    for process in alive:
        try:
            names.append(Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:100])
        except OSError:
            continue
    return "; ".join(names)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--signals", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit-seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="lines of earlier runs to show in place of striking")
    options = parser.parse_args()
    if options.table is not None:
        print(*table(documents(options.table)), sep="\n")
        return 0
    numbers = [signal.SIGKILL] * options.kills + [SIGNALS[one % len(SIGNALS)] for one in range(options.signals)]
    with tempfile.TemporaryDirectory() as root:
        document = run(Workplace(Path(root)).prepare(), numbers, options.seed, options.limit_seconds)
    return finish(document, options.out)


if __name__ == "__main__":
    raise SystemExit(main())
