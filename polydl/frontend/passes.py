"""The two passes over a file, each in a child process: libclang's for the facts, libpet's for the scop."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from polydl import errors
from polydl.bfloat16 import INCLUDE
from polydl.errors import MissingComponentError, PolydlError, ResourceError, SourceError, UnsupportedConstructError
from polydl.frontend.child import ChildOutcome, run_child
from polydl.frontend.facts import SourceFacts
from polydl.frontend.pet_library import INSTALL_REMEDY, PetLibrary, builtin_headers
from polydl.frontend.source import line_of, one_line, without_comments

_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+):\d+: (?:warning|error): (?P<message>.*)$", re.MULTILINE)
# What the Clang inside of libpet says where ``TMPDIR`` is full or gone.
_NO_TEMPORARY_FILE = re.compile(r"^error: unable to make temporary file: (.*)$", re.MULTILINE)
# Calls within calls that a walk over an expression takes for each level of it, at most.
_FRAMES_PER_LEVEL = 5
_UNBALANCED = "unbalanced endscop pragma"
# Before a statement that is a branch of an ``if``.
_BRANCH = re.compile(r"(?:\)|\belse)\Z")
# Messages of libpet about the region, with remedies.
_REMEDIES = {
    "unsupported": "write it with for loops, array subscripts and arithmetic",
    "this type of unary operator is not supported": "write it with + - * / or a call of a function from math.h",
    "this type of binary operator is not supported": "write it out, such as x = x % y for x %= y",
    "this type of statement is not supported": "write it with for, if and assignments",
    _UNBALANCED: "put #pragma scop and #pragma endscop into the same block",
    "missing increment": "write the increment in the loop's header",
    "unsupported declaration": "declare it before the region",
    "prototype required": "declare the function with its parameters",
    "return statements not supported in this context": "move the return behind the loops and #pragma endscop",
}


@dataclass(frozen=True)
class ReadingJob:
    """One file to read."""

    #: absolute path
    file: str
    #: path in messages
    name: str
    #: one character per byte
    text: str
    #: the text before annotations changed it; None if they didn't
    original: str | None
    #: name of the function to read, if the user gave one
    function: str | None
    #: macros, by name
    defines: Mapping[str, str]
    #: searched for headers in this order
    include_directories: Sequence[str]
    #: for requests and results
    folder: Path
    #: of each pass
    timeout_seconds: float
    #: name of the function that fills the arrays; "" if there is none
    init: str = ""

    @property
    def shipped(self) -> list[str]:
        """The include directories that are polydl's and the compiler's."""
        headers = builtin_headers()
        return [str(INCLUDE), *([str(headers)] if headers is not None else [])]

    @property
    def include_options(self) -> list[str]:
        """The compiler's options for all include directories, the user's before those of polydl and the compiler."""
        return [f"-I{directory}" for directory in [*self.include_directories, *self.shipped]]


def clang_pass(job: ReadingJob, shift: int = 0) -> SourceFacts:
    """The facts of libclang's pass, with the view that pet is to read. ``shift`` is added to every subscript in it.

    Raises a UserError for anything in the file that can't be represented, MissingComponentError without libclang.
    """
    request = {
        "file": job.file,
        "text": job.text,
        "original": job.original,
        "function": job.function,
        "init": job.init,
        "defines": dict(job.defines),
        "options": job.include_options,
        "shipped": job.shipped,
        "shift": shift,
        "deepest": sys.getrecursionlimit() // _FRAMES_PER_LEVEL,
    }
    return SourceFacts.from_json(asked("polydl.frontend.clang_worker", request, job))


def asked(module: str, request: Mapping[str, Any], job: ReadingJob) -> dict[str, Any]:
    """What a child process that holds libclang says of a job's file.

    Raises a UserError for anything in the file that it objects to, MissingComponentError without libclang.
    """
    if find_spec("clang") is None:
        raise MissingComponentError("libclang, which checks the C, is not installed", remedy="pip install libclang")
    outcome = run_child(module, request, job.folder, job.timeout_seconds)
    if outcome.result is None:
        raise SourceError(
            f"libclang {outcome.failure}{_printed(outcome)}", file=job.name, remedy="check the file with a C compiler"
        )
    if "error" in outcome.result:
        fields = outcome.result["fields"]
        kind: type[PolydlError] = getattr(errors, outcome.result["error"])
        where = job.name if fields["file"] in (None, job.file) else fields["file"]
        raise kind(fields.pop("message"), **{**fields, "file": where})
    result: dict[str, Any] = outcome.result["result"]
    return result


def pet_pass(job: ReadingJob, facts: SourceFacts, library: PetLibrary) -> dict[str, Any]:
    """pet's scop of the chosen function, as the worker describes it. Its offsets refer to ``facts.shown``.

    Raises UnsupportedConstructError, with pet's message, if pet detects no scop, ResourceError if it can't write.
    """
    if find_spec("cffi") is None:
        raise MissingComponentError("cffi, which opens libpet, is not installed", remedy="pip install cffi tadashi")
    shown = job.folder / "source.c"
    at = facts.shown.origins.index(facts.function.extent[0])
    # pet takes what it knows of places in headers for places in the file. Blanks leave none of these in the function.
    blanks = " " * (facts.largest_header + 1)
    shown.write_bytes(f"{facts.shown.text[:at]}{blanks}{facts.shown.text[at:]}".encode("latin-1"))
    folder = str(Path(job.file).parent)
    request = {
        "libraries": library.paths,
        "file": str(shown),
        "function": facts.function.name,
        "autodetect": facts.region is None,
        "temporary": str(job.folder),
        "options": [f"-I{folder}", *job.include_options, *(f"-D{name}={text}" for name, text in facts.macros.items())],
    }
    outcome = run_child("polydl.frontend.pet_worker", request, job.folder, job.timeout_seconds)
    if refusal := _NO_TEMPORARY_FILE.search(outcome.output):
        raise no_room(refusal[1])
    line, message = _complaint(outcome, str(shown), facts, job.text)
    if outcome.result is None:
        raise UnsupportedConstructError(
            f"libpet {outcome.failure}{_printed(outcome)}",
            file=job.name,
            line=line or line_of(job.text, facts.region[0] if facts.region else facts.function.offset),
            remedy="simplify the region, or leave out parts of it, until pet reads it",
        )
    if "unusable" in outcome.result:
        raise MissingComponentError(f"libpet can't be opened: {outcome.result['unusable']}", remedy=INSTALL_REMEDY)
    scops = outcome.result["scops"]
    if scops:
        return _without_blanks(scops[0], at, len(blanks))
    before = without_comments(job.text[: facts.region[0]]).rstrip() if facts.region else ""
    if message == _UNBALANCED and facts.region and (before.endswith(":") or _BRANCH.search(before)):
        labelled = before.endswith(":")
        line = line_of(job.text, len(before) if labelled else facts.region[0])
        place = "right behind a label" if labelled else "that are a branch of an if without braces"
        of_label = (
            "put them into braces of their own there, with #pragma scop and #pragma endscop inside; "
            "or move them to a function of their own"
        )
        of_branch = "put the branch into braces, and #pragma scop and #pragma endscop around the loops inside of these"
        raise UnsupportedConstructError(
            f"pet can't model loops {place}",
            file=job.name,
            line=line,
            construct=one_line(job.text.split("\n")[line - 1]),
            remedy=of_label if labelled else of_branch,
        )
    if message is not None and line is not None:
        raise UnsupportedConstructError(
            f"pet can't model this: {message}",
            file=job.name,
            line=line,
            construct=one_line(job.text.split("\n")[line - 1]),
            remedy=_REMEDIES[message],
        )
    raise UnsupportedConstructError(
        f"pet finds no loops that it can model in {facts.function.name}{_printed(outcome)}",
        file=job.name,
        line=line_of(job.text, facts.region[0] if facts.region else facts.function.offset),
        remedy="enclose for loops with affine bounds in #pragma scop and #pragma endscop",
    )


def _without_blanks(scop: Mapping[str, Any], at: int, length: int) -> dict[str, Any]:
    """The scop with its places in the text that had no blanks at that offset."""

    def moved(described: Mapping[str, Any]) -> dict[str, Any]:
        offsets = {name: max(described[name] - length, at) for name in ("start", "end")}
        return {**described, **offsets}

    return {**moved(scop), "statements": [moved(statement) for statement in scop["statements"]]}


def no_room(reason: str) -> ResourceError:
    """The error for passes that can't write their files."""
    return ResourceError(
        f"the passes over the file can't be run: {reason}",
        remedy="free space in the folder for temporary files, which TMPDIR names",
    )


def _complaint(outcome: ChildOutcome, shown: str, facts: SourceFacts, text: str) -> tuple[int | None, str | None]:
    """The line in the file and the text of pet's first message about the region."""
    for match in _DIAGNOSTIC.finditer(outcome.output):
        if match["file"] == shown and match["message"] in _REMEDIES:
            lines = facts.shown.text.split("\n")
            start = sum(len(line) + 1 for line in lines[: int(match["line"]) - 1])
            return line_of(text, facts.shown.origins[start]), match["message"]
    return None, None


def _printed(outcome: ChildOutcome) -> str:
    return f"; it printed:\n{outcome.output.rstrip()}" if outcome.output.strip() else ""
