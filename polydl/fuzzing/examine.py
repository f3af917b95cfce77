"""One nest on the whole way: C text, scop, space, variants, C, compiler, run, comparison."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from polydl import registry
from polydl.codegen.original import original
from polydl.errors import AnalysisError, CodegenError, IllegalVariantError, PolydlError, UserError
from polydl.execute.tolerance import tolerance
from polydl.execute.toolchain import Toolchain
from polydl.fuzzing.drawing import after_rewrites, beyond_space, from_space
from polydl.fuzzing.generator import LEVELS, Case
from polydl.fuzzing.over_rings import over_rings, to_compare
from polydl.fuzzing.running import NoReferenceError, OriginalLibrary, reference, run
from polydl.fuzzing.unit import suffix, together
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Exactness
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.machine.system import System
from polydl.pipeline import kernel, parse, rank, space_on
from polydl.plan.apply import Applied
from polydl.system.files import temporary_directory

if TYPE_CHECKING:
    from polydl.variants.variant_space import VariantSpace

# Draws for each variant that is wanted.
_DRAWS = 4
# Of variants, those that no space holds.
_BEYOND = 0.3
# Of nests, those of which some of these come after rewrites that are for large sizes.
_AFTER_REWRITES = 0.6
# Kinds of failures that say nothing about their cause.
_WORDLESS = ("wrong", "differs", "crash", "timeout")
# Of nests, those whose variants are ranked as well.
_RANKED = 0.1
# Of the clock, for a compiler on a busy machine.
_COMPILER_SECONDS = 1200.0
# Characters of a variant from which on one of so many gets an optimizing compiler, and from which on none does: where
# loops are unrolled, it takes minutes for what is compiled in a tenth of a second without.
_LONG, _OF_LONG, _LONGEST = 8_000, 4, 26_000
# Integers of random nests overflow.
_WRAPPING = "-fwrapv"


@dataclass(frozen=True)
class FuzzingSettings:
    """What all nests of a run have in common."""

    #: that compiles the original and all variants
    toolchain: Toolchain
    system: System
    #: at most so many of each nest
    variants: int
    #: in place of what is drawn for each nest: of the variants' compiler, and of the search
    optimization: str | None = None
    numerics: Numerics | None = None
    #: whether variants are compared over a ring as well
    rings: bool = True


@dataclass(frozen=True)
class Failure:
    """Something that must not be."""

    #: wrong, differs (over a ring), crash, timeout, compile or fault (a Python exception)
    kind: str
    #: what was seen, in words or as a tool printed it
    message: str
    #: what failures of the same cause have in common
    signature: str
    #: None where no variant is at fault
    variant: Variant | None = None

    def like(self, other: Failure) -> bool:
        """Whether it is of the same kind, and for what has words of its own, in the same words."""
        return self.kind == other.kind and (self.kind in _WORDLESS or self.signature == other.signature)


@dataclass(frozen=True)
class NestOutcome:
    """What became of one nest."""

    #: variants that were run, by status
    variants: Counter[str] = field(default_factory=Counter)
    #: what was not taken, by stage and reason
    refusals: Counter[str] = field(default_factory=Counter)
    #: steps of the variants that were run
    steps: Counter[str] = field(default_factory=Counter)
    #: variants that were compared over a ring, by verdict
    exact: Counter[str] = field(default_factory=Counter)
    failures: tuple[Failure, ...] = ()
    #: processor time by stage
    milliseconds: Counter[str] = field(default_factory=Counter)


@dataclass
class _Tally:
    variants: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    exact: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    milliseconds: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = processor_seconds()
        try:
            yield
        finally:
            self.milliseconds[name] += round(1000 * (processor_seconds() - start))

    def count_exactly(self, variant: Variant, result: Exactness) -> None:
        self.exact[result.verdict] += 1
        if result.verdict == "not applicable":
            self.refusals[f"over a ring: {shortened(result.reason)}"] += 1
        elif result.verdict == "differs":
            message = f"over the {result.ring}, {result.reason}"
            self.failures.append(Failure("differs", message, _signature("differs", variant), variant))

    def outcome(self) -> NestOutcome:
        return NestOutcome(
            self.variants, self.refusals, self.steps, self.exact, tuple(self.failures), self.milliseconds
        )


def processor_seconds() -> float:
    """Processor time of this process and of all processes that have ended below it, in seconds."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def examine(case: Case, settings: FuzzingSettings, given: Sequence[Variant] = ()) -> NestOutcome:
    """Try random variants of a nest, and the ``given`` ones first. The same case gives the same variants."""
    tally = _Tally()
    with temporary_directory() as folder:
        _examine(case, settings, given, folder, tally)
    return tally.outcome()


def _examine(
    case: Case,
    settings: FuzzingSettings,
    given: Sequence[Variant],
    folder: Path,
    tally: _Tally,
) -> None:
    try:
        with tally.stage("parse"):
            scop = _parsed(case, folder)
        expected = _reference(scop, settings, case, folder, tally)
        with tally.stage("space"):
            conditions = case.conditions
            machine = conditions.machine(settings.system)
            space = space_on(scop, machine, microkernel=conditions.microkernel, numerics=conditions.numerics)
    except (UserError, AnalysisError) as error:
        tally.refusals[reason("parse", error)] += 1
        return
    except NoReferenceError as error:
        tally.refusals[f"original: {error}"] += 1
        return
    except Exception as error:
        tally.failures.append(fault(error))
        return
    draw = Random(f"polydl fuzz variants {case.name}")
    chosen: list[tuple[Variant, KernelSource]] = []
    tried: set[str] = set()
    with tally.stage("generate"):
        for variant, wild in _drawn(space, given, draw, case, machine, settings.variants, tally):
            if variant.id in tried:
                continue
            tried.add(variant.id)
            source = _source(space, variant, machine.vector_bytes, suffix(len(chosen)), wild, tally)
            if source is not None:
                chosen.append((variant, source))
                if len(chosen) == settings.variants + len(given):
                    break
    if not chosen:
        return
    if draw.random() < _RANKED:
        with tally.stage("rank"):
            _rank(scop, [variant for variant, _ in chosen], case, machine, tally)
    _run(scop, expected, chosen, len(given), settings, case, folder, tally)


def _parsed(case: Case, folder: Path) -> Scop:
    path = folder / "nest.c"
    path.write_text(case.text, encoding="utf-8")
    return parse(path, defines=case.defines)


def _drawn(
    space: VariantSpace, given: Sequence[Variant], draw: Random, case: Case, machine: Machine, count: int, tally: _Tally
) -> Iterator[tuple[Variant, bool]]:
    """Variants to try, and for each whether the search would not."""
    for variant in given:
        yield variant, True
    try:
        rewrites = draw.random() < _AFTER_REWRITES and count
        after = after_rewrites(space, machine, case.conditions.microkernel, draw) if rewrites else None
        for _ in range(_DRAWS * count):
            wild = draw.random() < _BEYOND
            other = after is not None and wild and draw.random() < 0.7
            variant = from_space(after if other and after is not None else space, draw) or Variant(())
            if wild and not other:
                variant = beyond_space(variant, space.source, draw)
            yield variant, wild
    except Exception as error:
        tally.failures.append(fault(error))


def _source(
    space: VariantSpace, variant: Variant, vector_bytes: int, ending: str, wild: bool, tally: _Tally
) -> KernelSource | None:
    """The C of a variant, with names that end in ``ending``; None if it is refused, or if that fails."""
    try:
        applied: Applied = space.apply(variant)
        return kernel(applied, vector_bytes, f"{space.source.function.name}{ending}", ending)
    except (IllegalVariantError, CodegenError, AnalysisError) as error:
        tally.refusals[reason("beyond the space" if wild else "variant", error)] += 1
    except PolydlError as error:
        tally.refusals[reason("variant", error)] += 1
    except Exception as error:
        tally.failures.append(fault(error, variant))
    return None


def _rank(scop: Scop, variants: Sequence[Variant], case: Case, machine: Machine, tally: _Tally) -> None:
    """Analyse and rank the variants, whose order nothing says anything about."""
    conditions = case.conditions
    ranker = Random(f"polydl fuzz ranker {case.name}").choice(registry.names("rankers"))
    try:
        rank(
            scop, variants, machine=machine, ranker=ranker,
            microkernel=conditions.microkernel, numerics=conditions.numerics,
        )  # fmt: skip
    except PolydlError as error:
        tally.refusals[reason("rank", error)] += 1
    except Exception as error:
        tally.failures.append(fault(error, variants[0]))


def _reference(scop: Scop, settings: FuzzingSettings, case: Case, folder: Path, tally: _Tally) -> OriginalLibrary:
    """What the original computes, before anything is made of it. Raises NoReferenceError."""
    in_order = settings.toolchain.in_order
    in_order = replace(in_order, flags=(*in_order.flags, _WRAPPING))
    with tally.stage("compile"):
        library, _ = _library(original(scop), in_order, folder)
    if library is None:
        raise NoReferenceError("it is not compiled")
    with tally.stage("run"):
        error = 0.0 if case.conditions.numerics == "strict" else tolerance(scop)
        seed = Random(f"polydl fuzz data {case.name}").randrange(1 << 30)
        return reference(scop, library, error, seed, folder)


def _run(
    scop: Scop,
    expected: OriginalLibrary,
    chosen: Sequence[tuple[Variant, KernelSource]],
    given: int,
    settings: FuzzingSettings,
    case: Case,
    folder: Path,
    tally: _Tally,
) -> None:
    strict = case.conditions.numerics == "strict"
    others = [flag for flag in settings.toolchain.flags if not flag.startswith("-O")]
    levels: dict[str, list[tuple[int, KernelSource]]] = {}
    for number, (_, source) in enumerate(chosen):
        level = settings.optimization or _level(case.conditions.optimization, source)
        levels.setdefault(level, []).append((number, source))
    libraries: list[tuple[list[int], Path | None, str]] = []
    with tally.stage("compile"):
        for level, numbered in levels.items():
            # Where the order of the source is kept, so is every bit.
            flags = (level, *others, _WRAPPING, *(["-ffp-contract=off"] if strict else []))
            toolchain = replace(settings.toolchain, flags=flags)
            libraries += _compiled(numbered, scop.function.name, toolchain, folder, f"unit{level}")
    endless: set[int] = set()
    combining = {number for number, (_, source) in enumerate(chosen) if source.ingredients.combines_sums}
    with tally.stage("run"):
        for numbers, library, message in libraries:
            if library is None:
                for number in numbers:
                    tally.variants["compile"] += 1
                    tally.failures.append(Failure("compile", message, _first_error(message), chosen[number][0]))
                continue
            for answer in run(scop, expected, library, numbers, folder, combining):
                variant = chosen[answer.number][0]
                tally.variants[answer.status] += 1
                tally.steps.update(step_kinds(variant))
                if answer.status == "timeout":
                    endless.add(answer.number)
                if answer.status not in ("ok", "imprecise"):
                    signature = _signature(answer.status, variant)
                    tally.failures.append(Failure(answer.status, answer.message, signature, variant))
    if settings.rings:
        with tally.stage("exactness"):
            draw = Random(f"polydl fuzz ring {case.name}")
            kernels = [source for _, source in chosen]
            numbers = list(range(given)) or to_compare(scop, kernels, draw)
            # Those that do not end would not end there either.
            numbered = [(number, kernels[number]) for number in numbers if number not in endless]
            for number, result in over_rings(scop, numbered, settings.toolchain, folder, draw.randrange(1 << 30)):
                tally.count_exactly(chosen[number][0], result)


def step_kinds(variant: Variant) -> set[str]:
    """The kinds of a variant's steps, told apart further where code is made in several ways of one kind."""
    kinds = {step.json_name for step in variant.steps}
    kinds.update(f"use_microkernel {name}" for name in variant.microkernels.values())
    kinds.update(f"attach {step.place}" for step in variant.attached)
    kinds.update(f"{step.json_name} on threads" for step in variant.rewrites if step.threaded)
    if any(len(nest.unrolled) > 1 for nest in variant.nests.values()):
        kinds.add("unroll several loops")
    return kinds


def _signature(status: str, variant: Variant) -> str:
    return f"{status} with {', '.join(sorted({step.json_name for step in variant.steps}))}"


def _level(drawn: str, source: KernelSource) -> str:
    """The level that a variant is compiled at: the drawn one, or for most long texts the one that compiles fastest.

    It depends on the variant alone, so that a replay compiles it in the same way.
    """
    length = len(source.c)
    optimized = length <= _LONG or (length <= _LONGEST and int(source.id, 16) % _OF_LONG == 0)
    return drawn if optimized else LEVELS[0]


def _compiled(
    numbered: Sequence[tuple[int, KernelSource]], function: str, toolchain: Toolchain, folder: Path, identity: str
) -> list[tuple[list[int], Path | None, str]]:
    """One library of all kernels of a function; if the compiler refuses that, one of each."""
    library, message = _library(together(numbered, function, identity), toolchain, folder)
    if library is not None or len(numbered) == 1:
        return [([number for number, _ in numbered], library, message)]
    return [
        ([number], *_library(together([(number, source)], function, f"{identity}-{number}"), toolchain, folder))
        for number, source in numbered
    ]


def _library(kernel: KernelSource, toolchain: Toolchain, folder: Path) -> tuple[Path | None, str]:
    """The library of a kernel, None if the compiler refuses it, and what the compiler says."""
    source, library = folder / f"{kernel.id}.c", folder / f"{kernel.id}.so"
    source.write_text(f"{kernel.c}\n{kernel.harness}", encoding="utf-8")
    try:
        for command in toolchain.library_commands(kernel, source, library):
            ended = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                timeout=_COMPILER_SECONDS, env=os.environ | {"LC_ALL": "C", "TMPDIR": str(folder)},
            )  # fmt: skip
            if ended.returncode:
                return None, ended.stderr
    except subprocess.TimeoutExpired:
        return None, f"error: the compiler does not finish within {_COMPILER_SECONDS:g} s"
    return library, ended.stderr


# ----------------------------------------------------------------------------------
# Reasons


def fault(error: Exception, variant: Variant | None = None) -> Failure:
    """An exception that polydl does not raise on purpose, with its traceback."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "site-packages" not in frame.filename]
    last = frames[-1] if frames else None
    where = f"{Path(last.filename).name}:{last.name}" if last is not None else ""
    text = "".join(traceback.format_exception(error))
    return Failure("fault", text, f"{type(error).__name__} in {where}", variant)


def reason(stage: str, error: PolydlError) -> str:
    """The class of an error with its message, without names and numbers of the nest."""
    return f"{stage}: {type(error).__name__}: {shortened(error.message)}"


def shortened(message: str) -> str:
    """The first line of a message without names and numbers of the nest."""
    text = re.sub(r"`[^`]*`|'[^']*'|\[[^\]]*\]", "…", message.split("\n")[0])
    text = re.sub(r"\bvariant [0-9a-f]{12}\b", "variant …", text)
    return re.sub(r"\b(S\d+|[A-Za-z]{1,3}\d*_?\w?\d*|-?\d+(\.\d+)?)\b(?=[ ,;.:)]|$)", _without_numbers, text)[:120]


def _without_numbers(match: re.Match[str]) -> str:
    word = match[0]
    return "…" if any(letter.isdigit() for letter in word) else word


def _first_error(message: str) -> str:
    found = re.search(r"error: (.*)", message)
    return re.sub(r"\u2018[^\u2019]*\u2019", "…", found[1]) if found else "no message"
