"""The parts of a statement whose loop over pivots runs in blocks, and the copies that some of them read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, product
from math import prod

import islpy as isl

from polydl.ir.affine import Affine, Box, composed, iterator_form
from polydl.ir.construct import assignment, fresh, fresh_name, make_access, make_domain, make_statement
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Expression, Statement
from polydl.poly.boxes import bounding_box
from polydl.poly.substitution import change_of_iterators
from polydl.variants.rewrites.pivots import Pivots


@dataclass(frozen=True)
class PivotPart:
    """A statement that stands for some instances of the source's one, or copies elements."""

    statement: Statement
    #: a box of about as many instances, from which costs are estimated
    modelled: Statement
    #: how many loops around it stay as they are; parts with the same number and word share these
    around: tuple[int, str]
    #: isl's map from the source's instances to those of this statement; None for a copy
    origin: str | None = None
    #: by reference, the statement that makes the copy that it reads, and isl's map to the instance that does
    copies: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: which loop around it goes over strips of rows, if one does
    strips: int | None = None


@dataclass(frozen=True)
class _Bound:
    """``iterator >= pivot + constant``, or ``<=``: the first pivot of a block, or that of the running iteration."""

    least: bool
    running: bool
    constant: int = 0


# The values of inner loops that a part has, where these are not all.
_Region = dict[int, tuple[_Bound, ...]]


@dataclass(frozen=True)
class _Place:
    """Where instances of a part are: their loops, and what stands for the source's."""

    iterators: tuple[str, ...]
    #: the source's iterators, as forms of these
    old: tuple[Affine, ...]
    #: bounds of the iterators that are not inner loops of the source, by name
    outer: dict[str, tuple[int, int]]
    #: those of the statement (``Statement``)
    betas: tuple[int, ...]
    #: the first pivot of the block; None outside of blocks
    first: Affine | None
    #: values that inner loops have at most
    inner: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class _Copy:
    """What iterations read in rows or columns of their pivots, before or after each of them, in an array."""

    name: str
    array: Array
    #: what is copied
    subscripts: tuple[Affine, ...]
    #: the inner loops that move through a row or column
    loops: tuple[int, ...]
    #: whether the iteration is the last dimension
    iteration_last: bool


class PivotParts:
    """The parts of a statement whose loop over pivots runs in blocks of ``size``.

    Of what no pivot of a block needs, ``rows`` rows take ``together`` iterations of the block at once.
    """

    def __init__(self, scop: Scop, pivots: Pivots, size: int, together: int, rows: int) -> None:
        self._pivots, self._size, self._together, self._rows = pivots, size, together, rows
        self._source, self._loop = pivots.statement, pivots.place
        self._inner = range(self._loop + 1, self._source.depth)
        self._values = {loop: pivots.box[loop] for loop in self._inner}
        self._blocks = pivots.extent(self._loop) // size
        # Where no pivot of a block is.
        self._ahead, self._behind = _Bound(False, False, -1), _Bound(True, False, size)
        loop, *inner = self._source.iterators[self._loop :]
        self._block, self._part, self._strip = (
            fresh_name(scop, name) for name in (f"{loop}_block", f"{loop}_part", f"{inner[0]}_strip")
        )
        self._taken = {each.name for each in scop.statements} - {self._source.name}
        self._arrays = {array.name for array in scop.arrays}
        self._copies: dict[tuple[tuple[Affine, ...], bool], _Copy] = {}
        others = [self._other(number, *each) for number, each in enumerate(self._others())]
        before = [self._copying(each, at) for at, ((_, late), each) in enumerate(self._copies.items()) if not late]
        behind = len(self._copies)
        pieces = [self._piece(behind, *each) for each in self._pieces(self._inner, whole=False)]
        behind += 1 + max((each.statement.betas[self._loop + 2] for each in pieces), default=0)
        after = [self._copying(each, behind + at) for at, ((_, late), each) in enumerate(self._copies.items()) if late]
        left = [self._left_over(*each) for each in self._pieces(self._inner, whole=True)] if self._left else []
        #: all of them, in the order in which they run
        self.parts = tuple(part for part in (*before, *pieces, *after, *others, *left) if part.statement.instances)
        #: the arrays of copies
        self.arrays = tuple(each.array for each in self._copies.values())

    @property
    def _left(self) -> int:
        """Iterations that no block has."""
        return self._pivots.extent(self._loop) % self._size

    def _named(self) -> str:
        """The name of another part; the first one keeps the statement's."""
        names = chain([self._source.name], (f"{self._source.name}_{number}" for number in count(2)))
        name = next(each for each in names if each not in self._taken)
        self._taken.add(name)
        return name

    def _betas(self, position: int, *inside: int) -> tuple[int, ...]:
        """A position among what stands for the loop over pivots, and positions inside of that."""
        *around, first = self._source.betas[: self._loop + 1]
        return (*around, first + position, *inside)

    def _outer(self, **further: tuple[int, int]) -> dict[str, tuple[int, int]]:
        around = self._source.iterators[: self._loop]
        return {**dict(zip(around, self._pivots.box, strict=False)), **further}

    def _first(self, iterators: Sequence[str], *behind: tuple[str, int]) -> Affine:
        """The first iteration of a block, and a sum of iterators after it."""
        factors = dict(behind) | {self._block: self._size}
        return Affine(tuple(factors.get(name, 0) for name in iterators), self._pivots.box[self._loop][0])

    def _forms(self, iterators: Sequence[str], running: Affine) -> tuple[Affine, ...]:
        """The source's iterators where only that over pivots has another form."""
        forms = []
        for place, name in enumerate(self._source.iterators):
            known = place != self._loop and name in iterators
            forms.append(
                iterator_form(iterators.index(name), len(iterators)) if known else Affine((0,) * len(iterators))
            )
        forms[self._loop] = running
        return tuple(forms)

    # ----------------------------------------------------------------------------------
    # What pivots need, and the iterations that are left over

    def _pieces(
        self, loops: Sequence[int], *, whole: bool, reached: bool = False
    ) -> Iterator[tuple[tuple[int, ...], _Region]]:
        """The instances in rows and columns of a block's pivots, or all, in pieces with positions at their loops.

        Where the contiguous loop has pivots, its iteration at the running pivot is a piece: all others depend on it.
        """
        if not loops:
            if reached or whole:
                yield (), {}
            return
        loop, *others = loops
        block = () if reached or whole else (_Bound(True, False), _Bound(False, False, self._size - 1))
        ways: list[tuple[tuple[_Bound, ...], bool]] = [(block, True)]
        if loop not in self._pivots.ahead:
            ways = [((), reached)]
        elif loop == self._pivots.contiguous:
            at = (_Bound(True, True), _Bound(False, True))
            ways = [((*block, _Bound(False, True, -1)), True), (at, True), ((*block, _Bound(True, True, 1)), True)]
        if loop in self._pivots.ahead and block and any(other in self._pivots.ahead for other in others):
            ways = [((self._ahead,), False), *ways, ((self._behind,), False)]
        for position, (bounds, there) in enumerate(ways):
            for positions, region in self._pieces(others, whole=whole, reached=there):
                yield (position, *positions), {loop: bounds, **region}

    def _piece(self, behind: int, positions: tuple[int, ...], region: _Region) -> PivotPart:
        """Instances that pivots need, in the order of the source."""
        source = self._source.iterators
        iterators = (*source[: self._loop], self._block, *source[self._loop :])
        running = self._first(iterators, (source[self._loop], 1))
        outer = self._outer(**{self._block: (0, self._blocks - 1), source[self._loop]: (0, self._size - 1)})
        betas = self._betas(0, 0, behind + positions[0], *positions[1:], 0)
        place = _Place(iterators, self._forms(iterators, running), outer, betas, self._first(iterators), self._values)
        low = self._pivots.box[self._loop][0]
        pivots = [(low + each - each % self._size, low + each) for each in range(self._blocks * self._size)]
        return self._made(place, region, pivots, (self._loop + 2, "pivots"))

    def _left_over(self, positions: tuple[int, ...], region: _Region) -> PivotPart:
        """Instances of the iterations that no block has, in the order of the source."""
        iterators, depth = self._source.iterators, self._source.depth
        _, high = self._pivots.box[self._loop]
        outer = self._outer(**{iterators[self._loop]: (high - self._left + 1, high)})
        forms = tuple(iterator_form(place, depth) for place in range(depth))
        place = _Place(iterators, forms, outer, self._betas(1, *positions, 0), None, self._values)
        pivots = [(0, each) for each in range(high - self._left + 1, high + 1)]
        return self._made(place, region, pivots, (self._loop + 1, "left over"))

    # ----------------------------------------------------------------------------------
    # All others

    def _others(self) -> Iterator[tuple[dict[int, bool], _Region, tuple[int, int], bool]]:
        """What no pivot of a block needs: before or behind the block's pivots along each loop.

        The first loop has strips of rows, and what is left over of these before them or behind.
        """
        loops = sorted(self._pivots.ahead)
        first = self._inner[0]
        low, high = self._values[first]
        begin, end = low, high + 1
        if first != self._pivots.contiguous:
            begin = low + (self._origin - low) % self._rows
            end = max(begin, high + 1 - (high + 1 - self._origin) % self._rows)
        for sides in product((False, True), repeat=len(loops)):
            behind = dict(zip(loops, sides, strict=True))
            region: _Region = {loop: (self._behind if behind[loop] else self._ahead,) for loop in loops}
            ranges = (begin, end - 1), (low, min(begin - 1, high)), (end, high)
            for place, rows in enumerate(ranges):
                if rows[0] <= rows[1]:
                    yield behind, region, rows, not place and first != self._pivots.contiguous

    @property
    def _origin(self) -> int:
        """Where strips of the first loop are counted from, so that none holds pivots of a block and other rows."""
        first = self._inner[0]
        ahead = self._pivots.ahead.get(first)
        return self._values[first][0] if ahead is None else self._pivots.box[self._loop][0] + ahead

    def _other(
        self, number: int, sides: Mapping[int, bool], region: _Region, rows: tuple[int, int], strips: bool
    ) -> PivotPart:
        """Instances that read copies: strips of rows, or these rows, take parts of the block one by one."""
        source, first = self._source.iterators, self._inner[0]
        parts = self._size // self._together
        added = [*([self._strip] if strips else []), *([self._part] if parts > 1 else [])]
        inside = [name for name in source[self._loop + 1 :] if name != source[self._pivots.contiguous]]
        inside += [source[self._loop], source[self._pivots.contiguous]]
        iterators = (*source[: self._loop], self._block, *added, *inside)
        step = [(source[self._loop], 1), (self._part, self._together)]
        outer = self._outer(**{self._block: (0, self._blocks - 1), source[self._loop]: (0, self._together - 1)})
        if parts > 1:
            outer[self._part] = 0, parts - 1
        forms = [*self._forms(iterators, self._first(iterators, *step))]
        if strips:
            outer[self._strip] = (rows[0] - self._origin) // self._rows, (rows[1] - self._origin) // self._rows
            factors = {self._strip: self._rows, source[first]: 1}
            forms[first] = Affine(tuple(factors.get(name, 0) for name in iterators), self._origin)
        betas = self._betas(0, 1 + number, *(0,) * (len(iterators) - self._loop - 1))
        values = {**self._values, first: rows}
        place = _Place(iterators, tuple(forms), outer, betas, self._first(iterators), values)
        pivots = [(self._pivots.box[self._loop][0] + each * self._size, 0) for each in range(self._blocks)]
        steps = Affine(tuple(dict(step).get(name, 0) for name in iterators))
        around = self._loop + 1 + len(added)
        return self._made(place, region, pivots, (around, f"others {number}"), sides=sides, steps=steps)

    def _copy(self, subscripts: tuple[Affine, ...], late: bool) -> _Copy:
        """The copy of what iterations read with these subscripts, before each of them or after it."""
        known = self._copies.get((subscripts, late))
        if known is not None:
            return known
        loops = tuple(loop for loop in self._inner if any(form.coefficients[loop] for form in subscripts))
        last = self._pivots.contiguous not in loops
        extents = [self._pivots.extent(loop) for loop in loops]
        whole = self._pivots.array
        name = fresh(f"{whole.name}_{'after' if late else 'before'}", self._arrays)
        self._arrays.add(name)
        statement = fresh(f"copy_{name}", self._taken)
        self._taken.add(statement)
        shape = (*extents, self._size) if last else (self._size, *extents)
        array = Array(name, whole.element, whole.element_bytes, shape, "local")
        made = _Copy(statement, array, subscripts, loops, last)
        self._copies[subscripts, late] = made
        return made

    def _elements(self, copy: _Copy, step: Affine, forms: Sequence[Affine]) -> tuple[Affine, ...]:
        """The subscripts of a copy, for an iteration of a block, and forms of the source's iterators."""
        box = self._pivots.box
        moving = [replace(forms[loop], constant=forms[loop].constant - box[loop][0]) for loop in copy.loops]
        return (*moving, step) if copy.iteration_last else (step, *moving)

    def _copying(self, copy: _Copy, position: int) -> PivotPart:
        """The statement that makes a copy, in the loops over blocks and over their iterations."""
        source = self._source.iterators
        iterators = (*source[: self._loop], self._block, source[self._loop], *(source[loop] for loop in copy.loops))
        outer = self._outer(**{self._block: (0, self._blocks - 1), source[self._loop]: (0, self._size - 1)})
        box = (*outer.values(), *(self._pivots.box[loop] for loop in copy.loops))
        forms = self._forms(iterators, self._first(iterators, (source[self._loop], 1)))
        step = iterator_form(self._loop + 1, len(iterators))
        to = self._elements(copy, step, forms)
        of = tuple(composed(form, forms, len(iterators)) for form in copy.subscripts)
        accesses = (
            make_access(copy.name, iterators, box, f"{copy.name}_to", copy.array.name, "write", to),
            make_access(copy.name, iterators, box, f"{copy.name}_from", self._pivots.array.name, "read", of),
        )
        statement = make_statement(
            copy.name,
            iterators,
            box,
            accesses,
            assignment(f"{copy.name}_to", Expression("access", f"{copy.name}_from")),
            origin="copy",
            betas=self._betas(0, 0, position, *(0,) * len(copy.loops)),
            line=self._source.line,
            text=f"{copy.array.name}[...] = {self._pivots.array.name}[...]",
        )
        return PivotPart(statement, statement, (self._loop + 2, "pivots"))

    # ----------------------------------------------------------------------------------
    # Statements

    def _made(
        self,
        place: _Place,
        region: _Region,
        pivots: Sequence[tuple[int, int]],
        around: tuple[int, str],
        *,
        sides: Mapping[int, bool] | None = None,
        steps: Affine | None = None,
    ) -> PivotPart:
        """The part at a place; ``pivots`` are the first and the running one, of all iterations with the same values.

        With ``sides``, it reads copies: those made before iterations where it is before the pivots.
        """
        name, iterators, source = self._named(), place.iterators, self._source
        head = f"{name}[{', '.join(iterators)}]"
        conditions = [f"{low} <= {each} <= {high}" for each, (low, high) in place.outer.items()]
        for loop in self._inner:
            value, (low, high) = place.old[loop].text(iterators), place.inner[loop]
            stripped = place.old[loop].single_iterator is None
            bounds = f"0 <= {source.iterators[loop]} < {self._rows}" if stripped else f"{low} <= {value} <= {high}"
            conditions.append(bounds)
            for bound in region.get(loop, ()):
                pivot = place.old[self._loop] if bound.running else place.first
                assert pivot is not None
                shifted = replace(pivot, constant=pivot.constant + bound.constant + self._pivots.ahead[loop])
                conditions.append(f"{value} {'>=' if bound.least else '<='} {shifted.text(iterators)}")
        domain = isl.Set(f"{{ {head} : {' and '.join(conditions)} }}").coalesce()
        total, average = self._counted(place, region, pivots)
        around_all = prod(high - low + 1 for low, high in self._pivots.box[: self._loop])
        instances = total * around_all * (1 if steps is None else self._size)
        ranges = self._ranges(place, average)
        accesses, modelled, copies = [], [], {}
        for access in source.accesses:
            array, subscripts = access.array, access.subscripts or ()
            forms = tuple(composed(form, place.old, len(iterators)) for form in subscripts)
            loops = self._pivots.reads.get(subscripts) if array == self._pivots.array.name else None
            if sides is not None and steps is not None and loops is not None:
                # The pivot's iteration of the outermost of these loops ran before this one, or runs after it.
                copy = self._copy(subscripts, sides[loops[0]])
                array, forms = copy.array.name, self._elements(copy, steps, place.old)
                copies[access.reference] = copy.name, self._copied_at(head, place, copy, steps)
            modelled.append(make_access(name, iterators, ranges, access.reference, array, access.kind, forms))
            relation = isl.Map(modelled[-1].index).intersect_domain(domain)
            accesses.append(replace(modelled[-1], relation=str(relation)))
        flat = make_statement(
            name, iterators, ranges, tuple(modelled), source.body,
            origin=source.origin, betas=place.betas, line=source.line, text=source.text,
        )  # fmt: skip
        flat = replace(flat, instances=max(1, instances))
        box = bounding_box(domain) if instances else ranges
        whole = isl.Set(make_domain(name, iterators, box))
        statement = replace(
            flat,
            domain=str(domain),
            box=box if domain.is_equal(whole) else None,
            instances=instances,
            accesses=tuple(accesses),
        )
        change = isl.Map.from_multi_aff(change_of_iterators(name, iterators, place.old))
        origin = change.intersect_domain(domain).set_tuple_name(isl.dim_type.out, source.name).reverse()
        strips = iterators.index(self._strip) if self._strip in iterators else None
        return PivotPart(statement, flat, around, str(origin), copies, strips)

    def _counted(
        self, place: _Place, region: _Region, pivots: Sequence[tuple[int, int]]
    ) -> tuple[int, dict[int, float]]:
        """Instances of one iteration of the loops around, and how many iterations each inner loop has on average."""
        total = 0
        sums = dict.fromkeys(self._inner, 0)
        for first, running in pivots:
            lengths = []
            for loop in self._inner:
                low, high = place.inner[loop]
                for bound in region.get(loop, ()):
                    value = (running if bound.running else first) + self._pivots.ahead[loop] + bound.constant
                    low, high = (max(low, value), high) if bound.least else (low, min(high, value))
                lengths.append(max(0, high - low + 1))
                sums[loop] += lengths[-1]
            total += prod(lengths)
        return total, {loop: each / len(pivots) for loop, each in sums.items()}

    def _ranges(self, place: _Place, average: Mapping[int, float]) -> Box:
        """A box of iterators with about as many iterations of each loop."""
        ranges = dict(place.outer)
        for loop in self._inner:
            name, extent = self._source.iterators[loop], max(1, round(average[loop]))
            if place.old[loop].single_iterator is None:
                ranges[self._strip] = 0, max(0, round(extent / self._rows) - 1)
                extent = min(extent, self._rows)
            ranges[name] = 0, extent - 1
        return tuple(ranges[name] for name in place.iterators)

    def _copied_at(self, head: str, place: _Place, copy: _Copy, steps: Affine) -> str:
        """isl's map from an instance to the one that makes the copy that it reads."""
        around = [*self._source.iterators[: self._loop], self._block]
        values = [*around, steps.text(place.iterators), *(place.old[loop].text(place.iterators) for loop in copy.loops)]
        return f"{{ {head} -> {copy.name}[{', '.join(values)}] }}"
