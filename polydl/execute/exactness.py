"""The check without tolerance: a kernel and the original nest, computed over a ring, agree bit for bit.

Sums and products of a ring may be reordered and regrouped at will without changing the result, so that a term that is
lost, or counted twice, shows however small it is. One program has both functions, or the original and several kernels.
It runs them on full-range random elements twice, with other data each time, on arrays that begin or end at a page that
must not be touched. Machine code takes no part: what is compiled is the C that does without it.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from polydl import vector_functions
from polydl.bfloat16 import CONVERSIONS, with_header
from polydl.codegen import team
from polydl.codegen.original import defines, original
from polydl.element_types import element_dtype
from polydl.execute.build import COMPILE_TIMEOUT_SECONDS
from polydl.execute.own_headers import own_headers, system_headers, write_copies
from polydl.execute.ring_program import FLOATS, SAYS, carried_arrays, driver, exported
from polydl.execute.rings import FIELD, INTEGERS, Ring, has_fractions, over, rewritten_for
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Exactness
from polydl.ir.scop import Array, Scop
from polydl.system.process_group import run_in_group
from polydl.system.sandbox import confined, environment, exit_status_of, inside, is_sandboxed

# No vector instructions but those that every processor has, so that the C for other processors is taken.
_FLAGS = ("-fwrapv", "-w")
# C that is compiled as C++, without C++'s library.
_FIELD_FLAGS = (
    "-std=gnu++17", "-nostdinc++", "-fpermissive", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
    "-fno-strict-aliasing",
)  # fmt: skip
# The program begins in the driver, whatever functions the source has.
_NO_MAIN = "#define main polydl_main_of_source"
# Seconds, measured on one core of an AMD EPYC: of the compilers of C and of C++ without text, of a character of a
# kernel's text, of an instance of a statement, and of an element that is drawn or compared.
_COMPILER_SECONDS, _FIELD_COMPILER_SECONDS, _CHARACTER, _FIELD_CHARACTER = 0.13, 0.2, 1.1e-5, 5e-6
_INSTANCE, _FIELD_INSTANCE, _FIELD_VECTOR_INSTANCE, _ELEMENT = 7e-9, 3.6e-8, 3.2e-9, 17e-9
# From so many instances on, a kernel is compiled with optimizations; one with vectors of the field takes longer.
_MANY_INSTANCES, _MANY_VECTOR_INSTANCES = 10_000_000, 60_000_000
_MOST_BYTES = 2 << 30


def compare_exactly(
    scop: Scop,
    kernel: KernelSource,
    toolchain: Toolchain,
    directory: Path,
    *,
    seed: int = 0,
    timeout_seconds: float = 30.0,
) -> Exactness:
    """Compare a kernel with the original nest of ``scop`` over a ring, in a program that is built in ``directory``.

    ``ring_of`` chooses the ring. Not applicable are elements that are no ``float``, ``double``, ``bfloat16`` or
    integer, sources that are no C++ where the field needs it, and programs that take too long.
    """
    only = compare_unit_exactly(scop, kernel, ("",), toolchain, directory, seed=seed, timeout_seconds=timeout_seconds)
    return only[0]


def compare_unit_exactly(
    scop: Scop,
    kernel: KernelSource,
    endings: Sequence[str],
    toolchain: Toolchain,
    directory: Path,
    *,
    seed: int = 0,
    timeout_seconds: float = 30.0,
) -> tuple[Exactness, ...]:
    """The same of every kernel in the text of one, by what the names in its harness end with. One ring is for all.

    ``seconds`` are those of the whole check, for each of them.
    """
    start = time.monotonic()
    plain = original(scop)
    odd = next((array for array in carried_arrays(scop) if not _fits(array)), None)
    if odd is not None:
        return _none(endings, f"elements of {odd.name} are of type {odd.element}")
    if 2 * sum(array.bytes for array in carried_arrays(scop)) > _MOST_BYTES:
        return _none(endings, "the arrays are too large")
    ring = ring_of(scop, kernel)
    directory = directory.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    suffix = ".c" if ring == INTEGERS else ".cc"
    called = vector_functions.leaves(scop, vector_functions.called(scop.statements))
    functions = called - CONVERSIONS if vector_functions.includes_math(scop) else ()
    prepares = kernel.interface.prepared is not None
    compared = f"{exported(endings, prepares=prepares)}\n{kernel.c}\n{kernel.harness}"
    given = [f"{_NO_MAIN}\n{text}" for text in (_renamed(scop, plain), compared)]
    of_user = [with_header(scop.source)]
    headers = own_headers(of_user, kernel.compile_flags)
    includes = system_headers([*of_user, *headers.values()], headers)
    texts = over(ring, given, functions, includes, kernel.ingredients)
    copies = write_copies(headers, partial(rewritten_for, ring), directory / "headers")
    sources = [directory / f"{name}{suffix}" for name in ("original", "kernel")]
    for source, text in zip(sources, texts, strict=True):
        source.write_text(text, encoding="utf-8")
    calling, program = directory / "driver.c", directory / "program"
    calling.write_text(driver(scop, ring, seed, endings, prepares=prepares), encoding="utf-8")
    folders = (copies, *(flag for flag in kernel.compile_flags if flag.startswith("-I")))
    effort = _effort(scop, vectors=ring == FIELD and bool(kernel.ingredients.vector_types))
    try:
        error = _built(_commands(toolchain, ring, effort, folders, sources, calling, program), directory)
        if error is not None:
            return _none(endings, f"it can't be compiled over the ring: {error}")
        verdicts = _verdicts(scop, program, directory, range(len(endings)), timeout_seconds)
    except subprocess.TimeoutExpired:
        return _none(endings, "it takes too long")
    seconds = time.monotonic() - start
    return tuple(
        replace(verdict, ring=ring, seconds=seconds) if verdict.verdict != "not applicable" else verdict
        for verdict in map(verdicts.__getitem__, range(len(endings)))
    )


def _none(endings: Sequence[str], reason: str) -> tuple[Exactness, ...]:
    return (Exactness("not applicable", "", reason),) * len(endings)


def _verdicts(
    scop: Scop, program: Path, directory: Path, numbers: Iterable[int], timeout_seconds: float
) -> dict[int, Exactness]:
    """Of each kernel; without those that end the program, it runs again. Raises TimeoutExpired."""
    left, verdicts = list(numbers), dict[int, Exactness]()
    array_bytes = 2 * sum(array.bytes for array in carried_arrays(scop))
    while left:
        running = confined([str(program), *map(str, left)], directory, array_bytes)
        ran = run_in_group(running, directory, timeout_seconds=timeout_seconds, environment=environment(os.environ))
        status = exit_status_of(ran.returncode) if is_sandboxed() else ran.returncode
        lines = [line.split() for line in re.findall(rf"^{SAYS}(.*)$", ran.stdout, re.MULTILINE)] or [["original"]]
        differing = {int(words[1]): words[2:] for words in lines if words[0] == "differs" and len(words) == 7}
        last = lines[-1]
        if last[0] == "kernel":
            ended = int(last[1])
            message = f"it ends its program with status {status}, as where it leaves an array"
            verdicts[ended] = Exactness("differs", "", message)
            left.remove(ended)
            continue
        if last == ["end"] and status == 0:
            for number in left:
                differs = number in differing
                reason = _difference(scop, differing[number]) if differs else ""
                verdicts[number] = Exactness("differs" if differs else "agrees", "", reason)
            break
        reason = f"its program ends with status {status} behind the line {' '.join(last)!r}"
        if last == ["original"]:
            reason = f"the original nest ends its program with status {status}"
        verdicts.update(dict.fromkeys(left, Exactness("not applicable", "", reason)))
        break
    return verdicts


def estimated_seconds(scop: Scop, kernel: KernelSource, *more: KernelSource) -> float:
    """About how long the check takes on one core: the compiler, then all functions twice. One program has ``more``."""
    kernels = (kernel, *more)
    in_field = ring_of(scop, kernel) == FIELD
    # What chooses how many threads a call takes is left out where there is no OpenMP.
    of_teams = len(team.support())
    characters = sum(len(each.c) - (of_teams if each.ingredients.chooses_threads else 0) for each in kernels)
    compiler, character, instance = _COMPILER_SECONDS, _CHARACTER, _INSTANCE
    if in_field:
        vectors = any(each.ingredients.vector_types for each in kernels)
        compiler, character = _FIELD_COMPILER_SECONDS, _FIELD_CHARACTER
        instance = _FIELD_VECTOR_INSTANCE if vectors else _FIELD_INSTANCE
    elements = sum(array.elements for array in carried_arrays(scop))
    runs = 2 * (1 + len(kernels))
    return compiler + characters * character + runs * (_instances(scop) * instance + elements * _ELEMENT)


def ring_of(scop: Scop, kernel: KernelSource) -> Ring:
    """The field where something real is divided, a literal is a fraction or ``float`` meets ``double``, else integers.

    A float is an integer modulo 2^32 and a double one modulo 2^64, so that a product of floats is another one when they
    are converted first. In the field both are the same numbers.
    """
    elements = {array.element for array in scop.arrays}
    if {"float", "double"} <= elements:
        return FIELD
    nodes = [node for each in scop.statements for node in each.body.walk()]
    divides = any(node.text.removesuffix("=") == "/" for node in nodes)
    # Some come from macros, of headers as well.
    literals = " ".join(node.text for node in nodes if node.kind == "literal")
    fractions = any(map(has_fractions, (scop.source, defines(scop), literals)))
    fractions = fractions or any(factor.denominator != 1 for factor in kernel.ingredients.factors)
    return FIELD if not elements.isdisjoint(FLOATS) and (divides or fractions) else INTEGERS


def _fits(array: Array) -> bool:
    return array.element in FLOATS or element_dtype(array.element).kind in "iub"


def _renamed(scop: Scop, plain: KernelSource) -> str:
    """The original under other names, since the kernel's function and variables have its names in the same program."""
    variables = (array.name for array in scop.arrays if array.storage == "global")
    names = (scop.function.name, *variables, "polydl_invoke", "polydl_global")
    hidden = [f"#define {name} polydl_original_{name}" for name in names]
    return "\n".join([*hidden, exported(("",), prepares=False), plain.c, plain.harness])


def _instances(scop: Scop) -> int:
    return sum(statement.instances for statement in scop.statements)


def _effort(scop: Scop, *, vectors: bool) -> str:
    """How far a kernel is optimized: where little is computed, the compiler takes most of the time."""
    if vectors:
        return "-O0" if _instances(scop) < _MANY_VECTOR_INSTANCES else "-Og"
    return "-O0" if _instances(scop) < _MANY_INSTANCES else "-O1"


def _built(commands: Sequence[Sequence[str]], directory: Path) -> str | None:
    """Run the compilers, all but the last at the same time; the first error of one that fails, or None.

    It comes without its place, which is in a file that is gone when it is read.
    """

    def compiled(command: Sequence[str]) -> str | None:
        compiler = inside(command, directory) if is_sandboxed() else command
        built = run_in_group(compiler, directory, timeout_seconds=COMPILE_TIMEOUT_SECONDS)
        errors = [line for line in built.stderr.splitlines() if "error" in line] or built.stderr.splitlines()
        if built.returncode == 0:
            return None
        first = errors[0] if errors else ""
        return first.partition("error: ")[2] or first

    *objects, last = commands
    with ThreadPoolExecutor(len(objects)) as pool:
        failed = [error for error in pool.map(compiled, objects) if error is not None]
    return failed[0] if failed else compiled(last)


def _commands(
    toolchain: Toolchain,
    ring: Ring,
    effort: str,
    folders: Iterable[str],
    sources: Sequence[Path],
    driver: Path,
    program: Path,
) -> list[list[str]]:
    """Those that compile the original, and the kernel with ``effort``, and the one that makes the program of them."""
    language = ("-std=gnu11", "-fcommon") if ring == INTEGERS else _FIELD_FLAGS
    kind = "c" if ring == INTEGERS else "c++"
    objects = [source.with_suffix(".o") for source in sources]
    flags = (*_FLAGS, *toolchain.plain_addresses, *language)
    # The original is short.
    commands = [
        [str(toolchain.path), each, *flags, *folders, "-x", kind, "-c", str(source), "-o", str(object_)]
        for source, object_, each in zip(sources, objects, ("-O2", effort), strict=True)
    ]
    # Global arrays and functions of the source are in both files, and mean the same.
    link = ["-o", str(program), "-Wl,--allow-multiple-definition", *toolchain.openmp_flags, "-lm"]
    return [*commands, [str(toolchain.path), "-O1", *map(str, objects), "-x", "c", str(driver), *link]]


def _difference(scop: Scop, words: list[str]) -> str:
    """In words, from what the driver printed: the array's number, the index, both values, the count."""
    number, at, kernel, expected, count = (int(word) for word in words)
    array = carried_arrays(scop)[number]
    subscripts = np.unravel_index(at, array.extents) if array.extents else ()
    element = array.name + "".join(f"[{int(subscript)}]" for subscript in subscripts)
    return (
        f"`{element}` is {kernel}, and the original nest gives {expected}; {count} of {array.elements} elements differ"
    )
