"""What can be seen of a command from outside: its processes, its temporary folders, its records and its answers."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

# The environment variable by which all processes of one command are found, whatever session they are in.
_MARK = "POLYDL_EXPERIMENT"
POLYDL = Path(sys.executable).with_name("polydl")
NEST = """\
void matmul(float C[{rows}][48], float A[{rows}][40], float B[40][48]) {{
#pragma scop
  for (int i = 0; i < {rows}; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 40; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""
# A search that takes seconds.
QUICK = ("--max-variants", "2", "--top-k", "1", "--threads", "1", "--microkernel", "c")


@dataclass(frozen=True)
class Workplace:
    """A folder with a nest, in which commands run that share records and the place of temporary folders."""

    root: Path

    @property
    def records(self) -> Path:
        return self.root / "records"

    @property
    def temporary(self) -> Path:
        return self.root / "temporary"

    def prepare(self, nests: int = 1) -> Workplace:
        """Make the folders, and as many nests, ``0.c`` and so on."""
        self.temporary.mkdir(parents=True, exist_ok=True)
        for number in range(nests):
            (self.root / f"{number}.c").write_text(NEST.format(rows=24 + 24 * number))
        return self

    def command(self, *more: str, nest: int = 0) -> list[str]:
        """``polydl optimize`` of a nest."""
        return [str(POLYDL), "optimize", f"{nest}.c", *QUICK, "--records", str(self.records), *more]

    def environment(self, mark: str) -> Mapping[str, str]:
        """That of a command whose processes are to be found by ``mark``."""
        caches = {"XDG_CACHE_HOME": str(self.root / "cache"), "XDG_DATA_HOME": str(self.root / "data")}
        return os.environ | caches | {"TMPDIR": str(self.temporary), _MARK: mark}

    def left_in_temporary(self) -> list[str]:
        return sorted(os.listdir(self.temporary))

    def lines(self) -> dict[Path, bytes]:
        """The content of each file of records."""
        return {path: path.read_bytes() for path in sorted(self.records.glob("*.jsonl"))}

    def unfinished(self) -> list[str]:
        """Temporary names beside results, records and answers."""
        places = [self.root, self.records, self.records / "answers", *(self.root / "polydl-out").glob("*")]
        return [name for place in places if place.is_dir() for name in os.listdir(place) if name.startswith(".")]

    def odd_answers(self) -> list[str]:
        """Answers whose files are not those of their document."""
        return [path.parent.name for path in self.records.glob("answers/[!.]*/document.json") if not _whole(path)]


def new_mark() -> str:
    return uuid.uuid4().hex


def processes(mark: str) -> list[int]:
    """All processes with this mark in their environment that have not ended."""
    wanted = f"{_MARK}={mark}".encode()
    alive = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    alive.append(int(entry.name))
            except OSError:
                continue  # it ended, or is another user's
    return alive


def seconds_until_gone(mark: str, limit_seconds: float) -> float | None:
    """How long it takes until no process with this mark is left; None if some are left after the limit."""
    start = time.monotonic()
    while processes(mark):
        if time.monotonic() - start > limit_seconds:
            return None
        time.sleep(0.01)
    return time.monotonic() - start


def lost(before: Mapping[Path, bytes], after: Mapping[Path, bytes]) -> list[str]:
    """Files of records that don't begin with what they held before; records are only ever added."""
    return [path.name for path, content in before.items() if not after.get(path, b"").startswith(content)]


def parsed(content: bytes) -> tuple[list[dict[str, Any]], int]:
    """The records of a file, and the number of lines that hold none."""
    records, damaged = [], 0
    for line in content.splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            damaged += 1
    return records, damaged


def finish(document: Mapping[str, Any], out: Path | None) -> int:
    """Print the figures of an experiment as a line, add it to a file, and tell the exit status: 1 if it has faults.

    The line begins with the commit of polydl, ``-dirty`` behind it where files differ from the commit's.
    """
    line = json.dumps({"commit": commit(), **document}) + "\n"
    print(line, end="")
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(line)
    return 1 if document["faults"] else 0


def commit() -> str:
    described = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=8"]
    return subprocess.run(described, check=True, capture_output=True, text=True).stdout.strip()


def summary(values: Sequence[float]) -> dict[str, float]:
    several = values or [0.0]
    return {"median": round(median(several), 3), "longest": round(max(several), 3)}


def _whole(document: Path) -> bool:
    stored = json.loads(document.read_bytes())
    return all(
        hashlib.sha256((document.parent / kind).read_bytes()).hexdigest() == digest
        for kind, digest in stored["files"].items()
    )
