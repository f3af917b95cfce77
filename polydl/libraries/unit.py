"""A library as a complete C file: kernels for any size, the choice between them, and the original nest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polydl.codegen import bfloat16_rounding, function_text, processor, team
from polydl.codegen.conditions import condition_flags
from polydl.codegen.header import Threads, interface, type_in_header
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.original import compile_flags, defines, features, harness
from polydl.codegen.passes.thread_choice import has_threads
from polydl.codegen.support import needed
from polydl.codegen.translation_unit import DIAGNOSTICS
from polydl.ir.interface import Clause, Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import DEFAULT_NUMERICS
from polydl.libraries.candidates import coded, product_code
from polydl.libraries.decision import Condition, Decision, Leaf
from polydl.libraries.kernel import Kernel
from polydl.libraries.kernel_code import KernelLoops
from polydl.libraries.product import SymbolicProduct
from polydl.libraries.symbolic import SymbolicNest
from polydl.machine import Machine
from polydl.vector_functions import called, from_library, prototypes, roots

#: The id of the nest as it was written, where kernels are chosen.
ORIGINAL = "original"

# Calls of one kernel are compared with those that have at most twice the work.
_TEAMS = """\
static struct polydl_team polydl_teams[{kernels}][64];
static int polydl_scale(double work)
{{
  int scale = 0;
  for (; work >= 2 && scale < 63; work /= 2)
    ++scale;
  return scale;
}}"""


def unit(
    nest: SymbolicNest,
    product: SymbolicProduct | None,
    decision: Decision,
    kernels: Mapping[str, Kernel],
    machine: Machine,
    *,
    identity: str,
    exported: str = "",
) -> KernelSource:
    """The C file that runs what ``decision`` says within the ranges of the nest, and the original nest outside of them.

    ``kernels`` are all in the decision but ``ORIGINAL``; registers and caches are those of ``machine``.
    """
    scop = nest.source
    blockings = tuple(dict.fromkeys(each.blocking for each in kernels.values() if each.blocking is not None))
    products = None
    if product is not None:
        products = product_code(nest, product, blockings, machine)
    coded_kernels = {name: coded(nest, product, each, machine, products) for name, each in kernels.items()}
    bodies = tuple(node for each in coded_kernels.values() for node in each.body)
    names = {name: f"polydl_kernel{number}" for number, name in enumerate(kernels, 1)}
    memory = KeptMemory(())
    threaded = [name for name, each in coded_kernels.items() if _has_threads(each)]
    teams = {name: f"&polydl_teams[{number}][polydl_scale({_work(nest)})]" for number, name in enumerate(threaded)}
    threads = Threads(used=bool(teams), chosen=bool(teams))
    plain = interface(scop, memory, threads=threads, exported=exported)
    contents = _interface(nest, plain, len(kernels), packs=products is not None and products.packs)
    beside = [memory.release(contents.release), processor.question(contents.missing)]
    within = " && ".join(
        [
            *(f"{each.name} >= {each.low} && {each.name} <= {each.high}" for each in nest.ranges),
            *(f"{each.name} >= {each.least}" for each in nest.leading),
            *(f"{name} == {size}" for name, size in nest.fixed.items()),
        ]
    )
    tuned = [
        f"  if ({within}) {{",
        *_decided(nest, decision, names, teams, "    "),
        "  } else {",
        function_text.region(scop),
        "  }",
    ]
    functions = from_library(scop, called(nest.scop.statements))
    support = needed(bodies)
    preamble = [
        *features(scop),
        "#include <stddef.h>",
        *DIAGNOSTICS,
        *roots(scop, called(nest.scop.statements)),
        *prototypes(functions),
        processor.definitions(),
        *(each.text for each in support),
        *([team.support(), _TEAMS.format(kernels=len(teams))] if teams else []),
        *(products.definitions() if products is not None else []),
        "",
    ]
    definitions = [each.function(nest, names[name]) for name, each in coded_kernels.items()]
    text = function_text.with_both(scop, function_text.body(scop, tuned), beside, contents.function, definitions)
    return KernelSource(
        id=identity,
        function=contents.function,
        c="\n".join([*preamble, defines(scop) + text]),
        interface=contents,
        harness=harness(scop, contents.function),
        compile_flags=(*compile_flags(scop), *condition_flags(scop, machine.vector_bytes, DEFAULT_NUMERICS)),
        vector_functions=functions,
        flushes=bfloat16_rounding.are_used(support),
    )


def alone(nest: SymbolicNest, product: SymbolicProduct | None, kernel: Kernel, machine: Machine) -> KernelSource:
    """The C of one kernel, without a choice."""
    return unit(nest, product, Leaf(kernel.id), {kernel.id: kernel}, machine, identity=kernel.id)


def _has_threads(code: KernelLoops) -> bool:
    blocking = code.kernel.blocking
    return has_threads(code.body) or (blocking is not None and any(tile.parallel for tile in blocking.tiles))


def _work(nest: SymbolicNest) -> str:
    """C of what a call has to do: its time is in proportion, for sizes that are near each other."""
    return " * ".join(["1.0", *(each.name for each in nest.ranges)])


def _decided(
    nest: SymbolicNest, decision: Decision, names: Mapping[str, str], teams: Mapping[str, str], indent: str
) -> list[str]:
    """The decision as C. ``teams`` has, for each kernel with threads, C of where its calls are judged."""
    if isinstance(decision, Condition):
        factors = " * ".join([f"(long){decision.sizes[0]}", *decision.sizes[1:]])
        test = decision.sizes[0] if len(decision.sizes) == 1 else factors
        branches = [_decided(nest, branch, names, teams, f"{indent}  ") for branch in (decision.holds, decision.fails)]
        return [
            f"{indent}if ({test} <= {decision.bound}) {{",
            *branches[0],
            f"{indent}}} else {{",
            *branches[1],
            f"{indent}}}",
        ]
    if decision.kernel == ORIGINAL:
        return [function_text.region(nest.source)]
    arguments = ", ".join(parameter.name for parameter in nest.source.function.parameters)
    call = [f"{indent}{names[decision.kernel]}({arguments});"]
    if decision.kernel not in teams:
        return call
    return team.judged(call, indent, teams[decision.kernel], _work(nest))


def _interface(nest: SymbolicNest, plain: Interface, kernels: int, *, packs: bool) -> Interface:
    """What callers are told of a function of any size, in place of what they are told of one for known sizes."""
    scop = nest.source
    parameters = [
        f"{'const ' if each.is_const else ''}{type_in_header(scop.array(each.array).element)} *{each.name_in_header}"
        if scop.array(each.array).extents
        else each.in_header
        for each in scop.function.parameters
    ]
    sizes = _sizes(nest, kernels)
    copied = " Copies of tiles are thread-local variables, which go with their threads."
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
    in_header = f"{type_in_header(scop.function.return_type)} {plain.function}({', '.join(parameters)})"
    for_c = plain.prototype.sized_in_header or plain.prototype.in_header
    declared = replace(plain.prototype, in_header=in_header, sized_in_header="" if for_c == in_header else for_c)
    fixed = _fixed(nest)
    told = (Clause("Arrays", f"Rows of C{f', with {fixed}' if fixed else ''}: {arrays}."), *clauses)
    return Interface(plain.function, declared, told)


def _fixed(nest: SymbolicNest) -> str:
    return ", ".join(f"{name} = {size}" for name, size in nest.fixed.items())


def _sizes(nest: SymbolicNest, kernels: int) -> str:
    """At which sizes kernels run, for callers."""
    if not kernels:
        return "Any. For all of them the loops run as they were written: there is no kernel."
    fixed = f", with {_fixed(nest)}," if nest.fixed else ""
    runs = f"one of {kernels} kernels runs" if kernels > 1 else "a kernel runs"
    ranges = ", ".join(map(str, nest.ranges))
    text = (
        f"Any. From the smallest to the largest of {ranges}{fixed} {runs}, proved right for all of these sizes; for "
        "others the loops run as they were written."
    )
    if nest.leading:
        least = ", ".join(f"{each.name} of at least {each.least}" for each in nest.leading)
        text += f" {'They take' if kernels > 1 else 'It takes'} {least}."
    return text
