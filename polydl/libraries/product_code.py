"""C of products of any size: register blocks, tiles of what they fit into, copies, and loops over tiles.

What remains of a tile is no loop over elements. Rows that don't fill a vector are computed together with some before
them: the last vector of a register block overlaps the one before, and all of C is read before any of it is written. A
tile with fewer rows than a vector takes narrower vectors. Columns that don't fill a register block are split into
powers of two.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.codegen.values import Expr
from polydl.libraries import extents as sums
from polydl.libraries.blocking import Blocking, Operand
from polydl.libraries.product import INNER, Role, SymbolicProduct

_SUPPORT = """\
/* Rows of the next register block of a tile with so many left: never so that fewer than a vector remain of it. */
static inline long polydl_rows(long left, long block, long width)
{
  if (left <= block)
    return left;
  return left < block + width ? block - width : block;
}
/* Columns of the next register block. */
static inline long polydl_columns(long left, long block)
{
  long columns = 1;
  if (left >= block)
    return block;
  while (2 * columns <= left)
    columns *= 2;
  return columns;
}"""
# By the operand's name and the type of its elements, which become those of C.
_PACK_BLOCK = """\
/* Copies what a register block reads of {name}: its rows, or columns, all of one k together. */
static void polydl_pack_block_{name}(long count, long k, const {type} *from, long step, long along_k,
                                     polydl_element *panel)
{{
  if (step == 1) {{
    for (long l = 0; l < k; ++l)
      for (long i = 0; i < count; ++i)
        panel[l * count + i] = {convert}(from[i + l * along_k]);
  }} else {{
    for (long i = 0; i < count; ++i)
      for (long l = 0; l < k; ++l)
        panel[l * count + i] = {convert}(from[i * step + l * along_k]);
  }}
}}"""
_PACK = {
    "a": """\
/* Copies a tile of A: its register blocks one after the other. */
static void polydl_pack_a(long m, long k, long block, long width, const {type} *a, long am, long ak,
                          polydl_element *to)
{{
  for (long row = 0, rows; row < m; row += rows) {{
    rows = polydl_rows(m - row, block, width);
    polydl_pack_block_a(rows, k, a + row * am, am, ak, to + row * k);
  }}
}}""",
    "b": """\
/* Copies a tile of B in the same way. */
static void polydl_pack_b(long n, long k, long block, const {type} *b, long bk, long bn, polydl_element *to)
{{
  for (long column = 0, columns; column < n; column += columns) {{
    columns = polydl_columns(n - column, block);
    polydl_pack_block_b(columns, k, b + column * bn, bn, bk, to + column * k);
  }}
}}""",
}
_WIDEN = """\
/* A bfloat16 as the float of which it is the upper half. */
static inline float polydl_widened(unsigned short half)
{
  const union { unsigned bits; float number; } whole = {(unsigned)half << 16};
  return whole.number;
}"""
_OPERANDS = "const polydl_element *a, long ak, const polydl_element *b, long bk, long bn, polydl_element *c, long cn"
# Columns that share a pointer into B, as far as addresses scale.
_SHARED = 3


@dataclass(frozen=True)
class ProductCode:
    """The C of some blockings of a product, with vectors of ``width`` elements."""

    width: int
    blockings: tuple[Blocking, ...]
    product: SymbolicProduct

    @property
    def scaled(self) -> bool:
        """Whether all products are multiplied by a factor."""
        return bool(self.product.scale)

    def function(self, blocking: Blocking) -> str:
        """The name of a blocking's function."""
        return f"polydl_product{self.blockings.index(blocking) + 1}"

    def call(self, blocking: Blocking, iterators: Sequence[Expr], inside: int) -> str:
        """C of the call that computes the product, or the part of it where outer loops have values.

        ``iterators`` are the values of the statement's iterators where it begins; loops from the number ``inside`` on
        are the call's.
        """
        product = self.product
        trips = [sums.long(product.trips[role]) if product.loops[role] >= inside else "1" for role in product.loops]
        strides = [product.operands[name].strides[role] for name, role in self._strides]
        addresses = [product.operands[name].address(iterators) for name in ("a", "b", "c")]
        scale = [product.scale] if product.scale else []
        return f"{self.function(blocking)}({', '.join([*trips, *addresses, *strides, *scale])});"

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
    def _parameters(self) -> str:
        return ", ".join(
            [
                *(f"long {role}" for role in self.product.loops),
                f"const {self._type('a')} *a", f"const {self._type('b')} *b", "polydl_element *c",
                *(f"long {name}{role}" for name, role in self._strides),
                *(["polydl_element scale"] if self.scaled else []),
            ]
        )  # fmt: skip

    def _start(self, operand: str, low: dict[Role, str], roles: Collection[Role]) -> str:
        """C of an operand's first element of a tile, as far as these loops move it."""
        terms = [operand]
        for role in self.product.operands[operand].strides:
            if role in roles and low[role] != "0":
                terms.append(low[role] if (operand, role) == ("c", "m") else f"{low[role]} * {operand}{role}")
        return " + ".join(terms)

    def definitions(self) -> list[str]:
        """C at file scope."""
        if not self.blockings:
            return []
        blocks = dict.fromkeys((each.vectors, each.columns) for each in self.blockings)
        register_blocks: dict[tuple[int, int, int], None] = {}
        for vectors, columns in blocks:
            for block in self._blocks_of(vectors, columns):
                register_blocks[block] = None
        widths = dict.fromkeys(width for _, width, _ in register_blocks)
        return [
            f"typedef {self.product.element} polydl_element;",
            *(
                f"typedef {self.product.element} polydl_vector{width} __attribute__((vector_size({width} * "
                f"sizeof({self.product.element})), aligned(sizeof({self.product.element})), may_alias));"
                for width in widths
                if width > 1
            ),
            _SUPPORT,
            *self._copies(),
            *(_register_block(*block, scaled=self.scaled) for block in register_blocks),
            *(self._tile(vectors, columns) for vectors, columns in blocks),
            *self._panels(),
            *map(self._loops, self.blockings),
        ]

    @property
    def _factor(self) -> str:
        return ", scale" if self.scaled else ""

    def _blocks_of(self, vectors: int, columns: int) -> list[tuple[int, int, int]]:
        """Vectors, their width, and columns of the register blocks into which tiles are cut."""
        rows = [(count, self.width) for count in range(1, vectors + 1)]
        narrower = self.width // 2
        while narrower > 1:
            rows.append((2, narrower))
            narrower //= 2
        return [(count, width, each) for count, width in (*rows, (1, 1)) for each in _column_counts(columns)]

    def _tile(self, vectors: int, columns: int) -> str:
        """The function that adds one tile's product to C, given which operands are copied."""
        calls = []
        rows = [(f"rows > {(count - 1) * self.width}", count, self.width) for count in range(vectors, 0, -1)]
        rows[-1] = (f"rows >= {self.width}", 1, self.width)
        narrower = self.width // 2
        while narrower > 1:
            rows.append((f"rows >= {narrower}", 2, narrower))
            narrower //= 2
        rows.append(("", 1, 1))
        for number, (condition, count, width) in enumerate(rows):
            head = f"if ({condition})" if condition else ""
            calls.append(f"    {'else ' if number else ''}{head}".rstrip())
            calls.append("      switch (columns) {")
            for each in _column_counts(columns):
                name = _block_name(count, width, each)
                calls.append(
                    f"      case {each}: {name}(k, rows - {width}, from, stride_a, place, stride_bk, stride_bn, to, "
                    f"cn{self._factor}); break;"
                )
            calls.append("      }")
        body = "\n".join(f"  {line}" for line in calls)
        return f"""\
static void polydl_tile{vectors}x{columns}(long m, long n, long k, int packed_a, int packed_b, {_operands(self.scaled)})
{{
  for (long row = 0, rows; row < m; row += rows) {{
    rows = polydl_rows(m - row, {vectors * self.width}, {self.width});
    const polydl_element *from = a + (packed_a ? row * k : row);
    const long stride_a = packed_a ? rows : ak;
    for (long column = 0, columns; column < n; column += columns) {{
      columns = polydl_columns(n - column, {columns});
      const polydl_element *place = b + column * (packed_b ? k : bn);
      const long stride_bk = packed_b ? columns : bk, stride_bn = packed_b ? 1 : bn;
      polydl_element *to = c + row + column * cn;
{body}
    }}
  }}
}}"""

    def _type(self, operand: str) -> str:
        """C of the type of an operand's elements."""
        element = self.product.operands[operand].element
        return "unsigned short" if element == BFLOAT16 else element

    def _copies(self) -> list[str]:
        """The functions that copy tiles."""
        found = []
        for name, text in _PACK.items():
            if any(name in each.packed for each in self.blockings):
                kind = self._type(name)
                half = self.product.operands[name].element == BFLOAT16
                convert = "polydl_widened" if half else ""
                found += [_WIDEN] if half and _WIDEN not in found else []
                found += [_PACK_BLOCK.format(name=name, type=kind, convert=convert), text.format(type=kind)]
        return found

    def _panels(self) -> list[str]:
        """The memory of copied tiles, which each thread has."""
        operands: tuple[Operand, ...] = ("a", "b")
        most = {
            name: max((each.packed_elements(name) for each in self.blockings if name in each.packed), default=0)
            for name in operands
        }
        return [
            f"static _Thread_local polydl_element polydl_panel_{name}[{elements}] __attribute__((aligned(64)));"
            for name, elements in most.items()
            if elements
        ]

    def _loops(self, blocking: Blocking) -> str:
        """The function of a blocking: its loops over tiles, the copies, and the tile's product."""
        roles = tuple(self.product.loops)
        low: dict[Role, str] = dict.fromkeys(roles, "0")
        high: dict[Role, str] = {role: role for role in roles}
        lines: list[str] = []
        copies = {name: blocking.place(self.product.operands[name].strides) for name in blocking.packed}
        for depth, tile in enumerate(blocking.tiles, 1):
            indent, role = "  " * depth, tile.role
            start, end, limit = f"{role}_{depth}", f"{role}_{depth}_end", high[role]
            if tile.parallel:
                lines.append("#pragma omp parallel for")
            step = f"{start} += {tile.size}" if role in INNER else f"++{start}"
            lines.append(f"{indent}for (long {start} = {low[role]}; {start} < {limit}; {step}) {{")
            if role in INNER:
                lines.append(
                    f"{indent}  const long {end} = {limit} - {start} > {tile.size} ? {start} + {tile.size} : {limit};"
                )
            low[role], high[role] = start, end
            lines += [
                f"{indent}  {self._copy(blocking, name, low, high)}" for name, place in copies.items() if place == depth
            ]
        inner = "  " * (len(blocking.tiles) + 1)
        a = "polydl_panel_a" if "a" in blocking.packed else self._start("a", low, roles)
        b = "polydl_panel_b" if "b" in blocking.packed else self._start("b", low, roles)
        extents = ", ".join(f"{high[role]} - {low[role]}" for role in INNER)
        flags = ", ".join(str(int(name in blocking.packed)) for name in ("a", "b"))
        lines.append(
            f"{inner}polydl_tile{blocking.vectors}x{blocking.columns}({extents}, {flags}, {a}, ak, {b}, bk, bn, "
            f"{self._start('c', low, roles)}, cn{self._factor});"
        )
        lines += [f"{'  ' * depth}}}" for depth in range(len(blocking.tiles), 0, -1)]
        return "\n".join(
            [
                f"/* {blocking.words(self.product)}. */",
                f"static void {self.function(blocking)}({self._parameters})",
                "{",
                *(["  (void)am;"] if "a" not in blocking.packed else []),
                *lines,
                "}",
            ]
        )

    def _copy(self, blocking: Blocking, operand: Operand, low: dict[Role, str], high: dict[Role, str]) -> str:
        first = self._start(operand, low, tuple(self.product.loops))
        if operand == "a":
            return (
                f"polydl_pack_a({high['m']} - {low['m']}, {high['k']} - {low['k']}, {blocking.vectors * self.width}, "
                f"{self.width}, {first}, am, ak, polydl_panel_a);"
            )
        return (
            f"polydl_pack_b({high['n']} - {low['n']}, {high['k']} - {low['k']}, {blocking.columns}, "
            f"{first}, bk, bn, polydl_panel_b);"
        )


def _column_counts(columns: int) -> list[int]:
    """Columns of the register blocks of a tile, the largest first."""
    powers = [1 << power for power in range(columns.bit_length()) if 1 << power < columns]
    return [columns, *reversed(powers)]


def _block_name(vectors: int, width: int, columns: int) -> str:
    return f"polydl_block{vectors}x{width}x{columns}"


def _operands(scaled: bool) -> str:
    return _OPERANDS + (", polydl_element scale" if scaled else "")


def _register_block(vectors: int, width: int, columns: int, *, scaled: bool) -> str:
    """The function of one register block: ``vectors`` of rows, the last of which begins at row ``last``.

    With ``scaled`` the products are added up by themselves, multiplied by the factor, and added to C.
    """
    vector = f"polydl_vector{width}" if width > 1 else "polydl_element"
    starts = [str(number * width) for number in range(vectors - 1)] + (["last"] if vectors > 1 else ["0"])
    pointers = range(0, columns, _SHARED)

    def place(column: int) -> str:
        first = column // _SHARED * _SHARED
        return f"b{first}[{('0', 'bn', '2 * bn')[column - first]}]"

    def each(template: str) -> list[str]:
        return [
            template.format(v=v, u=u, start=start, vector=vector)
            for u in range(columns)
            for v, start in enumerate(starts)
        ]

    return "\n".join(
        [
            f"static void {_block_name(vectors, width, columns)}(long k, long last, {_operands(scaled)})",
            "{",
            *(["  (void)last;"] if vectors == 1 else []),
            *(["  (void)bn;"] if columns == 1 else []),
            *(["  (void)cn;"] if columns == 1 else []),
            *each(
                "  {vector} c{v}_{u} = {{0}};"
                if scaled and width > 1
                else "  {vector} c{v}_{u} = 0;"
                if scaled
                else "  {vector} c{v}_{u} = *(const {vector} *)(c + {start} + {u} * cn);"
            ),
            *(f"  const polydl_element *b{first} = b + {first} * bn;" for first in pointers),
            "  for (long l = 0; l < k; ++l) {",
            *(f"    const {vector} a{v} = *(const {vector} *)(a + {start});" for v, start in enumerate(starts)),
            "    a += ak;",
            *(
                f"    {{ const polydl_element b = {place(u)}; "
                f"{' '.join(f'c{v}_{u} += a{v} * b;' for v in range(vectors))} }}"
                for u in range(columns)
            ),
            f"    {' '.join(f'b{first} += bk;' for first in pointers)}",
            "  }",
            *(each("  c{v}_{u} = *(const {vector} *)(c + {start} + {u} * cn) + scale * c{v}_{u};") if scaled else []),
            *each("  *({vector} *)(c + {start} + {u} * cn) = c{v}_{u};"),
            "}",
        ]
    )
