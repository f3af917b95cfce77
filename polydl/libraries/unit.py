"""A library as a complete C file: kernels for any size, the choice between them, and the original nest."""

from __future__ import annotations

from collections.abc import Mapping

from polydl.codegen import function_text, print_c, processor
from polydl.codegen.header import interface
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.lowering import assignment
from polydl.codegen.original import compile_flags, defines, harness
from polydl.codegen.support import needed
from polydl.codegen.values import Name
from polydl.ir.interface import Clause, Interface
from polydl.ir.kernel import KernelSource
from polydl.libraries.blocking import Blocking
from polydl.libraries.decision import Condition, Decision, Leaf
from polydl.libraries.product import SymbolicProduct
from polydl.libraries.product_code import ProductCode, elementwise_loops
from polydl.libraries.symbolic import SymbolicNest

#: The id of the nest as it was written, where kernels are chosen.
ORIGINAL = "original"


def unit(
    nest: SymbolicNest,
    product: SymbolicProduct,
    decision: Decision,
    blockings: Mapping[str, Blocking],
    width: int,
    *,
    identity: str,
    exported: str = "",
) -> KernelSource:
    """The C file that runs what ``decision`` says within the ranges of the nest, and the original nest outside of them.

    ``blockings`` are those of all kernels in the decision but ``ORIGINAL``, with vectors of ``width`` elements.
    """
    scop = nest.source
    code = ProductCode(product.element, width, tuple(blockings.values()), bool(product.scale))
    memory = KeptMemory(())
    threaded = any(tile.parallel for blocking in blockings.values() for tile in blocking.tiles)
    contents = _interface(nest, interface(scop, memory, threaded=threaded, exported=exported), blockings)
    beside = [memory.release(contents.release), processor.question(contents.missing)]
    within = " && ".join(
        [
            *(f"{each.name} >= {each.low} && {each.name} <= {each.high}" for each in nest.ranges),
            *(f"{each.name} >= {each.least}" for each in nest.leading),
            *(
                f"{each.name} == {each.value}"
                for each in scop.function.parameters
                if each.value is not None and each.name not in nest.sizes
            ),
        ]
    )
    tuned = [
        f"  if ({within}) {{",
        *_views(nest),
        *_decided(nest, product, decision, blockings, code, "    "),
        "  } else {",
        function_text.region(scop),
        "  }",
    ]
    statements = [assignment(nest.scop, each, [Name(name) for name in each.iterators]) for each in nest.scop.statements]
    preamble = [
        "#include <stddef.h>",
        processor.definitions(),
        *needed(tuple(statements)),
        *code.definitions(),
        "",
    ]
    return KernelSource(
        id=identity,
        function=contents.function,
        c="\n".join([*preamble, defines(scop) + function_text.with_both(scop, tuned, beside, contents.function)]),
        interface=contents,
        harness=harness(scop, contents.function),
        compile_flags=compile_flags(scop),
    )


def _decided(
    nest: SymbolicNest,
    product: SymbolicProduct,
    decision: Decision,
    blockings: Mapping[str, Blocking],
    code: ProductCode,
    indent: str,
) -> list[str]:
    """The decision as C."""
    if isinstance(decision, Condition):
        factors = " * ".join([f"(long){decision.sizes[0]}", *decision.sizes[1:]])
        test = decision.sizes[0] if len(decision.sizes) == 1 else factors
        branches = [
            _decided(nest, product, branch, blockings, code, f"{indent}  ")
            for branch in (decision.holds, decision.fails)
        ]
        return [
            f"{indent}if ({test} <= {decision.bound}) {{",
            *branches[0],
            f"{indent}}} else {{",
            *branches[1],
            f"{indent}}}",
        ]
    if decision.kernel == ORIGINAL:
        return [function_text.region(nest.source)]
    return [f"{indent}{line}" for line in _kernel(nest, product, decision, blockings, code)]


def _kernel(
    nest: SymbolicNest,
    product: SymbolicProduct,
    leaf: Leaf,
    blockings: Mapping[str, Blocking],
    code: ProductCode,
) -> list[str]:
    """What one kernel runs: the statements one after the other, the product in its place."""
    scop = nest.scop
    lines = []
    for statement in scop.statements:
        if statement.name == product.statement:
            arguments = [
                *product.trips.values(),
                product.a.address,
                product.a.strides["m"],
                product.a.strides["k"],
                product.b.address,
                product.b.strides["k"],
                product.b.strides["n"],
                product.c.address,
                product.c.strides["n"],
                *([product.scale] if product.scale else []),
            ]
            lines.append(f"{code.function(blockings[leaf.kernel])}({', '.join(arguments)});")
        else:
            body = print_c.lines((assignment(scop, statement, [Name(name) for name in statement.iterators]),))
            lines += elementwise_loops(statement.iterators, nest.trips[statement.name], " ".join(body))
    return lines


def _views(nest: SymbolicNest) -> list[str]:
    """C of the arrays with one dimension as pointers to rows."""
    constant = {each.array: each.is_const for each in nest.source.function.parameters}
    lines = []
    for view in nest.views:
        element = f"{'const ' if constant.get(view.view_of) else ''}{view.element}"
        rows = "".join(f"[{extent}]" for extent in nest.extents[view.name][1:])
        lines.append(f"    {element} (*const {view.name}){rows} = ({element} (*){rows}){view.view_of};")
    return lines


def _interface(nest: SymbolicNest, plain: Interface, blockings: Mapping[str, Blocking]) -> Interface:
    """What callers are told of a function of any size, in place of what they are told of one for known sizes."""
    scop = nest.source
    parameters = [
        f"{'const ' if each.is_const else ''}{scop.array(each.array).element} *{each.name}"
        if scop.array(each.array).extents
        else each.declaration
        for each in scop.function.parameters
    ]
    ranges = ", ".join(map(str, nest.ranges))
    sizes = (
        f"Any. From the smallest to the largest of {ranges} one of {len(blockings)} kernels runs, proved right for all "
        "of these sizes; for others the loops run as they were written."
    )
    if nest.leading:
        least = ", ".join(f"{each.name} of at least {each.least}" for each in nest.leading)
        sizes += f" They take {least}."
    copied = " Copies of tiles are thread-local variables, which go with their threads."
    packs = any(each.packed for each in blockings.values())
    clauses = [
        Clause(each.topic, sizes)
        if each.topic == "Sizes"
        else Clause(each.topic, each.text + copied)
        if each.topic == "Memory" and packs
        else each
        for each in plain.clauses
    ]
    linear = {view.view_of: nest.extents[view.name][1:] for view in nest.views}
    arrays = ", ".join(
        f"{each.name} has rows of {' by '.join(linear[each.array])} elements"
        if each.array in linear
        else f"{each.name} is {each.name}{''.join(f'[{extent}]' for extent in nest.extents[each.array])}"
        for each in scop.function.parameters
        if each.array in nest.extents or each.array in linear
    )
    prototype = f"{scop.function.return_type} {plain.function}({', '.join(parameters)})"
    return Interface(plain.function, prototype, (Clause("Arrays", f"Rows of C: {arrays}."), *clauses))
