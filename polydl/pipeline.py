"""The job's steps as plain functions: parse, generate, analyse, rank, and the C of a variant.

This is the only module that joins the parts; it finds them through the registry. ``polydl.optimization`` takes all
of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from polydl import registry
from polydl.codegen.kernel import generate as generate_code
from polydl.contracts import Candidate, Microkernel, Ranker
from polydl.errors import AnalysisError, IllegalVariantError, OptionError
from polydl.frontend.iterators import with_own_names
from polydl.frontend.scalars import without_local_scalars
from polydl.ir.kernel import KernelSource
from polydl.ir.ranking import Ranking
from polydl.ir.schedule import Schedule
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Fuse, Rewrite, Strassen, UseMicrokernel, Variant, Winograd, attached_zeros
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.model.cache_sets import geometry
from polydl.model.candidate import predicted_candidate
from polydl.model.traffic import fills
from polydl.plan.plan import Plan
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute
from polydl.reuse.caches import threads_sharing
from polydl.reuse.table import WorkingSetsTable
from polydl.reuse.working_sets import Method, working_sets, working_sets_of_many
from polydl.throughput import Throughput, calibrated

if TYPE_CHECKING:
    from polydl.fusion.prediction import Rates
    from polydl.fusion.report import OperatorPair
    from polydl.variants.estimate import SizeEstimate
    from polydl.variants.generate import Generation, VariantSpace

DEFAULT_MAX_VARIANTS = 400
DEFAULT_SEED = 0
DEFAULT_RANKER = "dnn"
AUTOMATIC = "auto"
NO_MICROKERNEL = "none"

# Variants that are analysed together, between two reports of progress.
_BATCH = 1024


class SpaceOptions(TypedDict, total=False):
    """Which variants there may be.

    ``microkernel`` names one or, with commas, several, ``AUTOMATIC`` (all that fit) or ``NO_MICROKERNEL``.
    ``strict_fp`` keeps the order of every sum. Without ``fuse`` each operator stays a nest of its own, but for zeros
    that a reduction begins with; without ``fewer_products`` all products of the source are computed one by one.
    """

    microkernel: str
    strict_fp: bool
    fuse: bool
    fewer_products: bool


@dataclass(frozen=True)
class Stage:
    """Progress of a long job: ``done`` of ``total`` in a stage named ``name``."""

    name: str
    done: int
    total: int


ProgressCallback = Callable[[Stage], None]


def parse(
    path: str | Path,
    *,
    function: str | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_directories: Sequence[str | Path] = (),
    frontend: str = "pet",
) -> Scop:
    """Read the loop nest of a C file.

    ``defines`` are macros, or values of the function's integer parameters. Raises UserError for anything wrong
    with the file, MissingComponentError without pet.
    """
    found: Scop = registry.load("frontends", frontend)(
        path, function=function, defines=defines, include_directories=include_directories
    )
    return without_local_scalars(with_own_names(found))


def _kernels(name: str) -> tuple[Microkernel, ...]:
    """``name`` may be several, with commas between them."""
    if name == NO_MICROKERNEL:
        return ()
    if name == AUTOMATIC:
        return tuple(registry.load("microkernels", each) for each in registry.names("microkernels"))
    try:
        members = (member for each in name.split(",") for member in registry.FAMILIES.get(each, (each,)))
        return tuple(registry.load("microkernels", each) for each in members)
    except OptionError as error:
        known = ", ".join((AUTOMATIC, NO_MICROKERNEL, *registry.names("microkernels")))
        raise OptionError(f"unknown microkernel {name!r}", remedy=f"one of {known}") from error


@lru_cache(maxsize=16)
def variant_space(
    nest: Scop,
    *,
    threads: int,
    vector_bytes: int,
    microkernel: str = AUTOMATIC,
    strict_fp: bool = False,
    fuse: bool = True,
    fewer_products: bool = True,
    throughputs: tuple[Throughput, ...] = (),
    rates: Rates | None = None,
) -> VariantSpace:
    """Dependences, distributed nests, matched microkernels and decisions of a nest.

    What may be in it is up to ``SpaceOptions``. ``throughputs`` are measured tables that predict the microkernels' time
    in place of their own formulas; by ``rates``, usual ones without them, fusions are chosen and arrays that may be
    written past the caches.
    """
    from polydl.fusion import prediction
    from polydl.variants.generate import build_space

    allowed = (kernel for kernel in _kernels(microkernel) if not (strict_fp and "rounds" in kernel.abilities))
    kernels = tuple(calibrated(kernel, throughputs) for kernel in allowed)
    rates = rates or prediction.Rates(threads)
    return build_space(
        nest,
        kernels,
        threads=threads,
        vector_bytes=vector_bytes,
        reassociate=not strict_fp,
        fusions=fusion_choices(nest, rates=rates, strict_fp=strict_fp, fuse=fuse),
        second_cache=rates.caches[min(1, len(rates.caches) - 1)],
        fewer_products=fewer_products,
    )


def fusion_choices(
    nest: Scop, *, rates: Rates, strict_fp: bool = False, fuse: bool = True
) -> tuple[tuple[Rewrite, ...], ...]:
    """The fusions of a nest's operators that are worth a space of their own on a machine with these rates.

    Without ``fuse``, reductions that begin with zeros in place of a pass before them.
    """
    from polydl.fusion.choices import choices, zeros_attached

    found = dependences(nest)
    nests = distribute(nest, found)
    if not fuse:
        return zeros_attached(nest, nests, found)
    return choices(nest, nests, found, rates=rates, reassociate=not strict_fp)


def fusion_pairs(nest: Scop, *, threads: int, strict_fp: bool = False) -> tuple[OperatorPair, ...]:
    """Which operators of a nest can be fused and which can't, pair by pair, with the reason."""
    from polydl.fusion.report import pairs

    found = dependences(nest)
    return pairs(nest, distribute(nest, found), found, threads=threads, reassociate=not strict_fp)


def is_fused(variant: Variant) -> bool:
    """Whether the variant begins with a fusion."""
    zeros = {attached_zeros(step.statement) for step in variant.rewrites if isinstance(step, Winograd | Strassen)}
    return any(
        (isinstance(step, Fuse | Attach) and step not in zeros) or (isinstance(step, Winograd) and step.after)
        for step in variant.rewrites
    )


def space_on(nest: Scop, machine: Machine, **options: Unpack[SpaceOptions]) -> VariantSpace:
    """``variant_space`` for a machine: the one that all variants of a nest there come from."""
    from polydl.fusion import prediction

    return variant_space(
        nest,
        threads=machine.threads,
        vector_bytes=machine.vector_bytes,
        throughputs=machine.throughputs,
        rates=prediction.Rates.of(machine),
        **options,
    )


def estimated_size(space: VariantSpace, *, seed: int = DEFAULT_SEED) -> SizeEstimate:
    """How many legal variants a space has, with 95 % confidence."""
    from polydl.variants.estimate import estimated_size as estimate

    return estimate(space, seed=seed)


def generate(
    nest: Scop,
    *,
    machine: Machine,
    max_variants: int = DEFAULT_MAX_VARIANTS,
    seed: int = DEFAULT_SEED,
    **options: Unpack[SpaceOptions],
) -> Generation:
    """Legal variants with the counts of what was looked at. ``max_variants`` of at least 1."""
    from polydl.variants.generate import generate as generate_from

    if max_variants < 1:
        raise OptionError(f"max_variants is {max_variants}", remedy="at least 1")
    space = space_on(nest, machine, **options)
    return generate_from(space, max_variants=max_variants, seed=seed)


def generate_variants(
    nest: Scop,
    *,
    machine: Machine,
    max_variants: int = DEFAULT_MAX_VARIANTS,
    seed: int = DEFAULT_SEED,
    **options: Unpack[SpaceOptions],
) -> tuple[Variant, ...]:
    """Legal variants of a nest, the same ones in the same order for the same seed."""
    return generate(nest, machine=machine, max_variants=max_variants, seed=seed, **options).variants


def plan_of(nest: Scop, variant: Variant, *, machine: Machine, **options: Unpack[SpaceOptions]) -> tuple[Scop, Plan]:
    """What is left of the nest after the variant's rewrites, and where the variant puts every loop of that.

    Passes of zeros that a microkernel's first calls write are gone.
    """
    space = space_on(nest, machine, **options).of(variant)
    return space.executed(space.plan(variant))


def analyze(
    nest: Scop,
    plan: Plan,
    machine: Machine,
    *,
    line_bytes: int | None = None,
    inclusive: bool = False,
    shared: bool = False,
) -> WorkingSets:
    """Working sets of one variant (paper, Algorithms 1 and 2), against the machine's caches.

    ``line_bytes`` counts whole cache lines; ``inclusive`` lets each cache hold what the smaller ones hold as well, and
    ``shared`` what all of the machine's threads that share it have in use at once.
    """
    caches = [level.bytes for level in machine.caches]
    sharing = (machine.threads, threads_sharing(machine.caches, machine.threads)) if shared else None
    return working_sets(nest, plan.schedule, caches, line_bytes=line_bytes, inclusive=inclusive, sharing=sharing)


@dataclass(frozen=True, eq=False)
class AnalysedVariants:
    """``analyze`` of many variants in columns, with a table for each way in which their nest is left.

    Variant n is row ``rows[n]`` of ``tables[table_of[n]]``. ``analysed[n]`` is its ``WorkingSets``, or raises the
    AnalysisError for which it is in ``failures``.
    """

    tables: tuple[WorkingSetsTable, ...]
    table_of: tuple[int, ...]
    rows: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> WorkingSets:
        return self.tables[self.table_of[number]][self.rows[number]]

    @cached_property
    def failures(self) -> Mapping[int, AnalysisError]:
        places = enumerate(zip(self.table_of, self.rows, strict=True))
        return {n: self.tables[t].failures[row] for n, (t, row) in places if row in self.tables[t].failures}


def analyze_variants(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    method: Method | None = None,
    line_bytes: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[SpaceOptions],
) -> AnalysedVariants:
    """``analyze`` for each variant: fit for hundreds of thousands of them.

    A variant's plan is made when it is needed, and not kept. ``method`` and ``line_bytes`` are those of
    ``working_sets``. ``progress`` is told how many are done.
    """
    space = space_on(nest, machine, **options)
    found: dict[tuple[object, ...], int] = {}
    left: list[Scop] = []
    counts: list[int] = []
    table_of, rows = [], []
    for variant in variants:
        # Which passes of zeros are left to microkernels depends on what these can do.
        uses = [(step.nest, step.name) for step in variant.nest_steps if isinstance(step, UseMicrokernel)]
        key = (variant.rewrites, *uses)
        if key not in found:
            own = space.of(variant)
            scop = own.executed(own.plan(variant))[0]
            known = (number for number, other in enumerate(left) if other is scop)
            found[key] = next(known, len(left))
            if found[key] == len(left):
                left.append(scop)
                counts.append(0)
        number = found[key]
        table_of.append(number)
        rows.append(counts[number])
        counts[number] += 1
    tables = []
    done = 0
    for number, scop in enumerate(left):
        chosen = (variant for variant, table in zip(variants, table_of, strict=True) if table == number)
        tables.append(
            working_sets_of_many(
                scop,
                (_schedule(space.of(variant), variant) for variant in chosen),
                [level.bytes for level in machine.caches],
                method=method,
                line_bytes=line_bytes,
                progress=None if progress is None else partial(_advance, progress, done),
            )
        )
        done += counts[number]
    return AnalysedVariants(tuple(tables), tuple(table_of), tuple(rows))


def _schedule(space: VariantSpace, variant: Variant) -> Schedule:
    return space.executed(space.plan(variant))[1].schedule


def _advance(progress: Callable[[int], None], before: int, done: int) -> None:
    progress(before + done)


def candidate(
    space: VariantSpace, variant: Variant, machine: Machine, *, known: WorkingSets | None = None
) -> Candidate:
    """What a ranker sees of a variant: working sets (unless they are known), predicted compute time, parallelism."""
    space = space.of(variant)
    plan = space.plan(variant)
    return predicted_candidate(space, variant, plan, known or analyze(*space.executed(plan), machine), machine)


def candidates(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    progress: ProgressCallback | None = None,
    **options: Unpack[SpaceOptions],
) -> tuple[Candidate, ...]:
    """Analyse each variant. Those that isl gives up on are left out; raises its AnalysisError if that leaves none."""
    space = space_on(nest, machine, **options)
    found: list[Candidate] = []
    failures: list[AnalysisError] = []
    for start in range(0, len(variants), _BATCH):
        batch = variants[start : start + _BATCH]
        known = analyze_variants(nest, batch, machine=machine, **options)
        failures += known.failures.values()
        for number, variant in enumerate(batch):
            if number not in known.failures:
                found.append(candidate(space, variant, machine, known=known[number]))
            if progress is not None:
                progress(Stage("analyse", start + number + 1, len(variants)))
    if failures and not found:
        raise failures[0]
    return tuple(found)


def predicted_misses(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    ways: Sequence[int] | None = None,
    **options: Unpack[SpaceOptions],
) -> tuple[tuple[float, ...], ...]:
    """For each variant, the lines that it brings into each of the machine's caches, which are empty at first.

    ``ways`` are the places that the caches have in a set, if they are known.
    """
    space = space_on(nest, machine, **options)
    line_bytes = machine.caches[0].line_bytes
    known = ways if ways is not None else [None] * len(machine.caches)
    caches = [geometry(level.bytes, line_bytes, each) for level, each in zip(machine.caches, known, strict=True)]
    found = []
    for variant in variants:
        own = space.of(variant)
        filled = fills(own.scop, own.plan(variant), caches, line_bytes)
        found.append(tuple(sum(sum(arrays.values()) for arrays in level) for level in zip(*filled, strict=True)))
    return tuple(found)


def ranker_named(name: str) -> Ranker:
    """Raises OptionError for an unknown one."""
    found: Ranker = registry.load("rankers", name)
    return found


def rank(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    ranker: str = DEFAULT_RANKER,
    progress: ProgressCallback | None = None,
    **options: Unpack[SpaceOptions],
) -> Ranking:
    """Order variants, the most promising first. Raises OptionError for an unknown ranker."""
    chosen = ranker_named(ranker)
    analysed = candidates(nest, variants, machine=machine, progress=progress, **options)
    return chosen.rank(analysed, machine)


def explain(
    nest: Scop,
    first: Variant,
    second: Variant,
    *,
    machine: Machine,
    **options: Unpack[SpaceOptions],
) -> tuple[str, ...]:
    """Sentences on why the first variant is expected to beat the second."""
    from polydl.ranking.explanation import explain as explanation

    one, other = candidates(nest, (first, second), machine=machine, **options)
    return explanation(one, other, machine)


def kernel(space: VariantSpace, variant: Variant, vector_bytes: int) -> KernelSource:
    """The C of a variant, after isl has proved the complete schedule legal. Raises IllegalVariantError."""
    space = space.of(variant)
    plan = space.plan(variant)
    broken = space.violations(plan)
    if broken:
        raise IllegalVariantError(f"variant {variant.id} is illegal: {broken[0]}")
    directions = dict(enumerate(space.directions))
    return generate_code(
        space.scop,
        plan,
        directions,
        space.matches(plan),
        space.kernels,
        vector_bytes,
        exact=not space.reassociate,
    )
