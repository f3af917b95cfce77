"""C of convolutions with fewer products: tiles of an image and filters are transformed, multiplied, and put back.

A tile of the result takes a product of the transformed image and filters for each of its points, as in Lavin and Gray
(2016). Of each point these are a matrix product over channels, which register blocks compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as combinations

from polydl.codegen import linear_maps, print_c
from polydl.codegen.loop_ir import Block, Declare, Evaluate, Node, Variable
from polydl.codegen.values import AddressOf, Apply, Binary, Element, Expr, Integer, Name, linear, plus
from polydl.ir.calls import Matrix
from polydl.libraries.convolutions import SymbolicConvolution
from polydl.libraries.panel_code import SQUARE, panel, turned
from polydl.libraries.product import INNER, Role
from polydl.libraries.tile_code import ELEMENT, added, below, constant, difference, times, unused, vector_name
from polydl.plan.toom_cook import toom_cook

#: The type of where a tile lies, and the variable that has a block of them.
PLACE, PLACES = "struct polydl_place", "places"
#: C of that type.
PLACE_TYPE = f"""\
/* A tile of pixels: where its elements begin in A and in C, the first row and column that no tile before it has, the
 * ends of those that there are, and how many tiles from it on have all. */
{PLACE} {{
  long image, result;
  int first_row, first_column, rows, columns, whole;
}};
/* Where a tile begins, of so many elements: the last one ends where these do, if they are enough. */
static inline long polydl_tile_start(long number, long side, long elements)
{{
  const long start = number * side;
  return elements < side || start + side <= elements ? start : elements - side;
}}"""

# Vectors of filters that are transformed one after the other: reads of the first don't wait for writes of the last.
_VECTORS_OF_FILTERS = 4


@dataclass(frozen=True)
class WinogradCode:
    """The functions of one blocking: sizes of its arrays are those of its tiles."""

    conv: SymbolicConvolution
    #: type of elements
    element: str
    #: whether pixels across an image are neighbours in A
    contiguous: bool
    #: pixels of the result along both sides of a tile
    outputs: int
    #: elements of a vector
    width: int
    #: tiles of pixels that are computed at once, at most
    tiles: int
    #: filters that are, at most
    filters: int
    #: channels of which products are added up at once, at most
    channels: int

    @property
    def _sides(self) -> tuple[int, int]:
        """Elements of the image in a tile, down and across."""
        down, across = self.conv.extents
        return self.outputs + down - 1, self.outputs + across - 1

    @property
    def points(self) -> int:
        """Products for each tile, filter and channel."""
        return self._sides[0] * self._sides[1]

    @property
    def row(self) -> int:
        """Elements between neighbours of a point in the transformed image, and in the sums: whole vectors of tiles."""
        return -(-self.tiles // self.width) * self.width

    @property
    def row_of_filters(self) -> int:
        """Elements between channels of a point in the transformed filters."""
        return -(-self.filters // self.width) * self.width

    @property
    def elements(self) -> dict[str, int]:
        """Elements of each array: the transformed image, the transformed filters, and their products' sums."""
        return {
            "a": self.points * self.channels * self.row,
            "b": self.points * self.channels * self.row_of_filters,
            "c": self.points * self.filters * self.row,
        }

    def name(self, function: str) -> str:
        """The name of one of the functions: ``places``, ``image``, ``filters`` or ``result``."""
        sizes = "x".join(map(str, (self.outputs, *self.conv.extents, self.tiles, self.filters, self.channels)))
        return f"polydl_winograd_{function}_{sizes}"

    def definitions(self) -> list[str]:
        """The functions as C."""
        return [self._places(), self._image(), self._filters(), self._result()]

    def counted(self) -> list[Node]:
        """Declares how many tiles there are: down and across an image, and in all images."""
        down, images = Name(self.conv.pixels[0]), map(Name, self.conv.images)
        sides = (("down", down), ("across", Name("m")))
        apart = unused(*self.conv.taps, *(f"a{role}" for role in self.conv.taps))
        return [
            *apart,
            *(
                constant("const long", name, Binary("/", plus(size, self.outputs - 1), Integer(self.outputs)))
                for name, size in sides
            ),
            constant("const long", "tiles", times(Name("down"), Name("across"), *images)),
        ]

    def places_call(self, low: Mapping[Role, Expr], high: Mapping[Role, Expr]) -> list[Node]:
        """Says where the tiles from ``low`` to ``high`` of m lie, in a variable."""
        down = self.conv.pixels[0]
        images = self.conv.images
        sizes = (Name("down"), Name("across"), Name(down), Name("m"), *map(Name, images[:-1]))
        arguments = (low["m"], difference(high["m"], low["m"]), *sizes, *map(Name, self._strides), Name(PLACES))
        return [
            Declare(PLACE, (Variable(PLACES, (self.tiles,)),)),
            Evaluate(Apply(self.name("places"), arguments)),
        ]

    def image_call(self, low: Mapping[Role, Expr], high: Mapping[Role, Expr]) -> Node:
        """Transforms channels of the tiles whose places are known."""
        sizes = [difference(high[role], low[role]) for role in ("m", "k")]
        start = added(Name("a"), times(low["k"], Name("ak")))
        strides = (Name("ak"), Name(f"a{self.conv.pixels[0]}"), Name("am"))
        return Evaluate(Apply(self.name("image"), (*sizes, Name(PLACES), start, *strides, Name(panel("a")))))

    def filters_call(self, low: Mapping[Role, Expr], high: Mapping[Role, Expr]) -> Node:
        """Transforms channels of some filters."""
        sizes = [difference(high[role], low[role]) for role in ("n", "k")]
        start = added(Name("b"), times(low["n"], Name("bn")), times(low["k"], Name("bk")))
        strides = [Name(f"b{role}") for role in ("n", "k", *self.conv.taps)]
        return Evaluate(Apply(self.name("filters"), (*sizes, start, *strides, Name(panel("b")))))

    def products(self, function: str, low: Mapping[Role, Expr], high: Mapping[Role, Expr], first: Expr) -> Node:
        """Adds up the products of each point by the ``function`` of tiles, anew if the terms are the ``first``."""
        sizes = [difference(high[role], low[role]) for role in INNER]
        point, elements = Name("point"), {name: count // self.points for name, count in self.elements.items()}
        a, b, c = (added(Name(panel(name)), times(point, Integer(elements[name]))) for name in ("a", "b", "c"))
        strides = {name: Integer(size) for name, size in (("a", self.row), ("b", self.row_of_filters))}
        in_place = (Integer(0), Integer(0), Integer(0))
        operands = (a, strides["a"], b, strides["b"], Integer(1), c, strides["a"])
        call = Evaluate(Apply(function, (*sizes, *in_place, *operands, first)))
        return below(point, Integer(self.points), (call,), Integer(1))

    def result_call(self, low: Mapping[Role, Expr], high: Mapping[Role, Expr]) -> Node:
        """Writes the pixels of the tiles whose places are known, for some filters."""
        sizes = [difference(high[role], low[role]) for role in ("m", "n")]
        start = added(Name("c"), times(low["n"], Name("cn")))
        strides = (Name("cn"), Name(f"c{self.conv.pixels[0]}"))
        return Evaluate(Apply(self.name("result"), (*sizes, Name(PLACES), Name(panel("c")), start, *strides)))

    @property
    def _strides(self) -> list[str]:
        """The strides that say where a tile lies."""
        outer = (*self.conv.images, self.conv.pixels[0])
        return [*(f"a{role}" for role in (*outer, "m")), *(f"c{role}" for role in outer)]

    def _places(self) -> str:
        down, side = self.conv.pixels[0], self.outputs
        images = self.conv.images
        sizes = ["down", "across", "rows", "columns", *(f"trip_{role}" for role in images[:-1])]
        lines = [
            "/* Tiles whose numbers run from first on, over the columns and then over the rows of images. */",
            f"static void {self.name('places')}(long first, long count, "
            f"{', '.join(f'long {name}' for name in (*sizes, *self._strides))}, {PLACE} *places)",
            "{",
            "  for (long t = 0; t < count; ++t) {",
            "    const long x = (first + t) % across, y = (first + t) / across % down;",
            f"    const long column = polydl_tile_start(x, {side}, columns), row = polydl_tile_start(y, {side}, rows);",
            f"    long image = row * a{down} + column * am, result = row * c{down} + column;",
        ]
        number = "(first + t) / across / down"
        for place, role in enumerate(images):
            index = number if place == len(images) - 1 else f"{number} % trip_{role}"
            lines += [f"    image += {index} * a{role};", f"    result += {index} * c{role};"]
            number = f"{number} / trip_{role}"
        lines += [
            "    places[t].image = image;",
            "    places[t].result = result;",
            f"    places[t].first_row = (int)(y * {side} - row);",
            f"    places[t].first_column = (int)(x * {side} - column);",
            f"    places[t].rows = rows - row < {side} ? (int)(rows - row) : {side};",
            f"    places[t].columns = columns - column < {side} ? (int)(columns - column) : {side};",
            "  }",
            "  for (long t = count - 1, whole = 0; t >= 0; --t) {",
            f"    whole = places[t].rows == {side} && places[t].columns == {side} ? whole + 1 : 0;",
            "    places[t].whole = (int)whole;",
            "  }",
            "}",
        ]
        return "\n".join(lines)

    def _image(self) -> str:
        """Copies what tiles need of a channel, a row for each of their elements, and transforms it."""
        (down, across), (rows, columns) = self.conv.extents, self._sides
        matrices = [toom_cook(self.outputs, taps).image for taps in self.conv.extents]
        every = list(combinations(range(rows), range(columns)))
        apart = self.channels * self.row
        lines = [
            "/* Transforms some channels of tiles of the image. Beyond the edges of the result it is zero. */",
            f"static void {self.name('image')}(long count, long k, const {PLACE} *places, const {ELEMENT} *a, long ak, "
            f"long ay, long ax, {ELEMENT} *to)",
            "{",
            f"  {ELEMENT} tile[{self.points}][{self.row}] __attribute__((aligned(64))) = {{{{0}}}};",
            "  for (long l = 0; l < k; ++l, a += ak) {",
            "    for (long t = 0; t < count;) {",
            f"      const {ELEMENT} *const from = a + places[t].image;",
            *self._squares(),
            "      if (places[t].whole) {",
            *(f"        tile[{y * columns + x}][t] = from[{y} * ay + {x} * ax];" for y, x in every),
            "      } else {",
            "        /* What isn't there stays zero for all channels. */",
            f"        const int rows = places[t].rows + {down - 1}, columns = places[t].columns + {across - 1};",
            "        for (int y = 0; y < rows; ++y)",
            "          for (int x = 0; x < columns; ++x)",
            f"            tile[y * {columns} + x][t] = from[y * ay + x * ax];",
            "      }",
            "      ++t;",
            "    }",
            *self._transform(
                matrices, "count", lambda at: f"&tile[{at}][t]", lambda at: f"to + {at * apart} + l * {self.row} + t"
            ),
            "  }",
            "}",
        ]
        return "\n".join(lines)

    def _squares(self) -> list[str]:
        """Copies as many tiles as a square has sides, whose rows are elements side by side, by turning squares."""
        rows, columns = self._sides
        if not self.contiguous or self.width < SQUARE or columns < SQUARE:
            return []
        tiles = range(SQUARE)
        places = [Element("from", (Integer(n),)) for n in tiles]
        lines = [
            f"      if (places[t].whole >= {SQUARE}) {{",
            f"        const {ELEMENT} *const from[] = {{{', '.join(f'a + places[t + {n}].image' for n in tiles)}}};",
            f"        for (int y = 0; y < {rows}; ++y) {{",
        ]
        for first in sorted({0, columns - SQUARE}):
            sources = [linear([(1, place), (1, times(Name("y"), Name("ay")))], first) for place in places]
            row = linear([(columns, Name("y"))], first)
            targets = [AddressOf(Element("tile", (plus(row, x), Name("t")))) for x in tiles]
            lines += print_c.lines((Block(turned(sources, targets)),), 5)
        return [*lines, "        }", f"        t += {SQUARE};", "        continue;", "      }"]

    def _filters(self) -> str:
        """Copies the taps of some filters, a row for each tap, and transforms them: one channel after the other.

        Filters lie far apart, so that few of them are read at a time.
        """
        down, across = self.conv.extents
        matrices = [toom_cook(self.outputs, taps).taps for taps in self.conv.extents]
        stride = self.row_of_filters
        apart, most = self.channels * stride, _VECTORS_OF_FILTERS * self.width
        lines = [
            "/* Transforms some channels of filters. */",
            f"static void {self.name('filters')}(long n, long k, const {ELEMENT} *b, long bn, long bk, "
            f"long by, long bx, {ELEMENT} *to)",
            "{",
            f"  {ELEMENT} taps[{down * across}][{most}] __attribute__((aligned(64))) = {{{{0}}}};",
            f"  for (long filter = 0; filter < n; filter += {most}, b += {most} * bn) {{",
            f"    const long count = n - filter < {most} ? n - filter : {most};",
            "    for (long l = 0; l < k; ++l) {",
            f"      const {ELEMENT} *from = b + l * bk;",
            "      for (long f = 0; f < count; ++f, from += bn) {",
            *(
                f"        taps[{y * across + x}][f] = from[{y} * by + {x} * bx];"
                for y, x in combinations(range(down), range(across))
            ),
            "      }",
            *self._transform(
                matrices,
                "count",
                lambda at: f"&taps[{at}][t]",
                lambda at: f"to + {at * apart} + l * {stride} + filter + t",
            ),
            "    }",
            "  }",
            "}",
        ]
        return "\n".join(lines)

    def _result(self) -> str:
        """Transforms the sums of one filter after the other to pixels, a row for each of a tile's, and writes these."""
        side = self.outputs
        matrices = [toom_cook(self.outputs, taps).result for taps in self.conv.extents]
        every = list(combinations(range(side), repeat=2))
        apart = self.filters * self.row
        transform = self._transform(
            matrices, "count", lambda at: f"sums + {at * apart} + f * {self.row} + t", lambda at: f"&pixels[{at}][t]"
        )
        lines = [
            "/* Transforms the sums of tiles to pixels of the result, as far as there are any. */",
            f"static void {self.name('result')}(long count, long n, const {PLACE} *places, const {ELEMENT} *sums, "
            f"{ELEMENT} *c, long cn, long cy)",
            "{",
            f"  {ELEMENT} pixels[{side * side}][{self.row}] __attribute__((aligned(64)));",
            "  for (long f = 0; f < n; ++f, c += cn) {",
            *transform,
            "    for (long t = 0; t < count; ++t) {",
            f"      {ELEMENT} *const to = c + places[t].result;",
            "      if (places[t].whole && !places[t].first_row && !places[t].first_column) {",
            *(f"        to[{y} * cy + {x}] = pixels[{y * side + x}][t];" for y, x in every),
            "      } else {",
            "        for (int y = places[t].first_row; y < places[t].rows; ++y)",
            "          for (int x = places[t].first_column; x < places[t].columns; ++x)",
            f"            to[y * cy + x] = pixels[y * {side} + x][t];",
            "      }",
            "    }",
            "  }",
            "}",
        ]
        return "\n".join(lines)

    def _transform(
        self, matrices: Sequence[Matrix], count: str, source: Callable[[int], str], target: Callable[[int], str]
    ) -> list[str]:
        """The loop that applies a matrix along each axis to ``count`` tiles or filters, a vector of them at a time.

        ``source`` and ``target`` say where a vector of each element is, by the element's number.
        """
        first, second = matrices
        kind, suffix = vector_name(self.width), "f" if self.element == "float" else ""
        rows, columns = len(first[0]), len(second[0])

        lines = [f"    for (long t = 0; t < {count}; t += {self.width}) {{"]
        for x in range(columns):
            names = [f"x{y}_{x}" for y in range(rows)]
            lines += [
                f"      const {kind} {name} = *(const {kind} *)({source(y * columns + x)});"
                for y, name in enumerate(names)
            ]
            halfway = [f"h{y}_{x}" for y in range(len(first))]
            lines += [f"      {line}" for line in linear_maps.linear(first, names, halfway, f"p{x}_", kind, suffix)]
        for y in range(len(first)):
            names, results = [f"h{y}_{x}" for x in range(columns)], [f"y{y}_{x}" for x in range(len(second))]
            lines += [f"      {line}" for line in linear_maps.linear(second, names, results, f"q{y}_", kind, suffix)]
            lines += [f"      *({kind} *)({target(y * len(second) + x)}) = {name};" for x, name in enumerate(results)]
        return [*lines, "    }"]
