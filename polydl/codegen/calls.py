"""Calls that stand for the innermost loops of a nest, in C.

``values`` are those of all loops around a call, the shared ones first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polydl.codegen.epilogue import epilogue_arguments
from polydl.codegen.lowering import element
from polydl.codegen.next_tile import columns_left, copied_from, copied_to, tile_address
from polydl.codegen.prefetch import prefetch_address
from polydl.codegen.print_c import whole
from polydl.codegen.values import AddressOf, Expr, Integer, Name, Unary, linear
from polydl.contracts import CallArguments
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Access
from polydl.plan.call_sites import CallSite
from polydl.plan.epilogue import last_values
from polydl.plan.nest_plan import NestPlan, ends
from polydl.plan.zeroing import first_values


def iterator_values(plan: NestPlan, depth: int, values: Sequence[Expr]) -> list[Expr]:
    """For each of a statement's ``depth`` iterators, its value at the start of the call's tile."""
    shared = [each for each in plan.nest.prefix if isinstance(each, Loop)]
    found: dict[int, Expr] = {}
    for loop, value in zip((*shared, *plan.loops), values, strict=True):
        if loop.size == 1:
            found[loop.iterator] = value if loop.direction == 1 else Unary("-", value)
    for loop in plan.inner:
        position = loop.iterator - plan.nest.depth
        name, low = plan.nest.loops[position], plan.bounds[position][0]
        tile = plan.tile_of(name)
        if tile is None:
            found[loop.iterator] = Integer(low)
        else:
            number = values[len(shared) + plan.loops.index(tile)]
            found[loop.iterator] = linear([(tile.size * tile.direction, number)], low)
    return [found[index] for index in range(depth)]


def annotated_call(scop: Scop, plan: NestPlan, values: Sequence[Expr]) -> str:
    """The call that the user marked, with the loop counters that it may name."""
    marked = plan.nest.annotated
    assert marked is not None
    statement = scop.statement(plan.nest.statements[0])
    outer = statement.depth - marked.inner_loops
    found = iterator_values(plan, statement.depth, values)[:outer]
    others = [(n, v) for n, v in zip(statement.iterators, found, strict=False) if v != Name(n)]
    call = marked.call.rstrip(";") + ";"
    if not others:
        return call
    # First the values, since they may name the very counters that are declared next.
    values_of = " ".join(f"const int polydl_{name} = {whole(value)};" for name, value in others)
    counters = " ".join(f"const int {name} = polydl_{name};" for name, _ in others)
    return f"{{ {values_of} {{ {counters} {call} }} }}"


def microkernel_call(scop: Scop, site: CallSite, values: Sequence[Expr]) -> str:
    """The call of a site."""
    step = site.plan.microkernel
    assert step is not None
    iterators = iterator_values(site.plan, site.statement.depth, values)

    def address(access: Access) -> str:
        return whole(AddressOf(element(scop, access, iterators)))

    batch = str(site.gemm.batch[0])
    if site.gemm.batch[0] != site.gemm.batch[1]:
        batch = f"{_is_last(site, values, step.batch[0])} ? {site.gemm.batch[1]} : {site.gemm.batch[0]}"
    form = site.match.form
    moves = {loop: stride != 0 for loop, stride in enumerate(form.strides_c)}
    loops = values[len(values) - len(site.plan.loops) :]
    tile = site.next_tile
    return site.kernel.call(
        site.gemm,
        CallArguments(
            a=tile_address(tile, values) if tile else address(form.a),
            b=address(form.b),
            c=address(form.c),
            last_m=_is_last(site, values, step.m),
            last_n=_is_last(site, values, step.n),
            last_k=_is_last(site, values, step.k),
            batch=batch,
            first=_all_at(values, first_values(scop, site.plan, moves)) if site.gemm.overwrites else "0",
            ahead=prefetch_address(site.prefetch, address(form.a), loops) if site.prefetch else "0",
            copy_from=copied_from(scop, tile, values) if tile else "0",
            copy_to=copied_to(tile, values, site.gemm.m[0]) if tile else "0",
            copy_columns=columns_left(tile, values) if tile else "0",
            last=_all_at(values, last_values(scop, site.plan, moves)) if site.epilogue else "0",
            operands=epilogue_arguments(scop, site.gemm.prefix, site.epilogue, iterators) if site.epilogue else "0",
        ),
    )


def _is_last(site: CallSite, values: Sequence[Expr], loop: str) -> str:
    full, last = ends(site.plan, loop)
    tile = site.plan.tile_of(loop)
    if full == last or tile is None:
        return "0"
    shared = sum(1 for each in site.plan.nest.prefix if isinstance(each, Loop))
    number = values[shared + site.plan.loops.index(tile)]
    return f"{whole(number)} == {tile.direction * (site.plan.extent(loop) // tile.size)}"


def _all_at(values: Sequence[Expr], wanted: Iterable[tuple[int, int]]) -> str:
    """The condition under which each loop, given by its place among ``values``, is at its value."""
    return " && ".join(f"{whole(values[place])} == {value}" for place, value in wanted) or "1"
