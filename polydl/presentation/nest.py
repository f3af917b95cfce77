"""A machine, a scop and its microkernel matches as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, get_args

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.ir.affine import Affine
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.machine import Core, Machine
from polydl.machine.core import CONSTANTS, Source
from polydl.plan.rewrite_steps import description
from polydl.presentation.notation import count, counted, number, size, wrapped

_FLOATING = ("float", "double")

if TYPE_CHECKING:
    from polydl.match.product import NoMatch
    from polydl.variants.estimate import SizeEstimate
    from polydl.variants.generation import Generation
    from polydl.variants.register_blocks import RegisterBlock
    from polydl.variants.shapes import Shape
    from polydl.variants.space import NestSpace
    from polydl.variants.variant_space import NestReport, VariantSpace


def machine_text(machine: Machine, given: bool) -> str:
    """``given`` says that the cache sizes are not those found."""
    caches = ", ".join(f"{level.name} {size(level.bytes)}" for level in machine.caches)
    cores = (
        f"{counted(machine.cores, 'core')}, {counted(machine.threads, 'thread')} used, vectors of "
        f"{machine.vector_bytes} bytes, {number(machine.peak_gflops)} GFLOPS FMA peak per core (fp32)"
    )
    return "\n".join(
        [
            f"Machine  {machine.name}",
            *wrapped(cores, "  "),
            *wrapped(f"caches {'given' if given else 'found'}: {caches}", "  "),
            *wrapped(f"constants of a core: {_sources(machine.core)}", "  "),
        ]
    )


def _sources(core: Core) -> str:
    """How many constants come from where, such as ``8 published, 15 generic``."""
    counts = Counter(core.source(name) for name in CONSTANTS)
    return ", ".join(f"{counts[source]} {source}" for source in get_args(Source) if counts[source])


def scop_text(scop: Scop) -> str:
    """Loops with their extents, statements, arrays with their sizes, arithmetic."""
    defines = "".join(f" -D {name}={value}" for name, value in scop.defines)
    lines = [f"Parsed  {scop.file}:{scop.line}: function {scop.function.name}{defines}"]
    lines += _loops(scop.statements, 0)
    lines.append("Arrays")
    lines += [f"  {_array(array)}" for array in scop.arrays]
    real = any(array.element in (*_FLOATING, BFLOAT16) for array in scop.arrays)
    kind = "floating-point operations" if real else "operations on integers"
    lines += wrapped(f"Arithmetic  {count(scop.flops)} {kind} (nest {scop.digest})", "")
    return "\n".join(lines)


def accesses_text(scop: Scop) -> str:
    """Every statement with its domain and its accesses, and when its instances run."""
    lines = ["Statements"]
    for statement in scop.statements:
        lines.append(
            f"  {statement.name} (line {statement.line}): {counted(statement.instances, 'instance')}, "
            f"{counted(statement.flops, 'operation')}"
        )
        lines += wrapped(f"domain {statement.domain}", "    ")
        lines += [f"    {access.kind:5} {subscripted(access, statement)}" for access in statement.accesses]
    for call in scop.annotated_calls:
        lines.append(f"  line {call.line}: {', '.join(call.statements)} stands for the call {call.call}")
    lines.append("Schedule")
    for statement in scop.statements:
        lines += wrapped(f"{statement.name}[{', '.join(statement.iterators)}] -> [{', '.join(_time(statement))}]", "  ")
    return "\n".join(lines)


def _time(statement: Statement) -> Iterator[str]:
    """The source's order in 2d+1 form: a place among what a loop holds, then a loop, and so on."""
    for beta, iterator, direction in zip(statement.betas, statement.iterators, statement.directions, strict=False):
        yield str(beta)
        yield iterator if direction == 1 else f"-{iterator}"
    yield str(statement.betas[-1])


def nests_text(space: VariantSpace, *, verbose: bool) -> str:
    """For each nest, the microkernel and its loops, or the reason why there is none; then the alternative rewrites.

    ``verbose`` says also why other microkernels than the one chosen don't fit, and those for other element types.
    """
    lines = [
        line
        for report, nest_space in zip(space.reports, space.spaces, strict=True)
        for line in _nest(space.scop, report, nest_space, verbose)
    ]
    for alternative in space.alternatives:
        kernels = dict.fromkeys(report.kernel for report in alternative.reports if report.kernel)
        rewrites = ", ".join(description(space.scop, step) for step in alternative.rewrites)
        means = f"microkernel {', '.join(kernels)}" if kernels else "plain loops"
        lines += wrapped(f"Also    {rewrites}: {means}", "")
    return "\n".join(lines)


def generation_text(generation: Generation, seed: int, size: SizeEstimate | None = None) -> str:
    """The number of variants that were generated, and the number that exist."""
    legal = counted(len(generation.variants), "legal variant")
    looked = f"of {counted(generation.generated, 'assignment')} looked at"
    if not generation.sampled:
        return f"Variants  {legal} {looked}, which are all"
    sampled = f"sampled with seed {seed}"
    if generation.legal is not None:
        every = counted(generation.legal, "legal variant")
        return "\n".join(wrapped(f"Variants  {count(len(generation.variants))} of all {every}, {sampled}", ""))
    lines = wrapped(f"Variants  {legal} {looked}, {sampled} out of {counted(generation.forms, 'form')}", "")
    if size is not None:
        about = f"about {count(size.value)} are legal ({count(size.low)} to {count(size.high)}, 95 %)"
        lines += wrapped(f"{about}: forms with each of their parallel and innermost loops", " " * 10)
    return "\n".join(lines)


def _loops(statements: Sequence[Statement], depth: int) -> Iterator[str]:
    """The source's loops, with the statements of each, in the order in which they run."""
    # It loads isl, which a machine and an answer are shown without.
    from polydl.poly.boxes import loop_values

    indent = "  " * (depth + 1)
    for _, members in groupby(statements, key=lambda statement: statement.betas[: depth + 1]):
        inside = list(members)
        first = inside[0]
        if first.depth == depth:
            for statement in inside:
                yield from wrapped(statement.text, indent)
            continue
        loop = loop_values(inside, depth)
        stepped = f" by {loop.step}" if loop.step > 1 else ""
        most = f"{'' if loop.always else 'up to '}{loop.most}"
        yield f"{indent}for {first.iterators[depth]} in {loop.first}..{loop.last}{stepped}  ({most})"
        yield from _loops(inside, depth + 1)


def _array(array: Array) -> str:
    extents = "".join(f"[{extent}]" for extent in array.extents)
    storage = "" if array.storage == "parameter" else f" ({array.storage})"
    return f"{array.element} {array.name}{extents}{storage}: {size(array.bytes)}B"


def subscripted(access: Access, statement: Statement) -> str:
    """The reference as C writes it; the isl relation where a subscript divides."""
    if access.subscripts is None:
        return access.relation
    return access.array + "".join(f"[{_affine(form, statement.iterators)}]" for form in access.subscripts)


def _affine(form: Affine, iterators: Sequence[str]) -> str:
    text = ""
    for coefficient, name in zip(form.coefficients, iterators, strict=True):
        if coefficient:
            factor = name if abs(coefficient) == 1 else f"{abs(coefficient)}*{name}"
            text += (f" {'-' if coefficient < 0 else '+'} " if text else "-" * (coefficient < 0)) + factor
    if not text:
        return str(form.constant)
    return text + (f" {'-' if form.constant < 0 else '+'} {abs(form.constant)}" if form.constant else "")


def _refusals(refusals: Mapping[str, NoMatch]) -> list[str]:
    """One line per reason with the microkernels that share it."""
    shared: dict[str, list[str]] = {}
    for name, each in refusals.items():
        shared.setdefault(each.reason, []).append(name)
    return [": ".join(filter(None, (", ".join(names), reason))) for reason, names in shared.items()]


def _nest(scop: Scop, report: NestReport, space: NestSpace, verbose: bool) -> Iterator[str]:
    nest = report.nest
    loops = " ".join(f"{name}={extent}" for name, extent in space.extents.items()) or "no loops"
    yield from wrapped(f"Nest {nest.index}  {', '.join(nest.statements)}: {loops}", "")
    reasons = _refusals(report.refusals)
    if report.kernel is None:
        telling = _refusals({name: each for name, each in report.refusals.items() if not each.other_types})
        for reason in reasons if verbose else telling or reasons[:1]:
            yield from wrapped(f"plain loops; {reason}", "  ")
        if space.shapes[0].block is not None:
            yield from wrapped(_register_block(scop, space, space.shapes[0].block), "  ")
        return
    usable = [shape for shape in space.shapes if space.legal_order(shape, space.default(shape).order)]
    called = [shape for shape in usable or space.shapes if shape.match is not None]
    yield from _match(scop, space, called[0])
    for reason in reasons if verbose else ():
        yield from wrapped(f"and not {reason}", "  ")
    if len(usable) > 1:
        yield f"  and {counted(len(usable) - 1, 'other shape')} to choose from"


def _register_block(scop: Scop, space: NestSpace, block: RegisterBlock) -> str:
    names = scop.statement(space.nest.statements[0]).iterators
    outputs = " by ".join(f"{size} of {names[loop]}" for loop, size in block.outputs) or "one output"
    terms = ", ".join(names[loop] for loop in block.terms)
    return f"register block: {outputs}, all of {terms} unrolled, vectors along {names[block.vector]}"


def _match(scop: Scop, space: NestSpace, shape: Shape) -> Iterator[str]:
    match = shape.match
    assert match is not None
    names = scop.statement(match.form.statement).iterators
    roles = ", ".join(
        f"{role} = {length} of {names[loop]}"
        for role, loop, length in (("m", match.m, shape.m), ("n", match.n, shape.n), ("k", match.k, shape.k))
    )
    form = match.form
    product = f"{form.c.array} += {form.a.array} * {form.b.array}"
    yield from wrapped(f"microkernel {match.kernel} for {product}: {roles}", "  ")
    rows_of_a = f", rows of A {match.stride_am} apart" if match.stride_am > 1 else ""
    yield f"  lda {match.lda}{rows_of_a}, ldb {match.ldb}, ldc {match.ldc}"
    for loop, rows in shape.rows:
        yield f"  {counted(rows, 'row')} of n columns a call, along {names[loop]}"
    if shape.batch:
        products = prod(space.extents[names[loop]] for loop in shape.batch)
        loops = ", ".join(names[loop] for loop in shape.batch)
        yield f"  batch-reduce over {loops}: {counted(products, 'product')} a call"
