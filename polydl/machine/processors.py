"""Constants of families of processors, published or fitted, for machines that were not calibrated.

A family's own values go before those that are usual of its instruction set. The sources are named beside
each family; where they say nothing, the usual values stay, and ``Core.source`` calls them generic.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from polydl.machine.core import Core, constants


@dataclass(frozen=True)
class Family:
    """Processors with the same cores."""

    name: str
    #: The vendor as /proc/cpuinfo names it ("cpu implementer" on Arm).
    vendor: str
    #: Its number for the family ("CPU architecture" on Arm).
    family: str
    #: The models in decimal, as /proc/cpuinfo has them ("CPU part" on Arm).
    models: frozenset[str]
    #: Where the constants were published.
    published: str
    #: Values of fields of ``Core`` that were published, by name.
    constants: Mapping[str, Any]
    #: Values of further fields that explain what was measured on a core of the family.
    fitted: Mapping[str, Any] = field(default_factory=dict)


def _models(*numbers: int | range) -> frozenset[str]:
    return frozenset(str(n) for each in numbers for n in (each if isinstance(each, range) else (each,)))


_INTEL = (
    "Intel 64 and IA-32 Architectures Optimization Reference Manual, and Agner Fog, The microarchitecture of x86 CPUs"
)
_AMD = "AMD Software Optimization Guide for this family, and Agner Fog, The microarchitecture of x86 CPUs"
_ARM = "Arm Neoverse Software Optimization Guide and Technical Reference Manual of this core"
# Two pipes for vectors, two for loads; latencies of a multiply-add, of a branch that is predicted wrong and of the
# second cache, from which half a line comes in a cycle; caches of 64 KiB in four ways and of 1 MiB in eight.
_NEOVERSE_N1: Mapping[str, Any] = MappingProxyType(
    {
        "fma_per_cycle": 2.0,
        "fma_latency_cycles": 4.0,
        "loads_per_cycle": 2.0,
        "stores_per_cycle": 1.0,
        "loop_start_cycles": 11.0,
        "first_cache_bytes": 64 << 10,
        "second_cache_bytes": 1 << 20,
        "second_cache_bytes_per_cycle": 32.0,
        "last_cache_bytes_per_cycle": 8.0,
        "second_cache_latency_cycles": 11.0,
        "first_tlb_entries": 48,
        "fewest_ways": 4,
        "same_set_bytes": (16384, 131072),
    }
)
_TWO_PIPES = {"fma_per_cycle": 2.0, "fma_latency_cycles": 4.0, "loads_per_cycle": 2.0}

FAMILIES = (
    Family(
        "Intel Skylake-SP, Cascade Lake and Cooper Lake", "GenuineIntel", "6", _models(85), _INTEL,
        {**_TWO_PIPES, "stores_per_cycle": 1.0, "first_tlb_entries": 64, "first_tlb_miss_cycles": 7.0,
         "same_set_bytes": (4096, 65536), "prefetch_streams": 32, "prefetch_step_bytes": 2048},
    ),
    Family(
        "Intel Ice Lake-SP", "GenuineIntel", "6", _models(106, 108), _INTEL,
        {**_TWO_PIPES, "stores_per_cycle": 1.0, "first_tlb_entries": 64, "first_tlb_miss_cycles": 7.0,
         "prefetch_streams": 32, "prefetch_step_bytes": 2048},
    ),
    Family(
        "Intel Sapphire, Emerald and Granite Rapids", "GenuineIntel", "6", _models(143, 207, 173, 174), _INTEL,
        # TDPBF16PS starts every 16 cycles: a row of A in each.
        {**_TWO_PIPES, "stores_per_cycle": 1.0, "first_tlb_entries": 96, "first_tlb_miss_cycles": 7.0,
         "prefetch_streams": 32, "prefetch_step_bytes": 2048, "tile_start_cycles": 16.0},
    ),
    Family(
        "AMD Zen 2", "AuthenticAMD", "23", _models(range(48, 176)), _AMD,
        {**_TWO_PIPES, "fma_latency_cycles": 5.0, "stores_per_cycle": 1.0, "first_tlb_entries": 64,
         "first_tlb_miss_cycles": 7.0},
    ),
    Family(
        "AMD Zen 3", "AuthenticAMD", "25", _models(range(16), range(32, 96)), _AMD,
        {**_TWO_PIPES, "stores_per_cycle": 1.0, "first_tlb_entries": 64, "first_tlb_miss_cycles": 7.0},
        # Prefetches take loads from blocks of 16 registers, and slow them more than they help, but for what comes from
        # memory (docs/results/2026-11-27-epyc-zen3.md).
        {"exposed_first_share": 0.5, "near_ahead_steps": 0, "apart_ahead_steps": 0, "last_cache_ahead_steps": 0,
         "memory_ahead_steps": 8},
    ),
    Family(
        "AMD Zen 4", "AuthenticAMD", "25", _models(range(16, 32), range(96, 128), range(160, 176)), _AMD,
        # It takes vectors of 64 bytes in two halves. Calls of LIBXSMM alone take 0.93 of what binds their blocks; in
        # nests they wait for what they do not prefetch.
        {"fma_per_cycle": 1.0, "fma_latency_cycles": 4.0, "loads_per_cycle": 1.0, "stores_per_cycle": 0.5,
         "first_tlb_entries": 72, "first_tlb_miss_cycles": 7.0},
        {"prefetch_turns_slowdown": 2.5,
         "call_cycles": 1.0, "block_step_cycles": 0.025, "block_load_cycles": 0.005, "block_switch_cycles": 0.3,
         "block_far_load_cycles": 0.5, "row_copy_cycles": 0.35, "lane_sum_cycles": 0.88, "library_slowdown": 1.07,
         "library_call_cycles": 1.5, "library_product_cycles": 0.43, "bfloat16_pair_slowdown": 0.87,
         "byte_group_slowdown": 0.83, "scalar_slowdown": 4.6, "short_pair_slowdown": 1.04, "pair_copy_cycles": 0.25,
         "last_cache_ahead_steps": 0},
    ),
    Family(
        "AMD Zen 5", "AuthenticAMD", "26", _models(range(128)), _AMD,
        {**_TWO_PIPES, "stores_per_cycle": 1.0, "first_tlb_entries": 96, "first_tlb_miss_cycles": 7.0},
        {"prefetch_lost_slowdown": 1.6, "prefetch_start_bytes": 64, "loop_start_cycles": 5.0,
         "call_cycles": 6.0, "block_step_cycles": 0.22, "block_load_cycles": 0.014, "block_switch_cycles": 4.1,
         "block_far_load_cycles": 0.1, "row_copy_cycles": 0.87, "lane_sum_cycles": 4.4, "library_slowdown": 0.91,
         "library_call_cycles": 11.0, "library_product_cycles": 1.9, "bfloat16_pair_slowdown": 0.8,
         "byte_group_slowdown": 0.73, "scalar_slowdown": 3.7, "short_pair_slowdown": 0.95, "pair_copy_cycles": 0.13,
         "apart_ahead_steps": 0, "last_cache_ahead_steps": 0},
    ),
    Family(
        "Arm Neoverse N1", "0x41", "8", frozenset({"0xd0c"}), _ARM, _NEOVERSE_N1,
    ),
    Family(
        "Arm Neoverse V1 and V2", "0x41", "8", frozenset({"0xd40", "0xd4f"}), _ARM,
        {"fma_per_cycle": 4.0, "fma_latency_cycles": 4.0, "loads_per_cycle": 3.0, "stores_per_cycle": 2.0,
         "loop_start_cycles": 11.0, "first_tlb_entries": 48, "fewest_ways": 4, "same_set_bytes": (16384, 131072)},
    ),
)  # fmt: skip

# Whatever the instruction set: pages and what follows from them (prefetchers see addresses within a page, a quarter of
# it ahead, steps of at most half of it, after two lines, and at most every other one in vain), four blocks of six
# columns, margins, and what threads take.
_NEUTRAL: Mapping[str, Any] = MappingProxyType(
    {
        "last_cache_bytes": 32 << 20,
        "page_bytes": 4096,
        "clock_headroom": 1.2,
        "evicted_line_share": 0.5,
        "prefetch_ahead_bytes": 1024,
        "prefetch_step_bytes": 2048,
        "prefetch_start_bytes": 128,
        "prefetch_turns_slowdown": 1.0,
        "prefetch_most_in_vain": 2.0,
        "ahead_fewest_columns": 24,
        "thread_start_seconds": 3e-6,
    }
)

# Usual of x86-64, and what the model was fitted with, on the Xeon of docs/results/2026-11-28-ranking.md; shares of
# transfers that show, on all four machines there.
_X86: Mapping[str, Any] = MappingProxyType(
    {
        "fma_per_cycle": 2.0,
        "fma_latency_cycles": 4.0,
        "loads_per_cycle": 2.0,
        "stores_per_cycle": 1.0,
        "loop_start_cycles": 15.0,
        "plain_loop_share": 0.25,
        "call_cycles": 20.0,
        "block_step_cycles": 0.5,
        "block_load_cycles": 0.1,
        "block_switch_cycles": 6.0,
        "block_kept_vectors": 512,
        "block_far_load_cycles": 1.0,
        "library_call_cycles": 30.0,
        "library_product_cycles": 2.0,
        "library_slowdown": 1.12,
        "group_copy_cycles": 0.15,
        "bfloat16_pair_slowdown": 4.2,
        "byte_group_slowdown": 1.2,
        "bfloat16_dot_slowdown": 1.0,
        "widened_slowdown": 1.1,
        "scalar_slowdown": 2.0,
        "short_pair_slowdown": 1.25,
        "pair_copy_cycles": 0.3,
        "row_copy_cycles": 1.0,
        "lane_sum_cycles": 6.0,
        "tile_start_cycles": 16.0,
        "tile_product_cycles": 20.0,
        "tile_output_cycles": 80.0,
        "tile_call_cycles": 300.0,
        "tile_split_cycles": 0.65,
        "tile_copy_cycles": 0.1,
        "tile_transpose_cycles": 110.0,
        "first_cache_bytes": 32 << 10,
        "second_cache_bytes": 2 << 20,
        "whole_filter_bytes": 1 << 20,
        "packed_tile_bytes": 1 << 20,
        "second_cache_bytes_per_cycle": 32.0,
        "last_cache_bytes_per_cycle": 8.0,
        "second_cache_latency_cycles": 14.0,
        "first_tlb_miss_cycles": 7.0,
        "gathered_lanes_operations": 6.0,
        "transposed_vector_cycles": 3.0,
        "fewest_ways": 8,
        "near_bytes": 512 << 10,
        "prefetch_streams": 32,
        "near_ahead_steps": 8,
        "apart_ahead_steps": 8,
        "last_cache_ahead_steps": 8,
        "memory_ahead_steps": 48,
        "copy_ahead_columns": 4,
        "line_restart_cycles": 20.0,
        "prefetch_busy_streams": 8,
        "prefetch_lost_slowdown": 2.0,
        "column_ahead_steps": 64,
        "ahead_groups": 8,
        "tile_ahead_rows": 16,
        "tile_ahead_columns": 8,
        "tile_hidden_share": 0.3,
        "tile_held_share": 0.15,
        "transform_ahead_rows": 4,
        "exposed_page_share": 0.25,
        "exposed_first_share": 0.1,
        "exposed_share": 0.2,
        "exposed_memory_share": 0.3,
        "exposed_ahead_share": 0.1,
        "exposed_beside_transfer_share": 0.1,
        "first_tlb_entries": 64,
        "same_set_bytes": (4096, 65536),
    }
)

# Usual of 64-bit Arm: what was published of Neoverse N1, and what follows from it. Nobody publishes what calls, copies
# and blocks take: they are taken to take what their instructions do, four of them decoded in a cycle, and no more.
_NEON: Mapping[str, Any] = MappingProxyType(
    {
        **_NEOVERSE_N1,
        # A load from each operand for every multiply-add.
        "plain_loop_share": 0.5,
        # Ten pairs of registers are stored, one in a cycle, and loaded again, two in a cycle.
        "call_cycles": 15.0,
        # A sum, a comparison and a branch for four steps. Loads are issued beside multiply-adds.
        "block_step_cycles": 0.2,
        "block_load_cycles": 0.01,
        # An address is loaded. Vectors come from the second cache, two in a cycle.
        "block_switch_cycles": 4.0,
        "block_far_load_cycles": 0.5,
        # An address is loaded before the call, two for each product.
        "library_call_cycles": 19.0,
        "library_product_cycles": 1.0,
        "library_slowdown": 1.0,
        # Pairs of bfloat16s are two steps of floats; bytes have their dot products, as fast as those of floats.
        "bfloat16_pair_slowdown": 2.0,
        "byte_group_slowdown": 1.0,
        "bfloat16_dot_slowdown": 2.0,
        # 24 multiply-adds of a block and four vectors to widen. Products of integers, and widening, one in a cycle.
        "widened_slowdown": 1.17,
        "scalar_slowdown": 2.0,
        "short_pair_slowdown": 4.0,
        # A vector is loaded and stored: of four floats, of eight shorts, of one element. Two pairwise sums.
        "group_copy_cycles": 0.375,
        "pair_copy_cycles": 0.19,
        "row_copy_cycles": 1.5,
        "lane_sum_cycles": 4.0,
        # No such processor has tile registers.
        "tile_start_cycles": 1.0,
        "tile_product_cycles": 1.0,
        "tile_output_cycles": 1.0,
        "tile_call_cycles": 1.0,
        "tile_split_cycles": 1.0,
        "tile_copy_cycles": 1.0,
        "tile_transpose_cycles": 1.0,
        "tile_ahead_rows": 1,
        "tile_ahead_columns": 1,
        "tile_hidden_share": 1.0,
        "tile_held_share": 1.0,
        # A half, a half and a quarter of the second cache.
        "whole_filter_bytes": 512 << 10,
        "packed_tile_bytes": 512 << 10,
        "near_bytes": 256 << 10,
        # Four lanes change places in two operations for each vector.
        "gathered_lanes_operations": 2.0,
        # A load, up to four turns of two interleavings for two vectors, a store.
        "transposed_vector_cycles": 3.0,
        "first_tlb_miss_cycles": 5.0,
        # Nobody knows: plain numbers, as for the shares below.
        "prefetch_streams": 16,
        "prefetch_busy_streams": 8,
        "prefetch_lost_slowdown": 2.0,
        # Latencies of the second cache, of the last one (100 cycles) and of memory (300), over the twelve cycles of a
        # block's step, or the three of one with few rows; columns are copied every four steps.
        "near_ahead_steps": 2,
        "apart_ahead_steps": 2,
        "last_cache_ahead_steps": 8,
        "memory_ahead_steps": 24,
        "column_ahead_steps": 96,
        "ahead_groups": 8,
        "copy_ahead_columns": 6,
        "transform_ahead_rows": 4,
        # The second cache's latency twice: for the line, and for the one by which a step is known.
        "line_restart_cycles": 22.0,
        "exposed_page_share": 0.25,
        "exposed_first_share": 0.25,
        "exposed_share": 0.25,
        "exposed_memory_share": 0.25,
        "exposed_ahead_share": 0.125,
        "exposed_beside_transfer_share": 0.125,
    }
)


def _generic_x86(vector_bytes: int, line_bytes: int) -> Core:
    return Core(
        vector_registers=32 if vector_bytes >= 64 else 16,
        # Those of AVX-512; with shorter vectors the model takes the same.
        column_bytes=4 * 64,
        accumulator_bytes=24 * 64,
        line_bytes=line_bytes,
        **_NEUTRAL,
        **_X86,
    )


def _generic_arm(vector_bytes: int, line_bytes: int) -> Core:
    return Core(
        vector_registers=32,
        column_bytes=4 * vector_bytes,
        accumulator_bytes=24 * vector_bytes,
        line_bytes=line_bytes,
        # As many as the first cache holds.
        block_kept_vectors=_NEON["first_cache_bytes"] // vector_bytes,
        **_NEUTRAL,
        **_NEON,
    )


def architecture(isa: Collection[str]) -> str:
    """The instruction sets that a program is compiled for: ``AArch64`` or ``x86-64``."""
    return "AArch64" if is_arm(isa) else "x86-64"


def is_arm(isa: Collection[str]) -> bool:
    """Whether these are instruction sets of AArch64."""
    return any(name.startswith(("asimd", "neon", "sve")) for name in isa)


def generic(isa: Sequence[str], vector_bytes: int, line_bytes: int) -> Core:
    """The usual constants of processors with these instruction sets: of AArch64, or else of x86-64."""
    return (_generic_arm if is_arm(isa) else _generic_x86)(vector_bytes, line_bytes)


def family_of(cpu_id: str) -> Family | None:
    """The family of a processor, whose identity begins with vendor, family and model; None if it is not known."""
    words = cpu_id.split("-")
    if len(words) < 3:
        return None
    matching = (f for f in FAMILIES if [f.vendor, f.family] == words[:2] and words[2] in f.models)
    return next(matching, None)


def published(cpu_id: str, isa: Sequence[str], vector_bytes: int, line_bytes: int) -> Core:
    """The constants of a processor that was not measured: those of its family, and generic ones."""
    family = family_of(cpu_id)
    core = generic(isa, vector_bytes, line_bytes)
    core = core.having(constants({"line_bytes": line_bytes, "vector_registers": core.vector_registers}, "detected"))
    if family is None:
        return core
    return core.having((*constants(family.constants, "published"), *constants(family.fitted, "fitted")))


#: The core that microkernels are written for before they are told another one: with AVX-512.
WIDE_CORE = generic(("avx512f",), vector_bytes=64, line_bytes=64)
