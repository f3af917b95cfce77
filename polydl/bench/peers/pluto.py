"""What Pluto, the source-to-source compiler, makes of a nest: by its driver ``polycc``, in several ways.

Pluto reads what stands between ``#pragma scop`` and ``#pragma endscop``, without macros. So the region is given to it
preprocessed, and what comes out takes the region's place in the user's source.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from polydl import bfloat16
from polydl.bench.peers.native import UnavailableError
from polydl.codegen.function_text import region
from polydl.codegen.original import defines, include_flags, original
from polydl.codegen.parallel_source import without_directives
from polydl.errors import MissingComponentError
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.optimization.plain_builds import fast_flags
from polydl.system.files import reason_of, temporary_directory, text_of
from polydl.system.process_group import run_in_group

if TYPE_CHECKING:
    from polydl.ir.scop import Scop
    from polydl.optimization.optimized import Optimization

#: The environment variable with the path of ``polycc`` where that is not in ``PATH``.
VARIABLE = "POLYDL_POLYCC"
REMEDY = f"build Pluto, as experiments/pluto/build.sh does, and put polycc in PATH or its path in {VARIABLE}"

# For one call of polycc, since integer programs may take hours, and for all of a front-end's: none begins later.
_TIMEOUT_SECONDS = 60.0
_ALL_SECONDS = 240.0
# Pluto's defaults are the first of each.
_FUSIONS = ("--smartfuse", "--nofuse", "--maxfuse")
_TILES = ("--tile", "--notile")
_UNROLLED = ("--unrolljam", "--nounrolljam")
# Beside those, one change of what is Pluto's default.
_FURTHER = (
    ("--tile", "--noprevector"),
    ("--tile", "--second-level-tile"),
    ("--tile", "--determine-tile-size"),
)
_FURTHER_THREADS = (("--tile", "--nodiamond-tile"), ("--tile", "--innerpar"))
# The front-ends: Clan, which is the default, and pet, which knows more of C and may not have been built.
_FRONT_ENDS = ((), ("--pet",))
_BEGIN, _END = "#pragma polydl_region begin", "#pragma polydl_region end"
_REGION = re.compile(rf"^{re.escape(_BEGIN)}$(.*)^{re.escape(_END)}$", re.DOTALL | re.MULTILINE)
# Pluto's code calls these, which it defines at the top of the file.
_DEFINED = {
    "ceild(n, d)": "(((n) < 0) ? -((-(n)) / (d)) : ((n) + (d) - 1) / (d))",
    "floord(n, d)": "(((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))",
    "max(x, y)": "((x) > (y) ? (x) : (y))",
    "min(x, y)": "((x) < (y) ? (x) : (y))",
}
_NAMES = [head.partition("(")[0] for head in _DEFINED]
_FUNCTIONS = "".join(
    f'#pragma push_macro("{name}")\n#undef {name}\n#define {head} {body}\n'
    for name, (head, body) in zip(_NAMES, _DEFINED.items(), strict=True)
)
_FORGOTTEN = "".join(f'#undef {name}\n#pragma pop_macro("{name}")\n' for name in _NAMES)
# Pluto's variables, and the prefix of the user's of such names while Pluto reads them.
_VARIABLES = re.compile(r"\b(?:t\d+|[lu]b[pv2]?)\b")
_USERS = "polydl_user_"


class UntranslatedError(Exception):
    """A compiler makes nothing of a nest; the message says why."""


@dataclass(frozen=True)
class Translation:
    """A nest as a peer translates it, in one way of several."""

    kernel: KernelSource
    #: the way, beyond the compiler and its flags; "" where there is but one
    way: str = ""


def polycc() -> Path:
    """Pluto's driver: what the environment names, or else what is in ``PATH``. Raises MissingComponentError."""
    named = os.environ.get(VARIABLE, "")
    path = shutil.which(named or "polycc")
    if path is None:
        reason = f"{VARIABLE} names {named}, which is no program" if named else "there is no polycc"
        raise MissingComponentError(reason, remedy=REMEDY)
    return Path(path).absolute()


def toolchain() -> Toolchain:
    """The compiler of what Pluto makes, if Pluto is there. Raises MissingComponentError, OptionError."""
    polycc()
    return Toolchain.find()


def translations(result: Optimization) -> tuple[Translation, ...]:
    """The nest of an optimization as Pluto translates it in each way, with the same text once.

    With several threads, ways that make no threads take part as well. Raises UntranslatedError where Pluto makes
    nothing of it, MissingComponentError.
    """
    driver = polycc()
    nest = original(result.scop)
    nest = replace(nest, compile_flags=(*nest.compile_flags, *fast_flags(result.numerics)))
    reasons: list[str] = []
    with temporary_directory() as directory:
        name = " ".join(("polycc", *_version(driver, directory)))
        for front_end in _FRONT_ENDS:
            try:
                text = _given(result.scop, bool(front_end), directory)
            except UnavailableError as error:
                reasons.append(str(error))
                continue
            codes: dict[str, tuple[str, ...]] = {}
            end = time.monotonic() + _ALL_SECONDS
            for number, way in enumerate(_ways(result.machine.threads)):
                # Each kind of fusion has had its turn.
                hopeless = number >= len(_FUSIONS) and not codes
                if hopeless or (number and time.monotonic() > end):
                    break
                folder = directory / f"{len(front_end)}-{number}"
                folder.mkdir()
                try:
                    codes.setdefault(_translated(driver, text, (*front_end, *way), folder), (*front_end, *way))
                except UntranslatedError as error:
                    reasons.append(str(error))
            if codes:
                return tuple(
                    Translation(replace(nest, c=_spliced(result.scop, code)), f"{name} {' '.join(way)}")
                    for code, way in codes.items()
                )
    raise UntranslatedError(reasons[0])


def _ways(threads: int) -> Iterator[tuple[str, ...]]:
    """The options of each call of polycc, which makes threads unless it is told not to.

    Where one kind of fusion takes too long, so it does in all its ways, and there is time for another one's.
    """
    serial = (*product(_TILES, _UNROLLED, _FUSIONS), *_FURTHER)
    if threads > 1:
        yield from ((*way, "--parallel") for way in (*serial, *_FURTHER_THREADS))
    yield from ((*way, "--noparallel") for way in serial)


def _given(scop: Scop, whole: bool, directory: Path) -> str:
    """The C that polycc gets: the region without macros, or the ``whole`` file. Raises UnavailableError."""
    source = without_directives(scop)
    start, end = scop.region[0], scop.region[1] + len(source) - len(scop.source)
    marked = f"\n{_BEGIN}\n#pragma scop\n{region(scop, source)}\n#pragma endscop\n{_END}\n"
    path = directory / "nest.c"
    path.write_text(_c(scop, source[:start] + marked + source[end:]), encoding="utf-8")
    # pet reads what clang's headers say, not gcc's.
    compiler = shutil.which("clang") if whole else str(Toolchain.find().path)
    if compiler is None:
        raise UnavailableError("there is no clang, whose headers pet reads")
    command = [compiler, "-E", "-P", *include_flags(scop), str(path)]
    try:
        done = run_in_group(command, directory, timeout_seconds=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"{compiler} can't be run: {reason_of(error)}") from None
    inside = _REGION.search(done.stdout)
    if done.returncode or inside is None:
        raise UnavailableError(f"{compiler} can't preprocess the nest: {_complaint(done.stderr)}")
    return done.stdout if whole else _VARIABLES.sub(lambda name: _USERS + name.group(), inside.group()) + "\n"


def _translated(driver: Path, text: str, options: Sequence[str], folder: Path) -> str:
    """What takes the region's place. Raises UntranslatedError."""
    given, output = folder / "nest.c", folder / "nest.pluto.c"
    given.write_text(text, encoding="utf-8")
    command = [str(driver), given.name, *options, "--silent", "-o", output.name]
    try:
        done = run_in_group(command, folder, timeout_seconds=_TIMEOUT_SECONDS, merged=True)
    except subprocess.TimeoutExpired:
        raise UntranslatedError(f"polycc {' '.join(options)} takes more than {_TIMEOUT_SECONDS:.0f} s") from None
    except OSError as error:
        raise UntranslatedError(f"polycc can't be run: {reason_of(error)}") from None
    try:
        inside = _REGION.search(text_of(output))
    except (OSError, UnicodeDecodeError):
        inside = None
    if done.returncode or inside is None:
        raise UntranslatedError(f"polycc {' '.join(options)}: {_complaint(done.stdout)}")
    code = _VARIABLES.sub(lambda name: f"pluto_{name.group()}", inside.group(1))
    # Loops that Pluto proves to be parallel, with the pragmas of another compiler.
    code = re.sub(r"#pragma ivdep\b", "#pragma GCC ivdep", code).replace("#pragma vector always\n", "")
    return _FUNCTIONS + "{\n" + code.replace(_USERS, "").strip("\n") + "\n}\n" + _FORGOTTEN


def _version(driver: Path, directory: Path) -> list[str]:
    """Pluto's version, which polycc says and then fails, for want of a file; none where it says none."""
    try:
        said = run_in_group([str(driver), "--version"], directory, timeout_seconds=_TIMEOUT_SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    return re.findall(r"^PLUTO version (\S+)", said)[:1]


def _c(scop: Scop, source: str) -> str:
    return defines(scop) + bfloat16.with_header(source)


def _complaint(output: str) -> str:
    """The line of a program's output that says what was wrong: the first of an error, or else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    named = [line for line in lines if re.search(r"error|assertion", line, re.IGNORECASE)]
    return (named or lines[-1:] or ["it failed and says nothing"])[0]


def _spliced(scop: Scop, code: str) -> str:
    """The user's source with other code in place of its region."""
    start, end = scop.region
    return _c(scop, f"{scop.source[:start]}\n{code}\n{scop.source[end:]}")
