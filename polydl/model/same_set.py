"""What calls wait for lines of the first-level cache that push each other out of one set.

Columns of A that lie a multiple of its sets apart all fall into the same few of them, and so do columns of B. Once
there are more of these than a set has places, each comes from the second-level cache again whenever it is used. Such
misses do not overlap: the next line of a set comes when the one before has come. So a step of k takes at least the
second cache's latency where A lies like that, however many rows it has. Of B, whose lines are used in as many steps as
they have elements, a set keeps about as many as it has places, and each of the others takes a part of that latency.
(Seen in loops over lines a power of two apart, and in calls of LIBXSMM with ever more such columns, on a Zen 4.)
"""

from __future__ import annotations

from math import gcd

from polydl.contracts import GemmShape, Microkernel
from polydl.contracts.first_cache import kept_block
from polydl.machine import Core


def same_set_cycles(
    kernel: Microkernel, shape: GemmShape, element_bytes: tuple[int, int, int], vector_elements: int, core: Core
) -> float:
    """The cycles that a call takes at least, since its lines come one after the other; 0 if all of them find a place.

    ``element_bytes`` are those of C, A and B. Operands that the kernel copies are walked through once, and not asked
    about.
    """
    if "copies" in kernel.abilities:
        return 0.0
    width_c, width_a, width_b = element_bytes
    rows, columns = kept_block(kernel, shape, vector_elements, width_c, core)
    columns = min(columns, shape.columns)
    latency = core.second_cache_latency_cycles
    step = _waits(shape.lda * width_a, shape.k, core) * latency
    if shape.transposed:
        step += _waits(shape.stride_bk * width_b, shape.k, core) * latency
    else:
        step += core.evicted_line_share * latency * _evicted(shape.stride_bn * width_b, columns, core)
    blocks = -(-shape.m // rows) * -(-shape.columns // columns)
    return blocks * shape.k * shape.batch * step


def _sets(stride: int, core: Core) -> int:
    """How many sets of the first-level cache addresses so many bytes apart fall into; 0 if that is all of them."""
    period = core.same_set_bytes[0]
    sets = period // gcd(stride, period) if stride > 0 else 0
    return sets if sets * core.line_bytes < period else 0


def _places(core: Core) -> int:
    """Lines that each set of the first-level cache holds."""
    return max(1, core.first_cache_bytes // core.same_set_bytes[0])


def _waits(stride: int, steps: int, core: Core) -> float:
    """The share of a latency that each of the steps waits, which go to the sets in turn."""
    sets = _sets(stride, core)
    return 1.0 / sets if sets and steps > sets * _places(core) else 0.0


def _evicted(stride: int, lines: int, core: Core) -> float:
    """How many lines of each set find no place in it, if all are used in each step."""
    sets = _sets(stride, core)
    return max(0.0, lines / sets - _places(core)) if sets else 0.0
