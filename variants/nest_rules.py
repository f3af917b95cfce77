"""The constraints between the decisions of a nest.

Those on the order of loops narrow domains as far as they can while shape and tiles are open; those on threads and on
innermost loops are exact once the order is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from polydl.poly.legality import order_is_legal
from polydl.variants.choice import InnermostMode
from polydl.variants.decisions import Assignment, AtMost, Compatible, Constraint, DeadEndError, Decision, Domains
from polydl.variants.nest_model import APART, INSIDE, MASKS, OUTSIDE, NestModel, run_values, tile_name
from polydl.variants.parallel_loops import summed

# With two, what is used again along either loop stays in a cache. Each further one multiplies the orders and tiles of a
# nest by dozens.
CACHE_TILED_LOOPS = 2


def shape_rules(model: NestModel) -> tuple[Constraint, ...]:
    """Which loops get a further tile, and which orders there are, before dependences are asked."""
    by_name = {each.name: each for each in model.decisions}
    tiles = [(by_name[tile_name(loop)], loop) for loop in model.tiled]
    rules: list[Constraint] = [_fitting_tiles(model, by_name["shape"], tile, loop) for tile, loop in tiles]
    if len(tiles) > CACHE_TILED_LOOPS:
        rules.append(
            AtMost.of(
                [tile for tile, _ in tiles], CACHE_TILED_LOOPS, f"at most {CACHE_TILED_LOOPS} loops get a further tile"
            )
        )
    rules.append(OrderRule(model))
    if model.facts.plain and model.facts.straight is None and model.loops:
        rules.append(InnermostRule(model))
    return tuple(rules)


def _fitting_tiles(model: NestModel, shape: Decision, tile: Decision, loop: str) -> Constraint:
    """Which further tiles of a loop go with each shape."""
    words = f"tiles of {loop} are multiples of what a call takes, and smaller than the loop"
    return Compatible.of(shape, tile, words, lambda number, size: not size or size in model.sizes[number].get(loop, ()))


def legality_rules(model: NestModel) -> tuple[Constraint, ...]:
    """Which orders keep the dependences, and what may run in parallel and how then."""
    rules: list[Constraint] = [DependenceRule(model)]
    if model.facts.threads > 1:
        rules.append(ParallelRule(model))
    rules.append(InnermostModeRule(model))
    return tuple(rules)


class _Sides:
    """Which sides each two time loops may still be on, and which of the loops there may and must be."""

    def __init__(self, model: NestModel, domains: Domains) -> None:
        self.model = model
        self.domains = domains
        shapes = domains.masks["shape"]
        self.may, self.must = [], []
        for loop in model.loops:
            if loop.coarse:
                sizes = domains.masks[tile_name(loop.loop)]
                self.may.append(sizes & ~1 != 0)
                self.must.append(not sizes & 1)
            else:
                having = model.fine[loop.loop] & shapes
                self.may.append(having != 0)
                self.must.append(having == shapes)

    def remove(self, place: int) -> None:
        """There is no such time loop."""
        loop = self.model.loops[place]
        if loop.coarse:
            self.domains.keep(tile_name(loop.loop), 1)
        else:
            self.domains.keep("shape", ~self.model.fine[loop.loop])

    def demand(self, place: int) -> None:
        """There is such a time loop."""
        loop = self.model.loops[place]
        if loop.coarse:
            self.domains.keep(tile_name(loop.loop), ~1)
        else:
            self.domains.keep("shape", self.model.fine[loop.loop])

    def may_be_outside(self, first: int, second: int) -> bool:
        a, b, way = (first, second, OUTSIDE) if first < second else (second, first, INSIDE)
        return bool(self.domains.masks[self.model.pair_names[a, b]] & way)

    def put_outside(self, first: int, second: int) -> None:
        """If there is the second loop, then also the first, outside of it."""
        a, b, way = (first, second, OUTSIDE) if first < second else (second, first, INSIDE)
        self.domains.keep(self.model.pair_names[a, b], way if self.must[second] else way | APART)


@dataclass(frozen=True, eq=False)
class OrderRule:
    """The loops that there are lie in one order, coarse ones outside fine ones of the same loop."""

    model: NestModel

    @cached_property
    def scope(self) -> tuple[str, ...]:
        return self.model.form_scope

    @cached_property
    def _allowed(self) -> dict[str, int]:
        """For the decisions about two loops that lie in one order only, the sides that they may be on."""
        model = self.model
        straight = model.facts.straight if model.facts.plain else None
        allowed = {}
        for a, b, name in model.pairs:
            first, second = model.loops[a], model.loops[b]
            if first.loop == second.loop:
                allowed[name] = OUTSIDE | APART
            elif straight is not None:
                before = straight.index(first.loop) < straight.index(second.loop)
                allowed[name] = OUTSIDE if before else INSIDE
        return allowed

    def broken(self, values: Assignment) -> str | None:
        model = self.model
        for name, sides in self._allowed.items():
            if not sides & MASKS[values[name]]:
                return f"the order {name} is the only one" if values[name] == "inside" else f"{name} is the wrong order"
        if model.form(values) is not None:
            return None
        present = set(model.present(values))
        for a, b, name in model.pairs:
            if (values[name] == "apart") == (a in present and b in present):
                missing = model.loops[a if a not in present else b]
                what = "is not decided" if values[name] == "apart" else f"can't be: there is no loop over {missing}"
                return f"`{name}` {what}"
        return "the order of the loops goes round in a circle"

    def narrow(self, domains: Domains) -> None:
        model, masks = self.model, domains.masks
        for name, sides in self._allowed.items():
            domains.keep(name, sides)
        loops = _Sides(model, domains)
        may, must = loops.may, loops.must
        # Of each loop, those that it can't lie inside of, where there are both.
        outside = [0] * len(model.loops)
        for a, b, name in model.pairs:
            mask = masks[name]
            if not (may[a] and may[b]):
                if mask != APART:
                    domains.keep(name, APART)
                continue
            if must[a] and must[b]:
                if mask & APART:
                    domains.keep(name, OUTSIDE | INSIDE)
                    mask = masks[name]
            elif mask == APART:
                if must[a]:
                    loops.remove(b)
                elif must[b]:
                    loops.remove(a)
                continue
            elif not mask & APART:
                loops.demand(a)
                loops.demand(b)
            if not mask & INSIDE:
                outside[a] |= 1 << b
            if not mask & OUTSIDE:
                outside[b] |= 1 << a
        for middle, there in enumerate(must):
            if there and outside[middle]:
                inside = outside[middle]
                for place, known in enumerate(outside):
                    if known >> middle & 1:
                        outside[place] = known | inside
        for a, b, name in model.pairs:
            mask = masks[name]
            if mask == APART:
                continue
            if outside[a] >> b & 1 and mask & INSIDE:
                domains.keep(name, OUTSIDE | APART)
            if outside[b] >> a & 1 and mask & OUTSIDE:
                domains.keep(name, INSIDE | APART)


@dataclass(frozen=True, eq=False)
class InnermostRule:
    """The innermost of plain loops is one along which the most accesses are contiguous or constant.

    Those that no order allows there don't count. Or it is one that waits for nothing, where these all wait for what
    their iteration before has computed.
    """

    model: NestModel

    @property
    def scope(self) -> tuple[str, ...]:
        return self.model.form_scope

    def broken(self, values: Assignment) -> str | None:
        form, innermost = self.model.form(values), self.model.facts.innermost
        if form is None or form.order[-1] in innermost:
            return None
        return f"the innermost loop is one of {', '.join(sorted(innermost))}"

    def narrow(self, domains: Domains) -> None:
        sides = _Sides(self.model, domains)
        innermost = self.model.facts.innermost
        fine = [(place, loop.loop) for place, loop in enumerate(self.model.loops) if not loop.coarse]
        for outer in [place for place, loop in fine if loop not in innermost]:
            inner = [place for place, loop in fine if loop in innermost and sides.may_be_outside(outer, place)]
            if not inner:
                raise DeadEndError
            if len(inner) == 1:
                sides.put_outside(outer, inner[0])


@dataclass(frozen=True, eq=False)
class DependenceRule:
    """Time runs through dependent iterations in their order, and through sums around what is attached alike."""

    model: NestModel

    @property
    def scope(self) -> tuple[str, ...]:
        return self.model.form_scope

    def broken(self, values: Assignment) -> str | None:
        facts = self.model.facts
        form = self.model.form(values)
        if form is None:
            return None
        shape = facts.shapes[form.shape]
        if not order_is_legal(facts.directions, facts.time_order(shape, form.order)):
            return f"the order {' '.join(form.order)} breaks a dependence"
        if not facts.leads(form.order):
            return f"in the order {' '.join(form.order)} sums don't begin and end with the same iterations every time"
        return None

    @cached_property
    def _clauses(self) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
        """Time loops that run against a dependence, and those one of which must carry it outside of each.

        The latter do if they run over single iterations, which they do with the shapes of the mask beside them.
        """
        model, names = self.model, self.model.facts.nest.loops
        fine = {loop.loop: place for place, loop in enumerate(model.loops) if not loop.coarse}
        clauses: dict[tuple[int, tuple[tuple[int, int], ...]], None] = {}
        for signs in model.facts.directions.ordering:
            carrying = [loop for loop, sign in zip(names, signs, strict=True) if sign > 0 and loop in fine]
            against = {loop for loop, sign in zip(names, signs, strict=True) if sign < 0}
            carriers = tuple((fine[loop], model.points[loop]) for loop in carrying)
            clauses.update({(p, carriers): None for p, loop in enumerate(model.loops) if loop.loop in against})
        return tuple(clauses)

    @cached_property
    def _calls_in_order(self) -> int:
        """The mask of the shapes whose calls, by themselves, keep what no loop around them carries."""
        facts = self.model.facts
        mask = 0
        for number, shape in enumerate(facts.shapes):
            around = [place for place, loop in enumerate(facts.nest.loops) if loop not in facts.roles(shape)]
            carried = [signs for signs in facts.directions.ordering if any(signs[place] for place in around)]
            inside = facts.directions.ordering.difference(carried)
            called = facts.time_order(shape, ())
            first = [next((signs[place] for place in called if signs[place]), 1) for signs in inside]
            mask |= all(sign > 0 for sign in first) << number
        return mask

    def narrow(self, domains: Domains) -> None:
        domains.keep("shape", self._calls_in_order)
        if not self._clauses:
            return
        sides = _Sides(self.model, domains)
        for place, carriers in self._clauses:
            if not sides.may[place]:
                continue
            possible = [
                (carrier, shapes)
                for carrier, shapes in carriers
                if shapes & domains.masks["shape"] and sides.may_be_outside(carrier, place)
            ]
            if not possible:
                sides.remove(place)
                continue
            if len(possible) == 1:
                sides.put_outside(possible[0][0], place)
            if sides.must[place]:
                able = 0
                for _, shapes in possible:
                    able |= shapes
                domains.keep("shape", able)


@dataclass(frozen=True, eq=False)
class ParallelRule:
    """A loop runs in parallel if it may and should (``parallel_loops``); none does only if no loop may."""

    model: NestModel

    @cached_property
    def scope(self) -> tuple[str, ...]:
        return (*self.model.form_scope, "parallel")

    def broken(self, values: Assignment) -> str | None:
        form = self.model.form(values)
        ways = {} if form is None else form.threads
        if form is None or values["parallel"] in ways:
            return None
        words = ", ".join("none" if on is None else str(on) for on in ways)
        return f"the loop that runs in parallel is one of these: {words}"

    def narrow(self, domains: Domains) -> None:
        model = self.model
        decision = domains.decisions["parallel"]
        if domains.undecided.isdisjoint(model.form_scope):
            form = model.form(domains.decided(model.form_scope))
            domains.keep("parallel", decision.mask(form.threads if form is not None else ()))
            return
        sides = _Sides(model, domains)
        able = {place for place in range(len(model.loops)) if sides.may[place] and self._may_run(sides, place)}
        places = {loop: place for place, loop in enumerate(model.loops)}
        left = [on for on in domains.values("parallel") if on is None or places[on.loop] in able]
        domains.keep("parallel", decision.mask(left))
        chosen = {on if on is None else places[on.loop] for on in left}
        if len(chosen) == 1:
            self._follow(sides, chosen.pop())

    def _follow(self, sides: _Sides, place: int | None) -> None:
        """What must be so for a time loop to run in parallel."""
        if place is None:
            return
        sides.demand(place)
        sides.must[place] = True
        if not self._sums(place):
            for carriers in self._carriers[place]:
                possible = list(self._possible(sides, place, carriers))
                if len(possible) == 1:
                    sides.put_outside(possible[0], place)

    def _may_run(self, sides: _Sides, place: int) -> bool:
        if self._sums(place):
            return True
        return all(next(self._possible(sides, place, each), None) is not None for each in self._carriers[place])

    def _possible(self, sides: _Sides, place: int, carriers: tuple[tuple[int, int], ...]) -> Iterator[int]:
        shapes = sides.domains.masks["shape"]
        return (p for p, points in carriers if points & shapes and sides.may_be_outside(p, place))

    def _sums(self, place: int) -> bool:
        """Whether threads might add up sums of their own."""
        facts = self.model.facts
        return facts.plain and bool(summed(facts, facts.nest.loops.index(self.model.loops[place].loop)))

    @cached_property
    def _carriers(self) -> tuple[tuple[tuple[tuple[int, int], ...], ...], ...]:
        """For each time loop, the dependences between its iterations: the loops one of which must carry it outside."""
        model, names = self.model, self.model.facts.nest.loops
        fine = {loop.loop: place for place, loop in enumerate(model.loops) if not loop.coarse}
        found = []
        for loop in model.loops:
            number = names.index(loop.loop)
            needed: dict[tuple[tuple[int, int], ...], None] = {}
            for signs in model.facts.directions.all:
                if signs[number]:
                    moved = [name for name, sign in zip(names, signs, strict=True) if sign and name != loop.loop]
                    needed[tuple((fine[name], model.points[name]) for name in moved if name in fine)] = None
            found.append(tuple(needed))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class InnermostModeRule:
    """Plain innermost loops run as usual, or otherwise in one way that there is for them (``choice.runs``)."""

    model: NestModel

    @cached_property
    def scope(self) -> tuple[str, ...]:
        return (*self.model.form_scope, "parallel", "unroll", "stream", "vectors")

    def broken(self, values: Assignment) -> str | None:
        run = InnermostMode(values["unroll"], values["stream"], values["vectors"])
        form, parallel = self.model.form(values), values["parallel"]
        if form is None or parallel not in form.threads or run in form.runs(parallel):
            return None
        return "in this order, the innermost loops can't run that way"

    def narrow(self, domains: Domains) -> None:
        free = [name for name in ("unroll", "stream", "vectors") if name in domains.undecided]
        if not free:
            return
        # One of the ways at most is not the usual one.
        other = [name for name in ("unroll", "stream", "vectors") if not domains.masks[name] & 1]
        if len(other) > 1:
            raise DeadEndError
        for name in free if other else ():
            if name not in other:
                domains.keep(name, 1)
        if not domains.undecided.isdisjoint((*self.model.form_scope, "parallel")):
            return
        known = domains.decided((*self.model.form_scope, "parallel"))
        form = self.model.form(known)
        if form is None or known["parallel"] not in form.threads:
            raise DeadEndError
        ways = [run_values(run) for run in form.runs(known["parallel"])]
        ways = [way for way in ways if all(value in domains.values(name) for name, value in way.items())]
        for name in ("unroll", "stream", "vectors"):
            domains.keep(name, domains.decisions[name].mask([way[name] for way in ways]))
