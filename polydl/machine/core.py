"""The physical constants of a processor's cores that the performance model works with.

Each constant is a field of ``Core`` with its unit, and says beside it how it is known or measured. ``polydl calibrate``
measures most of them; others are told by the system, were published of this family of processors, or are usual
(``processors``). What no probe can tell is chosen by what it decides: of a constant that is *chosen by orders*,
``experiments/model_constants.py`` shows how well recorded variants are ordered under each value; of one that is *chosen
by times*, ``experiments/code_constants.py`` times emitted code under each. ``docs/results/2026-11-30-constants.md`` has
both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

from polydl.errors import MachineError

#: Where a constant comes from: measured here by ``polydl calibrate``, told by the system, published of this family of
#: processors, fitted to what was measured on a core of this family, usual of all processors with these instructions, or
#: given by a person.
Source = Literal["measured", "detected", "published", "fitted", "generic", "given"]


@dataclass(frozen=True)
class Core:
    """What one core of a processor can do. Cycles are those at which it reaches its multiply-add peak."""

    # ---- arithmetic

    #: Vector registers that a program can name. The instruction set says so.
    vector_registers: int
    #: Vector multiply-adds that start in a cycle. Measured by ``polydl calibrate``.
    fma_per_cycle: float
    #: Cycles until the next multiply-add or addition can use a result. Measured by ``polydl calibrate``.
    fma_latency_cycles: float
    #: Part of the multiply-add peak that loops reach which no microkernel replaces, where they are only counted
    #: (``polydl.model.groups``). Measured by ``polydl calibrate``: a product, a filter and an element-wise nest as they
    #: are written, whose operands the first cache holds, over the peak.
    plain_loop_share: float
    #: Vectors that are loaded from the first-level cache in a cycle. Measured by ``polydl calibrate``.
    loads_per_cycle: float
    #: Vectors that are stored to the first-level cache in a cycle. Measured by ``polydl calibrate``.
    stores_per_cycle: float
    #: Cycles that the start of a short loop costs, most of them for the mispredicted end of the one before. Measured by
    #: ``polydl calibrate``: loops of random lengths against one that is as long as all of them.
    loop_start_cycles: float

    #: Operations that bring the lanes of a vector together which lie apart, for each vector. Measured by ``polydl
    #: calibrate``: squares of lanes that change places, against vectors that are only loaded.
    gathered_lanes_operations: float
    #: Cycles that 16 bytes of a copy take which transposes in squares. Measured by ``polydl calibrate``: a square of
    #: floats that the first cache holds.
    transposed_vector_cycles: float
    #: How many times as fast a core that works alone may run as it did while peak and bandwidths were measured: its
    #: clock may be higher then. Measured by ``polydl calibrate`` where it is clearly higher after a pause than in a
    #: long run; elsewhere the usual value stays, since bounds must not be too high.
    clock_headroom: float

    #: Cycles that calling a function and coming back take, its arguments and the registers it saves included. Measured
    #: by ``polydl calibrate``.
    call_cycles: float

    # ---- register blocks of microkernels, in the first-level cache

    #: Cycles that each step of the summed loop costs beside its multiply-adds and loads. Measured by ``polydl
    #: calibrate``.
    block_step_cycles: float
    #: Cycles that each load of such a step costs beside those that it is bound by. Measured by ``polydl calibrate``.
    block_load_cycles: float
    #: Cycles to go on to the next product of a batch within a block. Measured by ``polydl calibrate``.
    block_switch_cycles: float
    #: Vectors of the first operand beyond which blocks are chosen low and wide, since each reads it again from beyond
    #: the first-level cache. Chosen by times.
    block_kept_vectors: int
    #: Cycles that each vector counts in that choice, each time it is read again. Measured by ``polydl calibrate``.
    block_far_load_cycles: float

    #: Cycles that a call of a library's kernel costs, found by way of a pointer. Measured by ``polydl calibrate``.
    library_call_cycles: float
    #: Cycles that each product of its batch costs there. Measured by ``polydl calibrate``.
    library_product_cycles: float
    #: How many times as long its kernels take as what binds their blocks. Measured by ``polydl calibrate``.
    library_slowdown: float
    #: Cycles to copy an element of A into groups of steps, as a library's kernels read it. Measured by ``polydl
    #: calibrate``.
    group_copy_cycles: float
    #: How many times as long as a step of float a library's kernel takes for a pair of steps of bfloat16s. Measured by
    #: ``polydl calibrate``.
    bfloat16_pair_slowdown: float
    #: The same for four steps of bytes. Measured by ``polydl calibrate``.
    byte_group_slowdown: float
    #: How many times as long as a step of float ``c-bf16`` takes for a pair of steps of bfloat16s. Measured by ``polydl
    #: calibrate``.
    bfloat16_dot_slowdown: float
    #: How many times as long products take whose operands are widened to float first. Measured by ``polydl calibrate``.
    widened_slowdown: float
    #: How many times as long products take whose elements have no vectors of their own in ``c``, over one vector of
    #: products a cycle. Measured by ``polydl calibrate``.
    scalar_slowdown: float
    #: How many times as long a product of pairs of shorts and an addition take as one multiply-add of floats. Measured
    #: by ``polydl calibrate``.
    short_pair_slowdown: float
    #: Cycles to copy an element of A or B into pairs of shorts. Measured by ``polydl calibrate``.
    pair_copy_cycles: float
    #: Cycles to copy an element of a row of A that fills no vector. Measured by ``polydl calibrate``.
    row_copy_cycles: float
    #: Cycles to add up the lanes of a vector. Measured by ``polydl calibrate``.
    lane_sum_cycles: float

    # ---- tile registers, on processors that have them (AMX)

    #: Cycles from the start of a product of two whole tiles to that of the next at least, as bounds take it. Intel's
    #: manual says so of all processors that have tiles so far.
    tile_start_cycles: float
    #: Cycles of a product of two tiles. Measured by ``polydl calibrate``.
    tile_product_cycles: float
    #: Cycles to load and store a tile of C. Measured by ``polydl calibrate``.
    tile_output_cycles: float
    #: Cycles that a call costs beside these: configuring the registers, finding what is split. Measured by ``polydl
    #: calibrate``.
    tile_call_cycles: float
    #: Cycles to split a float into three bfloat16s, where tile products read them. Measured by ``polydl calibrate``.
    tile_split_cycles: float
    #: Cycles to copy an element of another type there. Measured by ``polydl calibrate``.
    tile_copy_cycles: float
    #: Cycles to transpose 16 rows of 64 bytes there, a tile of an operand of which all steps of k lie side by side.
    #: Measured by ``polydl calibrate``.
    tile_transpose_cycles: float

    # ---- registers of microkernels that don't say how they use them

    #: Bytes of one column of C that are taken to stay in registers: four vectors.
    column_bytes: int
    #: Bytes of all columns of C that are taken to stay in registers: 24 vectors.
    accumulator_bytes: int

    # ---- caches and pages

    #: Bytes of a line of the first-level cache. The system says so.
    line_bytes: int
    #: Bytes of the first-level cache. The system says so.
    first_cache_bytes: int
    #: Bytes of the second-level cache. The system says so.
    second_cache_bytes: int
    #: Bytes of the last cache before memory that a program gets, beside others that share it. The system says how many
    #: it has; the rest is measured with the machine's other speeds.
    last_cache_bytes: int
    #: Bytes that come from the second-level cache in a cycle. Measured with the machine's other speeds.
    second_cache_bytes_per_cycle: float
    #: Cycles until a load has a line from there. Measured with the machine's other speeds.
    second_cache_latency_cycles: float
    #: Bytes that come from what lies behind the second-level cache in a cycle: the next cache, or memory. Measured with
    #: the machine's other speeds.
    last_cache_bytes_per_cycle: float
    #: Bytes of a page as memory is mapped unless large ones are asked for. The system says so (``sysconf``).
    page_bytes: int
    #: Pages whose addresses the first table (level-1 TLB of data) holds. ``polydl calibrate`` measures it: a random
    #: walk over one line in each of ever more pages.
    first_tlb_entries: int
    #: Cycles to look up a page in the second table. ``polydl calibrate`` measures it: how much longer an access of that
    #: walk takes beyond the first table.
    first_tlb_miss_cycles: float
    #: Part of these cycles that shows where a microkernel's loads ask for the pages, which do not wait for each other.
    #: Chosen by orders.
    exposed_page_share: float
    #: Distances in bytes at which addresses fall into the same set of the first- and of the second-level cache: their
    #: sets times the bytes of a line. The system says so as a rule.
    same_set_bytes: tuple[int, int]
    #: Part of the second cache's latency that shows for each line of B that finds no place in its set of the first
    #: one. Chosen by orders. (``polydl calibrate`` does not measure it: what shows depends on how much arithmetic a
    #: block does beside it.)
    evicted_line_share: float
    #: Places of a set that every cache is taken to have at least. Chosen by orders.
    fewest_ways: int
    #: Bytes up to which one operand of a call is taken to stay in the second-level cache beside all others. Chosen by
    #: times.
    near_bytes: int

    #: Bytes of transformed filters up to which they are made all at once, before they are used. Chosen by times.
    whole_filter_bytes: int
    #: Bytes of a tile of an operand that is copied before it is used, in functions for a range of sizes, at most: a
    #: part of the second-level cache. Which of the smaller ones is taken is measured where such functions are made.
    packed_tile_bytes: int

    # ---- prefetchers

    #: Runs in different pages that prefetchers follow at once. Measured by ``polydl calibrate``, as what follows unless
    #: it says otherwise, where a curve has a clear step: time per line of ever more runs in turn, in which each load
    #: waits for the one before.
    prefetch_streams: int
    #: Bytes by which they run ahead of a load in each, into the first-level cache. Measured: lines ever further behind
    #: some that were read, a while later. (What is fetched into the second-level cache alone lies further
    #: ahead, and orders variants worse.) Of each run, as many bytes at its beginning are taken to come late.
    prefetch_ahead_bytes: int
    #: The longest step in bytes from one access of a load to the next that prefetchers of the first-level cache follow.
    #: Measured: walks over lines ever further apart, against the same at random.
    prefetch_step_bytes: int
    #: Runs in turn that keep the prefetcher of the second-level cache busy. Measured: the fewest runs that are as fast
    #: as any more, where a single one is clearly slower.
    prefetch_busy_streams: int
    #: How many times as long a line takes of a single run, whose every next page must be found anew, or of one that is
    #: not followed. Measured: many more runs than are followed, over those that are.
    prefetch_lost_slowdown: float
    #: How many times as long as those of a single run lines take where plain loops read few runs in turn, a line of
    #: each at a time: the limit for ever fewer. It falls with the logarithm of their number, to 1 for
    #: ``prefetch_streams`` of them (``polydl.model.prefetching``). Chosen by orders.
    prefetch_turns_slowdown: float
    #: Bytes of each visit to a run that prefetchers take to find it again. Measured: the fewest lines of a page after
    #: which the one behind them is there a while later.
    prefetch_start_bytes: int
    #: How many times as many lines come as are used, at most, where prefetchers fetch the gaps as well. Chosen by
    #: orders.
    prefetch_most_in_vain: float
    #: Columns of C that all calls with one tile of A compute together at least, for the next tile to be fetched or
    #: copied meanwhile: with fewer, it is needed about as fast as it comes. Chosen by times.
    ahead_fewest_columns: int
    #: Steps of k by which ``c`` prefetches its first operand, 0 for not at all, where it stays in the first two caches.
    #: Chosen by times (``experiments/prefetch_distances.py``).
    near_ahead_steps: int
    #: The same where each of its steps lies in a page of its own, and all of them in the second-level cache. Chosen by
    #: times.
    apart_ahead_steps: int
    #: The same where it comes from a cache beyond the second one. Chosen by times.
    last_cache_ahead_steps: int
    #: The same where it comes from memory. Chosen by times.
    memory_ahead_steps: int
    #: Steps of k by which ``c`` prefetches each column of its second operand, 0 for not at all, where rows are few and
    #: columns lie a page or more apart. Chosen by times.
    column_ahead_steps: int
    #: Groups of steps of k by which ``c-int8`` and ``c-bf16`` prefetch their first operand. Chosen by times.
    ahead_groups: int
    #: Columns by which a tile that is copied between the steps of a product is prefetched before that. Chosen by times.
    copy_ahead_columns: int
    #: Rows of A, which are steps of k, by which microkernels for tile registers prefetch what they split or copy.
    #: Chosen by times.
    tile_ahead_rows: int
    #: Columns by which they prefetch what they split of B while they multiply. Chosen by times.
    tile_ahead_columns: int
    #: Rows of a matrix by which transforms of tiles prefetch, where rows lie ``prefetch_step_bytes`` apart or further.
    #: Chosen by times.
    transform_ahead_rows: int
    #: Cycles for a line where prefetchers start anew with every few lines. Measured by ``polydl calibrate``: copies of
    #: tiles whose rows lie more than a page apart, against one from the first-level cache.
    line_restart_cycles: float

    #: Part of the time in which calls fill the first-level cache from the second one, at its bandwidth, that shows
    #: beside arithmetic. Chosen by orders. (Hardly any of it shows in a loop of calls alone, and with what does,
    #: variants are ordered worse.)
    exposed_first_share: float
    #: Part of the time of tile products in which vector units split operands of later ones unseen. Chosen by orders.
    tile_hidden_share: float
    #: Part of the second-level cache in which all operands that a call has split stay for the call; of more, as large a
    #: part as goes beyond it has to come back. Chosen by orders.
    tile_held_share: float
    #: Part of the time of transfers between the caches beyond the first that still shows beside arithmetic, where they
    #: come when they are asked for. Chosen by orders.
    exposed_share: float
    #: The same of transfers from memory. Chosen by orders.
    exposed_memory_share: float
    #: The same of what a microkernel's calls fetched ahead. Chosen by orders.
    exposed_ahead_share: float
    #: Where one of these transfers takes longest, the part of the time of the arithmetic and of all other transfers
    #: that shows beside it. Chosen by orders.
    exposed_beside_transfer_share: float

    # ---- threads

    #: Seconds until all threads have begun on a parallel loop, and waited for the last of them at its end. ``polydl
    #: calibrate`` measures it: parallel loops of OpenMP with next to nothing in them, one after the other.
    thread_start_seconds: float

    #: Where each constant comes from, by name. Those that are not named are generic.
    sources: tuple[tuple[str, Source], ...] = ()

    def __post_init__(self) -> None:
        for name in CONSTANTS:
            value = getattr(self, name)
            numbers = value if isinstance(value, tuple) else (value,)
            least = 0 if name.endswith("_ahead_steps") else math.ulp(0.0)
            if not all(math.isfinite(number) and number >= least for number in numbers):
                raise MachineError(f"{name} = {value!r}: a core's constants are positive and finite")

    def operations_per_cycle(self, vector_bytes: int) -> float:
        """Floating-point operations (fp32, a multiply-add counts 2) of a cycle at the peak."""
        return self.fma_per_cycle * vector_bytes / 2

    @property
    def tile_operations_per_cycle(self) -> float:
        """Operations on bfloat16s of a cycle in tile registers, at most: 16 by 16 sums of 32 terms in each product."""
        # A processor on which products were measured to take less starts them faster than those that are known.
        return 2 * 16 * 16 * 32 / min(self.tile_start_cycles, self.tile_product_cycles)

    def cycles(self, operations: float, loads: float, stores: float) -> float:
        """Cycles for so many vector multiply-adds, loads and stores that overlap, operands in the first-level cache."""
        return max(operations / self.fma_per_cycle, loads / self.loads_per_cycle, stores / self.stores_per_cycle)

    def usual_block(self, m: int, n: int, element_bytes: int) -> tuple[int, int]:
        """Rows and columns that ``m`` by ``n`` of C are taken to keep in registers, where a microkernel doesn't say."""
        rows = _even_piece(m, max(1, self.column_bytes // element_bytes))
        return rows, _even_piece(n, max(1, self.accumulator_bytes // (rows * element_bytes)))

    @property
    def peak_cycle(self) -> float:
        """Cycles in which two vector multiply-adds start: times of calls are kept in units of these."""
        return 2.0 / self.fma_per_cycle

    @property
    def update_cycles(self) -> float:
        """Cycles to load a vector and to store it again."""
        return 1.0 / self.loads_per_cycle + 1.0 / self.stores_per_cycle

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Kept, since much is remembered by core."""
        return hash(tuple(getattr(self, name) for name in CONSTANTS))

    def source(self, constant: str) -> Source:
        """Where the constant of this name comes from."""
        return dict(self.sources).get(constant, "generic")

    def having(self, constants: Iterable[CoreConstant]) -> Core:
        """The core with other values of some constants."""
        known = {each.name: each for each in constants}
        sources = dict(self.sources) | {name: each.source for name, each in known.items()}
        values: dict[str, Any] = {name: each.value for name, each in known.items()}
        return replace(self, **values, sources=tuple(sorted(sources.items())))


#: Names of all constants, in the order in which they stand above.
CONSTANTS = tuple(field.name for field in fields(Core) if field.name != "sources")


@dataclass(frozen=True)
class CoreConstant:
    """The value of a field of ``Core``. Raises MachineError if there is no such field, or if it has another type."""

    #: Of the field.
    name: str
    #: in the unit that the field of ``Core`` has
    value: int | float | tuple[int, ...]
    source: Source = "given"

    def __post_init__(self) -> None:
        if self.name not in CONSTANTS:
            raise MachineError(f"{self.name} is no constant of a core")
        if self.source not in get_args(Source):
            raise MachineError(f"{self.source!r} is no source of {self.name}")
        declared = Core.__annotations__[self.name]
        if isinstance(self.value, list):  # TOML has no tuples
            object.__setattr__(self, "value", tuple(self.value))
        if declared.startswith("tuple"):
            right = isinstance(self.value, tuple) and [type(number) for number in self.value] == [int, int]
        else:
            right = type(self.value) is int or (declared == "float" and isinstance(self.value, float))
        if not right:
            raise MachineError(f"{self.name} = {self.value!r} is not of type {declared}")


def _even_piece(length: int, largest: int) -> int:
    """The size of the pieces, as even as can be, that a length is split into if none may be longer than ``largest``."""
    return -(-length // -(-length // largest))


def cache_constants(cache_bytes: Sequence[int]) -> tuple[CoreConstant, ...]:
    """The sizes of the first two caches and of the last one as constants; an only cache is all of them.

    ``cache_bytes`` are those of all caches, innermost first.
    """
    first, second, last = cache_bytes[0], cache_bytes[:2][-1], cache_bytes[-1]
    return constants({"first_cache_bytes": first, "second_cache_bytes": second, "last_cache_bytes": last}, "detected")


def constants(values: Mapping[str, Any], source: Source) -> tuple[CoreConstant, ...]:
    """Constants of the same source, from their values by name."""
    return tuple(CoreConstant(name, value, source) for name, value in values.items())
