"""The C of products whose operands hold groups of k side by side, which one instruction multiplies and adds up.

A[k/4][m][4] and B[n][k/4][4], say. The group is the role k of a site; the loop over groups and all others that sum are
the batch. Vectors hold one group of each of their rows of A; a group of a column of B is spread to all lanes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Literal

from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, Microkernel
from polydl.ir.ingredients import Ingredients
from polydl.machine.core import Core
from polydl.microkernels.group_runs import group_run
from polydl.microkernels.plain_c import PLAIN_C
from polydl.microkernels.plain_c_blocks import OutputBlock, block_function, fetched_ahead
from polydl.microkernels.plain_c_code import Writer, tiling_of
from polydl.microkernels.shapes import tile_sizes, tiling_cycles

# Rows of the widest vector: tiles with fewer are left to other kernels.
_LEAST_ROWS = 16
# Bytes of a group, of an accumulator, and of a lane of a vector.
_LANE = 4


def _in_groups(shape: GemmShape) -> GemmShape:
    """The shape with one step of k for each group."""
    return replace(shape, k=1)


class DotProducts(Writer):
    """Writes the blocks as dot products of groups of four bytes each."""

    #: bytes of an operand's element
    element_bytes: ClassVar[int]
    #: by the bytes of a vector: what the compiler must have for an instruction that adds a group's products to each
    #: lane, its name, and the type of its operands
    instructions: ClassVar[dict[int, tuple[tuple[str, str, str], ...]]]

    def __init__(self, site: GemmSite, vector_bytes: int, core: Core) -> None:
        super().__init__(site, vector_bytes, core)
        self.bytes = _LANE
        self.width = vector_bytes // _LANE
        self.step_a = _LANE // self.element_bytes
        self.run_length, self.apart_a, self.apart_b = group_run(site, len(site.offsets_a))

    @abstractmethod
    def plain_dot(self, width: int) -> list[str]:
        """The C statements that return ``sum`` plus the products of ``a`` and ``b``, vectors of groups, without such an
        instruction."""

    def operands(self, a: str, b: str) -> tuple[str, str]:
        """The instruction's operands beside the sum, in its order."""
        return a, b

    def in_steps(self, shape: GemmShape) -> GemmShape:
        return _in_groups(shape)

    def definitions(self) -> list[str]:
        prefix, width = self.site.prefix, self.width
        whole = f"__attribute__((vector_size({_LANE * width})"
        return [
            *(each.declaration for each in self.ingredients.vector_types),
            f"typedef int {prefix}_groups{width} {whole}, aligned(1), may_alias));",
            f"typedef int {prefix}_group __attribute__((aligned(1), may_alias));",
            self._dot(),
            *self.shared(),
        ]

    @property
    def ingredients(self) -> Ingredients:
        includes = ("immintrin.h",) if self._instructions() else ()
        return Ingredients(includes, (self.vector_type(self.width),))

    def _instructions(self) -> tuple[tuple[str, str, str], ...]:
        return self.instructions.get(_LANE * self.width, ())

    def _dot(self) -> str:
        """A function that adds to each lane the products of its groups."""
        prefix, width, known = self.site.prefix, self.width, self._instructions()
        vector, groups = f"{prefix}_vector{width}", f"{prefix}_groups{width}"
        lines = []
        if known:
            lines += [f"#if {' || '.join(f'({needed})' for needed, _, _ in known)}", "#include <immintrin.h>", "#endif"]
        lines += [f"static inline {vector} {prefix}_dot({vector} sum, {groups} a, {groups} b)", "{"]
        sum_type = {"int": "__m%di", "float": "__m%d"}[self.site.accumulator] % (8 * _LANE * width)
        one, other = self.operands("a", "b")
        for number, (needed, name, operand) in enumerate(known):
            lines.append(f"#{'elif' if number else 'if'} {needed}")
            lines.append(f"  return ({vector}){name}(({sum_type})sum, ({operand}){one}, ({operand}){other});")
        lines += [*(["#else"] if known else []), *self.plain_dot(width), *(["#endif"] if known else [])]
        return "\n".join([*lines, "}"])

    def text(self, name: str, block: OutputBlock) -> str:
        site, prefix = self.site, self.site.prefix
        groups, vector = f"{prefix}_groups{block.width}", f"{prefix}_vector{block.width}"
        columns, vectors = range(len(block.columns_b)), range(len(block.rows))
        step = [
            f"const {site.element} *al = ar + l * {self.apart_a};",
            f"const {site.type_b} *bl = br + l * {self.apart_b};",
        ]
        if len(site.offsets_a) > 1:
            # As if all groups lay as far apart as the first two.
            ahead = self.core.ahead_groups * (site.offsets_a[1] - site.offsets_a[0])
            step += [f"__builtin_prefetch(al + ({ahead + self.step_a * block.rows[v]}));" for v in vectors]
        step += [f"const {groups} a{v} = *(const {groups} *)(al + {self.step_a * block.rows[v]});" for v in vectors]
        for u in columns:
            step.append(
                f"const {groups} b{u} = *(const {prefix}_group *)(bl + {block.columns_b[u]}) + ({groups}){{0}};"
            )
            step += [f"c{v}_{u} = {prefix}_dot(c{v}_{u}, a{v}, b{u});" for v in vectors]
        lines = ["    (void)k;", f"    for (long l = 0; l < {self.run_length}; ++l) {{"]
        lines += [*(f"      {line}" for line in step), *fetched_ahead(site, block, "(r + l)"), "    }"]
        return block_function(
            name,
            site,
            block,
            lines,
            lambda at: f"*({vector} *)({at})",
            lambda at, value: f"*({vector} *)({at}) = {value};",
            self.run_length,
        )


class DotProductKernel(Microkernel):
    """What microkernels of such products have in common."""

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "ahead", "after"})
    #: what writes the C of a site
    writer: ClassVar[type[DotProducts]]

    @property
    def _group(self) -> int:
        return _LANE // self.writer.element_bytes

    def rejects(self, shape: GemmShape) -> str | None:
        if shape.k != self._group:
            return f"a group of k has {self._group} steps, not {shape.k}"
        if shape.m < _LEAST_ROWS:
            return f"tiles have at least {_LEAST_ROWS} rows, not {shape.m}"
        return PLAIN_C.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        return (min(extent, self._group),) if role == "k" else tile_sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        tiling = tiling_of(_in_groups(shape), vector_elements, self.core)
        cycles = tiling_cycles(tiling, shape.batch, 1, self.core, reads=not shape.overwrite)
        return self.core.call_cycles + self.slowdown * cycles

    @property
    def slowdown(self) -> float:
        """How many times as long as a multiply-add of floats the instruction takes."""
        return 1.0

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int] | None:
        return tiling_of(_in_groups(shape), vector_elements, self.core).largest(vector_elements)

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        return self.writer(site, vector_bytes, self.core).emitted()

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)
