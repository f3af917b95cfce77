"""Vector loops as C: what their lanes sum up, what stays in registers inside them, what is written past the caches."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from polydl.codegen.expressions import StatementWriter, ast_expression, statement_text, stripped, subscripted
from polydl.codegen.factors import regrouped, without_factor
from polydl.codegen.held import Held, held_elements, in_place
from polydl.codegen.sums import Sum, clause, partial_type
from polydl.codegen.trees import as_factor, fixed_range, instances, is_straight, last_value, statements_under, values_of
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement

# Elements that are computed before they are written past the caches: with more, loads wait for stores.
_MOST_STREAMED = 256
_LINE_BYTES = 64


@dataclass
class VectorLoops(ABC):
    """What is printed of isl's AST and with it.

    By statement, ``parallel`` maps the places in time that run on threads to the loops there, ``vector`` holds those
    that may run with vectors, ``sums`` what is then summed in parts, and ``counts`` the iterations there. ``lanes`` are
    the elements of a vector. ``unrolled`` holds the places whose iterations run in one of the loop around, and whether
    the two loops could run the other way round; ``streamed`` the arrays that are written past the caches. Of the loop
    that is open, ``partial`` holds the sums with their variables, ``places`` what stands for arrays' elements, and
    ``regrouped`` the statements whose products take another order, which ``exact`` code doesn't allow; ``copy`` is the
    iteration that is printed of the unrolled loop ``within``, and ``kept`` how many variables each sum of lanes has.
    ``on_threads`` says that an open loop's iterations run on threads, ``unfenced`` that something was written past the
    caches since the last fence.
    """

    scop: Scop
    leaves: Mapping[str, Callable[[list[str]], str]]
    parallel: Mapping[str, Mapping[int, Loop]]
    vector: Mapping[str, frozenset[int]]
    sums: Mapping[str, Mapping[int, Mapping[str, Sum]]]
    counts: Mapping[str, Mapping[int, int]]
    lanes: Mapping[str, int]
    position: Mapping[str, int]
    unrolled: Mapping[str, Mapping[int, bool]] = field(default_factory=dict)
    streamed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    exact: bool = False
    partial: Mapping[str, tuple[str, Sum]] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    regrouped: Mapping[str, Statement] = field(default_factory=dict)
    loaded: Mapping[str, str] = field(default_factory=dict)
    within: str = ""
    kept: Mapping[str, int] = field(default_factory=dict)
    copy: tuple[str, str] = ("", "")
    lines: list[str] = field(default_factory=list)
    on_threads: bool = False
    unfenced: bool = False

    @abstractmethod
    def node(self, node: isl.AstNode, depth: int) -> None:
        """Prints all that is below a node."""

    def put(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text if text else "")

    def statement(self, name: str, values: list[str]) -> str:
        loaded = {reference: variable + self.copy[0] for reference, variable in self.loaded.items()}
        if name in self.partial:
            partial, each = self.partial[name]
            each = replace(each, statement=in_place(each.statement, self.places, loaded))
            return each.text(self.scop, values, re.sub(r"^\w+", lambda name: name[0] + self.copy[0], partial))
        if self.places or loaded or name in self.regrouped:
            own = self.regrouped.get(name) or self.scop.statement(name)
            return statement_text(self.scop, in_place(own, self.places, loaded), values)
        return self.leaves[name](values)

    def copied(self, values: Sequence[str], iteration: str) -> list[str]:
        """The values in one iteration of the unrolled loop."""
        if not self.within:
            return list(values)
        return [re.sub(rf"\b{re.escape(self.within)}\b", lambda _: iteration, value) for value in values]

    def head(self, node: isl.AstNode, first: str = "", last: str = "") -> str:
        """The first line of a loop, from its own first value to its own last one if no others are given."""
        name = str(node.for_get_iterator().get_id().name)
        start = first or stripped(ast_expression(node.for_get_init()))
        condition = f"{name} <= {last}" if last else stripped(ast_expression(node.for_get_cond()))
        step = ast_expression(node.for_get_inc())
        return f"for (int {name} = {start}; {condition}; {f'++{name}' if step == '1' else f'{name} += {step}'}) {{"

    def pragma(self, what: str, statements: Collection[str], here: int, more: str, sums: Sequence[str]) -> str:
        """OpenMP's pragma for a loop, with the variables ``sums`` that it adds up beside those of its threads."""
        loops = [self.parallel[s][here] for s in statements if here in self.parallel[s]] if "for" in what else []
        own = {self.partial[s][1].target.array for s in statements if s in self.partial} if sums else set()
        arrays = {name for loop in loops for name in loop.combined} - own
        dynamic = " schedule(dynamic)" if any(loop.dynamic for loop in loops) else ""
        return f"#pragma omp {what}{more}{dynamic}{clause(self.scop, sums, sorted(arrays))}"

    def open_region(self, depth: int) -> int:
        """Where each thread has something to do after its part of a loop, the loop isn't all of a parallel region."""
        self.put(depth, "#pragma omp parallel")
        self.put(depth, "{")
        return depth + 1

    def close_region(self, depth: int) -> int:
        self.put(depth, "polydl_streamed();")
        self.put(depth - 1, "}")
        self.unfenced = False
        return depth - 1

    def vectors(self, node: isl.AstNode, depth: int, body: isl.AstNode, copies: Sequence[tuple[str, str]]) -> None:
        """A loop whose iterations may fill vectors, with its body once for each of ``copies`` of a loop inside."""
        name = str(node.for_get_iterator().get_id().name)
        here = self.position[name]
        statements = statements_under(node)
        threads = self.dealt_out(statements, here) and not self.on_threads
        sums = {
            statement: (f"polydl_sum{number}", self.sums[statement][here][statement])
            for number, statement in enumerate(sorted(statements))
            if statement in self.sums[statement].get(here, {})
        }
        varies = self.varying(node, body)
        factors: dict[str, Expression] = {}
        for statement, (partial, each) in () if self.exact else tuple(sums.items()):
            divided = without_factor(self.scop, each.statement, each.term, varies)
            if divided is not None:
                sums[statement] = (partial, replace(each, statement=divided[0]))
                factors[statement] = divided[1]
        outside = self.partial
        self.partial = {**outside, **sums}
        if not self.exact:
            plain = [each for each in statements if each not in self.partial]
            made = {each: regrouped(self.scop, self.scop.statement(each), varies) for each in plain}
            self.regrouped = {name: each for name, each in made.items() if each != self.scop.statement(name)}
        straight = is_straight(body)
        last = last_value(node)
        wanted = set().union(*(self.streamed[s] for s in statements)) if straight and last is not None else set()
        printed = [(each, self.copied(v, iteration)) for _, iteration in copies for each, v in instances(body)]
        useful = straight and (len(copies) > 1 or wanted)
        held = held_elements(self.scop, printed, self.partial, wanted) if useful else ()
        streams = [each for each in held if each.array in wanted and not each.read]
        held = tuple(each for each in held if each not in streams)
        self.loaded = self.alone(body, varies) if straight and len(copies) > 1 else {}
        types = {name: partial_type(self.scop, each, self.counts[name][here]) for name, (_, each) in sums.items()}
        whole = not streams and not threads and last is not None
        lanes = self.lanes_of(statements, here) if whole and set(types.values()) <= {"float", "double"} else 0
        if sums or self.loaded:
            self.put(depth, "{")
            depth += 1
            self.load(body, depth, copies)
            for statement, (partial, _) in sums.items():
                start = f"[{lanes}] = {{0}}" if lanes else " = 0"
                variables = ", ".join(f"{partial}{suffix}{start}" for suffix, _ in copies)
                self.put(depth, f"{types[statement]} {variables};")
        names = [partial + suffix for partial, _ in sums.values() for suffix, _ in copies]
        width = self.width(statements, here)
        if streams:
            assert last is not None
            self.lines_of(node, depth, statements, body, copies, held, streams, names, stripped(last), threads)
        elif sums and lanes:
            assert last is not None
            self.in_lanes(node, depth, body, copies, held, sums, stripped(last), lanes)
        else:
            what = "parallel for simd" if threads else "simd"
            self.put(depth, self.pragma(what, statements, here, width, names))
            self.put(depth, self.head(node))
            self.bodies(body, depth + 1, copies, held)
            self.put(depth, "}")
        self.partial, self.regrouped = outside, {}
        enclosed, self.loaded = bool(self.loaded), {}
        for statement, (partial, each) in sorted(sums.items()):
            for suffix, iteration in copies:
                values = self.copied(values_of(node, statement), iteration)
                factor = factors.get(statement)
                writer = StatementWriter(self.scop, each.statement, values)
                times = f"{writer.write(factor)} * " if factor is not None else ""
                total = f"polydl_total_{types[statement]}({partial}{suffix}, {lanes})" if lanes else partial + suffix
                self.put(depth, f"{each.element(self.scop, values)} += {times}{total};")
        if sums or enclosed:
            self.put(depth - 1, "}")

    def alone(self, body: isl.AstNode, varies: Callable[[Access], bool]) -> Mapping[str, str]:
        """By reference, variables for elements of arrays that a loop leaves alone and that don't change in it.

        Compilers move loads like these out of a loop, too, but with many of them into its latch, and then leave the
        loop without vectors.
        """
        inside = dict.fromkeys(access for name, _ in instances(body) for access in self.scop.statement(name).accesses)
        found = [each for each in inside if self.scop.array(each.array).extents and not varies(each)]
        return {each.reference: f"polydl_once{number}" for number, each in enumerate(found)}

    def load(self, body: isl.AstNode, depth: int, copies: Sequence[tuple[str, str]]) -> None:
        """Declares what is ``loaded`` before a loop."""
        for name, values in instances(body):
            for access in self.scop.statement(name).accesses:
                if access.reference not in self.loaded:
                    continue
                for suffix, iteration in copies:
                    element = subscripted(self.scop, access, self.copied(values, iteration))
                    kind = self.scop.array(access.array).element
                    self.put(depth, f"const {kind} {self.loaded[access.reference]}{suffix} = {element};")

    def varying(self, node: isl.AstNode, body: isl.AstNode) -> Callable[[Access], bool]:
        """Which accesses a loop moves on, or whose elements it may change."""
        name = str(node.for_get_iterator().get_id().name)
        inside = [(self.scop.statement(each), values) for each, values in instances(body)]
        written = {access.array for statement, _ in inside for access in statement.writes}
        moving = set()
        for statement, values in inside:
            for access in statement.accesses:
                text = subscripted(self.scop, access, values)
                if access.array in written or re.search(rf"\b{re.escape(name)}\b", text):
                    moving.add((access.reference, access.array))
        return lambda access: (access.reference, access.array) in moving

    def bodies(self, body: isl.AstNode, depth: int, copies: Sequence[tuple[str, str]], held: Sequence[Held]) -> None:
        """One iteration of a vector loop."""
        outside = self.places
        self.places = {**outside, **{each.array: each.place for each in held}}
        for each in held:
            kind = self.scop.array(each.array).element
            self.put(depth, f"{kind} {each.place}{f' = {each.element}' if each.read else ''};")
        for copy in copies:
            self.copy = copy
            self.node(body, depth)
        self.copy = ("", "")
        for each in held:
            self.put(depth, f"{each.element} = {each.place};")
        self.places = outside

    def lanes_of(self, statements: Collection[str], here: int) -> int:
        """The lanes of vectors that a loop fills at least twice; 0 if it doesn't."""
        lanes = min(self.lanes[statement] for statement in statements)
        return (
            lanes
            if lanes in (2, 4, 8, 16)
            and lanes <= min(self.counts[statement].get(here, 0) for statement in statements) // 2
            else 0
        )

    def in_lanes(
        self,
        node: isl.AstNode,
        depth: int,
        body: isl.AstNode,
        copies: Sequence[tuple[str, str]],
        held: Sequence[Held],
        sums: Mapping[str, tuple[str, Sum]],
        last: str,
        lanes: int,
    ) -> None:
        """A vector loop that adds up each lane by itself.

        What OpenMP's clause asks for, compilers that keep to the order of additions do lane after lane at the end.
        """
        name = str(node.for_get_iterator().get_id().name)
        statements, here = statements_under(node), self.position[name]
        first, start = stripped(ast_expression(node.for_get_init())), f"polydl_{name.removeprefix('polydl_')}_first"
        pragma = self.pragma("simd", statements, here, f" simdlen({lanes})", ())
        values = fixed_range(node)
        rest = len(values) % lanes if values else -1
        end = str(values[-1] - rest) if values else f"{last} - {lanes - 1}"
        outside = self.partial

        def vectors(depth: int, start: str, end: str) -> None:
            self.put(depth, pragma)
            self.put(depth, self.head(node, start, end))
            lane = name if start == "0" else f"{name} - {start}"
            self.partial = {**outside, **{key: (f"{partial}[{lane}]", each) for key, (partial, each) in sums.items()}}
            self.bodies(body, depth + 1, copies, held)
            self.partial = outside
            self.put(depth, "}")

        self.put(depth, f"for (int {start} = {first}; {start} <= {end}; {start} += {lanes}) {{")
        vectors(depth + 1, start, f"{start} + {lanes - 1}")
        self.put(depth, "}")
        if values and rest:
            vectors(depth, str(values[-rest]), last)
        elif rest:
            count = f"({last} - {as_factor(first)} + 1)"
            self.put(depth, f"const int {start} = {first} + {count} / {lanes} * {lanes};")
            vectors(depth, start, last)

    def lines_of(
        self,
        node: isl.AstNode,
        depth: int,
        statements: Collection[str],
        body: isl.AstNode,
        copies: Sequence[tuple[str, str]],
        held: Sequence[Held],
        streams: Sequence[Held],
        sums: Sequence[str],
        last: str,
        threads: bool,
    ) -> None:
        """A vector loop that fills lines in the first cache, from where they are written past the others."""
        name = str(node.for_get_iterator().get_id().name)
        here = self.position[name]
        first = stripped(ast_expression(node.for_get_init()))
        length = min(_MOST_STREAMED, *(self.counts[statement][here] for statement in statements))
        depth = self.open_region(depth) if threads else depth
        if first.isdigit() and last.isdigit() and int(last) - int(first) < length and not threads:
            start, end = first, last
            self.put(depth, "{")
        else:
            start, end = f"polydl_{name}", f"polydl_{name}_end"
            if threads:
                self.put(depth, self.pragma("for nowait", statements, here, "", sums))
            self.put(depth, f"for (int {start} = {first}; {start} <= {last}; {start} += {length}) {{")
            self.put(depth + 1, f"const int {end} = polydl_min({start} + {length - 1}, {last});")
        for each in streams:
            array = self.scop.array(each.array)
            room = max(length, _LINE_BYTES // array.element_bytes)
            self.put(depth + 1, f"_Alignas({_LINE_BYTES}) {array.element} {each.place}[{room}];")
        self.put(depth + 1, self.pragma("simd", statements, here, self.width(statements, here), sums))
        self.put(depth + 1, self.head(node, start, end))
        outside = self.places
        lane = name if start == "0" else f"{name} - {start}"
        self.places = {**outside, **{each.array: f"{each.place}[{lane}]" for each in streams}}
        self.bodies(body, depth + 2, copies, held)
        self.places = outside
        self.put(depth + 1, "}")
        for each in streams:
            values = [re.sub(rf"\b{re.escape(name)}\b", start, value) for value in each.values]
            access = next(access for access in each.statement.accesses if access.array == each.array)
            target = subscripted(self.scop, access, values)
            self.put(
                depth + 1, f"polydl_stream(&{target}, {each.place}, ({end} - {start} + 1) * sizeof *{each.place});"
            )
        self.put(depth, "}")
        self.unfenced = True
        if threads:
            self.close_region(depth)

    def dealt_out(self, statements: Collection[str], here: int) -> bool:
        return all(here in self.parallel[statement] for statement in statements)

    def width(self, statements: Collection[str], here: int) -> str:
        """A clause that asks for whole vectors, where the loop fills one.

        Beside doubles floats fill one as well: halves that are stored apart can't be loaded at once soon after.
        """
        used = {access.array for name in statements for access in self.scop.statement(name).accesses}
        real = {self.scop.array(name).element for name in used} <= {"float", "double"}
        lanes = (max if real else min)(self.lanes[statement] for statement in statements)
        longest = min(self.counts[statement].get(here, 0) for statement in statements)
        return f" simdlen({lanes})" if 1 < lanes <= longest else ""
