"""What a variant consists of: rewrites of a scop, and steps that are applied to its loop nests.

The steps of single nests and of the plan are here; a rewrite defines its own step, in its own module
(``polydl.rewrite_contract``). Types and annotations of a step's fields make its part of the JSON schema
(``polydl.step_schema``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal

from polydl.ir.counts import counted

# Types of fields that many steps have.
StatementName = Annotated[str, "A statement, by its name in the scop."]
LoopName = Annotated[str, "A loop, by the name of its iterator."]
ArrayName = Annotated[str, "An array, by its name in the scop."]


@dataclass(frozen=True)
class Step:
    """One decision of a variant: a frozen dataclass of numbers, strings, booleans, and tuples of them.

    In a field's type, ``Annotated`` holds its description and further keywords of JSON Schema, as a dictionary.
    """

    #: the value of ``step`` in JSON
    json_name: ClassVar[str]
    #: fields that JSON has only where they are not empty, zero or false
    json_omits: ClassVar[frozenset[str]] = frozenset()

    @property
    def threaded(self) -> bool:
        """Whether a loop runs on threads by it."""
        return False

    def on_one_thread(self) -> Step | None:
        """The step without threads; None if nothing is left of it."""
        return self


@dataclass(frozen=True)
class ScopStep(Step):
    """A step that concerns the scop as a whole; in a variant, these come before the steps of its nests."""


@dataclass(frozen=True)
class RewriteStep(ScopStep):
    """What a rewrite is given: it makes another scop, to be analysed from scratch."""

    @property
    def fuses(self) -> bool:
        """Whether it runs statements together that are apart in the source."""
        return False

    def on_one_thread(self) -> RewriteStep:
        return self


@dataclass(frozen=True)
class NestStep(Step):
    """A step that changes one loop nest of the scop that the rewrites have left."""

    nest: Annotated[int, "The nest, by its place among those that loop distribution makes.", {"minimum": 0}]

    #: whether variants that differ in this step, or in the tiles of its loops, are of different kinds
    #: (``polydl.optimization.picks``)
    tells_kind: ClassVar[bool] = False
    #: whether a nest may have several steps of this class, for different loops
    repeatable: ClassVar[bool] = False

    @property
    def loops(self) -> tuple[str, ...]:
        """The loops of the source that it is about, if it tells the variant's kind."""
        return ()

    @property
    def decisions(self) -> tuple[Hashable, ...]:
        """What is decided by it, one by one, so that each can be tried about as often as its alternatives."""
        return ()

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        """What is done to the nest, for people; "" if the order of the loops, which is said before, says it all.

        ``tiles`` are names for people of loops over tiles, by the loops' names.
        """
        return self.json_name.replace("_", " ")


@dataclass(frozen=True)
class Attach(ScopStep):
    """Run the element-wise nest of ``statement`` on each tile that the nest of ``to`` writes.

    A step of the plan: it leaves the scop as it is.
    """

    json_name: ClassVar[str] = "attach"

    statement: StatementName
    to: Annotated[str, "A statement of the nest that another is attached to."]
    place: Annotated[Literal["last", "first"], "After the last reduction on a tile, or before the first."] = "last"


@dataclass(frozen=True)
class Tile(NestStep):
    """Split a loop into tile loops, the outermost (largest) size first.

    ``Tile(0, "i", (256, 64))`` makes ``i_t2`` (steps of 256), ``i_t1`` (steps of 64) and ``i``.
    Sizes that don't divide the extent leave a shorter last tile.
    """

    json_name: ClassVar[str] = "tile"
    repeatable: ClassVar[bool] = True

    loop: LoopName
    sizes: Annotated[tuple[Annotated[int, {"minimum": 1}], ...], "Iterations of a tile, the largest first."]

    @property
    def decisions(self) -> tuple[Hashable, ...]:
        return tuple(("tile", self.nest, self.loop, size) for size in self.sizes)

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        if f"{self.loop}_t1" in order:
            return ""
        return f"{self.loop} in tiles of {' and '.join(map(str, self.sizes))}"


@dataclass(frozen=True)
class Interchange(NestStep):
    """Put the nest's loops in another order."""

    json_name: ClassVar[str] = "interchange"

    order: Annotated[tuple[str, ...], "All loops, outermost first, but for those that a microkernel runs."]

    @property
    def decisions(self) -> tuple[Hashable, ...]:
        if not self.order:
            return ()
        return ("outermost", self.nest, self.order[0]), ("innermost", self.nest, self.order[-1])

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        return ""


@dataclass(frozen=True)
class Parallel(NestStep):
    """Run the iterations of one loop on different threads."""

    json_name: ClassVar[str] = "parallel"
    json_omits: ClassVar[frozenset[str]] = frozenset({"combined", "inner", "dynamic"})

    loop: LoopName
    combined: Annotated[tuple[str, ...], "Arrays that threads sum in parts, which are added up at the end."] = ()
    inner: Annotated[str, "The next loop inside, if its iterations are dealt out as well."] = ""
    dynamic: Annotated[bool, "Whether threads get the next iteration when they are done with one."] = False

    @property
    def threaded(self) -> bool:
        return True

    def on_one_thread(self) -> None:
        return None

    @property
    def decisions(self) -> tuple[Hashable, ...]:
        return (("parallel", self.nest, self.loop, self.inner, self.dynamic),)

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        loops = " and ".join(tiles.get(name, name) for name in (self.loop, self.inner) if name)
        sums = f", each with sums of {', '.join(self.combined)}" if self.combined else ""
        return f"{loops} on threads{', the next one free' if self.dynamic else ''}{sums}"


@dataclass(frozen=True)
class UseMicrokernel(NestStep):
    """Have a microkernel compute the matrix product that the innermost loops are."""

    json_name: ClassVar[str] = "use_microkernel"
    tells_kind: ClassVar[bool] = True

    name: Annotated[str, "The microkernel's plug-in name."]
    m: Annotated[str, "The loop along which C and A are contiguous."]
    n: Annotated[str, "The loop over columns."]
    k: Annotated[str, "The loop that is summed over."]
    batch: Annotated[tuple[str, ...], "Further loops that one call sums over."] = ()
    rows: Annotated[tuple[str, ...], "Loops whose iterations are further columns, each a row of n of them."] = ()

    @property
    def loops(self) -> tuple[str, ...]:
        return (self.m, self.n, self.k, *self.rows, *self.batch)

    @property
    def decisions(self) -> tuple[Hashable, ...]:
        return (("microkernel", self),)

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        loops = f"{self.m} by {self.n}" + "".join(f" in rows of {name}" for name in self.rows)
        return f"microkernel {self.name} for {loops}, sums over {', '.join((*self.batch, self.k))}"


@dataclass(frozen=True)
class Unroll(NestStep):
    """Run all iterations of an innermost loop, few as they are, in one iteration of the loop around it.

    That one may then run with vectors: so several rows of a matrix are summed up side by side. Several loops, all
    inside of the one that fills vectors, are a register block: sums stay in registers from the first term to the last.
    """

    json_name: ClassVar[str] = "unroll"
    repeatable: ClassVar[bool] = True
    tells_kind: ClassVar[bool] = True

    loop: LoopName

    @property
    def loops(self) -> tuple[str, ...]:
        return (self.loop,)

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        return f"{self.loop} unrolled"


@dataclass(frozen=True)
class Stream(NestStep):
    """Write arrays past the caches, in whole lines (non-temporal stores)."""

    json_name: ClassVar[str] = "stream"
    tells_kind: ClassVar[bool] = True

    arrays: Annotated[tuple[str, ...], "Those that are written past the caches."]

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        return f"{', '.join(self.arrays)} written past the caches"


@dataclass(frozen=True)
class Vectors(NestStep):
    """Use vectors of another length than the machine's largest ones in the nest's loops."""

    json_name: ClassVar[str] = "vectors"
    tells_kind: ClassVar[bool] = True

    bytes: Annotated[int, "The length of vectors: a power of two, at least an element's.", {"minimum": 1}]

    def words(self, tiles: Mapping[str, str], order: Sequence[str]) -> str:  # noqa: ARG002
        return f"vectors of {self.bytes} bytes"


# In their canonical order.
NEST_STEPS: tuple[type[NestStep], ...] = (Tile, UseMicrokernel, Interchange, Parallel, Unroll, Stream, Vectors)


_PLACES = {kind: place for place, kind in enumerate(NEST_STEPS)}


def _place(step: Step) -> tuple[int, int, int]:
    """Where a step belongs among those of a variant; steps of one place stay in the order given."""
    if isinstance(step, NestStep):
        return 2, step.nest, _PLACES.get(type(step), len(_PLACES))
    return int(not isinstance(step, RewriteStep)), 0, 0


def _step_json(step: Step) -> dict[str, Any]:
    # Steps hold numbers, strings and tuples of them, which need no copies.
    values = {each.name: getattr(step, each.name) for each in fields(step)}
    return {"step": step.json_name, **{k: v for k, v in values.items() if v or k not in step.json_omits}}


@lru_cache(maxsize=1 << 14)
def _step_text(step: Step) -> str:
    return json.dumps(_step_json(step))


@dataclass(frozen=True)
class NestSchedule:
    """What the steps of one nest ask for together: its schedule, as Halide uses the word.

    Steps that contradict each other, or name what the nest doesn't have, are refused in ``polydl.plan.tile``.
    """

    #: in their canonical order
    steps: tuple[NestStep, ...] = ()
    #: the loops that are tiled, with the sizes of their tiles; these steps come before all others
    tiles: tuple[Tile, ...] = field(default=(), init=False, compare=False)
    #: the microkernel of the innermost loops; None for plain loops
    microkernel: UseMicrokernel | None = field(default=None, init=False, compare=False)
    #: the loops that a microkernel doesn't run, outermost first; None if no step gives an order
    order: tuple[str, ...] | None = field(default=None, init=False, compare=False)
    #: the loop on threads; None if there is none
    parallel: Parallel | None = field(default=None, init=False, compare=False)
    #: the loops that are unrolled, in the order of their steps
    unrolled: tuple[str, ...] = field(default=(), init=False, compare=False)
    #: the arrays that are written past the caches
    streamed: tuple[str, ...] = field(default=(), init=False, compare=False)
    #: the length of vectors; None for the machine's largest ones
    vector_bytes: int | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        tiles: list[Tile] = []
        unrolled: list[str] = []
        told: dict[str, Any] = {}
        for step in self.steps:
            match step:
                case Tile():
                    tiles.append(step)
                case UseMicrokernel():
                    told["microkernel"] = step
                case Interchange():
                    told["order"] = step.order
                case Parallel():
                    told["parallel"] = step
                case Unroll():
                    unrolled.append(step.loop)
                case Stream():
                    told["streamed"] = step.arrays
                case Vectors():
                    told["vector_bytes"] = step.bytes
        vars(self).update(told, tiles=tuple(tiles), unrolled=tuple(unrolled))

    def in_order(self, loops: Sequence[str]) -> tuple[NestStep, ...]:
        """The steps with tiles in the order of the nest's ``loops``, and unrolled loops as they lie in each other.

        Neither order has an influence on what is made.
        """
        lying = self.order or loops
        tiles = iter(sorted(self.tiles, key=lambda tile: _place_in(loops, tile.loop)))
        unrolled = iter(sorted(self.unrolled, key=lambda loop: _place_in(lying, loop)))
        steps: list[NestStep] = []
        for step in self.steps:
            match step:
                case Tile():
                    steps.append(next(tiles))
                case Unroll(nest):
                    steps.append(Unroll(nest, next(unrolled)))
                case _:
                    steps.append(step)
        return tuple(steps)

    @cached_property
    def tile_loops(self) -> dict[str, tuple[str, int]]:
        """The loop that is tiled and the size of the tiles, by the name of each loop over tiles."""
        return {
            f"{tile.loop}_t{len(tile.sizes) - place}": (tile.loop, size)
            for tile in self.tiles
            for place, size in enumerate(tile.sizes)
        }


def _place_in(loops: Sequence[str], name: str) -> int:
    """-1 for what is not there, which is refused later."""
    return loops.index(name) if name in loops else -1


_AS_WRITTEN = NestSchedule()


@dataclass(frozen=True, repr=False)
class Variant:
    """One way to run a scop: rewrites of the scop and what is attached to what, then steps of its loop nests.

    Rewrites are applied in the order given. Of all other steps the order says nothing, and they are put into one
    canonical order, so that variants which mean the same have one id. ``polydl.plan.apply`` also puts tiles and
    unrolled loops into the order of the nest's loops.
    """

    #: rewrites as they were given, then attachments, then the steps of nest after nest in the order of ``NEST_STEPS``
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.steps, key=_place))
        if ordered != self.steps:
            object.__setattr__(self, "steps", ordered)

    def __repr__(self) -> str:
        return f"<Variant {self.id}: {counted(len(self.steps), 'step')}>"

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that name these steps, by their JSON; the key of every cache."""
        text = f"[{', '.join([_step_text(step) for step in self.steps])}]"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_json(self) -> list[dict[str, Any]]:
        """The steps as JSON has them; ``polydl.variant_json.variant_from_json`` is the inverse."""
        return [_step_json(step) for step in self.steps]

    @cached_property
    def scop_steps(self) -> tuple[ScopStep, ...]:
        """Rewrites and attachments: all but the steps of nests."""
        return tuple(step for step in self.steps if isinstance(step, ScopStep))

    @cached_property
    def rewrites(self) -> tuple[RewriteStep, ...]:
        """The steps that make another scop, in the order in which they are applied."""
        return tuple(step for step in self.steps if isinstance(step, RewriteStep))

    @cached_property
    def attached(self) -> tuple[Attach, ...]:
        """The steps that run an element-wise nest on each tile of another one."""
        return tuple(step for step in self.steps if isinstance(step, Attach))

    @cached_property
    def nest_steps(self) -> tuple[NestStep, ...]:
        """The steps of single nests, in their canonical order: nest by nest, then by class as in ``NEST_STEPS``."""
        return tuple(step for step in self.steps if isinstance(step, NestStep))

    @cached_property
    def nests(self) -> dict[int, NestSchedule]:
        """The schedule of each nest that has steps, by the nest's place among all, in ascending order."""
        steps: dict[int, list[NestStep]] = {}
        for step in self.steps:
            if isinstance(step, NestStep):
                steps.setdefault(step.nest, []).append(step)
        return {nest: NestSchedule(tuple(of_nest)) for nest, of_nest in steps.items()}

    def nest(self, place: int) -> NestSchedule:
        """The schedule of one nest, whether or not it has steps."""
        return self.nests.get(place, _AS_WRITTEN)

    @cached_property
    def microkernels(self) -> dict[int, str]:
        """The name of each nest's microkernel, without the nests that have none."""
        return {place: nest.microkernel.name for place, nest in self.nests.items() if nest.microkernel is not None}

    @property
    def threaded(self) -> bool:
        """Whether any of its loops runs on threads."""
        return any(step.threaded for step in self.steps)

    def on_one_thread(self) -> Variant:
        """The same loops, none of them on threads."""
        kept = (step.on_one_thread() for step in self.steps)
        return Variant(tuple(step for step in kept if step is not None))
