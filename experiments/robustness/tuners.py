"""Several ``polydl optimize`` at a time on one store, for as long as one likes.

    python -m experiments.robustness.tuners --tuners 4 --seconds 3600 --seed 0 --out experiments/data/tuners.jsonl
    python -m experiments.robustness.tuners --table experiments/data/tuners.jsonl

Each tuner asks for one of a few nests in turn, with and without ``--fresh``. All the while, the files of records may
only grow. At the end, each measurement that a tuner has told of must be in the records, no line may be damaged, each
answer must be whole, and nothing may be left behind. Ends with status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.json_lines import documents
from experiments.robustness.observed import (
    POLYDL,
    Workplace,
    finish,
    lost,
    new_mark,
    parsed,
    seconds_until_gone,
)
from experiments.tables import markdown

_NESTS = 3


@dataclass
class Told:
    """What tuners have told so far."""

    commands: int = 0
    answered: int = 0
    #: variant and shortest time of each new measurement
    measured: list[tuple[str, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def tune(place: Workplace, number: int, seed: int, until: float, mark: str, told: Told) -> None:
    """One tuner, until that moment."""
    chance = random.Random(seed * 1000 + number)
    while time.monotonic() < until and not told.faults:
        more = ["--json", "-", "--out", f"polydl-out/{number}"]
        more += ["--fresh"] if chance.random() < 0.5 else []
        more += ["--seed", str(chance.randrange(3))]
        command = place.command(*more, nest=chance.randrange(_NESTS))
        ended = subprocess.run(
            command, cwd=place.root, env=place.environment(mark), capture_output=True, text=True, check=False
        )
        told.commands += 1
        if ended.returncode or ended.stderr:
            told.faults.append(f"{' '.join(command[1:])}: status {ended.returncode}: {ended.stderr.strip()[-500:]}")
            return
        _take(json.loads(ended.stdout), told)


def _take(document: Mapping[str, Any], told: Told) -> None:
    if document["records"]["answered"]:
        told.answered += 1
        return
    told.measured += [
        (candidate["id"], candidate["seconds_min"])
        for candidate in document["candidates"]
        if candidate["recorded"] is None and candidate["status"] == "ok"
    ]


def run(place: Workplace, tuners: int, seconds: float, seed: int) -> dict[str, Any]:
    """The figures as a document."""
    mark, told, start = new_mark(), Told(), time.monotonic()
    threads = [
        threading.Thread(target=tune, args=(place, number, seed, start + seconds, mark, told))
        for number in range(tuners)
    ]
    for thread in threads:
        thread.start()
    looks, before = 0, place.lines()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.5)
        after = place.lines()
        told.faults += [f"lost lines of {name}" for name in lost(before, after)]
        looks, before = looks + 1, after
    stored = [record for content in place.lines().values() for record in parsed(content)[0]]
    times = {(record["id"], record["seconds_minimum"]) for record in stored}
    told.faults += [
        f"no record of {name} in {shortest} s" for name, shortest in told.measured if (name, shortest) not in times
    ]
    told.faults += [f"the answer {name} is not whole" for name in place.odd_answers()]
    damaged = sum(parsed(content)[1] for content in place.lines().values())
    left = [*place.left_in_temporary(), *place.unfinished()]
    if damaged or left or seconds_until_gone(mark, 1.0) is None:
        told.faults.append(f"{damaged} damaged lines; left: {', '.join(left)}")
    listed = subprocess.run(
        [POLYDL, "records", "list", "--records", place.records], capture_output=True, text=True, check=False
    )
    if listed.returncode or listed.stderr:
        told.faults.append(f"records list: status {listed.returncode}: {listed.stderr}")
    return {
        "tuners": tuners,
        "seed": seed,
        "seconds": round(time.monotonic() - start, 1),
        "commands": told.commands,
        "answered": told.answered,
        "measurements_told": len(told.measured),
        "records": len(stored),
        "runs": len({record["run"] for record in stored}),
        "looks": looks,
        "faults": told.faults,
    }


def table(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line of Markdown for each run."""
    heads = ("commit", "tuners", "minutes", "commands", "of these answered from the store", "new measurements told of",
             "records", "times that the files were looked at", "faults")  # fmt: skip
    rows = [
        [str(value) for value in (
            one["commit"], one["tuners"], round(one["seconds"] / 60), one["commands"], one["answered"],
            one["measurements_told"], one["records"], one["looks"], len(one["faults"]),
        )]
        for one in documents
    ]  # fmt: skip
    return markdown(heads, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuners", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="lines of earlier runs to show in place of running")
    options = parser.parse_args()
    if options.table is not None:
        print(*table(documents(options.table)), sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as root:
        document = run(Workplace(Path(root)).prepare(_NESTS), options.tuners, options.seconds, options.seed)
    return finish(document, options.out)


if __name__ == "__main__":
    raise SystemExit(main())
