"""Interrupts ``polydl optimize`` at random moments, lets it go on, and looks for what is lost or measured twice.

    python -m experiments.robustness.interruptions --strikes 40 --seed 0 --out experiments/data/interruptions.jsonl
    python -m experiments.robustness.interruptions --table experiments/data/interruptions.jsonl

Each of the nests is optimized with a SIGINT at a random moment, and then once more to the end. Every other moment is
before the candidates of a whole run are verified, and the others are after that, up to its end. Where a candidate was
verified before the strike, the best so far must have been emitted, with status 130. What the records held then in full
must not be measured again. Ends with status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.json_lines import documents
from experiments.robustness.kills import ordinary_signals, wait_until_caught
from experiments.robustness.observed import POLYDL, Workplace, finish, new_mark, parsed
from experiments.tables import markdown

_SEARCH = ("--max-variants", "20", "--top-k", "4", "--threads", "1", "--microkernel", "c")


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


def struck(place: Workplace, nest: int, seconds: float) -> tuple[int, str]:
    """Run the command with an interrupt after so many seconds: its exit status and its standard error."""
    with subprocess.Popen(
        command(place, nest), cwd=place.root, env=place.environment(new_mark()), text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=ordinary_signals,
    ) as process:  # fmt: skip
        wait_until_caught(process, signal.SIGTERM)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=300)
    return process.returncode, error


def watched(place: Workplace, nest: int) -> tuple[float, float]:
    """Run the command to its end: the seconds until its candidates were verified, and all."""
    start, verified = time.monotonic(), 0.0
    with subprocess.Popen(
        command(place, nest), cwd=place.root, env=place.environment(new_mark()), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("polydl: verify ") and not verified:
                verified = time.monotonic() - start
    if process.returncode or not verified:
        raise RuntimeError(f"an undisturbed run ended with status {process.returncode}")
    return verified, time.monotonic() - start


def strike(place: Workplace, nest: int, seconds: float) -> dict[str, Any]:
    """One interruption and the run after it, with what was wrong."""
    others = measured(place)
    status, error = struck(place, nest, seconds)
    document, faults = document_of(place, nest), list[str]()
    before = measured(place) - others
    emitted = list((place.root / f"out{nest}").glob("*_polydl.c"))
    if status not in (0, 130):
        faults.append(f"exit status {status}: {error.strip()[-300:]}")
    # The stage of verifying had ended, which says so in a line.
    verified = "polydl: verify " in error
    if status == 130 and (verified or document.get("interrupted")) and not emitted:
        faults.append("a candidate was verified, and none was emitted")
    again = subprocess.run(
        command(place, nest), cwd=place.root, env=place.environment(new_mark()), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if again.returncode:
        faults.append(f"exit status {again.returncode} of the next run: {again.stderr.strip()[-300:]}")
    twice = [one for one, count in measured(place).items() if count > 1]
    if twice:
        faults.append(f"measured twice: {twice}")
    return {
        "seconds": seconds, "status": status, "verified": verified, "measured_before": sum(before.values()),
        "emitted": bool(emitted), "interrupted": bool(document.get("interrupted")), "faults": faults,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strikes", type=int, default=40)
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
        verified, whole = watched(place, options.strikes + 1)
        for nest in range(options.strikes):
            moment = chance.uniform(verified, whole) if nest % 2 else chance.uniform(0, verified)
            strikes.append(strike(place, nest, moment))
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
    heads = ["commit", "seconds of a run", "interruptions", "after all were verified: best so far emitted",
             "before: a candidate that was verified by then emitted", "had ended", "measured in full before",
             "faults"]  # fmt: skip
    rows = []
    for run in runs:
        struck = [each for each in run["strikes"] if each["status"] == 130]
        verified = [each for each in struck if each["verified"]]
        earlier = [each for each in struck if not each["verified"]]
        rows.append(
            [
                run["commit"],
                f"{run['command_seconds']:.1f}",
                str(len(run["strikes"])),
                f"{sum(each['emitted'] for each in verified)} of {len(verified)}",
                f"{sum(each['emitted'] for each in earlier)} of {len(earlier)}",
                str(sum(each["status"] == 0 for each in run["strikes"])),
                str(sum(each["measured_before"] for each in struck)),
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
