"""New orders of statements by isl's scheduler (Pluto's algorithm): loops that can be tiled together.

Bondhugula et al., A Practical Automatic Polyhedral Parallelizer and Locality Optimizer, PLDI 2008; Verdoolaege and
Janssens, Scheduling for PPCG, 2017.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import islpy as isl

from polydl.errors import AnalysisError, QuotaError
from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.poly.counting import quota
from polydl.poly.dependences import Dependence
from polydl.poly.iterations import in_one_iteration
from polydl.poly.texts import map_of, set_of

# Most nests need a millisecond and less than 5,000 operations, some a tenth of a second and 100,000. But where numbers
# in isl's scheduler grow, an operation takes milliseconds: 20,000 took 18 s in one case, and 8,000 of them 0.06 s.
# So it begins with few, and gets a quarter more as long as an attempt took less than two seconds of this thread: ten
# times what attempts took in nests that are of use, so that a busy or slow processor finds the same schedules.
_OPERATIONS = tuple(int(5_000 * 1.25**step) for step in range(19))
_SECONDS = 2.0
# For all dependences along all rows, or without bounds; a stencil needs some ten thousand.
_ROW_OPERATIONS = 5_000_000


@dataclass(frozen=True)
class Band:
    """Loops that statements share in a new order, with neighbouring ones among them that can be tiled together."""

    #: in the order in which they run where all loops agree
    statements: tuple[str, ...]
    #: for each statement, its place in each loop, outermost first, over its iterators
    rows: tuple[tuple[Affine, ...], ...]
    #: the first loop that can be tiled, and the one behind the last
    permutable: tuple[int, int]


def permutable_band(
    scop: Scop, statements: Sequence[str], dependences: Sequence[Dependence], outer: int = 0
) -> Band | None:
    """The loops that isl's scheduler gives the statements in common, none of which go back in any dependence.

    The first ``outer`` loops of the source, which must be around all of them, stay as they are. None where it finds
    fewer than two others, where statements don't share all of their loops, and where a place is no affine form.
    Raises AnalysisError if it takes isl too long.

    The scheduler takes minutes where many relations hold between two statements. So it first gets one convex relation
    for each pair of statements, which holds all of them; and in a stencil, whose neighbours lie at the same distances
    everywhere, one that goes on beyond the bounds of the loops. That asks for more than is needed: where there is no
    answer to it, the relations themselves are asked about.
    """
    members = [_without_outer(scop.statement(name), outer) for name in statements]
    domain, order = isl.UnionSet("{ }"), isl.UnionMap("{ }")
    for member in members:
        domain = domain.union(isl.UnionSet(member.domain))
    inside = [each for each in dependences if each.source in statements and each.target in statements]
    inside = [each for each in (_inside_outer(each, outer) for each in inside) if each is not None]
    for dependence in inside:
        order = order.union(isl.UnionMap(dependence.relation))
    unbounded = without_bounds(members, inside)
    for relaxed in (order.simple_hull(),) if unbounded is None else (unbounded.simple_hull(), order.simple_hull()):
        try:
            band = _band(domain, relaxed, statements)
        except QuotaError:
            raise
        except AnalysisError:
            continue
        if band is not None:
            return _with_outer(scop, band, outer)
    band = _band(domain, order, statements)
    return None if band is None else _with_outer(scop, band, outer)


def _without_outer(statement: Statement, outer: int) -> Statement:
    """The statement in its loops behind the first ``outer`` ones, over all that it has in any iteration of these."""
    if not outer:
        return statement
    domain = set_of(statement.domain).project_out(isl.dim_type.set, 0, outer).set_tuple_name(statement.name)
    return replace(statement, iterators=statement.iterators[outer:], domain=str(domain))


def _inside_outer(dependence: Dependence, outer: int) -> Dependence | None:
    """The dependence inside of one iteration of the first ``outer`` loops, over the loops behind them; None if none."""
    if not outer:
        return dependence
    relation = in_one_iteration(map_of(dependence.relation), range(outer))
    if relation.is_empty():
        return None
    for side, name in ((isl.dim_type.in_, dependence.source), (isl.dim_type.out, dependence.target)):
        relation = relation.project_out(side, 0, outer).set_tuple_name(side, name)
    return replace(dependence, relation=str(relation))


def _with_outer(scop: Scop, band: Band, outer: int) -> Band:
    """A band inside of the source's first ``outer`` loops, with these before its own."""
    if not outer:
        return band
    rows = []
    for name, forms in zip(band.statements, band.rows, strict=True):
        statement = scop.statement(name)
        first = [
            Affine(tuple(way * (place == number) for place in range(statement.depth)), 0)
            for number, way in enumerate(statement.directions[:outer])
        ]
        behind = [Affine((*(0,) * outer, *form.coefficients), form.constant) for form in forms]
        rows.append((*first, *behind))
    first_tiled, end = band.permutable
    return Band(band.statements, tuple(rows), (first_tiled + outer, end + outer))


def without_bounds(members: Sequence[Statement], dependences: Sequence[Dependence]) -> isl.UnionMap | None:
    """The dependences of a stencil, those between as many loops without bounds.

    None where distances differ, where that adds no pair to any of them, and where isl gives up.
    """
    try:
        with quota(isl.DEFAULT_CONTEXT, _ROW_OPERATIONS):
            return _everywhere(members, dependences)
    except AnalysisError:
        return None


def _everywhere(members: Sequence[Statement], dependences: Sequence[Dependence]) -> isl.UnionMap | None:
    domains = {member.name: set_of(member.domain) for member in members}
    depths = {member.name: member.depth for member in members}
    order, grew = isl.UnionMap("{ }"), False
    for dependence in dependences:
        relation = map_of(dependence.relation)
        if depths[dependence.source] == depths[dependence.target]:
            everywhere = _at_its_distances(relation)
            source, target = domains[dependence.source], domains[dependence.target]
            if not everywhere.intersect_domain(source).intersect_range(target).is_equal(relation):
                return None
            grew = grew or not everywhere.is_subset(relation)
            relation = everywhere
        order = order.union(isl.UnionMap.from_map(relation))
    return order if grew else None


def _at_its_distances(relation: isl.Map) -> isl.Map:
    """From every point to all at a distance at which the relation has two points, over as many loops on both sides."""
    names = [relation.get_tuple_name(side) for side in (isl.dim_type.in_, isl.dim_type.out)]
    alike = relation.set_tuple_name(isl.dim_type.in_, "").set_tuple_name(isl.dim_type.out, "")
    pairs = isl.Map.universe(alike.get_space()).deltas_map().intersect_range(alike.deltas()).domain().unwrap()
    return pairs.set_tuple_name(isl.dim_type.in_, names[0]).set_tuple_name(isl.dim_type.out, names[1])


def _band(domain: isl.UnionSet, order: isl.UnionMap, statements: Sequence[str]) -> Band | None:
    """The band of a schedule in which no pair of ``order`` goes back. Raises AnalysisError if it takes isl too long."""
    for operations in _OPERATIONS:
        start = time.thread_time()
        try:
            with quota(isl.DEFAULT_CONTEXT, operations):
                constraints = isl.ScheduleConstraints.on_domain(domain).set_validity(order).set_proximity(order)
                return _permutable(constraints.compute_schedule(), statements)
        except QuotaError:
            if operations == _OPERATIONS[-1] or time.thread_time() - start > _SECONDS:
                raise
    raise AssertionError("there are quotas")


def _permutable(schedule: isl.Schedule, statements: Sequence[str]) -> Band | None:
    node = schedule.get_root().first_child()
    rows: dict[str, tuple[Affine, ...]] = dict.fromkeys(statements, ())
    permutable = None
    while _kind(node) == "band":
        members = node.band_n_member()
        first = len(rows[statements[0]])
        if permutable is None and members > 1 and node.band_get_permutable():
            permutable = first, first + members
        partial = node.band_get_partial_schedule_union_map().get_map_list()
        for place in range(partial.n_map()):
            relation = partial.get_at(place)
            forms = _forms(relation)
            if forms is None:
                return None
            rows[relation.get_tuple_name(isl.dim_type.in_)] += forms
        node = node.first_child()
    ordered = _leaves(node, statements)
    if permutable is None or ordered is None:
        return None
    return Band(ordered, tuple(rows[name] for name in ordered), permutable)


# By statement, its places in common loops, over its iterators.
Rows = tuple[tuple[str, tuple[Affine, ...]], ...]


@lru_cache(maxsize=64)
def never_back(dependences: tuple[Dependence, ...], rows: Rows) -> bool:
    """Whether no dependence between these statements goes back along any of their rows.

    Then the rows are loops that can be tiled together, in any order: tiles and what is in them go forwards too.
    Decided by isl, over the iterators as they are; False as well if it gives up.
    """
    places = dict(rows)
    try:
        with quota(isl.DEFAULT_CONTEXT, _ROW_OPERATIONS):
            return all(
                _goes_forwards(dependence, source, target)
                for dependence in dependences
                for source, target in zip(places[dependence.source], places[dependence.target], strict=True)
            )
    except AnalysisError:
        return False


def _goes_forwards(dependence: Dependence, source: Affine, target: Affine) -> bool:
    """Whether no target of a dependence has a lesser place than its source."""
    inputs, one = _written(source, "i")
    outputs, other = _written(target, "o")
    head = f"{dependence.source}[{inputs}] -> {dependence.target}[{outputs}]"
    return bool(map_of(dependence.relation).intersect(isl.Map(f"{{ {head} : {other} < {one} }}")).is_empty())


def meets(dependence: Dependence, source: Sequence[Affine], target: Sequence[Affine]) -> bool:
    """Whether a dependence joins instances whose places are the same along all these rows of its two statements.

    True as well if isl gives up.
    """
    depths = (len(source[0].coefficients), len(target[0].coefficients))
    inputs, outputs = ([f"{prefix}{number}" for number in range(n)] for prefix, n in zip("io", depths, strict=True))
    same = [f"{one.text(inputs)} = {other.text(outputs)}" for one, other in zip(source, target, strict=True)]
    head = f"{dependence.source}[{', '.join(inputs)}] -> {dependence.target}[{', '.join(outputs)}]"
    try:
        with quota(isl.DEFAULT_CONTEXT, _ROW_OPERATIONS):
            together = isl.Map(f"{{ {head} : {' and '.join(same)} }}")
            return not map_of(dependence.relation).intersect(together).is_empty()
    except AnalysisError:
        return True


def _written(form: Affine, prefix: str) -> tuple[str, str]:
    """Iterators, and a form of them, in isl's syntax."""
    names = [f"{prefix}{number}" for number in range(len(form.coefficients))]
    return ", ".join(names), form.text(names)


def _kind(node: isl.ScheduleNode) -> str:
    """The name of a node's type (islpy's stubs call it a plain integer)."""
    return isl.schedule_node_type(node.get_type()).name


def _forms(relation: isl.Map) -> tuple[Affine, ...] | None:
    """The outputs of a map as affine forms of its inputs; None if they are none, or different ones in places."""
    values = isl.PwMultiAff.from_map(relation)
    if values.n_piece() != 1:
        return None
    forms = []
    for place in range(values.dim(isl.dim_type.out)):
        ((_, form),) = values.get_pw_aff(place).get_pieces()
        if form.dim(isl.dim_type.div) or not form.get_denominator_val().is_one():
            return None
        inputs = range(form.dim(isl.dim_type.in_))
        coefficients = tuple(form.get_coefficient_val(isl.dim_type.in_, number).to_python() for number in inputs)
        forms.append(Affine(coefficients, form.get_constant_val().to_python()))
    return tuple(forms)


def inverse(rows: Sequence[Affine], depth: int) -> tuple[Affine, ...] | None:
    """The iterators of a statement of so many loops as affine forms of its places; None if they are no such forms."""
    inputs = [f"i{number}" for number in range(depth)]
    outputs = ", ".join(row.text(inputs) for row in rows)
    relation = isl.Map(f"{{ [{', '.join(inputs)}] -> [{outputs}] }}")
    return _forms(relation.reverse()) if relation.is_injective() else None


def _leaves(node: isl.ScheduleNode, statements: Sequence[str]) -> tuple[str, ...] | None:
    """The statements in the order in which a tree without further loops runs them; None if it has loops."""
    kind = _kind(node)
    if kind == "leaf":
        return tuple(statements)
    if kind not in ("sequence", "set"):
        return None
    ordered: list[str] = []
    for number in range(node.n_children()):
        part = node.get_child(number)
        members = part.filter_get_filter().get_set_list()
        inside = {members.get_at(place).get_tuple_name() for place in range(members.n_set())}
        below = _leaves(part.first_child(), [name for name in statements if name in inside])
        if below is None:
            return None
        ordered += below
    return tuple(ordered)
