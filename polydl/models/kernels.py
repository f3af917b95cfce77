"""The kernels of a model: each distinct nest is optimized once, and its answer is kept for other models."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl.arguments import of_type, truth_of
from polydl.bfloat16 import with_header
from polydl.errors import OptionError, PolydlError, ResourceError
from polydl.execute.toolchain import Toolchain
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics, numerics_level
from polydl.machine import Machine
from polydl.models.layout import ValueType, element_bytes
from polydl.optimization.budget import BUDGETS, Budget
from polydl.system.files import temporary_directory
from polydl.system.process_group import run_in_group
from polydl.system.sandbox import inside, is_sandboxed

if TYPE_CHECKING:
    from polydl.ir.kernel import KernelSource
    from polydl.optimization.optimized import Optimization
    from polydl.outcome.baselines import Baseline

#: What stands in the C text for the function's name, which is a digest of the text.
PLACE_OF_NAME = "kernel"
#: The thread-local pointer to memory that all kernels of a model share, so that it stays in the caches.
SCRATCH_NAME = "polydl_scratch"
_AUTOMATIC_PICKS = 4
_MOST_VARIANTS = 100
# Another model in the same program may have other kernels of the same names: each calls those of its own library.
_HIDDEN = "-fvisibility=hidden"
_FLAGS = ("-O3", "-march=native", "-fopenmp", _HIDDEN, "-c", "-fPIC")


@dataclass(frozen=True)
class KernelOptions:
    """How the nests of a model are optimized; the options are those of ``polydl.optimize``.

    Raises OptionError for a budget, a numerics level or a place of records that is none, and for another type.
    """

    #: of the search for each distinct nest, such as ``30s``; None where only the first of the ranking are run
    budget: str | None = None
    #: variants at the head of the ranking that are run
    top_k: int = _AUTOMATIC_PICKS
    #: at most so many of each nest are ranked
    max_variants: int = _MOST_VARIANTS
    numerics: Numerics = DEFAULT_NUMERICS
    #: whether bilinear algorithms may be used
    fewer_products: bool = True
    #: whether constants are taken to come from memory at each call (``constants_are_cold``)
    cold_constants: bool = False
    #: a directory of earlier measurements; True for the user's, False for none
    records: str | Path | bool = True

    def __post_init__(self) -> None:
        from polydl.records.store import directory_of

        numerics_level(self.numerics)
        truth_of("fewer_products", self.fewer_products)
        directory_of(self.records)
        if self.budget is not None:
            Budget.parse(of_type("budget", self.budget, str, remedy=f"write {BUDGETS}"))

    @property
    def directory(self) -> Path | None:
        """The directory of earlier measurements, if there is to be one."""
        from polydl.records.store import directory_of

        return directory_of(self.records)


def constants_are_cold(elements: int, value_type: ValueType, machine: Machine) -> bool:
    """Whether a model with so many constants of that type finds few of them in the caches when it is called again.

    Half of the last cache is left to its values, and to what kernels make of constants beforehand.
    """
    return bool(machine.caches) and elements * element_bytes(value_type) > machine.caches[-1].bytes // 2


@dataclass(frozen=True)
class ModelSetting:
    """What all nests of a model have in common."""

    machine: Machine
    options: KernelOptions
    #: what ``polydl.records.questions.installation`` returned
    installed: Sequence[str] | None


@dataclass(frozen=True)
class OperatorNest:
    """What is optimized for an operator."""

    #: C with ``PLACE_OF_NAME``
    text: str
    #: parameters that hold the same at every call
    constants: tuple[str, ...] = ()
    #: sizes in bytes of the arrays that it takes last, and that no other operator needs
    scratch: tuple[int, ...] = ()


@dataclass(frozen=True)
class OperatorKernel:
    """The C of one nest, and how it is compiled."""

    function: str
    #: text of the translation unit
    c: str
    #: a shell line that makes ``<function>_polydl.o`` of ``<function>_polydl.c``, both in the current directory
    object_line: str
    #: median time of a call at optimize time; None if it was not measured
    seconds: float | None
    #: in words: what was chosen, or why the loops stay as they were written
    choice: str
    #: size of the buffer that ``<function>_prepare`` fills from the constants, for ``<function>_run`` to be called in
    #: place of the function; 0 where nothing is prepared
    prepared_bytes: int = 0
    #: of memory that a call needs beside its arguments: from the thread-local pointer ``SCRATCH_NAME`` on
    scratch_bytes: int = 0
    #: what ``object_line`` makes; empty where it is still to be made
    compiled: bytes = field(default=b"", repr=False)

    @property
    def digest(self) -> str:
        """Of its C and of how that is compiled."""
        return hashlib.sha256(f"{self.object_line}\n{self.c}".encode()).hexdigest()


def named(text: str) -> tuple[str, str]:
    """The function's name that follows from the text of a nest, and the text with it."""
    name = f"kernel_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return name, text.replace(f"void {PLACE_OF_NAME}(", f"void {name}(")


def kernel(nest: OperatorNest, setting: ModelSetting) -> OperatorKernel:
    """The fastest kernel of a nest, which is stored.

    A nest that can't be optimized keeps its loops, with the reason in ``choice``. Raises OptionError for an option that
    is not valid, which is so for all nests.
    """
    with _file_of(nest) as path:
        try:
            return _optimized(path, nest.constants, setting)
        except OptionError:
            raise
        except PolydlError as error:
            return as_written(nest, error.message)


def stored_kernel(nest: OperatorNest, setting: ModelSetting) -> OperatorKernel | None:
    """What ``kernel`` stored of such a nest; None if it didn't."""
    from polydl.records import answers

    with _file_of(nest) as path:
        records = setting.options.directory
        digest = _question(path, nest.constants, setting) if records is not None else None
        if records is None or digest is None:
            return None
        answer = answers.find(records, digest)
    if not isinstance(answer, answers.Answer) or answer.function != path.stem or "kernel" not in answer.document:
        return None
    described, compiled = answer.document["kernel"], answer.files.get("object", b"")
    return OperatorKernel(answer.function, answer.files["c"].decode(), **described, compiled=compiled)


@contextmanager
def _file_of(nest: OperatorNest) -> Iterator[Path]:
    """A file with the nest's C, whose name is the function's."""
    function, source = named(nest.text)
    with temporary_directory() as folder:
        path = folder / f"{function}.c"
        path.write_text(source, encoding="utf-8")
        yield path


def as_written(nest: OperatorNest, reason: str) -> OperatorKernel:
    """A kernel of the loops of a nest as they stand."""
    function, source = named(nest.text)
    line = " ".join((Toolchain.find().command, *_FLAGS, f"{function}_polydl.c", "-o", f"{function}_polydl.o"))
    return OperatorKernel(function, with_header(source), line, None, f"the loops as they are: {reason}")


def _optimized(path: Path, constants: tuple[str, ...], setting: ModelSetting) -> OperatorKernel:
    from polydl.optimization.optimize import optimize
    from polydl.records import answers
    from polydl.report.documents import optimization_document

    options = setting.options
    result = optimize(
        path,
        machine=setting.machine,
        constant=constants,
        top_k=options.top_k,
        max_variants=options.max_variants,
        microkernel=_self_contained(),
        numerics=options.numerics,
        fewer_products=options.fewer_products,
        cold="constants" if options.cold_constants and constants else False,
        budget=options.budget,
        records=options.records,
        out=path.parent / "out",
        calibrate=True,
    )
    result = _with_one_openmp(result, path.parent / "out")
    kept = _description(result)
    best = OperatorKernel(path.stem, result.source, **kept)
    best = replace(best, compiled=object_of(best))
    records = options.directory
    digest = _question(path, constants, setting) if records is not None else None
    if records is not None and digest is not None:
        document = {**optimization_document(result), "kernel": kept}
        try:
            contents = answers.written_files(result.files, result.library_sha256)
            if best.compiled:
                contents["object"] = best.compiled
            answers.keep(records, digest, answers.Answer(document, contents))
        except ResourceError as error:
            # It is a kernel all the same.
            warnings.warn(f"the next time optimizes {best.function} again: {error}", stacklevel=2)
    return best


def _with_one_openmp(result: Optimization, folder: Path) -> Optimization:
    """A result whose winner has threads of the model's own compiler, or none: a model links one library of OpenMP's.

    Where the plain nest wins with others, what is fastest without them is emitted in its place. If that prepares its
    constants, a model calls both of its parts, which are verified, and never the function that does both.
    """
    from polydl.emission.emit import write_winner

    def fits(baseline: Baseline) -> bool:
        return baseline.build.threads == 1 or baseline.build.toolchain == result.toolchain

    if result.plain is None or fits(result.plain):
        return result
    fitting = replace(result, baselines=tuple(filter(fits, result.baselines)))
    files = write_winner(fitting, folder)
    return replace(fitting, files=files.paths, library_sha256=files.library_sha256)


def object_of(kernel: OperatorKernel) -> bytes:
    """The object of a kernel's C; empty if it does not compile, which the model's own compilation then says."""
    with temporary_directory() as folder:
        (folder / f"{kernel.function}_polydl.c").write_text(kernel.c, encoding="utf-8")
        command = ["/bin/sh", "-c", kernel.object_line]
        run_in_group(inside(command, folder) if is_sandboxed() else command, folder, timeout_seconds=None)
        made = folder / f"{kernel.function}_polydl.o"
        return made.read_bytes() if made.exists() else b""


def _self_contained() -> str:
    """The microkernels whose C needs no library."""
    from polydl import registry

    return ",".join(name for name in registry.names("microkernels") if not registry.load("microkernels", name).library)


def _question(path: Path, constants: tuple[str, ...], setting: ModelSetting) -> str | None:
    from polydl.execute.toolchain import found_compilers
    from polydl.records.questions import question

    shown = {name: value for name, value in vars(setting.options).items() if name != "records"}
    shown["cold_constants"] = setting.options.cold_constants and bool(constants)
    return question(
        path.read_bytes(),
        directory=path.parent,
        include_directories=(),
        machine=setting.machine,
        compilers=found_compilers(),
        options={"model": True, "constant": list(constants), **shown},
        installed=setting.installed,
    )


def _with_flags(kernel: KernelSource, *flags: str) -> KernelSource:
    """A kernel that is compiled with further flags."""
    return replace(kernel, compile_flags=(*kernel.compile_flags, *flags))


def _description(result: Optimization) -> dict[str, Any]:
    """What is kept of an optimization beside its files."""
    from polydl.codegen.dealt import without_dealing
    from polydl.codegen.kept_memory import SCRATCH
    from polydl.emission.linking import lines
    from polydl.emitted_names import emitted_names
    from polydl.plan.step_words import variant_in_words

    names = emitted_names(result.exported, Path())
    best, plain, toolchain = result.winner, result.plain, result.toolchain
    assert toolchain is not None
    if plain is not None:
        kernel = _with_flags(without_dealing(plain.build.kernel), _HIDDEN)
        line = lines(kernel, plain.build.toolchain, names)["object"]
        return {"object_line": line, "seconds": plain.seconds, "choice": f"the loops as they are, {plain.name}"}
    assert best is not None
    line = lines(_with_flags(best.kernel, _HIDDEN, f"-D{SCRATCH}={SCRATCH_NAME}"), toolchain, names)["object"]
    words = "; ".join(variant_in_words(result.scop, best.ranked.variant)) or "no step"
    return {
        "object_line": line,
        "seconds": best.measurement.seconds_median,
        "choice": words,
        "prepared_bytes": best.kernel.prepared_bytes,
        "scratch_bytes": best.kernel.reserved_bytes,
    }
