"""The default front end: reads a C file into a Scop with libclang and libpet.

Both run in child processes (``passes``), since no C file may crash this process. Their results are checked and combined
with isl (``model``).
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from polydl.arguments import listed, of_type
from polydl.errors import OptionError, SourceError, UnsupportedConstructError
from polydl.frontend import checks
from polydl.frontend.annotation import Annotation, substitute_annotations
from polydl.frontend.facts import SourceFacts
from polydl.frontend.feature_macros import feature_macros
from polydl.frontend.includes import check_includes
from polydl.frontend.languages import named
from polydl.frontend.loops_alone import loops_alone, loops_beside
from polydl.frontend.model import SHIFT, Model, build, infeasible
from polydl.frontend.passes import ReadingJob, clang_pass, no_room, pet_pass
from polydl.frontend.pet_library import PetLibrary, find_pet_library
from polydl.frontend.pragmas_before import with_pragmas
from polydl.frontend.source import Edit, EditedText, Place, check_path, line_of, read_source
from polydl.frontend.team import check_team
from polydl.ir.scop import Scop
from polydl.system.files import temporary_directory
from polydl.vector_functions import called

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def parse(
    path: str | Path,
    *,
    function: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_directories: Sequence[str | Path] = (),
    init: str = "",
    timeout_seconds: float = 60,
    library: str | Path | None = None,
) -> Scop:
    """Read one loop nest of a C file.

    The nest is the region between ``#pragma scop`` and ``#pragma endscop``; in a file without these pragmas, pet
    detects it. ``defines`` are macros; one that names an integer parameter of the function fixes the value of the
    parameter instead. The function ``init`` fills the arrays and is read only where no other one can be meant.
    ``timeout_seconds`` limits each of the two passes. ``library`` is the path of a libpet to use
    in place of the system's or of the one in tadashi's wheel.

    Raises a UserError with file, line, construct and remedy for anything in the file that can't be represented,
    ResourceError for arrays that don't fit into memory, AnalysisError when isl's quota is used up, and
    MissingComponentError without libpet or libclang.
    """
    content = read_source(_checked(path, function))
    file = str(path)
    original = content.decode("latin-1")
    macros = _defines(defines or {})
    directories = _directories(include_directories)
    check_includes(original, file, directories)
    annotated, annotations = substitute_annotations(original, file)
    pet_library = find_pet_library(library)
    with _temporary_folder() as folder:
        job = ReadingJob(
            file=str(Path(path).absolute()),
            name=file,
            text=annotated.text,
            original=original if annotations else None,
            function=function,
            defines=macros,
            include_directories=directories,
            folder=folder,
            timeout_seconds=timeout_seconds,
            init=init,
        )
        try:
            facts = clang_pass(job)
        except SourceError as error:
            raise named(error, original) if error.file == file else error from None
        place = Place(file, annotated.text)
        checks.check_before(facts, place)
        try:
            model = _model(job, facts, pet_library, place, annotations)
        except RecursionError:
            raise UnsupportedConstructError(
                "an expression is nested too deeply", file=file, remedy="split it into several statements"
            ) from None
    taken = EditedText(original).apply(facts.excerpt.edits)
    start = with_pragmas(original, annotated.origins[_with_macros(facts, place.text, model.start)])
    end = annotated.origins[model.end]
    return Scop(
        file=file,
        function=model.function,
        statements=model.statements,
        arrays=model.arrays,
        schedule=model.schedule,
        source=taken.text.encode("latin-1").decode("utf-8"),
        region=_range(taken, start, end),
        definition=_definition(facts, annotated, content, taken, file),
        line=line_of(original, start),
        defines=tuple(macros.items()),
        features=tuple(feature_macros(original, macros).items()),
        annotated_calls=model.annotated_calls,
        private=facts.excerpt.private,
        functions=tuple(each for each in facts.callees if each.name in called(model.statements)),
        include_directories=_used_directories(directories, Path(path), original),
        left_out=checks.other_loops(facts, model.start, model.end, place),
    )


def _with_macros(facts: SourceFacts, text: str, start: int) -> int:
    """The start of the region, extended by what a macro or ``_Pragma`` stands for: a directive for its first loop."""
    directives = [each.offset for each in facts.directives if each.body == start]
    written = [offset for offset in directives if "#" not in text[text.rfind("\n", 0, offset) + 1 : offset]]
    return min(written, default=start)


def _definition(
    facts: SourceFacts, annotated: EditedText, content: bytes, taken: EditedText, file: str
) -> tuple[int, int, int]:
    """The offsets of ``Scop.definition``. Raises UnsupportedConstructError if a macro hides the body's braces."""
    offsets = [annotated.origins[offset] for offset in facts.function.extent]
    start, end = _range(taken, offsets[0], offsets[2])
    _, body = _range(taken, offsets[0], offsets[1])
    if content[offsets[1] - 1 : offsets[1]] + content[offsets[2] - 1 : offsets[2]] != b"{}":
        raise UnsupportedConstructError(
            f"the braces of {facts.function.name} come from a macro",
            file=file,
            line=content[: offsets[0]].count(b"\n") + 1,
            construct=facts.function.name,
            remedy="write them in the source",
        )
    return start, body, end


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    try:
        with temporary_directory() as folder:
            yield folder
    except OSError as error:
        raise no_room(error.strerror or str(error)) from error


def _model(
    job: ReadingJob, facts: SourceFacts, library: PetLibrary, place: Place, annotations: Sequence[Annotation]
) -> Model:
    """The model of the region, or, where pet is to detect it and a call in a loop can't be modelled, of other loops."""
    try:
        return _model_of(job, facts, library, place, annotations)
    except UnsupportedConstructError as error:
        beside = loops_beside(facts, error.line, place) if facts.region is None else None
        if beside is None:
            raise
        try:
            return _model_of(job, facts, library, place, annotations, beside)
        except UnsupportedConstructError:
            raise error from None


def _model_of(
    job: ReadingJob,
    facts: SourceFacts,
    library: PetLibrary,
    place: Place,
    annotations: Sequence[Annotation],
    region: tuple[int, int] | None = None,
) -> Model:
    """The model of a ``region`` of the original text, or of the one that is marked or detected."""

    def read(facts: SourceFacts) -> tuple[SourceFacts, dict[str, Any]]:
        if region is not None:
            facts = _with_region(facts, region)
        return _with_loops_alone(job, facts, _detected(job, facts, library, place), library, place)

    facts, scop = read(facts)
    shift = 0
    if infeasible(scop):
        shift = SHIFT
        facts, scop = read(clang_pass(job, shift))
    return build(scop, facts, place, annotations, shift)


def _with_loops_alone(
    job: ReadingJob, facts: SourceFacts, scop: dict[str, Any], library: PetLibrary, place: Place
) -> tuple[SourceFacts, dict[str, Any]]:
    """The scop that pet detected, without what has to stay in front of its loops and behind them (``loops_alone``).

    Generated code takes the region's place.
    """
    start, end = (facts.shown.origins[scop[name]] for name in ("start", "end"))
    if facts.region is not None:
        return facts, scop
    first, last = loops_alone(facts, start, end, place)
    if (first, last) == (start, end) or not {first, last} <= set(facts.shown.origins):
        return facts, scop
    checks.check_whole_loops(facts, first, last, place)
    checks.check_constructs(facts, first, last, place)
    marked = _with_region(facts, (first, last))
    return marked, pet_pass(job, marked, library)


def _detected(job: ReadingJob, facts: SourceFacts, library: PetLibrary, place: Place) -> dict[str, Any]:
    """The scop that pet detects. If it detects none with a loop, its error for the first loop is raised."""
    try:
        scop = pet_pass(job, facts, library)
    except UnsupportedConstructError as error:
        if facts.region is not None:
            raise
        unexplained = error
    else:
        if facts.region is not None or checks.has_loop(facts, scop):
            return scop
        unexplained = checks.no_loop_found(facts, place)
    first = checks.first_loop(facts, place)
    if first is None:
        checks.check_other_loops(facts, place)
        raise unexplained
    region = (first.offset, first.end)
    checks.check_constructs(facts, *region, place)
    check_team(facts, *region, place)
    pet_pass(job, _with_region(facts, region), library)
    raise unexplained


def _with_region(facts: SourceFacts, region: tuple[int, int]) -> SourceFacts:
    """The facts, shown with pragmas around a region of the original text."""
    shown = facts.shown
    first = shown.origins.index(region[0])
    last = len(shown.origins) - 1 - shown.origins[::-1].index(region[1])
    edits = [Edit(first, first, "\n#pragma scop\n"), Edit(last, last, "\n#pragma endscop\n;\n")]
    return replace(facts, region=region, shown=shown.apply(edits))


def _defines(defines: Mapping[str, str | int]) -> dict[str, str]:
    if not isinstance(defines, Mapping):
        pairs = defines.split() if isinstance(defines, str) else [str(each) for each in defines]
        named = dict(pair.removeprefix("-D").partition("=")[::2] for pair in pairs)
        meant = ", ".join(f'"{name}": {_literal(value or "1")}' for name, value in named.items())
        raise OptionError(
            f"defines is {defines!r}, not a dictionary from names to values",
            remedy=f"defines={{{meant}}}"
            if all(map(_IDENTIFIER.fullmatch, named))
            else 'write it as defines={"N": 64}',
        )
    for name, value in defines.items():
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise OptionError(f"-D {name}: {name!r} is no C identifier", remedy="write -D NAME=VALUE, such as -D N=64")
        if value is None or isinstance(value, bool):
            raise OptionError(
                f"defines has {value} for {name}, which C has no word for", remedy=f'write a number: {{"{name}": 1}}'
            )
        if "\n" in str(value):
            raise OptionError(f"-D {name}: the value has several lines", remedy="write -D NAME=VALUE on one line")
    return {name: str(value) for name, value in defines.items()}


def _literal(value: str) -> str:
    """A macro's value as Python writes it."""
    return value if value.removeprefix("-").isdecimal() else json.dumps(value)


def _checked(path: str | Path, function: str | None) -> Path:
    """The path of the file. Raises OptionError where it, or the function's name, is no such thing."""
    if function is not None:
        of_type("function", function, str, remedy="pass the name of a function of the file")
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise OptionError(f"{path!r} is no path of a file", remedy='pass that of a C file: polydl.parse("nest.c")')
    return Path(path)


def _directories(directories: Sequence[str | Path]) -> tuple[str, ...]:
    directories = listed("include_directories", directories, str, Path)
    for directory in directories:
        if not Path(directory).is_dir():
            raise OptionError(f"there is no include directory {directory}", remedy="name a directory that exists")
        check_path(Path(directory))
    return tuple(str(Path(directory).absolute()) for directory in directories)


def _used_directories(directories: tuple[str, ...], path: Path, text: str) -> tuple[str, ...]:
    """The directories, with the file's own folder if it includes a header in quotes, which generated code needs too."""
    source_directory = str(path.absolute().parent)
    if re.search(r'^\s*#\s*include\s*"', text, re.MULTILINE) and source_directory not in directories:
        return (source_directory, *directories)
    return directories


def _range(taken: EditedText, start: int, end: int) -> tuple[int, int]:
    """The range of the file in characters of what was taken of it, without what was inserted before and behind it."""
    first, last = bisect_right(taken.origins, start) - 1, bisect_left(taken.origins, end)
    before, within = (
        len(part.encode("latin-1").decode("utf-8")) for part in (taken.text[:first], taken.text[first:last])
    )
    return before, before + within
