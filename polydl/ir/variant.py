"""What a variant consists of: rewrites of a scop, and steps that are applied to its loop nests."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

from polydl.errors import OptionError


@dataclass(frozen=True)
class Tile:
    """Split a loop into tile loops, the outermost (largest) size first.

    ``Tile(0, "i", (256, 64))`` makes ``i_t2`` (steps of 256), ``i_t1`` (steps of 64) and ``i``.
    Sizes that don't divide the extent leave a shorter last tile.
    """

    nest: int
    loop: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Interchange:
    """The order of the nest's loops, outermost first; those of a microkernel are not named."""

    nest: int
    order: tuple[str, ...]


@dataclass(frozen=True)
class Parallel:
    """The iterations of one loop run on different threads, which add up what they sum in ``combined`` arrays.

    With ``inner``, those of that loop, which is the next inside, are dealt out as well. With ``dynamic``, a thread gets
    its next iteration when it is done with one, in place of an equal stretch of them at the start.
    """

    nest: int
    loop: str
    combined: tuple[str, ...] = ()
    inner: str = ""
    dynamic: bool = False


@dataclass(frozen=True)
class UseMicrokernel:
    """The innermost loops are a matrix product that a microkernel computes.

    ``m`` is the loop along which C and A are contiguous, ``n`` and ``k`` the other two; the product is
    summed over ``batch`` in the same call. ``rows`` are loops whose iterations are further columns, each a row
    of n of them.
    """

    nest: int
    name: str
    m: str
    n: str
    k: str
    batch: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unroll:
    """All iterations of the innermost loop, few as they are, run in one iteration of the loop around it.

    That one may then run with vectors: so several rows of a matrix are summed up side by side.
    """

    nest: int
    loop: str


@dataclass(frozen=True)
class Stream:
    """Write these arrays past the caches, in whole lines (non-temporal stores)."""

    nest: int
    arrays: tuple[str, ...]


@dataclass(frozen=True)
class Vectors:
    """The nest's loops use vectors of so many bytes, in place of the machine's largest ones."""

    nest: int
    bytes: int


@dataclass(frozen=True)
class Coalesce:
    """Run two loops of a statement as one, over arrays in which what they index lies side by side.

    Statements and arrays that must follow suit do. The new loop is named ``<outer>_<inner>``; the arrays are seen
    through views with one dimension less.
    """

    statement: str
    outer: str
    inner: str


@dataclass(frozen=True)
class Pack:
    """Copy an array that nothing writes any more, its dimensions in another order, for ``statement`` to use."""

    statement: str
    array: str
    order: tuple[int, ...]


@dataclass(frozen=True)
class Split:
    """Run a loop of a statement as two: one over blocks of ``size`` iterations, one over those of a block.

    The loop keeps its name for the inner one; the outer one is named ``<loop>_block``.
    """

    statement: str
    loop: str
    size: int


@dataclass(frozen=True)
class PackPanels:
    """Copy what ``statement`` reads of an array that nothing writes any more, one dimension for each of ``loops``."""

    statement: str
    array: str
    loops: tuple[str, ...]


@dataclass(frozen=True)
class Gather:
    """Copy what ``statement`` reads of an array that nothing writes any more, once for each iteration of ``loops``.

    The copy has a dimension for each of the loops, or for so many of them together as ``joined`` says, the outermost
    first. What several iterations read is copied for each (as im2col does).
    """

    statement: str
    array: str
    loops: tuple[str, ...]
    joined: tuple[int, ...]


@dataclass(frozen=True)
class Unfold:
    """Copy an array that nothing writes any more, with a dimension for each of ``loops`` in place of one of its own.

    The loops are those that together move the subscript of ``dimension`` in ``statement``: the columns of a filter and
    the pixels of a row. The copy has the array's other dimensions and then those of the loops, in ``order``, and so
    many of them together as ``joined`` says.
    """

    statement: str
    array: str
    dimension: int
    loops: tuple[str, ...]
    order: tuple[int, ...]
    joined: tuple[int, ...]


@dataclass(frozen=True)
class Pad:
    """Copy an array that nothing writes any more between zeros, so that ``statement`` needs no condition to read it."""

    statement: str
    array: str


@dataclass(frozen=True)
class Winograd:
    """Compute a convolution of tiles of the image, in a space where each element of a tile is a product of its own.

    An axis is a loop over pixels, the loop over the taps of the filter that goes with it, and so many pixels of the
    result in a tile. In the products, the innermost ``columns`` loops that move both the image and the result are one.
    Loops that are ``shared`` become the outermost of the products: loops over the filters, which are transformed inside
    of them, or such that move the image and the result, inside of which all but the filters then is. Element-wise
    statements that run ``after`` the convolution are applied to each tile of the result.
    """

    statement: str
    axes: tuple[tuple[str, str, int], ...]
    columns: int
    shared: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Strassen:
    """Compute a product of matrices in seven products of sums of their quarters, for eight of the quarters.

    ``halves`` are three loops of two iterations: over halves of the rows, the columns and the sums of a block. With
    four iterations each, quarters are cut into quarters again: 49 products for 64. Loops that are ``shared`` are over
    blocks, and become the outermost; the sums for a block are made inside of them.
    """

    statement: str
    halves: tuple[str, str, str]
    shared: tuple[str, ...] = ()


@dataclass(frozen=True)
class PackTiles:
    """Run ``shared`` loops of ``statement`` outermost, and copy the tile of an array that each iteration of them reads.

    The tile has one dimension for each of ``loops``, and its place in memory is used again for the next one.
    """

    statement: str
    array: str
    shared: tuple[str, ...]
    loops: tuple[str, ...]


@dataclass(frozen=True)
class Fuse:
    """Run statements of different nests inside the same loops.

    ``statements`` are in the order in which they run; ``orders`` names the loops of each, outermost first, and the
    outermost ``shared`` of them become one. Statements with the same number in ``bodies`` share all their loops.
    With ``parallel``, the iterations of the outermost loop run on different threads, and what these sum in the arrays
    ``combined`` is added up.
    """

    statements: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]
    bodies: tuple[int, ...]
    shared: int
    parallel: bool = False
    combined: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attach:
    """Run the element-wise nest of ``statement`` on each tile that the nest of ``to`` writes.

    At the ``last`` place it follows the last reduction on the tile, at the ``first`` it precedes them all.
    """

    statement: str
    to: str
    place: Literal["last", "first"] = "last"


def attached_zeros(statement: str) -> Attach:
    """The sums of the statement's products set to zero at the first product on each tile."""
    return Attach(f"zero_{statement}", statement, "first")


NestStep = Tile | Interchange | Parallel | UseMicrokernel | Unroll | Stream | Vectors
Rewrite = Coalesce | Pack | Split | PackPanels | Gather | Unfold | Pad | Winograd | Strassen | PackTiles | Fuse | Attach
Step = NestStep | Rewrite
STEPS: dict[str, type[Step]] = {
    "coalesce": Coalesce,
    "pack": Pack,
    "split": Split,
    "pack_panels": PackPanels,
    "gather": Gather,
    "unfold": Unfold,
    "pad": Pad,
    "winograd": Winograd,
    "strassen": Strassen,
    "pack_tiles": PackTiles,
    "fuse": Fuse,
    "attach": Attach,
    "tile": Tile,
    "interchange": Interchange,
    "parallel": Parallel,
    "use_microkernel": UseMicrokernel,
    "unroll": Unroll,
    "stream": Stream,
    "vectors": Vectors,
}
_STEP_NAMES = {kind: name for name, kind in STEPS.items()}


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(each) for each in value) if isinstance(value, list) else value


# Fields of steps that JSON has only where they say something.
_UNUSUAL = frozenset({"combined", "inner", "dynamic", "after"})


def _step_json(step: Step) -> dict[str, Any]:
    # Steps hold numbers, strings and tuples of them, which need no copies.
    fields = {name: getattr(step, name) for name in step.__dataclass_fields__}
    return {"step": _STEP_NAMES[type(step)], **{k: v for k, v in fields.items() if k not in _UNUSUAL or v}}


@lru_cache(maxsize=1 << 14)
def _step_text(step: Step) -> str:
    return json.dumps(_step_json(step))


@dataclass(frozen=True)
class Variant:
    """One way to run a scop: rewrites of the scop first, then steps applied, in order, to its loop nests."""

    steps: tuple[Step, ...]

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that name these steps, by their JSON; the key of every cache."""
        text = f"[{', '.join([_step_text(step) for step in self.steps])}]"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_json(self) -> list[dict[str, Any]]:
        return [_step_json(step) for step in self.steps]

    @staticmethod
    def from_json(steps: list[dict[str, Any]]) -> Variant:
        """The inverse of ``to_json``. Raises OptionError for a step that isn't known."""
        made: list[Step] = []
        for fields in steps:
            arguments: dict[str, Any] = {k: _as_tuples(v) for k, v in fields.items() if k != "step"}
            kind = STEPS.get(fields.get("step", ""))
            if kind is None:
                raise OptionError(f"unknown step {fields.get('step')!r}", remedy=f"one of {', '.join(STEPS)}")
            try:
                made.append(kind(**arguments))
            except TypeError as error:
                raise OptionError(f"a {fields['step']} step has the wrong fields: {error}") from None
        return Variant(tuple(made))

    @cached_property
    def rewrites(self) -> tuple[Rewrite, ...]:
        return tuple(step for step in self.steps if isinstance(step, Rewrite))

    @cached_property
    def nest_steps(self) -> tuple[NestStep, ...]:
        return tuple(step for step in self.steps if not isinstance(step, Rewrite))

    def of_nest(self, nest: int) -> tuple[NestStep, ...]:
        return tuple(step for step in self.nest_steps if step.nest == nest)
