"""Nests that compute a product in fewer products: transforms of both operands, and of the sums back again.

What a rewrite makes of a product (Winograd's, Strassen's) differs in the transforms alone.
All hold each operand as points: between the transforms there is a matrix product for each point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, combined, composed, iterator_form
from polydl.ir.calls import TileTransform, TransformCall
from polydl.ir.construct import assignment, fresh_name, has_loops_alone, make_access, make_statement, zero_of
from polydl.ir.scop import Array, Scop, SharedLoops
from polydl.ir.statement import Access, Expression, Statement
from polydl.ir.variant import Attach
from polydl.match.product import PointProduct
from polydl.match.zero import sets_to_zero

# The points of a tile lie no whole multiple of so many bytes apart, nor nearer to one than the second number. These are
# part of what the steps mean and no fact of one processor, unlike ``Core.same_set_bytes``: a step is applied without a
# machine, and a variant that is kept must make the same arrays wherever it is read. Where sets recur after a multiple
# of these bytes, as they do in larger first-level caches, the same padding keeps lines apart.
_SAME_SET, _APART = 4096, 128


@dataclass(frozen=True)
class OperandPoints:
    """An operand as an array of points. Loops are numbered as in the statement."""

    #: the operand
    access: Access
    #: of the operand along each loop, in elements
    strides: tuple[int, ...]
    #: outermost loops of the nest that makes the array, in each iteration of them anew
    around: tuple[int, ...]
    #: loops of the array's outer dimensions, the outermost in the operand first
    outer: tuple[int, ...]
    #: loops that together are the dimension after the points
    joined: tuple[int, ...]
    #: the loop of the array's innermost dimension
    lanes: int

    @property
    def loops(self) -> list[int]:
        """The loops of a transform: those around it, and then the outermost in the operand first."""
        return [*self.around, *sorted([*self.outer, *self.joined], key=lambda loop: -self.strides[loop])]


def zero_name(statement: str) -> str:
    """The name of the statement that sets the sums of a statement's products to zero."""
    return f"zero_{statement}"


def attached_zeros(statement: str) -> Attach:
    """Those sums set to zero at the first product on each tile."""
    return Attach(zero_name(statement), statement, "first")


@dataclass(frozen=True)
class Transform:
    """A nest whose inner loops are a call for each tile."""

    statement: Statement
    call: TransformCall


class PointNests:
    """What the nests of every such product have in common: arrays of ``points``, zeros, and the product itself.

    ``trips`` says how often each loop of the statement still runs. The loops over columns that are ``joined`` are one
    in the products. Those ``around`` A, B and the result are the outermost of the nests which make these, and the
    product's outermost are all of them.
    """

    def __init__(
        self,
        scop: Scop,
        statement: Statement,
        product: PointProduct,
        points: int,
        trips: Sequence[int],
        joined: Sequence[int],
        around: tuple[Sequence[int], Sequence[int], Sequence[int]],
    ) -> None:
        form, joined = product.form, tuple(joined)
        self._scop, self._statement, self._product, self._count = scop, statement, product, points
        self._trips = list(trips)
        self.a = self._points(form.a, form.strides_a, around[0], joined, product.sum_loop)
        self.b = self._points(form.b, form.strides_b, around[1], (product.sum_loop,), product.result_loop)
        self.c = self._points(form.c, form.strides_c, around[2], joined, product.result_loop)

    # ----------------------------------------------------------------------------------
    # Arrays of points

    def _points(
        self, access: Access, strides: tuple[int, ...], around: Sequence[int], joined: tuple[int, ...], lanes: int
    ) -> OperandPoints:
        elsewhere = {*joined, lanes, *around, *self._product.transformed}
        outer = [loop for loop, step in enumerate(strides) if step and loop not in elsewhere]
        outer.sort(key=lambda loop: -strides[loop])
        return OperandPoints(access, strides, tuple(around), tuple(outer), joined, lanes)

    def _extents_of(self, points: OperandPoints) -> list[int]:
        """What the loops reach in an array of points."""
        inside = prod(self._trips[loop] for loop in points.joined)
        return [*(self._trips[loop] for loop in points.outer), self._count, inside, self._trips[points.lanes]]

    def _array(self, points: OperandPoints) -> Array:
        original = self._scop.array(points.access.array)
        *outer, inside, lanes = self._extents_of(points)
        # A tile's points are written together, and would all fall into one set of the first cache.
        row = lanes * original.element_bytes
        while (inside * row + _APART) % _SAME_SET < 2 * _APART and row % _SAME_SET:
            inside += 1
        name = fresh_name(self._scop, f"{original.name}_points")
        return Array(name, original.element, original.element_bytes, (*outer, inside, lanes), "local")

    @cached_property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Points of A, of B and of the result."""
        return self._array(self.a), self._array(self.b), self._array(self.c)

    def _subscripts(self, points: OperandPoints, forms: Mapping[int, Affine], point: Affine) -> tuple[Affine, ...]:
        """Of an array of points, from the forms of the loops and of the point."""
        joined = points.joined
        factors = [prod(self._trips[loop] for loop in joined[place + 1 :]) for place in range(len(joined))]
        inside = combined([forms[loop] for loop in joined], factors)
        return (*(forms[loop] for loop in points.outer), point, inside, forms[points.lanes])

    # ----------------------------------------------------------------------------------
    # Transforms

    def _moved(self, access: Access, depth: int, of: Mapping[int, Affine]) -> tuple[Affine, ...]:
        """The subscripts of an access with other forms in place of the loops."""
        assert access.subscripts is not None
        nothing = Affine((0,) * depth)
        forms = [of.get(loop, nothing) for loop in range(self._statement.depth)]
        return tuple(composed(each, forms, depth) for each in access.subscripts)

    def _forms(self, loops: Sequence[int], inner: int, lanes: int) -> tuple[int, dict[int, Affine]]:
        """The depth of a nest over ``loops``, so many ``inner`` ones and the lanes, and what its loops are in it."""
        depth = len(loops) + inner + 1
        forms = {loop: iterator_form(place, depth) for place, loop in enumerate(loops)}
        return depth, forms | {lanes: iterator_form(depth - 1, depth)}

    def _transform(
        self,
        role: str,
        loops: Sequence[int],
        inner: Sequence[int],
        write: tuple[str, tuple[Affine, ...]],
        reads: Sequence[tuple[str, tuple[Affine, ...]]],
        transform: TileTransform,
    ) -> Transform:
        """A nest over ``loops`` of the statement and over ``inner`` extents, the last of which are the lanes.

        Where lanes don't lie side by side in an array of the source, the innermost of the loops belongs to the
        call, too, so that lanes can be brought together for many of its tiles at once.
        """
        name = f"{role}_{self._statement.name}"
        letters = [f"{role}_{number}" for number in range(len(inner))]
        iterators = (*(self._statement.iterators[loop] for loop in loops), *letters)
        box = tuple((0, extent - 1) for extent in (*(self._trips[loop] for loop in loops), *inner))
        accesses = [make_access(name, iterators, box, f"{name}_to", write[0], "write", write[1])]
        for number, (array, subscripts) in enumerate(reads):
            accesses.append(make_access(name, iterators, box, f"{name}_{number}", array, "read", subscripts))
        made = make_statement(
            name,
            iterators,
            box,
            tuple(accesses),
            assignment(f"{name}_to", Expression("access", f"{name}_0")),
            origin="transform",
            line=self._statement.line,
            text=f"{write[0]}[...] = ...",
        )
        outside = made.writes[0] if transform.clipped == "result" else made.reads[0]
        walked = self._scop.stride(outside, transform.lanes) != 1
        if walked:
            transform = replace(transform, walk=len(loops) - 1)
            steps = [self._scop.stride(outside, loop) for loop in (len(loops) - 1, *transform.outside)]
            if 1 not in steps or min(*steps, self._scop.stride(outside, transform.lanes)) < 1:
                raise IllegalVariantError(f"`{outside.array}` is contiguous along no loop of a tile, or runs backwards")
        call = TransformCall(f"polydl_{name}", name, len(inner) + walked, transform)
        return Transform(made, call)

    # ----------------------------------------------------------------------------------
    # Products

    @cached_property
    def zeros(self) -> Statement:
        """All sums of products set to zero, in each iteration of the loops around the result."""
        sums = self.arrays[2]
        name = zero_name(self._statement.name)
        around = self.c.around
        iterators = (
            *(self._statement.iterators[loop] for loop in around),
            *(f"{sums.name}_{dimension}" for dimension in range(len(sums.extents))),
        )
        extents = (*(self._trips[loop] for loop in around), *self._extents_of(self.c))
        box = tuple((0, extent - 1) for extent in extents)
        straight = tuple(iterator_form(place, len(box)) for place in range(len(around), len(box)))
        access = make_access(name, iterators, box, f"{name}_to", sums.name, "write", straight)
        body, text = assignment(access.reference, zero_of(sums)), f"{sums.name}[...] = ..."
        return make_statement(
            name, iterators, box, (access,), body, origin="zero", line=self._statement.line, text=text
        )

    @cached_property
    def product(self) -> Statement:
        """The source's statement over points and columns, inside all loops around it."""
        statement, own = self._statement, self._product
        shared = list(dict.fromkeys([*self.c.around, *self.a.around, *self.b.around]))
        joined = self.a.joined
        # Points run where the loops began whose place they take, and columns where the innermost of theirs did.
        points, columns = min(own.transformed), joined[-1]
        gone = {*own.transformed, *joined} - {points, columns}
        kept = [loop for loop in range(statement.depth) if loop not in gone]
        places = [*shared, *(loop for loop in kept if loop not in shared)]
        names = {points: fresh_name(self._scop, "point"), columns: fresh_name(self._scop, "column")}
        trips = {points: self._count, columns: prod(self._trips[loop] for loop in joined)}
        iterators = tuple(names.get(loop, statement.iterators[loop]) for loop in places)
        box = tuple((0, trips.get(loop, self._trips[loop]) - 1) for loop in places)
        depth = len(places)
        forms = {loop: iterator_form(place, depth) for place, loop in enumerate(places)}
        forms |= dict.fromkeys(joined[:-1], Affine((0,) * depth))
        image, filters, result = self.arrays
        known = {
            own.form.a.reference: (image.name, self._subscripts(self.a, forms, forms[points])),
            own.form.b.reference: (filters.name, self._subscripts(self.b, forms, forms[points])),
        }
        to = (result.name, self._subscripts(self.c, forms, forms[points]))
        accesses = []
        for each in statement.accesses:
            array, subscripts = known.get(each.reference, to)
            accesses.append(make_access(statement.name, iterators, box, each.reference, array, each.kind, subscripts))
        text = f"{statement.text}, for each point of tiles"
        return make_statement(
            statement.name,
            iterators,
            box,
            tuple(accesses),
            statement.body,
            origin=statement.origin,
            line=statement.line,
            text=text,
        )


def arranged(
    scop: Scop,
    kept: Sequence[Statement],
    statement: Statement,
    nests: Sequence[tuple[Transform | Statement, int]],
    arrays: Sequence[Array],
) -> Scop:
    """The scop with nests in the place of one, one after the other. Of other statements, those that are ``kept``.

    With each goes how many of its outermost loops it may share with its neighbours; they share what both may.
    """
    place = statement.betas[0]
    made: list[Statement] = []
    common: list[int] = []
    betas: tuple[int, ...] = ()
    for nest, shared in nests:
        each = nest.statement if isinstance(nest, Transform) else nest
        if made:
            common.append(min(shared, nests[len(made) - 1][1]))
            betas = (*betas[: common[-1]], betas[common[-1]] + 1)
        betas = (*(betas or (place,)), *(0,) * (each.depth + 1))[: each.depth + 1]
        made.append(replace(each, betas=betas))
    last = made[-1].betas[0] - place
    before = [each for each in kept if each.betas[0] < place]
    after = [replace(each, betas=(each.betas[0] + last, *each.betas[1:])) for each in kept if each.betas[0] > place]
    return replace(
        scop,
        statements=(*before, *made, *after),
        arrays=(*scop.arrays, *arrays),
        transform_calls=(*scop.transform_calls, *(nest.call for nest, _ in nests if isinstance(nest, Transform))),
        shared=(*scop.shared, *_together([each.name for each in made], common)),
    )


def _together(names: Sequence[str], common: Sequence[int]) -> list[SharedLoops]:
    """Statements that have loops in common, from how many of these each has with the next one."""
    found: dict[tuple[str, ...], int] = {}
    for loops in sorted({*common} - {0}):
        start = 0
        for end in range(1, len(names) + 1):
            if end == len(names) or common[end - 1] < loops:
                if end - start > 1:
                    found[tuple(names[start:end])] = loops
                start = end
    return [SharedLoops(statements, loops) for statements, loops in found.items()]


def zeroing(scop: Scop, statement: Statement, output: Access) -> Statement | None:
    """The statement, no marked call, that sets to zero just what the other adds to, with no other use in between."""
    memory = scop.array(output.array).memory
    earlier = [
        each
        for each in scop.statements
        if each.betas[0] < statement.betas[0] and any(scop.array(a.array).memory == memory for a in each.accesses)
    ]
    if not earlier:
        return None
    last = max(earlier, key=lambda other: other.betas[0])
    if not has_loops_alone(scop, last) or scop.has_call(last.name):
        return None
    if not sets_to_zero(last) or len(last.accesses) != 1:
        return None
    written = last.writes[0]
    same = written.array == output.array
    return last if same and isl.Map(written.relation).range().is_equal(isl.Map(output.relation).range()) else None
