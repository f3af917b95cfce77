"""A statement in parts, each with some values of its loops (index-set splitting, Griebl, Feautrier and Lengauer, 2000).

Conditions that test whether a neighbour is there make loops bound each other, at the borders of an image alone. Apart
from these, all instances have the same loops inside, so that register blocks and vectors take them as they take any
others, and nothing is copied. The statement that sets the result to zero is taken apart in the same way, so that each
part may begin with its own zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from random import Random
from typing import Annotated, ClassVar

import islpy as isl

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.families import LAYOUT
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Attach, RewriteStep, StatementName
from polydl.match.alignment import aligned_loops
from polydl.poly.boxes import bounding_box, loop_ranges
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.reductions import moves
from polydl.poly.substitution import renamed
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.register_blocks import MOST_TERMS
from polydl.variants.rewrites.parts import in_parts, on_part, part_names, require_apart, require_unjoined
from polydl.variants.rewrites.transform_domain import zeroing

# Of a loop over an image: two for each border of filters that reach two pixels beyond it.
MOST_CUTS = 4
# Of all instances, those of the largest part: borders are worth nests of their own if they are borders.
LARGEST_SHARE = 0.5

_Cuts = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class SplitIndexSet(RewriteStep):
    """Run a statement's instances in parts, one after the other. The largest part keeps the statement's name."""

    json_name: ClassVar[str] = "split_index_set"

    statement: StatementName
    cuts: Annotated[_Cuts, "Loops, each with the values at which another part begins."]


@dataclass(frozen=True)
class SplitIndexSetRewrite:
    """The rewrite ``split_index_set``, which frees the inside of an image from conditions at borders. It is exact."""

    step: type[SplitIndexSet] = SplitIndexSet
    families: frozenset[str] = frozenset({LAYOUT})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: SplitIndexSet) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: SplitIndexSet, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return split_index_set(scop, step, dependences)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """For sums of few terms whose loops bound each other at the borders, which take register blocks then."""
        statement = request.statement
        if statement.box is not None or request.matches or len(statement.writes) != 1:
            return
        if statement.writes[0].subscripts is None:
            return
        try:
            cuts = _borders(request.scop, statement)
            if cuts:
                yield _proposed(request, statement, cuts)
        except (AnalysisError, IllegalVariantError):
            return

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[SplitIndexSet]]:
        """Any loop at any value."""
        if statement.iterators:
            place = draw.randrange(statement.depth)
            low, high = loop_ranges(statement)[place]
            if low < high:
                yield (SplitIndexSet(statement.name, ((statement.iterators[place], (draw.randint(low + 1, high),)),)),)

    def describe(self, scop: Scop, step: SplitIndexSet) -> str:
        loops = " and ".join(f"{loop} at {', '.join(map(str, values))}" for loop, values in step.cuts)
        return f"{step.statement} in parts that begin with {loops}"


SPLIT_INDEX_SET = SplitIndexSetRewrite()


def split_index_set(scop: Scop, step: SplitIndexSet, known: Sequence[Dependence]) -> Scop:
    """The scop with a statement in parts. ``known`` are the scop's dependences.

    Raises IllegalVariantError where a loop has no such values, or where a dependence joins the parts.
    """
    statement = scop.statement(step.statement)
    require_apart(scop, statement)
    ranges = _ranges(statement, step.cuts)
    require_unjoined(scop, statement, ranges, known)
    return in_parts(scop, statement, _named(scop, _parts(statement, ranges)))


def _named(scop: Scop, parts: Sequence[Statement]) -> list[Statement]:
    """Parts of one statement, of which the largest keeps its name."""
    largest = max(range(len(parts)), key=lambda place: parts[place].instances)
    others = iter(part_names(scop, parts[0].name, len(parts))[1:])
    return [part if place == largest else renamed(part, next(others)) for place, part in enumerate(parts)]


def _ranges(statement: Statement, cuts: _Cuts) -> dict[int, list[tuple[int, int]]]:
    """The ranges of values that make up the parts, by the loop's place."""
    box = loop_ranges(statement)
    found: dict[int, list[tuple[int, int]]] = {}
    for loop, values in cuts:
        if loop not in statement.iterators or statement.iterators.index(loop) in found:
            raise IllegalVariantError(f"{statement.name} has no loop `{loop}` to cut once")
        place = statement.iterators.index(loop)
        low, high = box[place]
        begins = [low, *values]
        if not values or sorted(set(begins)) != begins or values[-1] > high:
            raise IllegalVariantError(f"`{loop}` goes from {low} to {high}: no parts begin at {list(values)}")
        found[place] = [(begin, after - 1) for begin, after in pairwise((*begins, high + 1))]
    if not found:
        raise IllegalVariantError(f"no loop of {statement.name} is cut")
    return found


def _parts(statement: Statement, ranges: Mapping[int, Sequence[tuple[int, int]]]) -> list[Statement]:
    """The statement with the values of each combination of ranges, in their order; without empty ones."""
    parts = []
    for chosen in product(*ranges.values()):
        domain = isl.Set(statement.domain)
        for place, (low, high) in zip(ranges, chosen, strict=True):
            domain = domain.lower_bound_val(isl.dim_type.set, place, low)
            domain = domain.upper_bound_val(isl.dim_type.set, place, high)
        domain = domain.coalesce()
        if not domain.is_empty():
            parts.append(on_part(statement, domain))
    return parts


@limited
def _borders(_scop: Scop, statement: Statement) -> _Cuts:
    """Cuts of loops that move the result, after which all parts are rectangular; () where these would not be borders.

    A sum has few terms, as those of ``register_blocks``.
    """
    domain = isl.Set(statement.domain)
    box = bounding_box(domain)
    target = statement.writes[0]
    outputs = [place for place in range(statement.depth) if moves(target, place)]
    if prod(high - low + 1 for place, (low, high) in enumerate(box) if place not in outputs) > MOST_TERMS:
        return ()
    cuts = []
    for place in outputs:
        begins = _begins(domain, place, box[place])
        if begins is None:
            return ()
        if begins:
            cuts.append((statement.iterators[place], tuple(begins)))
    found = tuple(cuts)
    parts = _parts(statement, _ranges(statement, found)) if found else []
    if any(part.box is None for part in parts):
        return ()
    largest = max((part.instances for part in parts), default=0)
    return found if largest >= LARGEST_SHARE * statement.instances else ()


def _begins(domain: isl.Set, place: int, values: tuple[int, int]) -> list[int] | None:
    """Where the other loops get other bounds as one goes on; None if that happens more than ``MOST_CUTS`` times."""

    def alike(low: int, high: int) -> bool:
        part = domain.lower_bound_val(isl.dim_type.set, place, low).upper_bound_val(isl.dim_type.set, place, high)
        free = part.eliminate(isl.dim_type.set, place, 1)
        free = free.lower_bound_val(isl.dim_type.set, place, low).upper_bound_val(isl.dim_type.set, place, high)
        return bool(free.is_equal(part))

    first, last = values
    begins: list[int] = []
    while not alike(first, last):
        if len(begins) == MOST_CUTS:
            return None
        # The longest range from the first value on whose values all have the same bounds inside.
        near, far = first, last
        while far - near > 1:
            middle = (near + far) // 2
            near, far = (middle, far) if alike(first, middle) else (near, middle)
        begins.append(far)
        first = far
    return begins


def _proposed(request: Request, statement: Statement, cuts: _Cuts) -> Proposal:
    """The statement in parts, and its zeros as well, attached to them, where there is a statement that sets them."""
    scop = request.scop
    step = SplitIndexSet(statement.name, cuts)
    zeros = zeroing(scop, statement, statement.writes[0])
    pairs = None if zeros is None else aligned_loops(statement, zeros)
    if zeros is None or pairs is None:
        return Proposal((step,), for_microkernel=False)
    of_zeros = []
    for loop, values in cuts:
        theirs, ahead = pairs[statement.iterators.index(loop)]
        of_zeros.append((zeros.iterators[theirs], tuple(value + ahead for value in values)))
    first = SplitIndexSet(zeros.name, tuple(of_zeros))
    parts_of_zeros = _named(scop, _parts(zeros, _ranges(zeros, first.cuts)))
    begun = in_parts(scop, zeros, parts_of_zeros)
    parts = _named(begun, _parts(statement, _ranges(statement, cuts)))
    if len(parts_of_zeros) != len(parts):
        return Proposal((step,), for_microkernel=False)
    attached = tuple(Attach(own.name, part.name, "first") for own, part in zip(parts_of_zeros, parts, strict=True))
    return Proposal((first, step), attached, for_microkernel=False)
