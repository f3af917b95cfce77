"""C of products of any size: loops over tiles, copies of what these read, and the product of each tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Literal

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.codegen import print_c
from polydl.codegen.loop_ir import Body, Declare, Evaluate, Function, If, Node, Pragma, Variable
from polydl.codegen.passes.thread_choice import with_choice
from polydl.codegen.values import Apply, Binary, Conditional, Expr, Integer, Name, plus
from polydl.ir.scop import REAL_BYTES
from polydl.libraries import extents as sums
from polydl.libraries.blocking import Blocking, Operand
from polydl.libraries.coalesced_code import coalesced_copy, coalesced_copy_call
from polydl.libraries.coalescing import Coalesced
from polydl.libraries.convolutions import SymbolicConvolution, symbolic_convolution
from polydl.libraries.dot_code import EVEN_ROWS, dot_blocks, dot_tile, dot_tile_name, in_register, lane_types
from polydl.libraries.panel_code import SQUARE, WIDENED, copies, copy_call, panel, panel_memory, row_copy, row_copy_call
from polydl.libraries.product import INNER, Role, SymbolicProduct
from polydl.libraries.tile_code import (
    ELEMENT,
    FAR,
    FIRST,
    NEXT_BLOCK,
    SumForm,
    added,
    below,
    constant,
    difference,
    register_blocks,
    tile,
    tile_function,
    times,
    unused,
    vector_type,
    vector_widths,
)
from polydl.libraries.winograd_code import PLACE_TYPE, WinogradCode

_OPERANDS: tuple[Operand, ...] = ("a", "b")
_BEGINNING = Integer(0)
# Whether rows of A are contiguous along k as they lie in memory.
_BY_ROWS = Binary("==", Name("ak"), Integer(1))
#: C of how many rows are computed apart.
# Beside its terms a dot product takes the time of some eight vectors of them, and its vectors are little more than half
# as fast, since few rows share what they read of B. It is worth it where that is less than nine tenths of a vector of
# rows, where vectors are few, and where the last whole ones have six sums to add to: a block of fewer waits for them.
LAST_ROWS = """\
/* The rows behind the last whole vector, where dot products of them take less than one more vector of rows; or 0. */
static inline long polydl_last_rows(long m, long k, long width, long vectors, long columns)
{
  const long rows = m % width, whole = m / width, last = whole % vectors;
  if (whole == 0 || whole >= 16 || (last != 0 && last * columns < (whole > 1 ? 6 : 8)))
    return 0;
  return 16 * rows * (k + 8 * width) < 9 * width * k ? rows : 0;
}"""
# Columns after which the last rows of them are computed, at least: copies of A are few beside products then.
_COLUMNS_AT_ONCE = 256


@dataclass(frozen=True)
class ProductCode:
    """The C of some blockings of a product."""

    #: elements of a vector
    width: int
    #: those that the library's kernels use
    blockings: tuple[Blocking, ...]
    product: SymbolicProduct
    #: of the second level of cache
    cache_bytes: int
    #: how the last rows are computed, apart from the others, by the blocking of these; not for others
    last_rows: Mapping[Blocking, Blocking] = field(default_factory=dict)

    @property
    def form(self) -> SumForm:
        """What is done to sums on their way to C."""
        start = self.product.start
        return SumForm(bool(self.product.scale), None if start is None else "factor" if start.factor else "zero")

    @property
    def _along_terms(self) -> bool:
        """Whether vectors of one of the blockings run along k."""
        return any(blocking.along == "k" for blocking in self._all)

    @property
    def _all(self) -> tuple[Blocking, ...]:
        """The blockings, and those of last rows."""
        return tuple(dict.fromkeys((*self.blockings, *self.last_rows.values())))

    @property
    def _vector_widths(self) -> list[int]:
        """Elements of all vectors."""
        return list(dict.fromkeys([*vector_widths(self.width), *([SQUARE] if self._along_terms else [])]))

    def _along_terms_types(self) -> list[str]:
        """What blockings with vectors along k need at file scope, before their functions."""
        element = self.product.element
        vector_bytes = self.width * REAL_BYTES.get(element, 4)
        return [EVEN_ROWS, in_register(vector_bytes), *lane_types(element, self.width)]

    def function(self, blocking: Blocking) -> str:
        """The name of a blocking's function."""
        return f"polydl_product{self._all.index(blocking) + 1}"

    def call(self, blocking: Blocking, iterators: Sequence[Expr], inside: int) -> str:
        """C of the call that computes the product, or the part of it where outer loops have values.

        ``iterators`` are the values of the statement's iterators where it begins; loops from the number ``inside`` on
        are the call's.
        """
        product = self.product
        trips = [sums.long(product.trips[role]) if product.loops[role] >= inside else "1" for role in product.loops]
        strides = [product.operands[name].strides[role] for name, role in self._strides]
        addresses = [product.operands[name].address(iterators) for name in ("a", "b", "c")]
        factors = [each for each in (product.scale, product.start.factor if product.start else "") if each]
        return f"{self.function(blocking)}({', '.join([*trips, *addresses, *strides, *factors])});"

    def definitions(self) -> list[str]:
        """C at file scope."""
        if not self.blockings:
            return []
        shapes = dict.fromkeys((each.along, each.vectors, each.columns) for each in self._all)
        blocks, tiles = [], []
        for along, rows, columns in shapes:
            if along == "m":
                blocks += register_blocks(rows, self.width, columns, self.form)
                tiles.append(tile(rows, self.width, columns, self.form))
            else:
                blocks += dot_blocks(rows, self.width, columns, self.form)
                tiles.append(dot_tile(rows, columns, self.form))
        functions = [*dict.fromkeys(blocks), *tiles]
        return [
            f"typedef {self.product.element} {ELEMENT};",
            *(vector_type(self.product.element, width) for width in self._vector_widths),
            NEXT_BLOCK,
            *(self._along_terms_types() if self._along_terms else []),
            *self._copies(),
            *map(print_c.definition, functions),
            *self._panels(),
            *([LAST_ROWS] if self.last_rows else []),
            *(print_c.definition(each) for each in self._products()),
        ]

    @property
    def packs(self) -> bool:
        """Whether tiles are copied."""
        return any(blocking.packed for blocking in self._all)

    def _products(self) -> list[Function]:
        """The functions of all blockings, those of dot products before what calls them."""
        dots = [self._loops(each, self.function(each)) for each in self._all if each not in self.last_rows]
        apart = [
            function
            for each in self.last_rows
            for function in (self._loops(each, self._whole(each)), self._with_last_rows(each))
        ]
        return [*dots, *apart]

    def _whole(self, blocking: Blocking) -> str:
        """The name of the function of a blocking that computes all rows alike."""
        return f"{self.function(blocking)}_whole"

    @property
    def _strides(self) -> list[tuple[str, Role]]:
        """The strides that a function takes: of each operand those of the loops that move it, in one order."""
        return [
            (name, role)
            for name, operand in self.product.operands.items()
            for role in self.product.loops
            if role in operand.strides and (name, role) != ("c", "m")
        ]

    @property
    def _parameters(self) -> tuple[tuple[str, str], ...]:
        return (
            *(("long", role) for role in self.product.loops),
            *((f"const {self._type(name)} *", name) for name in _OPERANDS),
            (f"{ELEMENT} *", "c"),
            *(("long", f"{name}{role}") for name, role in self._strides),
            *(each for each in self.form.parameters if each[1] != FIRST.name),
        )

    def _start(self, blocking: Blocking, operand: str, low: dict[Role, Expr]) -> Expr:
        """The address of an operand's first element of a tile; A's where coalesced loops begin."""
        strides = {role: Name(f"{operand}{role}") for role in self.product.operands[operand].strides}
        if operand == "a":
            strides = {role: stride for role, stride in strides.items() if role not in blocking.joined(self.product)}
        if operand == "b":
            strides["k"] = self._stride_of_terms(blocking)
        terms = (
            low[role] if (operand, role) == ("c", "m") else times(low[role], each) for role, each in strides.items()
        )
        return added(Name(operand), *terms)

    def _type(self, operand: str) -> str:
        """C of the type of an operand's elements."""
        element = self.product.operands[operand].element
        return "unsigned short" if element == BFLOAT16 else element

    def _copies(self) -> list[str]:
        """The functions that copy tiles."""
        in_panels = [
            tuple(name for name in blocking.packed if name != "a" or not blocking.coalesced)
            for blocking in self.blockings
            if blocking.along == "m" and not blocking.outputs
        ]
        copied = [name for name in _OPERANDS if any(name in packed for packed in in_panels)]
        halves = {name for name in copied if self.product.operands[name].element == BFLOAT16}
        functions = [each for name in copied for each in copies(name, self._type(name), widened=name in halves)]
        if self._along_terms:
            functions.append(row_copy(self._type("a")))
        blocks = [each.vectors * self.width for each in self.blockings if each.coalesced]
        if blocks and self.product.coalesced is not None:
            contiguous = self.product.a.strides["m"] == "1"
            functions.append(
                coalesced_copy(self.product.coalesced, self._type("a"), self.width, max(blocks), contiguous=contiguous)
            )
        winograd = list(filter(None, map(self._winograd, self.blockings)))
        texts = dict.fromkeys(text for code in winograd for text in code.definitions())
        return [
            *([WIDENED] if halves else []),
            *map(print_c.definition, functions),
            *([PLACE_TYPE, *texts] if winograd else []),
        ]

    def _panels(self) -> list[str]:
        """The memory of copied tiles, which each thread has."""
        most: dict[Operand | Literal["c"], list[int]] = {
            # A vector that copies the last rows of a coalesced tile reaches beyond it.
            name: [
                blocking.packed_elements(name) + (self.width if blocking.coalesced else 0)
                for blocking in self._all
                if name in blocking.packed and not blocking.outputs
            ]
            for name in _OPERANDS
        }
        most["c"] = []
        for code in filter(None, map(self._winograd, self.blockings)):
            for each in most:
                most[each].append(code.elements[each])
        return [panel_memory(name, max(elements)) for name, elements in most.items() if elements]

    @cached_property
    def _convolution(self) -> SymbolicConvolution | None:
        """What the loops are to a convolution, if the product is one."""
        return symbolic_convolution(self.product)

    def _winograd(self, blocking: Blocking) -> WinogradCode | None:
        """The C of a blocking with fewer products; None for another one."""
        conv = self._convolution
        if not blocking.outputs or conv is None:
            return None
        sizes = [blocking.innermost(role) for role in INNER]
        contiguous = self.product.a.strides["m"] == "1"
        return WinogradCode(conv, self.product.element, contiguous, blocking.outputs, self.width, *sizes)

    def _with_last_rows(self, blocking: Blocking) -> Function:
        """The function of a blocking that computes the rows behind the last whole vector apart, where that is faster.

        On one thread both are done for some columns of B after others, which the second level of cache keeps meanwhile.
        """
        rows, first, count = Name("rows"), Name("first"), Name("count")
        at_once, left = Name("at_once"), difference(Name("n"), Name("first"))
        block = (Integer(self.width), Integer(blocking.vectors), Integer(blocking.columns))
        last_rows = Apply("polydl_last_rows", (Name("m"), Name("k"), *block))
        few = Binary("<", Name("n"), Integer(blocking.columns))
        fitting = Binary("/", Integer(self._cache_elements // 2), Name("k"))
        most = Conditional(Binary(">", fitting, Integer(_COLUMNS_AT_ONCE)), fitting, Integer(_COLUMNS_AT_ONCE))
        columns = {"b": times(first, Name("bn")), "c": times(first, Name("cn"))}
        whole = difference(Name("m"), rows)
        beside = {"a": times(whole, Name("am")), "b": columns["b"], "c": added(whole, columns["c"])}
        both: Body = (
            constant("const long", count.name, Conditional(Binary("<", left, at_once), left, at_once)),
            self._called(self._whole(blocking), {"m": whole, "n": count}, columns),
            self._called(self.function(self.last_rows[blocking]), {"m": rows, "n": count}, beside),
        )
        apart: Body = (
            constant("const long", at_once.name, Name("n") if blocking.on_threads else most),
            below(first, Name("n"), both, at_once),
        )
        body = (
            constant("const long", rows.name, Conditional(few, Integer(0), last_rows)),
            If(rows, apart, (self._called(self._whole(blocking), {}, {}),)),
        )
        return Function(self.function(blocking), self._parameters, body, inlining="")

    def _called(self, function: str, sizes: Mapping[str, Expr], moved: Mapping[str, Expr]) -> Node:
        """Calls a function with this one's arguments, but for some sizes, and operands that begin further on."""
        arguments = (
            sizes.get(name, added(Name(name), moved[name]) if name in moved else Name(name))
            for _, name in self._parameters
        )
        return Evaluate(Apply(function, tuple(arguments)))

    @property
    def _cache_elements(self) -> int:
        """Elements that the second level of cache holds."""
        return self.cache_bytes // REAL_BYTES.get(self.product.element, 4)

    def _loops(self, blocking: Blocking, name: str) -> Function:
        """The function of that name for a blocking: its loops over tiles, the copies, and the tile's product."""
        roles = tuple(self.product.loops)
        low: dict[Role, Expr] = dict.fromkeys(roles, _BEGINNING)
        high: dict[Role, Expr] = {role: Name(role) for role in roles}
        joined: list[Node] = []
        coalesced = self._coalesced(blocking)
        if coalesced is not None:
            for role, name_of_all, inside in (("m", "rows", coalesced.rows), ("k", "terms", coalesced.terms)):
                high[role] = Name(name_of_all)
                joined.append(constant("const long", name_of_all, times(*map(Name, inside))))
            # Of loops that are one with another, the innermost one's strides in B and C are those of all of them.
            joined += unused(
                *(f"c{role}" for role in coalesced.rows[1:]), *(f"b{role}" for role in coalesced.terms[1:])
            )
        winograd = self._winograd(blocking)
        if winograd is not None:
            high["m"] = Name("tiles")
            joined += winograd.counted()
        # The loops around the function may repeat it.
        body = with_choice(self._tiles(blocking, 0, low, high), repeated=True)
        ignored = unused("bk") if blocking.along == "k" else unused(*([] if "a" in blocking.packed else ["am"]))
        if blocking.along == "m" and winograd is None:
            most = Integer(self._cache_elements)
            body = (constant("const int", FAR.name, Binary(">", times(high["m"], Name("n")), most)), *body)
        words = f"{blocking.words(self.product)}."
        return Function(name, self._parameters, (*ignored, *joined, *body), inlining="", comment=words)

    def _coalesced(self, blocking: Blocking) -> Coalesced | None:
        """The loops that a blocking coalesces; None for another one."""
        return self.product.coalesced if blocking.coalesced else None

    def _stride_of_terms(self, blocking: Blocking) -> Name:
        """The stride of k in B, where it may stand for other loops, too."""
        coalesced = self._coalesced(blocking)
        return Name(f"b{coalesced.terms[0]}" if coalesced is not None else "bk")

    def _tiles(self, blocking: Blocking, depth: int, low: dict[Role, Expr], high: dict[Role, Expr]) -> Body:
        """What runs inside of the first ``depth`` loops over tiles; all loops run from ``low`` to ``high`` there."""
        if depth == len(blocking.tiles):
            return (self._product(blocking, low, high),)
        loop = blocking.tiles[depth]
        start, end, limit = Name(f"{loop.role}_{depth + 1}"), Name(f"{loop.role}_{depth + 1}_end"), high[loop.role]
        tiled = loop.role in INNER or loop.size > 1
        size = Integer(loop.size)
        last = Conditional(Binary(">", difference(limit, start), size), added(start, size), limit)
        ends = [Declare("long", (Variable(end.name, initial=last),), constant=True)] if tiled else []
        first = low[loop.role]
        low, high = {**low, loop.role: start}, {**high, loop.role: end}
        copied = [
            self._copy(blocking, name, low, high)
            for name in blocking.packed
            if blocking.place(self.product.operands[name].strides) == depth + 1
        ]
        winograd = self._winograd(blocking)
        places = winograd.places_call(low, high) if winograd is not None and loop.role == "m" else []
        body = (*ends, *places, *copied, *self._tiles(blocking, depth + 1, low, high))
        made = below(start, limit, body, size, first)
        if loop.parallel:
            made = replace(made, parallel=True, pragma=Pragma("parallel for"))
        return (made, winograd.result_call(low, high)) if winograd is not None and loop.role == "k" else (made,)

    def _product(self, blocking: Blocking, low: dict[Role, Expr], high: dict[Role, Expr]) -> Node:
        """Computes the product of a tile."""
        winograd = self._winograd(blocking)
        if winograd is not None:
            function = tile_function(blocking.vectors, blocking.columns)
            return winograd.products(function, low, high, self._first(low))
        sizes = [difference(high[role], low[role]) for role in INNER]
        in_place = {name: self._start(blocking, name, low) for name in ("a", "b", "c")}
        result = (
            in_place["c"],
            Name("cn"),
            *(self._first(low) if each == FIRST else each for each in self.form.arguments),
        )
        if blocking.along == "k":
            rows = Conditional(_BY_ROWS, in_place["a"], Name(panel("a")))
            step = Conditional(_BY_ROWS, Name("am"), difference(high["k"], low["k"]))
            arguments = (*sizes, rows, step, in_place["b"], Name("bn"), *result)
            return Evaluate(Apply(dot_tile_name(blocking.vectors, blocking.columns), arguments))
        starts = {name: Name(panel(name)) if name in blocking.packed else in_place[name] for name in _OPERANDS}
        arguments = (
            *sizes, *(Integer(int(name in blocking.packed)) for name in _OPERANDS), FAR,
            starts["a"], Name("ak"), starts["b"], self._stride_of_terms(blocking), Name("bn"), *result,
        )  # fmt: skip
        return Evaluate(Apply(tile_function(blocking.vectors, blocking.columns), arguments))

    def _first(self, low: dict[Role, Expr]) -> Expr:
        """Whether the first terms of C's elements are added up: all loops over terms are in their first tile."""
        at_first = [Binary("==", low[role], _BEGINNING) for role in self.product.added if low[role] != _BEGINNING]
        return reduce(lambda one, other: Binary("&&", one, other), at_first) if at_first else Integer(1)

    def _copy(self, blocking: Blocking, operand: Operand, low: dict[Role, Expr], high: dict[Role, Expr]) -> Node:
        winograd = self._winograd(blocking)
        if winograd is not None:
            if operand == "a":
                return winograd.image_call(low, high)
            return winograd.filters_call(low, high)
        start = self._start(blocking, operand, low)
        if blocking.along == "k":
            return If(Binary("!=", Name("ak"), Integer(1)), (row_copy_call(low, high, start),))
        block = blocking.vectors * self.width if operand == "a" else blocking.columns
        coalesced = self._coalesced(blocking)
        if operand == "a" and coalesced is not None:
            last = added(Name("a"), *(times(plus(Name(role), -1), Name(f"a{role}")) for role in self.product.a.strides))
            return coalesced_copy_call(coalesced, low, high, block, self.width, start, last)
        stride_of_terms = self._stride_of_terms(blocking) if operand == "b" else Name("ak")
        return copy_call(operand, low, high, block, self.width, start, stride_of_terms)
