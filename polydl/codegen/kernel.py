"""A plan as a complete C file: the user's source with its region replaced, a header, and a harness."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from polydl import bfloat16
from polydl.codegen import transforms
from polydl.codegen.ahead import Ahead, ahead_of
from polydl.codegen.epilogue import Epilogue, epilogue_of, last_values
from polydl.codegen.expressions import SUPPORT, affine, stripped, subscripted
from polydl.codegen.loops import loops
from polydl.codegen.next_tile import NextTile, next_tile_of, with_first_copy_only
from polydl.codegen.storage import LocalStorage, local_storage
from polydl.contracts import CallArguments, GemmSite, Microkernel
from polydl.errors import CodegenError
from polydl.ir.affine import Affine
from polydl.ir.kernel import KernelSource, MicrokernelUse
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.match.product import GemmMatch
from polydl.plan.plan import NestPlan, Plan, ends, offsets, trips
from polydl.plan.zeroing import absorbed, first_values
from polydl.poly.legality import Directions
from polydl.vector_functions import called, from_library, prototypes, roots

# Pragmas that only this tool reads, with their continuation lines.
_OWN_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop|polydl)\b(.*\\\n)*.*\n?", re.MULTILINE)


# The first table of pages, as x86 cores have it since 2015: entries, and cycles to ask the second one.
_PAGES_HELD = 64
_PAGE_LOOK_UP = 7.0
_PAGE_BYTES = 4096
_FLOAT_BYTES = 4


@dataclass(frozen=True)
class Site:
    """A microkernel call in the making: the plan of its nest, the operands matched, and the sizes."""

    plan: NestPlan
    match: GemmMatch
    statement: Statement
    gemm: GemmSite
    kernel: Microkernel
    ahead: Ahead | None = None
    next_tile: NextTile | None = None
    epilogue: Epilogue | None = None

    @property
    def use(self) -> MicrokernelUse:
        step = self.plan.microkernel
        assert step is not None
        gemm, form = self.gemm, self.match.form
        return MicrokernelUse(
            nest=self.plan.nest.index,
            name=self.kernel.name,
            statement=self.statement.name,
            m=gemm.m[0],
            n=gemm.n[0],
            k=gemm.k[0],
            batch=gemm.batch[0],
            lda=gemm.lda,
            ldb=self.match.ldb,
            ldc=gemm.ldc,
            loops=(step.m, step.n, step.k),
            batch_loops=step.batch,
            operands=(form.c.array, form.a.array, form.b.array),
            rows=gemm.rows,
            row_loops=step.rows,
            ahead=gemm.ahead,
            stride_bn=gemm.stride_bn,
            stride_bk=gemm.stride_bk,
            copied=self.next_tile.share if self.next_tile else 0,
        )

    @property
    def calls(self) -> int:
        """How often the site is reached."""
        total = self.statement.instances
        for loop in self.plan.inner:
            total //= self.plan.extent(self._name(loop))
        for loop in self.plan.inner:
            tile = self.plan.tile_of(self._name(loop))
            if tile is not None:
                total *= -(-self.plan.extent(self._name(loop)) // tile.size)
        return total

    def predicted_cycles(self, vector_elements: int) -> float:
        """Core cycles of all calls, operands in the first-level cache; shorter last tiles for what they are."""
        step = self.plan.microkernel
        assert step is not None
        batches = dict.fromkeys(self.gemm.batch)
        total = 0.0
        for last, shape in self.gemm.shapes():
            share = prod(self._share(loop, each) for loop, each in zip((step.m, step.n, step.k), last, strict=True))
            for number, batch in enumerate(batches):
                part = share * self._share(step.batch[0], number) if len(batches) > 1 else share
                total += part * self.kernel.predicted_cycles(replace(shape, batch=batch), vector_elements)
        return self.calls * (total + self._page_cycles(vector_elements))

    def register_block(self, vector_elements: int) -> tuple[int, int] | None:
        """Of full tiles, as the microkernel's."""
        return self.kernel.register_block(self.gemm.shapes()[0][1], vector_elements)

    def _page_cycles(self, vector_elements: int) -> float:
        """Cycles of a call for addresses that the first table of pages has forgotten when a register block needs them.

        Each block walks through all of A's columns; where these lie on more pages than the table holds, it looks up
        each page anew. A kernel that copies its operands does so two vectors of rows at a time.
        """
        gemm = self.gemm
        columns = gemm.k[0] * gemm.batch[0]
        pages = columns * min(1.0, gemm.lda * _FLOAT_BYTES / _PAGE_BYTES)
        if pages <= _PAGES_HELD:
            return 0.0
        blocks = -(-gemm.m[0] // (4 * vector_elements)) * -(-gemm.n[0] * gemm.rows // 6)
        if "copies" in self.kernel.abilities:
            blocks = -(-gemm.m[0] // (2 * vector_elements))
        return blocks * pages * _PAGE_LOOK_UP

    def _share(self, loop: str, last: int) -> float:
        """The part of a loop's tiles that are shorter last ones (1) or the others (0)."""
        full, end = ends(self.plan, loop)
        if full == end:
            return 1.0
        tiles = -(-self.plan.extent(loop) // full)
        return 1.0 / tiles if last else 1.0 - 1.0 / tiles

    def _name(self, loop: Loop) -> str:
        return self.plan.nest.loops[loop.iterator - self.plan.nest.depth]


def _again(scop: Scop, plan: NestPlan, operand: Access, strides: Sequence[int]) -> bool:
    """Whether several calls read the same tile of an operand, and nothing inside the same loops writes its memory."""
    if all(strides[loop.iterator] for loop, times in zip(plan.loops, trips(plan), strict=False) if times > 1):
        return False
    number = scop.statement(plan.nest.statements[0]).betas[0]
    beside = (statement for statement in scop.statements if statement.betas[0] == number)
    memory = scop.array(operand.array).memory
    return all(scop.array(access.array).memory != memory for statement in beside for access in statement.writes)


def make_site(
    scop: Scop,
    plan: NestPlan,
    match: GemmMatch,
    kernel: Microkernel,
    *,
    overwrites: bool = False,
    ordered: bool = False,
) -> Site:
    """Sizes, strides and offsets of a nest's microkernel call. With ``overwrites`` the first on a tile sets it."""
    step = plan.microkernel
    if step is None:
        raise CodegenError(f"nest {plan.nest.index} has no microkernel")
    first = [ends(plan, loop) for loop in step.batch]
    others = 1
    for full, _ in first[1:]:
        others *= full
    batch = (first[0][0] * others, first[0][1] * others) if first else (1, 1)
    gemm = GemmSite(
        prefix=f"polydl_gemm{plan.nest.index}",
        element=match.form.element,
        element_b="" if match.form.element_b == match.form.element else match.form.element_b,
        accumulator=match.form.accumulator,
        m=ends(plan, step.m),
        n=ends(plan, step.n),
        k=ends(plan, step.k),
        batch=batch,
        lda=match.lda,
        ldc=match.ldc,
        stride_bn=match.stride_bn,
        stride_bk=match.stride_bk,
        offsets_a=offsets(plan, match.form.strides_a, step.batch),
        offsets_b=offsets(plan, match.form.strides_b, step.batch),
        rows_b=offsets(plan, match.form.strides_b, step.rows),
        rows_c=offsets(plan, match.form.strides_c, step.rows),
        overwrites=overwrites,
        ordered=ordered,
    )
    if "copies" in kernel.abilities:
        again_a = _again(scop, plan, match.form.a, match.form.strides_a)
        again_b = _again(scop, plan, match.form.b, match.form.strides_b)
        gemm = replace(gemm, again_a=again_a, again_b=again_b)
    ahead = ahead_of(plan, match, gemm) if "ahead" in kernel.abilities else None
    if ahead is not None:
        gemm = replace(gemm, ahead=ahead.share)
    tile = next_tile_of(scop, plan, match, gemm) if ahead is None and "pack" in kernel.abilities else None
    if tile is not None:
        gemm = replace(gemm, copied=tile.columns, copied_lda=tile.lda)
    return Site(plan, match, scop.statement(plan.nest.statements[0]), gemm, kernel, ahead, tile)


def with_epilogue(scop: Scop, plan: Plan, site: Site, vector_bytes: int, *, exact: bool = False) -> Site:
    """The site with the element-wise statements that its microkernel applies to what it has computed."""
    if "after" not in site.kernel.abilities:
        return site
    found = epilogue_of(scop, plan, site.plan, site.match, site.gemm, vector_bytes, exact=exact)
    if found is None:
        return site
    return replace(site, gemm=replace(site.gemm, after=True, after_calls=found.calls), epilogue=found)


def _iterator_values(plan: NestPlan, depth: int, values: Sequence[str]) -> list[str]:
    """For each of a statement's ``depth`` iterators, its value in C at the start of the call's tile."""
    shared = [each for each in plan.nest.prefix if isinstance(each, Loop)]
    found: dict[int, str] = {}
    for loop, value in zip((*shared, *plan.loops), values, strict=True):
        if loop.size == 1:
            found[loop.iterator] = value if loop.direction == 1 else f"(-{value})"
    for loop in plan.inner:
        position = loop.iterator - plan.nest.depth
        name, low = plan.nest.loops[position], plan.bounds[position][0]
        tile = plan.tile_of(name)
        if tile is None:
            found[loop.iterator] = str(low)
        else:
            number = values[len(shared) + plan.loops.index(tile)]
            number = number if tile.direction == 1 else f"(-{number})"
            found[loop.iterator] = f"({stripped(affine(Affine((tile.size,), low), [number]))})"
    return [found[index] for index in range(depth)]


def _annotated_call(scop: Scop, plan: NestPlan, values: Sequence[str]) -> str:
    """The call that the user marked, with the loop counters that it may name."""
    assert plan.nest.call is not None
    statement = scop.statement(plan.nest.statements[0])
    outer = statement.depth - plan.nest.call.inner_loops
    found = _iterator_values(plan, statement.depth, values)[:outer]
    others = [(n, stripped(v)) for n, v in zip(statement.iterators, found, strict=False) if stripped(v) != n]
    call = plan.nest.call.call.rstrip(";") + ";"
    if not others:
        return call
    # First the values, since they may name the very counters that are declared next.
    values_of = " ".join(f"const int polydl_{name} = {value};" for name, value in others)
    counters = " ".join(f"const int {name} = polydl_{name};" for name, _ in others)
    return f"{{ {values_of} {{ {counters} {call} }} }}"


def _is_last(site: Site, values: Sequence[str], loop: str) -> str:
    full, last = ends(site.plan, loop)
    tile = site.plan.tile_of(loop)
    if full == last or tile is None:
        return "0"
    shared = sum(1 for each in site.plan.nest.prefix if isinstance(each, Loop))
    number = values[shared + site.plan.loops.index(tile)]
    return f"{stripped(number)} == {tile.direction * (site.plan.extent(loop) // tile.size)}"


def _all_at(values: Sequence[str], wanted: Iterable[tuple[int, int]]) -> str:
    """The condition under which each loop, given by its place among ``values``, is at its value."""
    return " && ".join(f"{stripped(values[place])} == {value}" for place, value in wanted) or "1"


def _call(scop: Scop, site: Site, values: Sequence[str]) -> str:
    step = site.plan.microkernel
    assert step is not None
    iterators = _iterator_values(site.plan, site.statement.depth, values)

    def address(access: Access) -> str:
        return f"&{subscripted(scop, access, iterators)}"

    batch = str(site.gemm.batch[0])
    if site.gemm.batch[0] != site.gemm.batch[1]:
        batch = f"{_is_last(site, values, step.batch[0])} ? {site.gemm.batch[1]} : {site.gemm.batch[0]}"
    form = site.match.form
    moves = {loop: stride != 0 for loop, stride in enumerate(form.strides_c)}
    own = values[len(values) - len(site.plan.loops) :]
    tile = site.next_tile
    return site.kernel.call(
        site.gemm,
        CallArguments(
            a=tile.tile(values) if tile else address(form.a),
            b=address(form.b),
            c=address(form.c),
            last_m=_is_last(site, values, step.m),
            last_n=_is_last(site, values, step.n),
            last_k=_is_last(site, values, step.k),
            batch=batch,
            first=_all_at(values, first_values(scop, site.plan, moves)) if site.gemm.overwrites else "0",
            ahead=site.ahead.address(address(form.a), site.gemm.element, own) if site.ahead else "0",
            copy_from=tile.source(scop, values) if tile else "0",
            copy_to=tile.target(values, site.gemm.m[0]) if tile else "0",
            copy_columns=tile.left(values) if tile else "0",
            last=_all_at(values, last_values(scop, site.plan, moves)) if site.epilogue else "0",
            operands=site.epilogue.arguments(scop, iterators) if site.epilogue else "0",
        ),
    )


def prototype(scop: Scop) -> str:
    function = scop.function
    parameters = ", ".join(parameter.declaration for parameter in function.parameters) or "void"
    return f"{function.return_type} {function.name}({parameters})"


def header(scop: Scop) -> str:
    """A header that declares the function, for C and C++."""
    guard = f"POLYDL_{scop.function.name.upper()}_H"
    return (
        f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
        f"{prototype(scop)};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    )


def harness(scop: Scop) -> str:
    """C that calls the function with one pointer per parameter and tells where the global arrays are."""
    arguments = []
    for index, parameter in enumerate(scop.function.parameters):
        if parameter.is_pointer:
            arguments.append(f"arguments[{index}]")
        else:
            arguments.append(f"*(const {scop.array(parameter.array).element} *)arguments[{index}]")
    lines = [
        "void polydl_invoke(void *const *arguments);",
        "void polydl_invoke(void *const *arguments)",
        "{",
        *(["  (void)arguments;"] if not arguments else []),
        f"  {'' if scop.function.return_type == 'void' else '(void)'}{scop.function.name}({', '.join(arguments)});",
        "}",
        "void *polydl_global(int index);",
        "void *polydl_global(int index)",
        "{",
        "  switch (index) {",
    ]
    for index, array in enumerate(each for each in scop.arrays if each.storage == "global"):
        lines.append(f"  case {index}: return (void *)&{array.name};")
    return "\n".join([*lines, "  default: return 0;", "  }", "}", ""])


def _defines(scop: Scop) -> str:
    bound = {parameter.name for parameter in scop.function.parameters if parameter.value is not None}
    return "".join(f"#define {name} {value}\n" for name, value in scop.defines if name not in bound)


def original(scop: Scop) -> KernelSource:
    """The nest as the user wrote it: the baseline, and the reference for every check."""
    return KernelSource(
        id="original",
        function=scop.function.name,
        c=_defines(scop) + bfloat16.with_header(scop.source),
        header=header(scop),
        harness=harness(scop),
        compile_flags=_include_flags(scop),
    )


def _exported(scop: Scop, text: str) -> str:
    """The function without ``static`` and ``inline``, so that the emitted library offers what its header declares."""
    pattern = rf"\b(?:static|inline)\b\s*(?=[\w\s*]*\b{re.escape(scop.function.name)}\s*\()"
    return re.sub(pattern, "", text)


def _include_flags(scop: Scop) -> tuple[str, ...]:
    """Where the source's own headers are: code is compiled in another directory than the source's."""
    directories = [*scop.include_directories]
    if '#include "' in scop.source:
        directories.insert(0, str(Path(scop.file).resolve().parent))
    return tuple(f"-I{directory}" for directory in directories)


def _guarded(scop: Scop, storage: LocalStorage, body: Sequence[str]) -> list[str]:
    """Sizes that are parameters were fixed for this code; for others, or without memory, the original nest runs."""
    conditions = [f"{p.name} == {p.value}" for p in scop.function.parameters if p.value is not None]
    if storage.condition:
        conditions.append(storage.condition)
    if not conditions:
        return ["  {", *body, "  }"]
    start, end = scop.region
    source = _OWN_PRAGMA.sub("", scop.source[start:end]).strip("\n")
    return [f"  if ({' && '.join(conditions)}) {{", *body, "  } else {", source, "  }"]


def _support(text: str) -> list[str]:
    return [definition for name, definition in SUPPORT.items() if f"{name}(" in text]


def generate(
    scop: Scop,
    plan: Plan,
    found: Mapping[int, Directions],
    matches: Mapping[int, GemmMatch],
    kernels: Mapping[str, Microkernel],
    vector_bytes: int,
    *,
    exact: bool = False,
) -> KernelSource:
    """The C of a plan.

    ``found`` and ``matches`` are by nest index; ``kernels`` by name; ``vector_bytes`` is the width that the
    plain C microkernel is written for. With ``exact`` the functions that are called stay scalar, and sums keep their
    order. Raises CodegenError.
    """
    sites: dict[int, Site] = {}
    zeroed = absorbed(scop, plan, kernels)
    for nest in plan.nests:
        if nest.microkernel is not None:
            index = nest.nest.index
            kernel = kernels[nest.microkernel.name]
            site = make_site(scop, nest, matches[index], kernel, overwrites=index in zeroed.values(), ordered=exact)
            sites[index] = with_epilogue(scop, plan, site, vector_bytes, exact=exact)

    def call(nest: NestPlan, values: Sequence[str]) -> str:
        if nest.nest.call is not None and nest.nest.transform is not None:
            statement = scop.statement(nest.nest.statements[0])
            iterators = _iterator_values(nest, statement.depth, values)
            return transforms.invocation(scop, statement, nest.nest.call, iterators)
        if nest.nest.call is not None:
            return _annotated_call(scop, nest, values)
        return _call(scop, sites[nest.nest.index], values)

    spared = {*zeroed, *(index for site in sites.values() if site.epilogue for index in site.epilogue.nests)}
    omitted = [name for nest in plan.nests if nest.nest.index in spared for name in nest.nest.statements]
    made = with_first_copy_only(scop, [site.next_tile for site in sites.values() if site.next_tile is not None])
    body = loops(made, plan, found, call, depth=2, omitted=omitted, exact=exact, vector_bytes=vector_bytes)
    storage = local_storage(made)
    declarations = storage.declarations
    body = [*declarations, *body]
    emitted = [(site, site.kernel.emit(site.gemm, vector_bytes)) for site in sites.values()]
    setups = [each.setup for _, each in emitted if each.setup]
    includes = list(dict.fromkeys([*(name for _, each in emitted for name in each.includes), *storage.includes]))
    if setups:
        includes.append("pthread.h")
        body.insert(len(declarations), "    pthread_once(&polydl_once, polydl_setup);")
    body[len(declarations) : len(declarations)] = [each.start for _, each in emitted if each.start]
    definitions = [*storage.definitions, *(site.epilogue.definition for site in sites.values() if site.epilogue)]
    definitions += [each.definitions for _, each in emitted]
    definitions += [
        transforms.definition(scop, scop.statement(nest.nest.statements[0]), nest.nest.call, vector_bytes)
        for nest in plan.nests
        if nest.nest.call is not None and nest.nest.transform is not None
    ]
    if any(bfloat16.ELEMENT in (site.gemm.element, site.gemm.type_b) for site in sites.values()):
        definitions.insert(0, f"typedef unsigned short {bfloat16.ELEMENT};")
    if setups:
        definitions += [
            "static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;",
            "\n".join(["static void polydl_setup(void)", "{", *setups, "}"]),
        ]
    functions = () if exact else from_library(scop, called(scop.statements))
    start, end = scop.region
    preamble = [
        *(f"#include <{name}>" for name in includes),
        # Counters that the source declared outside its loops have no use any more.
        '#pragma GCC diagnostic ignored "-Wunused-variable"',
        # Nor need every compiler manage to use vectors wherever that is allowed.
        *(
            ["#ifdef __clang__", '#pragma clang diagnostic ignored "-Wpass-failed"', "#endif"]
            if any("omp" in line and "simd" in line for line in body)
            else []
        ),
        *(() if exact else roots(scop, called(scop.statements))),
        *prototypes(functions),
        "",
        *_support("\n".join(body)),
        *definitions,
        "",
    ]
    text = "\n".join(
        [
            *preamble,
            _defines(scop) + _exported(scop, bfloat16.with_header(scop.source[:start])).rstrip(" \t"),
        ]
    )
    text = text.rstrip("\n") + "\n" + "\n".join(_guarded(scop, storage, body)) + "\n" + scop.source[end:].lstrip("\n")
    return KernelSource(
        id=plan.variant.id,
        function=scop.function.name,
        c=text,
        header=header(scop),
        harness=harness(scop),
        compile_flags=_include_flags(scop),
        link_flags=tuple(dict.fromkeys(flag for site in sites.values() for flag in site.kernel.link_flags())),
        microkernels=tuple(site.use for site in sites.values()),
        vector_functions=functions,
    )
