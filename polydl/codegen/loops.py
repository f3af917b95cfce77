"""From a plan to nested C loops through isl's AST builder."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import islpy as isl

from polydl.codegen.expressions import ast_expression, kind_of, statement_text, stripped
from polydl.codegen.sums import Sum, clause, partial_type, vector_sums
from polydl.poly.counting import limited
from polydl.poly.legality import Directions, parallel_is_legal
from polydl.poly.plans import NestPlan, Plan
from polydl.poly.schedules import time_map
from polydl.poly.traffic import trips
from polydl.types import Loop, Scop
from polydl.vector_functions import called, scalar_only

MicrokernelCall = Callable[[NestPlan, Sequence[str]], str]
"""Makes the C statement of one microkernel call from the values of the loops around it, shared ones first."""


# Lanes that a sum may have in registers, and the terms that each of them adds up over several loops.
_LONGEST_ROW = 64
_MOST_TERMS = 256


@dataclass(frozen=True)
class _Row:
    """A sum kept in an array of ``length`` elements of a type, by the counter of the loop over its lanes."""

    variable: str
    iterator: str
    length: int
    element: str
    each: Sum


@dataclass
class _Printer:
    """Walks isl's AST.

    By statement, ``parallel`` maps the places in time that run on threads to the loops there, ``vector`` holds those
    that may run with vectors, ``sums`` what is then summed in parts, and ``counts`` the iterations there. ``lanes`` are
    the elements of a vector. ``partial`` holds the sums of the loop that is open, with their variables; ``on_threads``
    says that an open loop's iterations run on threads.
    """

    scop: Scop
    leaves: Mapping[str, Callable[[list[str]], str]]
    parallel: Mapping[str, Mapping[int, Loop]]
    vector: Mapping[str, frozenset[int]]
    sums: Mapping[str, Mapping[int, Mapping[str, Sum]]]
    counts: Mapping[str, Mapping[int, int]]
    lanes: Mapping[str, int]
    position: Mapping[str, int]
    partial: Mapping[str, tuple[str, Sum]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    on_threads: bool = False

    def put(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text if text else "")

    def node(self, node: isl.AstNode, depth: int) -> None:
        kind = kind_of(node.get_type())
        if kind == "for_":
            self.loop(node, depth)
        elif kind == "if_":
            self.put(depth, f"if ({stripped(ast_expression(node.if_get_cond()))}) {{")
            self.node(node.if_get_then_node(), depth + 1)
            if node.if_has_else_node():
                self.put(depth, "} else {")
                self.node(node.if_get_else_node(), depth + 1)
            self.put(depth, "}")
        elif kind == "block":
            children = node.block_get_children()
            for index in range(children.n_ast_node()):
                self.node(children.get_at(index), depth)
        elif kind == "user":
            expression = node.user_get_expr()
            name = str(expression.get_op_arg(0).get_id().name)
            values = [ast_expression(expression.get_op_arg(i)) for i in range(1, expression.get_op_n_arg())]
            if name in self.partial:
                partial, each = self.partial[name]
                self.put(depth, each.text(self.scop, values, partial))
            else:
                self.put(depth, self.leaves[name](values))
        else:
            self.node(node.mark_get_node(), depth)

    def loop(self, node: isl.AstNode, depth: int) -> None:
        name = str(node.for_get_iterator().get_id().name)
        first = stripped(ast_expression(node.for_get_init()))
        if node.for_is_degenerate():
            # Only needed where a value is used: isl substitutes it elsewhere.
            self.put(depth, "{")
            self.put(depth + 1, f"const int {name} = {first};")
            self.put(depth + 1, f"(void){name};")
            self.node(node.for_get_body(), depth + 1)
            self.put(depth, "}")
            return
        statements = _statements_under(node)
        here = self.position[name]
        threads = self.dealt_out(statements, here) and not self.on_threads
        lanes = not _has_loop(node.for_get_body()) and all(here in self.vector[statement] for statement in statements)
        sums: dict[str, tuple[str, Sum]] = {}
        if lanes:
            sums = {
                name: (f"polydl_sum{number}", self.sums[name][here][name])
                for number, name in enumerate(sorted(statements))
                if name in self.sums[name].get(here, {})
            }
        rows = {} if threads or lanes else self.rows(node, statements, here)
        if sums or rows:
            self.put(depth, "{")
            depth += 1
            for statement, (partial, each) in sums.items():
                element = partial_type(self.scop, each, self.counts[statement][here])
                self.put(depth, f"{element} {partial} = 0;")
            for row in rows.values():
                self.put(depth, f"{row.element} {row.variable}[{row.length}] = {{0}};")
        if threads or lanes:
            summed = {each.target.array for _, each in sums.values()}
            own_loops = [self.parallel[s][here] for s in statements] if threads else []
            arrays = {name for loop in own_loops for name in loop.combined}
            combined = clause(self.scop, [partial for partial, _ in sums.values()], sorted(arrays - summed))
            what = " ".join(word for word, used in (("parallel for", threads), ("simd", lanes)) if used)
            if threads and not lanes and self.collapses(node, statements):
                what += " collapse(2)"
            if any(loop.dynamic for loop in own_loops):
                what += " schedule(dynamic)"
            self.put(depth, f"#pragma omp {what}{self.width(statements, here) if lanes else ''}{combined}")
        condition = stripped(ast_expression(node.for_get_cond()))
        step = ast_expression(node.for_get_inc())
        advance = f"++{name}" if step == "1" else f"{name} += {step}"
        self.put(depth, f"for (int {name} = {first}; {condition}; {advance}) {{")
        outside = self.partial
        own = {statement: (f"{row.variable}[{row.iterator}]", row.each) for statement, row in rows.items()}
        self.partial = {**outside, **sums, **own}
        self.on_threads |= threads
        self.node(node.for_get_body(), depth + 1)
        self.partial = outside
        self.on_threads &= not threads
        self.put(depth, "}")
        for statement, (partial, each) in sorted(sums.items()):
            self.put(depth, f"{each.element(self.scop, _values_of(node, statement))} += {partial};")
        for statement, row in sorted(rows.items()):
            element = row.each.element(self.scop, _values_of(node, statement))
            self.put(depth, f"for (int {row.iterator} = 0; {row.iterator} < {row.length}; ++{row.iterator})")
            self.put(depth + 1, f"{element} += {row.variable}[{row.iterator}];")
        if sums or rows:
            self.put(depth - 1, "}")

    def dealt_out(self, statements: Collection[str], here: int) -> bool:
        return all(here in self.parallel[statement] for statement in statements)

    def collapses(self, node: isl.AstNode, statements: Collection[str]) -> bool:
        """Whether the loop inside is dealt out as well, has the same iterations each time, and needs no clauses."""
        inner = node.for_get_body()
        if kind_of(inner.get_type()) != "for_" or inner.for_is_degenerate():
            return False
        name, outer = (str(each.for_get_iterator().get_id().name) for each in (inner, node))
        bounds = f"{ast_expression(inner.for_get_init())} {ast_expression(inner.for_get_cond())}"
        here = self.position[name]
        if not self.dealt_out(statements, here) or re.search(rf"\b{outer}\b", bounds):
            return False
        vectors = not _has_loop(inner.for_get_body()) and all(here in self.vector[each] for each in statements)
        return not vectors and not self.rows(inner, set(statements), here)

    def width(self, statements: Collection[str], here: int) -> str:
        """A clause that asks for whole vectors, where the loop fills one."""
        lanes = min(self.lanes[statement] for statement in statements)
        longest = min(self.counts[statement].get(here, 0) for statement in statements)
        return f" simdlen({lanes})" if 1 < lanes <= longest else ""

    def rows(self, node: isl.AstNode, statements: set[str], here: int) -> dict[str, _Row]:
        """Sums that loops around a short vector loop add to again and again: one variable for each lane.

        They stay in registers, which what lies in memory under two names can't; and shorter sums round less.
        """
        around = [here]
        inner = _only_loop(node.for_get_body())
        while inner is not None and _has_loop(inner.for_get_body()):
            around.append(self.position[str(inner.for_get_iterator().get_id().name)])
            inner = _only_loop(inner.for_get_body())
        if inner is None or any(place in self.parallel[s] for place in around[1:] for s in statements):
            return {}
        name = str(inner.for_get_iterator().get_id().name)
        bounds = re.fullmatch(rf"\({name} <= (\d+)\)", ast_expression(inner.for_get_cond()))
        starts = ast_expression(inner.for_get_init()) == "0" and ast_expression(inner.for_get_inc()) == "1"
        place = self.position[name]
        if bounds is None or not starts or int(bounds[1]) >= _LONGEST_ROW:
            return {}
        found = {}
        for number, statement in enumerate(sorted(statements)):
            sums = [self.sums[statement].get(each, {}).get(statement) for each in around]
            terms = prod(self.counts[statement][each] for each in around)
            each = sums[0] if len(around) == 1 or (all(sums) and terms <= _MOST_TERMS) else None
            lanes = place in self.vector[statement] and statement not in self.sums[statement].get(place, {})
            if each is None or not lanes or not _names_lane(_values_of(node, statement), name, each):
                continue
            element = partial_type(self.scop, each, terms)
            found[statement] = _Row(f"polydl_row{number}", name, int(bounds[1]) + 1, element, each)
        return found


def _children(node: isl.AstNode) -> list[isl.AstNode]:
    kind = kind_of(node.get_type())
    if kind == "for_":
        return [node.for_get_body()]
    if kind == "if_":
        return [node.if_get_then_node()] + ([node.if_get_else_node()] if node.if_has_else_node() else [])
    if kind == "block":
        children = node.block_get_children()
        return [children.get_at(index) for index in range(children.n_ast_node())]
    if kind == "mark":
        return [node.mark_get_node()]
    return []


def _statements_under(node: isl.AstNode) -> set[str]:
    if kind_of(node.get_type()) == "user":
        return {str(node.user_get_expr().get_op_arg(0).get_id().name)}
    return set().union(*(_statements_under(child) for child in _children(node)))


def _only_loop(node: isl.AstNode) -> isl.AstNode | None:
    """The loop that is all of a loop's body."""
    kind = kind_of(node.get_type())
    if kind == "for_" and not node.for_is_degenerate():
        return node
    children = _children(node) if kind in ("block", "mark") else []
    return _only_loop(children[0]) if len(children) == 1 else None


def _names_lane(values: Sequence[str], lane: str, each: Sum) -> bool:
    """Whether a loop's counter is a whole subscript of a sum's element, so that each lane has its own."""
    if lane not in values or each.target.subscripts is None:
        return False
    iterator = values.index(lane)
    used = [form for form in each.target.subscripts if form.coefficients[iterator]]
    return len(used) == 1 and sum(map(abs, used[0].coefficients)) == 1


def _values_of(node: isl.AstNode, statement: str) -> list[str]:
    """The iterators' values, in C, where the statement stands below the node."""
    if kind_of(node.get_type()) == "user":
        expression = node.user_get_expr()
        if str(expression.get_op_arg(0).get_id().name) == statement:
            return [ast_expression(expression.get_op_arg(i)) for i in range(1, expression.get_op_n_arg())]
        return []
    return next((values for child in _children(node) if (values := _values_of(child, statement))), [])


def _has_loop(node: isl.AstNode) -> bool:
    if kind_of(node.get_type()) == "for_" and not node.for_is_degenerate():
        return True
    return any(_has_loop(child) for child in _children(node))


def _contracted(scop: Scop, plan: NestPlan, name: str) -> isl.Map:
    """The schedule of the statement without its microkernel's loops: one instance per call."""
    statement = scop.statement(name)
    dimensions = plan.around
    loops = tuple(each for each in dimensions if isinstance(each, Loop))
    domain = time_map(statement, loops).range().set_tuple_name(name)
    values = iter(f"t{index}" for index in range(len(loops)))
    times = [next(values) if isinstance(each, Loop) else str(each) for each in dimensions]
    instance = ", ".join(f"t{index}" for index in range(len(loops)))
    return isl.Map(f"{{ {name}[{instance}] -> [{', '.join(times)}] }}").intersect_domain(domain)


def _iterator_names(dimensions: Sequence[tuple[int | Loop, ...]], length: int) -> list[str]:
    names: list[str] = []
    for position in range(length):
        loops = {d[position].name for d in dimensions if position < len(d) and isinstance(d[position], Loop)}  # type: ignore[union-attr]
        name = loops.pop() if len(loops) == 1 else f"polydl_c{position}"
        names.append(name if name not in names else f"{name}_{position}")
    return names


def _generated(plan: Plan, name: str) -> tuple[int | Loop, ...]:
    """The time dimensions of a statement that become loops of the generated code."""
    nest = plan.nest_of(name)
    dimensions = plan.schedule.of(name)
    return dimensions[: len(nest.around)] if nest.inner else dimensions


def _vector_positions(
    scop: Scop, plan: NestPlan, found: Directions, sums: Collection[int], exact: bool
) -> frozenset[int]:
    """Positions in time whose loop may be run with vector instructions."""
    names = called(scop.statement(name) for name in plan.nest.statements)
    if scalar_only(scop, names, exact=exact):
        return frozenset()
    order = plan.order()
    return frozenset(
        place
        for position, place in enumerate(plan.places)
        if place in sums or parallel_is_legal(found, order, position)
    )


def _tree(
    scop: Scop,
    plan: Plan,
    names: Sequence[str],
    found: Mapping[int, Directions],
    call: MicrokernelCall,
    depth: int,
    exact: bool,
    vector_bytes: int,
) -> list[str]:
    """The C of statements that share their first position in time."""
    dimensions = {name: _generated(plan, name) for name in names}
    length = max(len(each) for each in dimensions.values())
    relation = isl.UnionMap("{ }")
    leaves: dict[str, Callable[[list[str]], str]] = {}
    for name in names:
        statement = scop.statement(name)
        nest = plan.nest_of(name)
        if nest.inner:
            schedule = _contracted(scop, nest, name)
            missing = length - schedule.dim(isl.dim_type.out)
            schedule = schedule.add_dims(isl.dim_type.out, missing)
            for position in range(length - missing, length):
                schedule = schedule.fix_val(isl.dim_type.out, position, isl.Val(0))
            leaves[name] = lambda values, nest=nest: call(nest, values)  # type: ignore[misc]
        else:
            schedule = time_map(statement, dimensions[name], length)
            leaves[name] = lambda values, statement=statement: statement_text(scop, statement, values)  # type: ignore[misc]
        relation = relation.union(isl.UnionMap.from_map(schedule))
    iterators = _iterator_names(list(dimensions.values()), length)
    build = isl.AstBuild.from_context(isl.Set("{ : }"))
    identifiers = isl.IdList.alloc(isl.DEFAULT_CONTEXT, length)
    for iterator in iterators:
        identifiers = identifiers.add(isl.Id(iterator))
    build = build.set_iterators(identifiers)
    parallel = {
        name: {p: d for p, d in enumerate(dimensions[name]) if isinstance(d, Loop) and d.parallel} for name in names
    }
    sums: dict[str, Mapping[int, Mapping[str, Sum]]] = {}
    vector: dict[str, frozenset[int]] = {}
    counts: dict[str, Mapping[int, int]] = {}
    lanes: dict[str, int] = {}
    for name in names:
        nest = plan.nest_of(name)
        own = found[nest.nest.index]
        counts[name] = dict(zip(nest.places, trips(nest), strict=False))
        sums[name] = {} if nest.inner else vector_sums(scop, nest, own)
        vector[name] = frozenset() if nest.inner else _vector_positions(scop, nest, own, sums[name], exact)
        narrow = {each.target.array for here in sums[name].values() for s, each in here.items() if s == name
                  if partial_type(scop, each, 1) == "float"}  # fmt: skip
        arrays = [scop.array(access.array) for access in scop.statement(name).accesses if access.array not in narrow]
        lanes[name] = vector_bytes // max((array.element_bytes for array in arrays), default=1)
    places = {name: index for index, name in enumerate(iterators)}
    printer = _Printer(scop, leaves, parallel, vector, sums, counts, lanes, places)
    printer.node(build.node_from_schedule_map(relation), depth)
    return printer.lines


@limited
def loops(
    scop: Scop,
    plan: Plan,
    found: Mapping[int, Directions],
    call: MicrokernelCall,
    depth: int = 1,
    omitted: Collection[str] = (),
    exact: bool = False,
    vector_bytes: int = 0,
) -> list[str]:
    """Lines of C that run the plan, but for the statements in ``omitted``.

    ``found`` gives the directions of each nest, by its index. With ``exact`` every function that is called gives the
    same result as in the source. With ``vector_bytes`` loops that fill vectors of that size are to use them.
    """
    trees: dict[int, list[str]] = {}
    for name, dimensions in plan.schedule.statements:
        if name in omitted:
            continue
        position = dimensions[0]
        assert isinstance(position, int)
        trees.setdefault(position, []).append(name)
    lines: list[str] = []
    for position in sorted(trees):
        lines += _tree(scop, plan, trees[position], found, call, depth, exact, vector_bytes)
    return lines
