"""isl's AST as nested C loops: threads, unrolled loops, and sums of lanes."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from math import prod

import islpy as isl

from polydl.codegen.expressions import ast_expression, kind_of, stripped
from polydl.codegen.rows import Row, rows_of
from polydl.codegen.trees import (
    as_factor,
    fixed_range,
    has_loop,
    is_straight,
    last_value,
    only_loop,
    statements_under,
    turns,
    values_of,
)
from polydl.codegen.vectors import VectorLoops


@dataclass(frozen=True)
class _Unrolled:
    """A loop whose ``count`` iterations, or fewer if it isn't ``whole``, run in one of the loop around it."""

    name: str
    first: str
    last: str
    count: int
    whole: bool
    node: isl.AstNode

    def copies(self) -> list[tuple[str, str]]:
        return turns(self.first, self.count)


@dataclass
class Printer(VectorLoops):
    """Walks isl's AST."""

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
            self.put(depth, self.statement(name, self.copied(values, self.copy[1])))
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
        statements = statements_under(node)
        here = self.position[name]
        if all(here in self.vector[statement] for statement in statements):
            unrolled = self.unrolled_inside(node, statements)
            if unrolled is not None:
                self.vectors_of_several(node, depth, unrolled)
                return
            if not has_loop(node.for_get_body()):
                self.vectors(node, depth, node.for_get_body(), (("", ""),))
                return
        threads = self.dealt_out(statements, here) and not self.on_threads
        rows = {} if threads else self.rows(node, statements, here)
        if rows:
            self.put(depth, "{")
            depth += 1
            for row in rows.values():
                arrays = ", ".join(f"{array}[{row.length}] = {{0}}" for array in row.arrays)
                self.put(depth, f"{row.element} {arrays};")
        region = threads and any(self.streamed[statement] for statement in statements)
        if threads:
            depth = self.open_region(depth) if region else depth
            together = " collapse(2)" if self.collapses(node, statements) else ""
            self.put(depth, self.pragma("for" if region else "parallel for", statements, here, together, ()))
        outside, kept = self.partial, self.kept
        self.partial = {**outside, **{statement: (str(row), row.each) for statement, row in rows.items()}}
        self.kept = {**kept, **{name: 0 if row.outer else len(row.arrays) for name, row in rows.items()}}
        self.on_threads |= threads
        several = self.several(node, statements)
        if several > 1:
            self.in_turn(node, depth, several)
        else:
            self.put(depth, self.head(node))
            self.node(node.for_get_body(), depth + 1)
            self.put(depth, "}")
        self.partial, self.kept = outside, kept
        self.on_threads &= not threads
        if region:
            depth = self.close_region(depth)
        for statement, row in sorted(rows.items()):
            element = row.each.element(self.scop, values_of(node, statement))
            element = outside[statement][0] if statement in outside else element
            # Compilers unroll so short a loop before they think of vectors.
            self.put(depth, "#pragma omp simd")
            self.put(depth, f"for (int {row.iterator} = 0; {row.iterator} < {row.length}; ++{row.iterator})")
            terms = " + ".join(f"{array}[{row.iterator}]" for array in row.arrays)
            self.put(depth + 1, f"{element} += {terms};")
        if rows:
            self.put(depth - 1, "}")

    def unrolled_inside(self, node: isl.AstNode, statements: Collection[str]) -> _Unrolled | None:
        """The loop that is all of a vector loop's body, if it is to be unrolled there and can be."""
        inner = only_loop(node.for_get_body())
        if inner is None or has_loop(inner.for_get_body()) or not is_straight(inner.for_get_body()):
            return None
        name = str(inner.for_get_iterator().get_id().name)
        here = self.position[name]
        if not all(here in self.unrolled[statement] for statement in statements):
            return None
        first, last = ast_expression(inner.for_get_init()), last_value(inner)
        outer = str(node.for_get_iterator().get_id().name)
        count = max(self.counts[statement][here] for statement in statements)
        whole = last is not None and "polydl_min(" not in last
        swaps = all(self.unrolled[statement][here] for statement in statements)
        if last is None or re.search(rf"\b{outer}\b", f"{first} {last}") or not (whole or swaps):
            return None
        return _Unrolled(name, stripped(first), stripped(last), count, whole, inner)

    def vectors_of_several(self, node: isl.AstNode, depth: int, unrolled: _Unrolled) -> None:
        """A vector loop that does all iterations of the loop inside at once, or one by one where some are missing."""
        body = unrolled.node.for_get_body()
        self.within = unrolled.name
        if unrolled.whole:
            self.vectors(node, depth, body, unrolled.copies())
            self.within = ""
            return
        self.put(depth, f"if ({unrolled.last} - {as_factor(unrolled.first)} == {unrolled.count - 1}) {{")
        self.vectors(node, depth + 1, body, unrolled.copies())
        self.within = ""
        self.put(depth, "} else {")
        self.put(depth + 1, self.head(unrolled.node))
        self.vectors(node, depth + 2, body, (("", ""),))
        self.put(depth + 1, "}")
        self.put(depth, "}")

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
        vectors = not has_loop(inner.for_get_body()) and all(here in self.vector[each] for each in statements)
        return not vectors and not self.rows(inner, set(statements), here)

    def rows(self, node: isl.AstNode, statements: set[str], here: int) -> dict[str, Row]:
        """Sums of lanes that a loop and those inside it keep in variables."""
        within = bool(statements & self.kept.keys())
        if any(self.kept.get(statement) for statement in statements):
            return {}
        around, nearest = [here], node
        inner = only_loop(node.for_get_body())
        while inner is not None and has_loop(inner.for_get_body()):
            if self.unrolled_inside(inner, statements) is not None:
                return {}
            around.append(self.position[str(inner.for_get_iterator().get_id().name)])
            nearest = inner
            inner = only_loop(inner.for_get_body())
        if inner is None or any(place in self.parallel[s] for place in around[1:] for s in statements):
            return {}
        lane = self.position[str(inner.for_get_iterator().get_id().name)]
        sums = {
            name: [self.sums[name].get(each, {}).get(name) for each in around]
            for name in statements
            if lane in self.vector[name] and name not in self.sums[name].get(lane, {})
        }
        if within and len(around) > 1:
            return {}
        counts = {name: [self.counts[name].get(each, 1) for each in around] for name in statements}
        terms = {name: (prod(own[:-1]), own[-1]) for name, own in counts.items()}
        width = min(self.lanes[name] for name in statements)
        return rows_of(self.scop, nearest, inner, statements, sums, terms, width, within)

    def several(self, node: isl.AstNode, statements: set[str]) -> int:
        """How many variables of each sum the iterations of a loop take turns with."""
        inner = only_loop(node.for_get_body())
        if inner is None or has_loop(inner.for_get_body()) or not statements <= self.kept.keys():
            return 1
        return min(self.kept[statement] for statement in statements)

    def in_turn(self, node: isl.AstNode, depth: int, several: int) -> None:
        """A loop around one over lanes, as many iterations at once as there are variables of each sum."""
        inner = only_loop(node.for_get_body())
        assert inner is not None
        name, values = str(node.for_get_iterator().get_id().name), fixed_range(node)
        rest = len(values) % several
        self.within = name
        if len(values) >= several:
            last = values[-1] - rest
            self.put(depth, f"for (int {name} = {values[0]}; {name} <= {last}; {name} += {several}) {{")
            self.vectors(inner, depth + 1, inner.for_get_body(), turns(name, several))
            self.put(depth, "}")
        if rest:
            self.vectors(inner, depth, inner.for_get_body(), turns(str(values[-rest]), rest))
        self.within = ""
