"""Statements each iteration of a loop of which reads the row and the column of its pivot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, Box
from polydl.ir.construct import has_loops_alone
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.variants.rewrites.parts import require_own_loops


@dataclass(frozen=True)
class Pivots:
    """A loop of a statement, with what its iterations read of the array that the statement writes."""

    statement: Statement
    #: the array that is written
    array: Array
    #: the loop over pivots
    place: int
    #: the loop along which the array is contiguous
    contiguous: int
    #: of inner loops, the iteration that a pivot stands for, less the pivot
    ahead: Mapping[int, int]
    #: loops whose iteration is the pivot's in a read, by its subscripts; other elements than the instance's own
    reads: Mapping[tuple[Affine, ...], tuple[int, ...]]

    def extent(self, loop: int) -> int:
        """Iterations of a loop."""
        return self.statement.extents[loop]

    @property
    def box(self) -> Box:
        """The values of all loops."""
        assert self.statement.box is not None
        return self.statement.box


def pivots_of(scop: Scop, statement: Statement, place: int) -> Pivots:
    """What each iteration of a loop reads in the rows and columns of its pivot.

    Raises IllegalVariantError unless the statement has that loop to itself, all loops inside of it move what it writes,
    and every read of that array is of the instance's own element or of one with the pivot in place of some loops.
    """
    name = statement.name
    if not has_loops_alone(scop, statement, place):
        raise IllegalVariantError(f"{name} shares the loop `{statement.iterators[place]}`")
    require_own_loops(scop, statement)
    if statement.box is None or -1 in statement.directions:
        raise IllegalVariantError(f"the loops of {name} are not rectangular, or run backwards")
    if any(node.kind == "affine" for node in statement.body.walk()):
        raise IllegalVariantError(f"{name} computes with its loop counters")
    if len(statement.writes) != 1 or any(access.subscripts is None for access in statement.accesses):
        raise IllegalVariantError(f"{name} has subscripts that are not affine")
    [write] = statement.writes
    target, array = write.subscripts or (), scop.array(write.array)
    inner = range(place + 1, statement.depth)
    moved = [[loop for loop in range(place, statement.depth) if form.coefficients[loop]] for form in target]
    if sorted(loop for loops in moved for loop in loops) != [*inner] or any(len(loops) > 1 for loops in moved):
        raise IllegalVariantError(f"loops inside of `{statement.iterators[place]}` don't each move one dimension")
    ahead: dict[int, int] = {}
    reads: dict[tuple[Affine, ...], tuple[int, ...]] = {}
    for access in statement.reads:
        if scop.array(access.array).memory != array.memory:
            continue
        if access.array != array.name:
            raise IllegalVariantError(f"`{array.name}` shares its memory with a view")
        if access.subscripts == target:
            continue
        loops = []
        for form, own in zip(access.subscripts or (), target, strict=True):
            if form == own:
                continue
            loop = own.single_iterator
            if form.single_iterator != place or loop is None or loop <= place:
                raise IllegalVariantError(f"{name} reads other elements of `{array.name}` than those of pivots")
            if ahead.setdefault(loop, form.constant - own.constant) != form.constant - own.constant:
                raise IllegalVariantError(f"{name} reads several rows of `{array.name}` in an iteration")
            loops.append(loop)
        reads[access.subscripts or ()] = tuple(sorted(loops))
    contiguous = next((loop for loop in inner if scop.stride(write, loop) == 1), None)
    if not reads or contiguous is None:
        raise IllegalVariantError(f"{name} reads no pivots of `{array.name}`, or writes nothing side by side")
    return Pivots(statement, array, place, contiguous, ahead, reads)
