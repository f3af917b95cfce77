"""What passes over loops know of the statements inside: what the plan wants, and what the dependences allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polydl.bfloat16 import ELEMENT
from polydl.codegen.loop_ir import Assign, Body, For, assignments, statements
from polydl.codegen.values import Apply, Binary, Cast, Conditional, Constant, Element, Expr, Unary, mentions
from polydl.ir.schedule import Loop
from polydl.ir.scop import Array
from polydl.plan.contraction import Starts
from polydl.plan.epilogue import EpilogueOperand
from polydl.plan.next_tile import NextTile
from polydl.plan.prefetch import Prefetch
from polydl.poly.reductions import Operation
from polydl.vector_functions import returned_type

_ARITHMETIC = frozenset({"+", "-", "*", "/"})
_QUALIFIERS = frozenset({"const", "volatile"})
_REAL = frozenset({ELEMENT, "_Float16", "float", "double", "long double"})
# Terms whose sum in float is hardly less precise than each of them.
_MOST_NARROW_TERMS = 256
# Vectors of the processors with instructions that round to bfloat16 (AVX512_BF16).
_ROUNDING_BYTES = 64


@dataclass(frozen=True)
class StatementFacts:
    """Of one statement. Loops are given by their places in its time dimensions."""

    #: Loops that run on threads.
    parallel: Mapping[int, Loop] = field(default_factory=dict)
    #: Loops that may be run with vector instructions.
    vector: frozenset[int] = frozenset()
    #: The array with the element that the statement accumulates in all iterations of a loop, if it may do so in parts.
    sums: Mapping[int, str] = field(default_factory=dict)
    #: Iterations of each loop.
    counts: Mapping[int, int] = field(default_factory=dict)
    #: Elements of a vector of the widest type.
    lanes: int = 1
    #: Elements of a vector of the narrowest type.
    most_lanes: int = 1
    #: The loops whose iterations run in one of the vector loop around them, with the number of those in the last tile:
    #: 0 if that is not the same every time.
    unrolled: Mapping[int, int] = field(default_factory=dict)
    #: Arrays that are written past the caches.
    streamed: frozenset[str] = frozenset()
    #: What the statement accumulates with.
    operation: Operation = "+"
    #: The innermost loops of a copy that transposes, outermost first; empty for other statements.
    transposed: tuple[int, ...] = ()


@dataclass(frozen=True)
class EpilogueFacts:
    """Of element-wise statements that a microkernel applies to each block of its output that is complete."""

    #: How all names begin that they need at file scope.
    prefix: str
    #: The type of the product's sums.
    accumulator: str
    #: Columns of the output in each row of columns.
    columns: int
    #: The size of a vector.
    vector_bytes: int
    #: The product's iterators.
    iterators: tuple[str, ...]
    #: In their order, over these iterators.
    statements: tuple[Assign, ...]
    #: What they read and write.
    operands: tuple[EpilogueOperand, ...]
    #: Whether all operands lie in all rows of columns as in one.
    linear: bool
    #: The loops around a call that don't move the output, by their places, with the value in the last iteration.
    last: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CallFacts:
    """Of the calls that stand for the innermost loops of a product: what they do besides."""

    #: Of the next tile of A; none where calls copy that tile.
    prefetch: Prefetch | None = None
    #: What they copy of the next tile of A.
    next_tile: NextTile | None = None
    #: What they apply to blocks of the output that are complete.
    epilogue: EpilogueFacts | None = None
    #: What is taken off the subscripts of contracted arrays, by their names, over the counters of the loops around.
    starts: Starts = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """What passes know of the code beside its loops. Statements are named as in the scop."""

    #: The scop's arrays and scalars by name; names that are not there are variables of the code's own.
    arrays: Mapping[str, Array]
    #: What is known of each statement, by its name.
    facts: Mapping[str, StatementFacts]
    #: Whether products, the precision of sums and the results of functions are those of the source.
    exact: bool = False
    #: Whether sums in ``double`` are taken in ``double`` throughout.
    precise: bool = False
    #: What calls do besides, by the name of the statement that they stand for.
    calls: Mapping[str, CallFacts] = field(default_factory=dict)
    #: The arrays of the region's own that no other statements access.
    temporary: frozenset[str] = frozenset()
    #: The contracted arrays of which each iteration of a parallel loop has one.
    private: tuple[Array, ...] = ()
    #: Whether the C is compiled so that integers which overflow wrap around.
    wraps: bool = False
    #: Whether counters of loops, or subscripts, may be larger than an ``int``.
    long_counters: bool = False
    #: The size of the largest vectors.
    vector_bytes: int = 0
    #: Whether ``fmax``, ``fmin`` and those of floats are the functions of ``<math.h>``.
    has_extrema: bool = False

    @property
    def rounds_by_instructions(self) -> bool:
        """Whether instructions may round to bfloat16, which take numbers below 1.2e-38 as zeros."""
        return not self.exact and self.vector_bytes >= _ROUNDING_BYTES

    def of(self, body: Body) -> list[StatementFacts]:
        """The facts of all statements in a body."""
        return [self.facts[name] for name in sorted(statements(body))]

    def is_parallel(self, loop: For) -> bool:
        """Whether the plan has the loop's iterations run on threads."""
        return loop.place >= 0 and all(loop.place in each.parallel for each in self.of(loop.body))

    def may_fill_vectors(self, loop: For) -> bool:
        """Whether dependences and the plan let consecutive iterations of a loop fill a vector.

        Not if the loop would sum up in an element that moves with it.
        """
        return (
            loop.place >= 0
            and all(loop.place in each.vector for each in self.of(loop.body))
            and not any(self._moves(assign, loop) for assign in assignments(loop.body))
        )

    def _moves(self, assign: Assign, loop: For) -> bool:
        """Whether the element that a loop sums up moves with it: a loop inside that had one iteration is gone."""
        return loop.place in self.facts[assign.statement].sums and mentions(assign.target, loop.iterator)

    def most_trips(self, loop: For) -> int:
        """The iterations of a loop, as the statement inside has them that has the most."""
        return max(each.counts[loop.place] for each in self.of(loop.body))

    def fewest_trips(self, loop: For) -> int:
        """The iterations of a loop, as the statement inside has them that has the fewest; 0 if one doesn't know."""
        return min(each.counts.get(loop.place, 0) for each in self.of(loop.body))

    def is_array(self, value: Expr) -> bool:
        """Whether this is an element of an array or scalar of the scop."""
        return isinstance(value, Element) and value.array in self.arrays

    def is_integer(self, value: Expr) -> bool:
        """Whether this is an element of an array or scalar of the scop with an integer type."""
        return (
            isinstance(value, Element) and value.array in self.arrays and not is_real(self.arrays[value.array].element)
        )

    def has_extents(self, element: Element) -> bool:
        """Whether this is an element of one of the scop's arrays, and no scalar."""
        return element.array in self.arrays and bool(self.arrays[element.array].extents)

    def is_float(self, value: Expr) -> bool:
        """Whether C computes this in ``float``."""
        match value:
            case Element(array):
                return array in self.arrays and self.arrays[array].element == "float"
            case Constant(number):
                return number[-1] in "fF" and not number.lower().startswith("0x")
            case Apply(function):
                return returned_type(function) == "float"
            case Cast(kind):
                return kind == "float"
            case Conditional():
                return self.is_float(value.positive) and self.is_float(value.negative)
            case Unary(operator, operand):
                return operator in _ARITHMETIC and self.is_float(operand)
            case Binary(operator, left, right):
                return operator in _ARITHMETIC and self.is_float(left) and self.is_float(right)
        return False

    def sum_type(self, assign: Assign, array: str, terms: int) -> str:
        """The type in which so many terms of an assignment are added up before they join their sum in ``array``.

        Terms that are ``float`` are added as such, though their sum be ``double``, if they are few and nothing asks
        for more: converting each of them takes longer than adding it.
        """
        element = self.arrays[array].element
        narrow = terms <= _MOST_NARROW_TERMS and not self.precise and self.is_float(term(assign))
        return "float" if element == "double" and narrow else element


def is_real(kind: str) -> bool:
    """Whether a C type, as arrays and casts have it, is a floating-point type."""
    return " ".join(word for word in kind.split() if word not in _QUALIFIERS) in _REAL


def term(assign: Assign) -> Expr:
    """What an assignment adds to its target."""
    match assign:
        case Assign(target, "=", Binary(_, left, right)):
            return right if left == target else left
    return assign.value
