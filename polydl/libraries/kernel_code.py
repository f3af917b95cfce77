"""C of a kernel: one function with the parameters of the source's, whose loops run to sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.codegen import print_c
from polydl.codegen.callees import Written
from polydl.codegen.function_text import parameter_list
from polydl.codegen.loop_ir import Body, Call, Node
from polydl.codegen.loops import loops
from polydl.codegen.passes.thread_choice import with_choice
from polydl.codegen.values import Expr, Integer
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Array, Scop
from polydl.libraries.contraction import contracted
from polydl.libraries.kernel import Kernel, PlannedKernel
from polydl.libraries.linear import OPEN
from polydl.libraries.product import SymbolicProduct
from polydl.libraries.product_code import ProductCode
from polydl.libraries.symbolic import SymbolicNest
from polydl.plan.nest_plan import NestPlan

# Most bytes of a local array that a kernel has on its stack.
_STACK_BYTES = 1 << 14


@dataclass(frozen=True)
class KernelLoops:
    """The loops of a kernel, and the local variables that they need beside those inside of loops."""

    kernel: Kernel
    body: Body
    variables: tuple[Array, ...]
    #: that it computes by register blocks, if there is one
    product: SymbolicProduct | None

    def function(self, nest: SymbolicNest, name: str) -> str:
        """The function of that name."""
        lines = [
            *_views(nest),
            *(
                f"  {each.element} {each.name}{''.join(f'[{extent}]' for extent in each.extents)};"
                for each in self.variables
            ),
            *print_c.lines(self.body, 1),
        ]
        return "\n".join(
            [
                f"/* {self.kernel.words(nest, self.product)}. */",
                f"static void {name}{parameter_list(nest.source)}",
                *_with_signed_sizes(nest, lines),
                "}",
            ]
        )


def kernel_code(
    nest: SymbolicNest, kernel: Kernel, place: PlannedKernel, code: ProductCode | None, vector_bytes: int
) -> KernelLoops:
    """The loops of a kernel, planned as ``place`` says, with vectors of ``vector_bytes`` where they fill them.

    ``code`` has its blocking. Raises IllegalVariantError where a local array would need memory that grows with the
    sizes.
    """
    left = place.rewritten
    scop, plan = left.scop, place.plan

    def call(of: NestPlan, values: Sequence[Expr]) -> Node:
        assert code is not None
        assert kernel.blocking is not None
        statement = scop.statement(of.nest.statements[0])
        iterators = list(values[: of.nest.depth]) + [Integer(0)] * (statement.depth - of.nest.depth)
        return Call(Written(code.call(kernel.blocking, iterators, of.nest.depth)), statement.name)

    # The call computes what sets C as well.
    omitted = () if code is None or code.product.start is None else (code.product.start.statement,)
    body = loops(
        scop, plan, dict(enumerate(left.directions)), call, omitted=omitted, numerics=left.numerics,
        vector_bytes=vector_bytes, sizes=nest.context,
    )  # fmt: skip
    variables = []
    # What the call reads and writes isn't seen in the loops.
    called = set() if code is None else {each.access.array for each in code.product.operands.values()}
    for array in _local(scop):
        shorter = contracted(body, array) if array.extents and array.name not in called else None
        if shorter is not None:
            body = shorter
        elif OPEN not in nest.extents.get(array.name, ()) and array.bytes <= _STACK_BYTES:
            variables.append(array)
        else:
            raise IllegalVariantError(f"`{array.name}` would need memory that grows with the sizes")
    return KernelLoops(kernel, with_choice(body), tuple(variables), code.product if code is not None else None)


def _local(scop: Scop) -> list[Array]:
    used = {access.array for statement in scop.statements for access in statement.accesses}
    return [each for each in scop.arrays if each.storage == "local" and not each.view_of and each.name in used]


def _with_signed_sizes(nest: SymbolicNest, lines: list[str]) -> list[str]:
    """The lines of a kernel where sizes without a sign are longs: in their own types ``M - 2`` wraps around."""
    unsigned = [name for name in nest.sizes if nest.source.array(name).element.startswith("unsigned")]
    if not unsigned:
        return lines
    kept = [f"  const long polydl_{name} = {name};" for name in unsigned]
    inside = [*(f"  const long {name} = polydl_{name};" for name in unsigned), *lines]
    return [*kept, "  {", *(f"  {line}" for line in inside), "  }"]


def _views(nest: SymbolicNest) -> list[str]:
    """C of the arrays with one dimension as pointers to rows."""
    constant = {each.array: each.is_const for each in nest.source.function.parameters}
    lines = []
    for view in nest.views:
        element = f"{'const ' if constant.get(view.view_of) else ''}{view.element}"
        rows = "".join(f"[{extent}]" for extent in nest.extents[view.name][1:])
        lines.append(f"  {element} (*const {view.name}){rows} = ({element} (*){rows}){view.view_of};")
    return lines
