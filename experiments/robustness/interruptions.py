"""Interrupts ``polydl optimize`` at random moments, lets it go on, and looks for what is lost or measured twice.

    python -m experiments.robustness.interruptions --strikes 24 --seed 0 --out experiments/data/interruptions.jsonl
    python -m experiments.robustness.interruptions --table experiments/data/interruptions.jsonl

Each of the nests is optimized with a SIGINT, SIGTERM or SIGHUP at a random moment, and then once more to the end. A
third of the moments are before a candidate is verified, a third while they are, and a third after that, up to the end.
Standard error is a terminal, on which the command shows how many it has verified, ten times a second. Where a candidate
was among these when the signal came, the best so far must have been emitted, with status 130. What the
records held then in full must not be measured again. Ends with status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.json_lines import documents
from experiments.robustness.kills import SIGNALS, ordinary_signals, wait_until_caught
from experiments.robustness.observed import POLYDL, Workplace, finish, new_mark, parsed
from experiments.tables import markdown

# Exit status of a command that a signal ended.
_INTERRUPTED = 130
_SEARCH = ("--max-variants", "20", "--top-k", "4", "--threads", "1", "--microkernel", "c")
_LONGEST_SECONDS = 300.0
# What moves the cursor and colours letters, and the bar that says how many kernels are verified.
_CODES, _VERIFIED = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]"), re.compile(r"verify\b[^\n\d]*?(\d+)/(\d+)")


def command(place: Workplace, nest: int) -> list[str]:
    folder = place.root / f"out{nest}"
    return [str(POLYDL), "optimize", f"{nest}.c", *_SEARCH, "--records", str(place.records), "--out", str(folder),
            "--json", str(place.root / f"{nest}.json")]  # fmt: skip


def measured(place: Workplace) -> Counter[tuple[str, str]]:
    """In how many commands each variant was measured to the end, by nest and variant."""
    records = [record for content in place.lines().values() for record in parsed(content)[0]]
    # A record says so if it is of an unfinished measurement.
    ended = (each for each in records if each["kind"] == "variant" and each.get("complete", True))
    return Counter((nest, variant) for nest, variant, _ in {(each["nest"], each["id"], each["run"]) for each in ended})


def document_of(place: Workplace, nest: int) -> dict[str, Any]:
    path = place.root / f"{nest}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


class Witness:
    """Runs a command on a terminal, and reads there how many of its kernels are verified; the original is the first."""

    def __init__(self, place: Workplace, nest: int) -> None:
        self._terminal, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.start = time.monotonic()
        self.process = subprocess.Popen(
            command(place, nest), cwd=place.root, env=place.environment(new_mark()) | {"TERM": "xterm"}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave, start_new_session=True,
            preexec_fn=ordinary_signals,
        )  # fmt: skip
        os.close(slave)
        self.said = ""
        #: how many are verified, and how many there are
        self.checked = self.total = 0

    def follow(self, until: float, checks: float = math.inf) -> None:
        """Read until that moment of the monotonic clock, so many are verified, or the command ends."""
        while self.checked < checks and (left := until - time.monotonic()) > 0:
            if not select.select([self._terminal], [], [], left)[0]:
                continue
            try:
                self.said += _CODES.sub("", os.read(self._terminal, 65536).decode("utf-8", "replace"))
            except OSError:  # nobody writes any more
                return
            shown = _VERIFIED.findall(self.said)
            self.checked, self.total = map(int, shown[-1]) if shown else (0, 0)

    def end(self) -> int:
        """Wait for the end of the command: its exit status."""
        checked = self.checked
        self.follow(time.monotonic() + _LONGEST_SECONDS)
        status = self.process.wait(_LONGEST_SECONDS)
        os.close(self._terminal)
        self.checked = checked
        return status


def watched(place: Workplace, nest: int) -> tuple[float, float, int]:
    """Run the command to its end: the seconds until a candidate was verified, and all; and how many kernels it has."""
    witness = Witness(place, nest)
    witness.follow(witness.start + _LONGEST_SECONDS, checks=2)
    verified, checked = time.monotonic() - witness.start, witness.checked
    if witness.end() or checked < 2:
        raise RuntimeError(f"an undisturbed run ended so: {witness.said[-300:]}")
    return verified, time.monotonic() - witness.start, witness.total


def strike(place: Workplace, nest: int, number: signal.Signals, checks: int, seconds: float) -> dict[str, Any]:
    """One interruption, so long after so many kernels were verified, and the run after it, with what was wrong."""
    others = measured(place)
    witness = Witness(place, nest)
    wait_until_caught(witness.process, number)
    witness.follow(witness.start + _LONGEST_SECONDS, checks)
    witness.follow(time.monotonic() + seconds)
    witness.process.send_signal(number)
    status = witness.end()
    document, faults = document_of(place, nest), list[str]()
    before = measured(place) - others
    emitted = list((place.root / f"out{nest}").glob("*_polydl.c"))
    if status not in (0, _INTERRUPTED):
        faults.append(f"exit status {status}: {witness.said.strip()[-300:]}")
    again = subprocess.run(
        command(place, nest), cwd=place.root, env=place.environment(new_mark()), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if again.returncode:
        faults.append(f"exit status {again.returncode} of the next run: {again.stderr.strip()[-300:]}")
    # Beside the original; what fails its check is counted there, too.
    failed = sum(each["status"] != "ok" for each in document_of(place, nest).get("candidates", []))
    verified = max(0, witness.checked - 1 - failed)
    if status and (verified or document.get("interrupted")) and not emitted:
        faults.append("a candidate was verified, and none was emitted")
    twice = [one for one, count in measured(place).items() if count > 1]
    if twice:
        faults.append(f"measured twice: {twice}")
    return {
        "signal": number.name, "awaited": checks, "seconds": round(seconds, 3), "status": status, "verified": verified,
        "kernels": witness.total, "measured_before": sum(before.values()), "emitted": bool(emitted),
        "interrupted": bool(document.get("interrupted")), "faults": faults,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strikes", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="lines of earlier runs to show in place of interrupting")
    options = parser.parse_args()
    if options.table is not None:
        print(*table(documents(options.table)), sep="\n")
        return 0
    chance = random.Random(options.seed)
    strikes = []
    with tempfile.TemporaryDirectory() as root:
        place = Workplace(Path(root)).prepare(options.strikes + 2)
        # The first measures the machine's speeds besides, which takes longer than what is struck.
        watched(place, options.strikes)
        verified, whole, kernels = watched(place, options.strikes + 1)
        for nest in range(options.strikes):
            moments = (
                (0, chance.uniform(0, verified)),
                (chance.randint(2, kernels), chance.uniform(0, 0.1)),
                (kernels, chance.uniform(0, whole - verified)),
            )
            strikes.append(strike(place, nest, chance.choice(SIGNALS), *moments[nest % 3]))
            print(json.dumps(strikes[-1]), flush=True)
    print(_summary(strikes))
    faults = [fault for each in strikes for fault in each["faults"]]
    document = {
        "seed": options.seed, "command_seconds": round(whole, 2), "verified_seconds": round(verified, 2),
        "strikes": strikes, "faults": faults,
    }  # fmt: skip
    return finish(document, options.out)


def table(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line of Markdown for each run."""
    heads = ["commit", "seconds of a run", "interruptions", *(each.name for each in SIGNALS), "had ended",
             "with verified candidates: best so far emitted", "all verified", "some", "without: emitted",
             "measured in full before", "faults"]  # fmt: skip
    rows = []
    for run in runs:
        met = [each for each in run["strikes"] if each["status"]]
        verified = [each for each in met if each["verified"]]
        every = [each for each in verified if each["verified"] >= each["kernels"] - 1]
        without = [each for each in met if not each["verified"]]
        rows.append(
            [
                run["commit"],
                f"{run['command_seconds']:.1f}",
                str(len(run["strikes"])),
                *(str(sum(each["signal"] == number.name for each in met)) for number in SIGNALS),
                str(len(run["strikes"]) - len(met)),
                f"{sum(each['emitted'] for each in verified)} of {len(verified)}",
                str(len(every)),
                str(len(verified) - len(every)),
                f"{sum(each['emitted'] for each in without)} of {len(without)}",
                str(sum(each["measured_before"] for each in met)),
                str(len(run["faults"])),
            ]
        )
    return markdown(heads, rows)


def _summary(strikes: Sequence[dict[str, Any]]) -> str:
    emitted = sum(each["emitted"] for each in strikes)
    faults = sum(len(each["faults"]) for each in strikes)
    ended = sum(each["status"] == 0 for each in strikes)
    return f"{len(strikes)} strikes: {ended} after the end, {emitted} with the best so far emitted, {faults} faults"


if __name__ == "__main__":
    raise SystemExit(main())
