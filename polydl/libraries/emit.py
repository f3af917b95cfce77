"""What a library is taken home as: one C file, a header, a shared library, and a manifest of what was measured."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from math import exp, log
from pathlib import Path
from typing import Any

from polydl.codegen.tvm_ffi import ForeignCall, foreign_call
from polydl.emission.emit import EmittedFiles, head_comment, own_directory, processor_clause, tensors_clause, write_unit
from polydl.emitted_names import LIBRARY_FILE, SLOWDOWN_FILE, FileKind, emitted_names
from polydl.errors import ExecutionError
from polydl.ir.counts import counted
from polydl.ir.interface import Clause, Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import INTEGERS
from polydl.libraries.chosen import ChosenLibrary
from polydl.libraries.decision import Condition, Decision, choose
from polydl.libraries.open_shapes import open_shapes
from polydl.libraries.ranges import every_size
from polydl.libraries.slowdown_plot import slowdown_plot
from polydl.system.files import write_atomically

MANIFEST = (LIBRARY_FILE, f"the manifest: kernels, decision and measurements, which {SLOWDOWN_FILE} draws")


def emitted(library: ChosenLibrary, directory: Path | None) -> EmittedFiles:
    """Write the library's files to a directory, or to one that goes away with the process.

    The manifest has the kind ``manifest``, and the figure of its slow-downs, which takes matplotlib, ``plot``. Raises
    ResourceError, ExecutionError, OptionError where a file that polydl did not write would be replaced.
    """
    folder = directory or own_directory()
    code = library.kernel
    names = emitted_names(code.function, folder)
    shapes = open_shapes(library.nest)
    foreign = None if shapes is None else foreign_call(library.nest.source, code.function, shapes)
    if foreign is not None:
        code = replace(code, c="".join([foreign.definitions, code.c, foreign.function]))
    contents = _interface(library, code, foreign)
    manifest = json.dumps(library_document(library), indent=1) + "\n"
    plot = folder / SLOWDOWN_FILE
    drawn = slowdown_plot(library.shapes, library.slowdowns, library.settings.max_slowdown)
    try:
        files = write_unit(code, contents, _head(library, code, names), library.toolchain, names, MANIFEST, manifest)
    except ExecutionError:
        # As the manifest, it would be that of an earlier library.
        plot.unlink(missing_ok=True)
        raise
    paths = {**files.paths, "manifest": folder / MANIFEST[0]}
    if drawn is None:
        plot.unlink(missing_ok=True)
    else:
        write_atomically(plot, drawn)
        paths["plot"] = plot
    return replace(files, paths=paths)


def library_document(library: ChosenLibrary) -> dict[str, Any]:
    """The manifest. Times are in seconds, sizes of tiles in iterations."""
    scop = library.nest.scop
    return {
        "polydl": version("polydl"),
        "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "source": Path(scop.file).name,
        "function": library.exported,
        "ranges": {
            each.name: str(each).partition("=")[2] for each in every_size(library.nest.ranges, library.nest.leading)
        },
        "defines": library.nest.defines,
        "machine": {"name": library.machine.name, "threads": library.machine.threads},
        "compiler": " ".join((library.toolchain.command, *library.toolchain.flags)),
        "seed": library.settings.seed,
        "max_slowdown": library.settings.max_slowdown,
        "kernels": [
            {"id": identity, "words": kernel.words(library.nest, library.product), **kernel.document()}
            for identity, kernel in library.kernels.items()
        ],
        **({"without_kernels": library.without_kernels} if library.without_kernels else {}),
        "decision": _decision_document(library.decision),
        "slowdown": {"worst": max(library.slowdowns), "mean": mean_slowdown(library)},
        "shapes": [
            {"sizes": dict(shape), "chosen": choose(library.decision, shape), "slowdown": slowdown, "seconds": dict(at)}
            for shape, at, slowdown in zip(library.shapes, library.times, library.slowdowns, strict=True)
        ],
    }


def mean_slowdown(library: ChosenLibrary) -> float:
    """The geometric mean over the measured shapes."""
    return exp(sum(map(log, library.slowdowns)) / len(library.slowdowns))


def _decision_document(decision: Decision) -> Any:
    if isinstance(decision, Condition):
        return {
            "sizes": list(decision.sizes),
            "at_most": decision.bound,
            "then": _decision_document(decision.holds),
            "else": _decision_document(decision.fails),
        }
    return decision.kernel


def _head(library: ChosenLibrary, code: KernelSource, names: Mapping[FileKind, Path]) -> str:
    scop = library.nest.scop
    ranges = ", ".join(map(str, library.nest.ranges))
    threads = counted(library.machine.threads, "thread")
    fixed = " ".join(f"-D {name}={value}" for name, value in library.nest.defines.items())
    told = (
        f"{counted(len(library.kernels), 'kernel')}, chosen at {counted(len(library.shapes), 'shape')}: at most "
        f"{max(library.slowdowns):.2f} times the time of the fastest that was measured there, "
        f"{mean_slowdown(library):.2f} in the geometric mean."
    )
    if library.without_kernels:
        told = f"No kernels: at all sizes the loops run as they were written. Of kernels, {library.without_kernels}."
    rows = [
        f"Generated by polydl from {Path(scop.file).name} (function {scop.function.name}).",
        *textwrap.wrap(f"For {ranges}; right for any size.", 100),
        *textwrap.wrap(f"Fixed for the whole library: {fixed}" if fixed else "", 100),
        f"Tuned for {library.machine.name}, {threads}, on {datetime.now(UTC):%Y-%m-%d}.",
        *textwrap.wrap(told, 100),
    ]
    return head_comment(rows, code, library.toolchain, names)


def _interface(library: ChosenLibrary, code: KernelSource, foreign: ForeignCall | None) -> Interface:
    product = library.product
    numerics = (
        "Sums may be added up in another order than the source's, in its precision; the compiler may fuse multiply and "
        "add."
    )
    if not library.nest.source.rounds:
        numerics = f"{INTEGERS.capitalize()}."
    elif not library.kernels:
        numerics = "Sums are added up in the source's order; the compiler may fuse multiply and add."
    elif product is not None and product.scale:
        numerics = (
            f"The products of a tile are added up before they are multiplied by {product.scale}, in "
            f"{product.element}; the compiler may fuse multiply and add."
        )
    tuned = processor_clause(library.machine, library.toolchain, code, "make the library again")
    more = [Clause("Numerics", numerics), tuned, *([] if foreign is None else [_tensors(library, foreign)])]
    return replace(code.interface, clauses=(*code.interface.clauses, *more))


def _tensors(library: ChosenLibrary, foreign: ForeignCall) -> Clause:
    clause = tensors_clause(foreign)
    fixed = ", ".join(f"{name} must be {size} (-D {name}={size})" for name, size in library.nest.fixed.items())
    return replace(clause, text=f"{clause.text} {fixed}.") if fixed else clause
