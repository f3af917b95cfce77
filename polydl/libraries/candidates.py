"""Kernels that are worth a measurement: the usual ones of a nest, and what a search finds at one shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from polydl.errors import AnalysisError, CodegenError, IllegalVariantError
from polydl.ir.scop import Scop, SharedLoops
from polydl.ir.statement import Statement
from polydl.ir.variant import NestStep, Parallel, Variant
from polydl.libraries.blocking import Blocking, BlockingLoop, of_variant, packings
from polydl.libraries.convolutions import tiles_that_round_well
from polydl.libraries.kernel import Kernel, broken, distributed, planned
from polydl.libraries.kernel_code import KernelLoops, kernel_code
from polydl.libraries.linear import OPEN
from polydl.libraries.product import SymbolicProduct, symbolic_product
from polydl.libraries.product_code import ProductCode
from polydl.libraries.start import start_of
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.usual_blockings import of_last_rows, usual_blockings
from polydl.machine import Machine
from polydl.optimization.optimize import optimize
from polydl.pipeline import apply, generate_variants
from polydl.poly.legality import parallel_is_legal

# Variants that are ranked at each shape.
_MAX_VARIANTS = 200
# What is searched: the microkernel whose register blocks a library has, and no products left out.
_MICROKERNEL = "c"


def usual_candidates(
    nest: SymbolicNest, machine: Machine, *, fewer_products: bool = True
) -> tuple[SymbolicProduct | None, list[Kernel]]:
    """The product that register blocks compute, and the usual kernels that are legal at all sizes of the ranges.

    Where no kernel with the product is, such as for sums that end up in an array of another type, all statements run in
    plain loops, and there is no product.
    """
    product = symbolic_product(nest)
    if product is not None:
        product = with_start(nest, product)
        product = replace(product, rows_apart=_rows_may_wait(nest, product, machine))
    kernels = proved(nest, product, usual_kernels(nest, product, machine, fewer_products=fewer_products), machine)
    if product is not None and not kernels:
        return None, proved(nest, None, usual_kernels(nest, None, machine), machine)
    return product, kernels


def usual_kernels(
    nest: SymbolicNest, product: SymbolicProduct | None, machine: Machine, *, fewer_products: bool = True
) -> tuple[Kernel, ...]:
    """Kernels that only registers, caches and threads decide.

    Without a product these are the source's loops, distributed or as they share each other, on one thread or on all.
    """
    if product is not None:
        element = element_bytes(nest, product)
        return tuple(
            replace(each, blocking=blocking)
            for blocking in usual_blockings(machine, element, product)
            if not blocking.outputs or (fewer_products and tiles_that_round_well(nest, product, blocking.outputs))
            for each in _of_loops(nest, blocking.on_threads, product)
        )
    threads = (False, True) if machine.threads > 1 else (False,)
    return tuple(dict.fromkeys(kernel for parallel in threads for kernel in _of_loops(nest, parallel, None)))


def with_start(nest: SymbolicNest, product: SymbolicProduct) -> SymbolicProduct:
    """The product with the statement that sets C, where it may be computed with the first terms of each element."""
    started = replace(product, start=start_of(nest, product))
    if started.start is None:
        return product
    by_elements = Blocking(tuple(BlockingLoop(role, 1) for role in ("m", "n", *product.outer, "k")), 2, 1)
    (plain,) = _of_loops(nest, False, started)
    try:
        legal = not broken(planned(nest, started, replace(plain, blocking=by_elements)))
    except (IllegalVariantError, AnalysisError):
        return product
    return started if legal else product


def _rows_may_wait(nest: SymbolicNest, product: SymbolicProduct, machine: Machine) -> bool:
    """Whether the last rows may be computed after all others, whatever blocking these have, as dot products.

    isl proves it by two orders: in one m never decreases, so that no row needs a later one, and the other is that of
    the dot products.
    """
    dots = of_last_rows(machine, element_bytes(nest, product), product, on_threads=False)
    if dots is None:
        return False
    by_rows = Blocking(tuple(BlockingLoop(role, 1) for role in ("m", *product.outer, "n", "k")), 2, 1)
    (plain,) = _of_loops(nest, False, product)
    try:
        return not any(broken(planned(nest, product, replace(plain, blocking=each))) for each in (by_rows, dots))
    except (IllegalVariantError, AnalysisError):
        return False


def _of_loops(nest: SymbolicNest, parallel: bool, product: SymbolicProduct | None) -> list[Kernel]:
    """The loops of all statements but the product's: each nest by itself, and nests that share outer loops.

    Beside a product, nests share loops only where a variable would else need memory that grows with the sizes.
    """
    if product is not None:
        return [kernel_of(nest, _around_variables(nest, parallel, product), parallel, product)]
    kernels = [kernel_of(nest, (), parallel, None)]
    deepest = max((depth for _, depth in _groups(nest)), default=0)
    for loops in range(1, deepest + 1):
        shared = tuple(
            SharedLoops(names, min(depth, loops), parallel, fixed=True) for names, depth in _groups(nest) if depth
        )
        kernels.append(kernel_of(nest, shared, parallel, None))
    return kernels


def _around_variables(nest: SymbolicNest, parallel: bool, product: SymbolicProduct) -> tuple[SharedLoops, ...]:
    """The loops that statements beside a product share since they use variables of the region, such as a row's sum."""
    variables = {
        each.name
        for each in nest.scop.arrays
        if each.storage == "local" and not each.view_of and OPEN in nest.extents.get(each.name, ())
    }
    return tuple(
        SharedLoops(names, depth, parallel, fixed=True)
        for names, depth in _groups(nest)
        if depth
        and product.statement not in names
        and any(access.array in variables for name in names for access in nest.scop.statement(name).accesses)
    )


def _groups(nest: SymbolicNest) -> list[tuple[tuple[str, ...], int]]:
    """Several statements in one outermost loop of the source, and how many loops they share."""
    groups: dict[int, list[Statement]] = {}
    for statement in nest.scop.statements:
        groups.setdefault(statement.betas[0], []).append(statement)
    return [(tuple(each.name for each in group), _common(group)) for group in groups.values() if len(group) > 1]


def _common(statements: Sequence[Statement]) -> int:
    first = statements[0]
    depth = 0
    while all(
        depth < each.depth and each.betas[: depth + 1] == first.betas[: depth + 1] for each in (first, *statements)
    ):
        depth += 1
    return depth


def kernel_of(
    nest: SymbolicNest, shared: tuple[SharedLoops, ...], parallel: bool, product: SymbolicProduct | None
) -> Kernel:
    """The nests with their loops in the source's order, the outermost that may be on threads, if they are to be."""
    left = distributed(nest, shared)
    steps = []
    for each in left.nests if parallel else ():
        if product is not None and not set(product.statements).isdisjoint(each.statements):
            continue
        dealt = any(getattr(loop, "parallel", False) for loop in each.prefix)
        order = list(range(len(each.loops)))
        able = [loop for loop in order if parallel_is_legal(left.directions[each.index], order, loop)]
        if able and not dealt:
            steps.append(Parallel(each.index, each.loops[able[0]]))
    return Kernel(Variant(tuple(steps)), shared)


def proved(
    nest: SymbolicNest, product: SymbolicProduct | None, kernels: Iterable[Kernel], machine: Machine
) -> list[Kernel]:
    """Those of the kernels that are legal at all sizes of the ranges, and that need no memory that grows with them."""
    legal = []
    for kernel in kernels:
        if product is not None and kernel.blocking is not None and not product.copied <= set(kernel.blocking.packed):
            continue
        try:
            plan = planned(nest, product, kernel)
            if not broken(plan):
                coded(nest, product, kernel, machine)
                legal.append(kernel)
        except (IllegalVariantError, AnalysisError, CodegenError):
            continue
    return legal


def coded(
    nest: SymbolicNest,
    product: SymbolicProduct | None,
    kernel: Kernel,
    machine: Machine,
    code: ProductCode | None = None,
) -> KernelLoops:
    """The C of a kernel, whose products are in ``code``."""
    if code is None and product is not None and kernel.blocking is not None:
        code = product_code(nest, product, (kernel.blocking,), machine)
    return kernel_code(nest, kernel, planned(nest, product, kernel), code, machine.vector_bytes)


def product_code(
    nest: SymbolicNest, product: SymbolicProduct, blockings: tuple[Blocking, ...], machine: Machine
) -> ProductCode:
    """The C of some blockings for the registers and caches of a machine."""
    element = element_bytes(nest, product)
    apart = {}
    for each in blockings if product.rows_apart else ():
        dots = of_last_rows(machine, element, product, on_threads=each.on_threads)
        if dots is not None and each.along == "m" and not each.coalesced and not each.outputs:
            apart[each] = dots
    return ProductCode(machine.vector_bytes // element, blockings, product, machine.second_cache_bytes, apart)


def searched_kernels(
    scop: Scop,
    nest: SymbolicNest,
    product: SymbolicProduct | None,
    machine: Machine,
    *,
    top_k: int,
    seed: int,
    records: str | Path | bool,
    compiler: str | None,
    timeout_seconds: float,
) -> list[Kernel]:
    """What the fastest variant at one shape does, at any size; with each choice of operands to copy. May be none."""

    def kernel(variant: Variant) -> Kernel | None:
        if variant.scop_steps:
            return None
        if product is None:
            return _with_steps(variant.nest_steps)
        applied = apply(scop, variant, machine=machine, microkernel=_MICROKERNEL, prove=False)
        if all(product.statement not in each.nest.statements for each in applied.plan.nests):
            return None
        blocking = of_variant(applied, product, machine, element_bytes(nest, product))
        if blocking is None:
            return None
        computed = {applied.plan.nest_of(name).nest.index for name in product.statements}
        shared = _around_variables(nest, blocking.on_threads, product)
        others = [step for step in variant.nest_steps if step.nest not in computed]
        plain = kernel_of(nest, shared, blocking.on_threads, product) if shared else _with_steps(others)
        return None if plain is None else replace(plain, blocking=blocking)

    microkernel = _MICROKERNEL if product is not None else "none"
    generated = generate_variants(
        scop, machine=machine, max_variants=_MAX_VARIANTS, seed=seed, microkernel=microkernel, fuse=False,
        fewer_products=False,
    )  # fmt: skip
    able = [variant for variant in generated if kernel(variant) is not None]
    if not able:
        return []
    result = optimize(
        scop, machine=machine, variants=able, top_k=top_k, microkernel=microkernel, fuse=False, fewer_products=False,
        seed=seed, compiler=compiler, records=records, timeout_seconds=timeout_seconds,
    )  # fmt: skip
    winner = None if result.winner is None else kernel(result.winner.ranked.variant)
    if winner is None:
        return []
    if product is None or winner.blocking is None:
        return [winner]
    element = element_bytes(nest, product)
    most = machine.core.packed_tile_bytes
    return [replace(winner, blocking=blocking) for blocking in packings(winner.blocking, product, element, most)]


def _with_steps(steps: Sequence[NestStep]) -> Kernel | None:
    """The kernel with these steps; None if one of them means something at one shape alone.

    Loops that are unrolled must have a known number of iterations.
    """
    variant = Variant(tuple(steps))
    for nest in variant.nests.values():
        combined = nest.parallel is not None and nest.parallel.combined
        if nest.microkernel is not None or nest.unrolled or nest.streamed or combined:
            return None
    return Kernel(variant)


def element_bytes(nest: SymbolicNest, product: SymbolicProduct) -> int:
    """Bytes of an element of the product's arrays."""
    return nest.scop.array(product.c.access.array).element_bytes
