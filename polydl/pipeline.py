"""The job's steps as plain functions: parse, generate, analyse, rank, and the C of a variant.

Plug-ins come from the registry; the search and fusion are imported when they are needed. ``polydl.optimization``
takes all of the steps, and adds measuring, searching and writing out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from polydl import registry
from polydl.arguments import listed, seed_of, truth_of, whole
from polydl.contracts import Candidate, Microkernel
from polydl.contracts.search import Strategy
from polydl.errors import AnalysisError, OptionError
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics, numerics_level, reassociates
from polydl.ir.ranking import Ranking
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.model.cache_sets import geometry
from polydl.model.calibrated import calibrated
from polydl.model.candidate import predicted_candidate
from polydl.model.traffic import missed_lines
from polydl.plan.apply import Applied
from polydl.plan.apply import apply as apply_variant
from polydl.plan.rewriting import as_written
from polydl.rankers import ranker_named as ranker_named
from polydl.rankers import with_cold_constants as with_cold_constants
from polydl.reading import parse as parse
from polydl.reuse.caches import threads_sharing
from polydl.reuse.variants import AnalysedVariants, working_sets_of_variants
from polydl.reuse.working_sets import Method, working_sets
from polydl.rewrite_contract import Proposal
from polydl.system import cycle_collection
from polydl.system.clock import Clock, StageClock

if TYPE_CHECKING:
    from polydl.fusion.report import OperatorPair
    from polydl.model.times import NestTime
    from polydl.poly.dependences import Dependence
    from polydl.poly.nests import Nest
    from polydl.variants.decisions import Partial
    from polydl.variants.estimate import SizeEstimate
    from polydl.variants.generation import Generation
    from polydl.variants.search.nodes import SpaceNode
    from polydl.variants.variant_space import VariantSpace

DEFAULT_MAX_VARIANTS = 400
DEFAULT_SEED = 0
AUTOMATIC = "auto"
NO_MICROKERNEL = "none"

# Variants that are analysed together, between two reports of progress.
_BATCH = 1024


class ApplyOptions(TypedDict, total=False):
    """What variants may be applied with.

    ``microkernel`` names one or, with commas, several, ``AUTOMATIC`` (all that fit) or ``NO_MICROKERNEL``.
    ``numerics`` says what may be done to sums and products (docs/guide/numerics.md).
    """

    microkernel: str
    numerics: Numerics


class SpaceOptions(ApplyOptions, total=False):
    """Which variants there may be.

    ``pins`` are decisions taken beforehand, as ``polydl.variants.pins`` lists them. Without ``fuse`` each operator
    stays a nest of its own, but for zeros that a reduction begins with; without ``fewer_products`` all products of the
    source are computed one by one.
    """

    fuse: bool
    fewer_products: bool
    pins: Sequence[str]


@dataclass(frozen=True)
class Stage:
    """Progress of a long job, in one of its stages."""

    #: of the stage
    name: str
    #: steps that are done
    done: int
    #: steps of the stage
    total: int
    #: what is worth a line of its own; "" where nothing is
    note: str = ""


ProgressCallback = Callable[[Stage], None]


def microkernels(name: str = AUTOMATIC, *, machine: Machine | None = None) -> tuple[Microkernel, ...]:
    """The microkernels of a name, or of several with commas between them, in the order of preference.

    They are for the cores of ``machine``, whose measured tables predict their time in place of their own formulas;
    without a machine, they are as they are registered, which is enough to apply a variant. Raises OptionError for
    an unknown name.
    """
    kernels = _kernels(name)
    if machine is None:
        return kernels
    elsewhere = None if machine.at_hand else machine.isa
    return tuple(
        calibrated(kernel, machine.throughputs, machine.call_times, elsewhere).on(machine.core) for kernel in kernels
    )


def _kernels(name: str) -> tuple[Microkernel, ...]:
    if name == NO_MICROKERNEL:
        return ()
    if name == AUTOMATIC:
        return tuple(registry.load("microkernels", each) for each in registry.names("microkernels"))
    try:
        return tuple(kernel for each in name.split(",") for kernel in registry.microkernels(each))
    except OptionError as error:
        known = ", ".join((AUTOMATIC, NO_MICROKERNEL, *registry.names("microkernels")))
        raise OptionError(f"unknown microkernel {name!r}", remedy=f"one of {known}") from error


def space_on(
    nest: Scop,
    machine: Machine,
    *,
    microkernel: str = AUTOMATIC,
    numerics: Numerics = DEFAULT_NUMERICS,
    fuse: bool = True,
    fewer_products: bool = True,
    pins: Sequence[str] = (),
) -> VariantSpace:
    """What can be decided about a nest on a machine; the options are ``SpaceOptions``."""
    from polydl.variants.build_space import build_space
    from polydl.variants.pins import pinned

    def fusions(scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence]) -> tuple[Proposal, ...]:
        return _fusions_of(scop, nests, dependences, machine, numerics, fuse=fuse)

    space = build_space(
        nest,
        microkernels(microkernel, machine=machine),
        machine,
        numerics=numerics_level(numerics),
        fusions=fusions,
        fewer_products=fewer_products,
    )
    return pinned(space, listed("pins", pins, str)) if pins else space


def fusion_choices(
    nest: Scop, *, machine: Machine, numerics: Numerics = DEFAULT_NUMERICS, fuse: bool = True
) -> tuple[Proposal, ...]:
    """The fusions of a nest's operators that are worth a space of their own on a machine.

    Without ``fuse``, reductions that begin with zeros in place of a pass before them.
    """
    left = as_written(nest, numerics=numerics_level(numerics))
    return _fusions_of(nest, left.nests, left.dependences, machine, numerics, fuse=fuse)


def _fusions_of(
    scop: Scop,
    nests: Sequence[Nest],
    dependences: Sequence[Dependence],
    machine: Machine,
    numerics: Numerics,
    *,
    fuse: bool,
) -> tuple[Proposal, ...]:
    from polydl.fusion.choices import choices, zeros_attached

    if not fuse:
        return zeros_attached(scop, nests, dependences)
    return choices(scop, nests, dependences, machine=machine, reassociate=reassociates(numerics))


def fusion_pairs(nest: Scop, *, threads: int, numerics: Numerics = DEFAULT_NUMERICS) -> tuple[OperatorPair, ...]:
    """Which operators of a nest can be fused and which can't, pair by pair, with the reason."""
    from polydl.fusion.report import pairs

    left = as_written(nest, numerics=numerics_level(numerics))
    return pairs(nest, left.nests, left.dependences, threads=threads, reassociate=reassociates(numerics))


def estimated_size(space: VariantSpace, *, seed: int = DEFAULT_SEED) -> SizeEstimate:
    """How many legal variants a space has, with 95 % confidence."""
    from polydl.variants.estimate import estimated_size as estimate

    return estimate(space, seed=seed_of(seed))


def least_seconds(space: VariantSpace, partials: Mapping[int, Partial], machine: Machine) -> float:
    """Seconds that every variant of a space takes at least if its nests are decided as far as ``partials`` say.

    These are partly decided candidates, by the index of their nest; of other nests nothing is decided. Alternatives are
    spaces of their own.
    """
    from polydl.ranking import bound
    from polydl.variants.bounds import outlook

    return bound.least_seconds(outlook(space, partials), machine)


def decision_tree(space: VariantSpace, machine: Machine) -> SpaceNode:
    """A space with its alternatives as a tree of decisions, of which nothing is taken yet, with bounds on a machine."""
    from polydl.variants.search.nodes import SpaceNode

    return SpaceNode.root(space, lambda part, partials: least_seconds(part, partials, machine))


def generate(space: VariantSpace, *, max_variants: int = DEFAULT_MAX_VARIANTS, seed: int = DEFAULT_SEED) -> Generation:
    """Legal variants of a space with the counts of what was looked at. ``max_variants`` is at least 1."""
    from polydl.variants.generation import generate as generate_from

    return generate_from(space, max_variants=whole("max_variants", max_variants, 1), seed=seed_of(seed))


def generate_variants(
    nest: Scop,
    *,
    machine: Machine,
    max_variants: int = DEFAULT_MAX_VARIANTS,
    seed: int = DEFAULT_SEED,
    **options: Unpack[SpaceOptions],
) -> tuple[Variant, ...]:
    """Legal variants of a nest, the same ones in the same order for the same seed."""
    return generate(space_on(nest, machine, **options), max_variants=max_variants, seed=seed).variants


def apply(
    nest: Scop,
    variant: Variant,
    *,
    machine: Machine,
    microkernel: str = AUTOMATIC,
    numerics: Numerics = DEFAULT_NUMERICS,
    prove: bool = True,
) -> Applied:
    """A variant applied to a nest and proved legal, whatever it comes from.

    Raises IllegalVariantError for a step that can't be taken, that the level ``numerics`` does not admit, or that
    breaks a dependence.
    """
    kernels = microkernels(microkernel, machine=machine)
    return apply_variant(nest, variant, kernels, numerics=numerics_level(numerics), prove=prove)


def analyze(
    applied: Applied,
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
    scop, plan = applied.executed
    sharing = (machine.threads, threads_sharing(machine.caches, machine.threads, machine.cores)) if shared else None
    return working_sets(
        scop, plan.schedule, _cache_bytes(machine), line_bytes=line_bytes, inclusive=inclusive, sharing=sharing
    )


def analyze_variants(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    method: Method | None = None,
    line_bytes: int | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[ApplyOptions],
) -> AnalysedVariants:
    """``analyze`` for each variant: fit for hundreds of thousands of them.

    A variant is applied when it is needed, and not kept. ``method`` and ``line_bytes`` are those of
    ``working_sets``. ``progress`` is told how many are done.
    """
    applied = _Lazily(variants, _applying(nest, machine, **options))
    return working_sets_of_variants(
        variants, applied, _cache_bytes(machine), method=method, line_bytes=line_bytes, progress=progress
    )


def _applying(
    nest: Scop, machine: Machine, *, microkernel: str = AUTOMATIC, numerics: Numerics = DEFAULT_NUMERICS
) -> Callable[[Variant], Applied]:
    """Applies variants of one nest; their proofs are left to code generation."""
    kernels = microkernels(microkernel, machine=machine)
    return lambda variant: apply_variant(nest, variant, kernels, numerics=numerics, prove=False)


@dataclass(frozen=True)
class _Lazily(Sequence[Applied]):
    """Variants that are applied whenever they are asked for."""

    variants: Sequence[Variant]
    apply: Callable[[Variant], Applied]

    def __len__(self) -> int:
        return len(self.variants)

    def __getitem__(self, number: Any) -> Any:
        return self.apply(self.variants[number])


def _cache_bytes(machine: Machine) -> list[int]:
    return [level.bytes for level in machine.caches]


def candidates(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    progress: ProgressCallback | None = None,
    clock: StageClock | None = None,
    **options: Unpack[ApplyOptions],
) -> tuple[Candidate, ...]:
    """What a ranker sees of each variant.

    Those that isl gives up on are left out; raises its AnalysisError if that leaves none. ``clock`` takes the time of
    the stages ``apply``, ``working sets`` and ``model``.
    """
    times = clock or Clock()
    apply_one = _applying(nest, machine, **options)
    analysed: list[Candidate] = []
    failures: list[AnalysisError] = []
    for start in range(0, len(variants), _BATCH):
        batch = variants[start : start + _BATCH]
        # Plans and working sets are very many objects, and none of them is a cycle: to look for such takes a quarter.
        with cycle_collection.paused():
            with times.stage("apply"):
                applied = [apply_one(variant) for variant in batch]
            with times.stage("working sets"):
                known = working_sets_of_variants(batch, applied, _cache_bytes(machine))
                failures += known.failures.values()
            with times.stage("model"):
                for number, one in enumerate(applied):
                    if number not in known.failures:
                        analysed.append(predicted_candidate(one, known[number], machine))
                    if progress is not None:
                        progress(Stage("analyse", start + number + 1, len(variants)))
    if failures and not analysed:
        raise failures[0]
    return tuple(analysed)


def predicted_misses(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    ways: Sequence[int] | None = None,
    **options: Unpack[ApplyOptions],
) -> tuple[tuple[float, ...], ...]:
    """For each variant, the lines that it brings into each of the machine's caches, which are empty at first.

    ``ways`` are the places that the caches have in a set, if they are known.
    """
    core = machine.core
    known = ways if ways is not None else [None] * len(machine.caches)
    caches = [geometry(level.bytes, core, way) for level, way in zip(machine.caches, known, strict=True)]
    misses = []
    for applied in map(_applying(nest, machine, **options), variants):
        missed = missed_lines(*applied.modelled, caches, core)
        misses.append(tuple(sum(sum(arrays.values()) for arrays in level) for level in zip(*missed, strict=True)))
    return tuple(misses)


def strategy_named(name: str) -> Strategy:
    """The strategy of a name. Raises OptionError for an unknown one."""
    found: Strategy = registry.load("strategies", name)
    return found


def rank(
    nest: Scop,
    variants: Sequence[Variant],
    *,
    machine: Machine,
    ranker: str = registry.DEFAULT_RANKER,
    cold_constants: bool = False,
    progress: ProgressCallback | None = None,
    **options: Unpack[ApplyOptions],
) -> Ranking:
    """Order variants, the most promising first.

    With ``cold_constants``, the time of reading a variant's constants from memory is added to what is predicted of it.
    Raises OptionError for an unknown ranker, and for cold constants where the nest has none.
    """
    chosen = ranker_named(ranker)
    if truth_of("cold_constants", cold_constants):
        chosen = with_cold_constants(chosen, nest)
    given = listed("variants", variants, Variant)
    analysed = candidates(nest, given, machine=machine, progress=progress, **options)
    return chosen.rank(analysed, machine)


def explain(
    nest: Scop,
    first: Variant,
    second: Variant,
    *,
    machine: Machine,
    cold_constants: bool = False,
    **options: Unpack[ApplyOptions],
) -> tuple[str, ...]:
    """Sentences on why the first variant is expected to beat the second; ``cold_constants`` is that of ``rank``.

    Raises AnalysisError where isl gives up on one of them.
    """
    from polydl.ranking.explanation import explain as explanation

    # Of two at once, one that isl gives up on would be left out.
    one, other = (candidates(nest, (variant,), machine=machine, **options)[0] for variant in (first, second))
    return explanation(one, other, machine, cold_constants=cold_constants)


def predict(nest: Scop, variant: Variant, *, machine: Machine, **options: Unpack[ApplyOptions]) -> tuple[NestTime, ...]:
    """What the cost model expects of each nest of a variant, in the order in which they run, in seconds."""
    from polydl.model.times import nest_times

    (candidate,) = candidates(nest, (variant,), machine=machine, **options)
    return nest_times(candidate, machine)


def kernel(applied: Applied, vector_bytes: int, exported: str = "", suffix: str = "") -> KernelSource:
    """The C of an applied variant, after isl has proved its complete schedule legal. Raises IllegalVariantError.

    ``exported`` is how its function is called, if not as in the source. A ``suffix`` is for kernels that are put into
    one file (``polydl.codegen.translation_unit.generate``).
    """
    from polydl.codegen.translation_unit import generate as generate_code

    return generate_code(applied.prove(), vector_bytes, exported, suffix)
