"""What becomes of every C file of a folder, such as the inputs of pet's own tests: accepted, refused, or a fault.

    git clone https://github.com/Meinersbur/pet build/pet
    python -m experiments.c_files build/pet/tests --out pet-inputs.json
    python -m experiments.c_files table pet-inputs.json

Each goes through ``polydl optimize`` as a person would run it, with few variants. Where that asks for the value of a
size, it is run once more with ``-D`` and the value of ``--size`` for each name that it asks for.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.tables import markdown

POLYDL = Path(sys.executable).with_name("polydl")
# Of one file, all runs.
TIMEOUT_SECONDS = 120.0
# A refusal asks for one size at a time.
MOST_SIZES = 6
_FAULT = re.compile(r"Traceback|a fault in polydl itself")
_ASKED = re.compile(r"-D (\w+)=")
# The apostrophe of "can't" is no quote.
_NAMED = re.compile(r"`[^`]*`|(?<!\w)'[^']*'|\"[^\"]*\"|\b\d+\b")


def outcome(path: Path, size: int) -> dict[str, Any]:
    """What the command said of a file.

    ``status`` is ``verified`` (a candidate or the plain nest was checked and emitted), ``refused`` (exit status 2),
    ``failed`` (1, with a reason), ``fault`` (a traceback, or what it would have been) or ``timeout``.
    """
    start, sizes = time.monotonic(), dict[str, int]()
    while True:
        try:
            ended = _run(path, sizes)
        except subprocess.TimeoutExpired:
            return {"status": "timeout", "sizes": sizes, "message": ""}
        said = ended.stderr.strip()
        asked = [name for name in _ASKED.findall(said) if name not in sizes]
        if ended.returncode != 2 or not asked or len(sizes) == MOST_SIZES or _FAULT.search(said):
            break
        sizes[asked[0]] = size
    statuses = {0: "verified", 1: "failed", 2: "refused"}
    status = "fault" if _FAULT.search(said) else statuses.get(ended.returncode, "fault")
    message = said.replace(str(path), path.name) if status != "verified" else ""
    return {"status": status, "sizes": sizes, "message": message, "seconds": round(time.monotonic() - start, 1)}


def _run(path: Path, sizes: Mapping[str, int]) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(POLYDL), "optimize", str(path.absolute()), "--threads", "1", "--top-k", "1"]
        command += ["--max-variants", "4", "--out", str(Path(folder, "out")), "--records", str(Path(folder, "records"))]
        command += ["--no-calibration", "--quiet", "-I", str(path.absolute().parent)]
        command += [word for name, value in sizes.items() for word in ("-D", f"{name}={value}")]
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS, errors="replace"
        )


def reason(message: str) -> str:
    """The first line of a message without the place, with nothing that is named in it."""
    first = next(iter(message.splitlines()), "")
    first = re.sub(r"^(?:polydl: )?error: (?:\S+?:(?:\d+:)? )?", "", first)
    return _NAMED.sub("…", first)


def table(document: Mapping[str, Any]) -> Iterator[str]:
    """How many files came to each end, then the reasons of those that were not accepted, the most frequent first."""
    results: Mapping[str, Mapping[str, Any]] = document["results"]
    statuses = ("verified", "refused", "failed", "timeout", "fault")
    counts = [str(sum(each["status"] == status for each in results.values())) for status in statuses]
    yield from markdown(("files", *statuses), [[str(len(results)), *counts]])
    yield ""
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, each in results.items():
        if each["status"] != "verified":
            reasons[each["status"], reason(each["message"])].append(name.removesuffix(".c"))
    ordered = sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [[said or "no answer in time", status, str(len(names)), _few(names)] for (status, said), names in ordered]
    yield from markdown(("reason", "status", "files", "such as"), rows)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:3])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="with C files, in subfolders too; `table` prints what --out holds")
    parser.add_argument("data", nargs="?", type=Path, help="of `table`: the file")
    parser.add_argument("--out", type=Path, help="where the results go, after each file; goes on from it")
    parser.add_argument("--size", type=int, default=24, help="the value of each size that has none")
    parser.add_argument("--only", action="append", metavar="NAME", help="a file; may be repeated")
    options = parser.parse_args(arguments)
    if options.folder == "table":
        print(*table(json.loads(options.data.read_text(encoding="utf-8"))), sep="\n")
        return
    folder = Path(options.folder)
    document: dict[str, Any] = {"size": options.size, "results": {}}
    if options.out and options.out.exists():
        document = json.loads(options.out.read_text(encoding="utf-8"))
    for path in sorted(folder.rglob("*.c")):
        name = str(path.relative_to(folder))
        if name in document["results"] or (options.only and name not in options.only):
            continue
        document["results"][name] = outcome(path, options.size)
        if options.out:
            options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {document['results'][name]['status']}", file=sys.stderr)
    print(*table(document), sep="\n")


if __name__ == "__main__":
    main()
