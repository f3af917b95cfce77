"""Calls that the most promising variants make are timed when their microkernels are first used on a machine.

``polydl calibrate`` times thousands of calls in a minute or two. Here it is the few that decide a ranking, and some of
all sizes, for a few seconds at most. The constants of the microkernels' formulas are fitted to them. Both are kept
beside the machine's speeds, and correct what is predicted from then on.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path

from polydl.calibration.formulas import fitted_constants
from polydl.calibration.programs import accepted, grid_sites, packed_site, program
from polydl.calibration.tables import CallTimer, timed
from polydl.contracts import FormulaConstants, GemmShape, GemmSite, Microkernel
from polydl.errors import ExecutionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.ranking import Ranking
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.machine.call_times import CallTime, CallTimes, call_times_path, read_call_times, write_call_times
from polydl.machine.core import Core, constants
from polydl.machine.system import default_directory
from polydl.model.calibrated import uncalibrated
from polydl.model.call_factors import packed_shape
from polydl.plan.apply import Applied
from polydl.plan.call_sites import CallSite
from polydl.system.files import locked
from polydl.system.turns import alone

# Element types of calls that can be timed, with their bytes.
ELEMENTS = {"float": 4, "double": 8}
_SECONDS = 3.5
# Calls of variants that are compiled and timed at once, how many there are at most of each microkernel and element
# type, and those of all sizes, which have many tails.
_CALLS_PER_STEP, _MOST_CALLS, _SPREAD_PER_STEP = 8, 48, 4
# Steps of the latter that are timed at once, of each microkernel and element type: what is fitted to fewer says little.
_LEAST_SPREAD = 4
_SEED = 7
# Times that were taken in another way are taken anew.
_PROTOCOL = "protocol 2"
# Variants of a ranking whose calls are timed.
_LOOKED_AT = 24
# Of the operands of a call, which then stay in the second-level cache.
_MOST_BYTES = 256 << 10

Measure = Callable[[Microkernel, Sequence[GemmSite], int, Toolchain], Mapping[GemmShape, float]]
# A microkernel's name and an element type.
Key = tuple[str, str]


@dataclass(frozen=True)
class PackedCall:
    """A call of a microkernel with operands that are packed."""

    kernel: Microkernel
    site: GemmSite

    @property
    def key(self) -> Key:
        """The microkernel and the element type, for which times are kept and fitted together."""
        return self.kernel.name, self.site.element


@dataclass(frozen=True)
class FirstUse:
    """Calls that were timed as their microkernels were first used."""

    #: the machine, which knows their times
    machine: Machine
    #: names of those whose calls were timed
    microkernels: tuple[str, ...]
    #: how many calls were timed; 0 where another process timed them meanwhile, and the machine knows those
    calls: int
    #: wall-clock time that it took
    seconds: float
    #: what the calls were compiled with
    toolchain: Toolchain
    #: where their times are kept
    directory: Path
    #: what is left to time, by steps
    further: tuple[tuple[PackedCall, ...], ...]


def first_use_of(
    ranking: Ranking,
    apply: Callable[[Variant], Applied],
    machine: Machine,
    toolchain: Toolchain,
    report: Callable[[int, int], None] | None,
    *,
    quiet: Callable[[], object],
) -> FirstUse | None:
    """``first_use`` of the microkernels that the first variants of a ranking call; ``apply`` applies one of them."""
    first = [entry.variant for entry in ranking.entries[:_LOOKED_AT]]
    return first_use(machine, needed_calls(map(apply, first)), toolchain, report=report, quiet=quiet)


def needed_calls(variants: Iterable[Applied]) -> tuple[PackedCall, ...]:
    """The microkernel calls of variants, each once, in their order; without those whose elements can't be timed."""
    sites = chain.from_iterable(applied.sites.values() for applied in variants)
    calls = [call for site in sites if (call := _packed(site)) is not None]
    return tuple({(call.key, call.site): call for call in calls}.values())


def _packed(call: CallSite) -> PackedCall | None:
    """The call with operands as tight as its tile allows, and with fewer steps if they don't fit into L2."""
    gemm, width = call.gemm, ELEMENTS.get(call.gemm.element)
    if width is None or (gemm.element, gemm.accumulator) not in call.kernel.elements or gemm.type_b != gemm.element:
        return None
    n = gemm.n[0] * gemm.rows, gemm.n[1] * gemm.rows
    k, batch = gemm.k, gemm.batch
    while (gemm.m[0] + n[0]) * k[0] * batch[0] * width > _MOST_BYTES and batch[0] * k[0] > 1:
        if batch[0] > 1:
            batch = batch[0] // 2, batch[0] // 2
        else:
            k = k[0] // 2, k[0] // 2
    transposed = gemm.stride_bk != 1 and k[0] > 1
    packed = packed_site((gemm.element, gemm.accumulator), gemm.m, n, k, batch, transposed=transposed)
    site = accepted(call.kernel, packed)
    return None if site is None else PackedCall(call.kernel, site)


def first_use(
    machine: Machine,
    calls: Sequence[PackedCall],
    toolchain: Toolchain,
    *,
    directory: Path | None = None,
    measure: Measure | None = None,
    clock: Callable[[], float] = time.perf_counter,
    seconds: float = _SECONDS,
    report: Callable[[int, int], None] | None = None,
    quiet: Callable[[], object] = lambda: None,
) -> FirstUse | None:
    """Time calls of those microkernels of which none was timed on this machine before; None if there are no such.

    A microkernel is not timed where all constants of its formula are known of this family of processors. These have
    in them what calls in nests wait for; the calls that are timed here are made again and again, and do without.
    The calls take turns with some of all sizes, and with each further step those of before are timed once more. No step
    is begun that would last beyond ``seconds``, judged by the longest before it. What was timed is kept in
    ``directory`` (that of the machine's speeds) after each step, and an interrupted first use is gone on with by the
    next one. While another process is at it, this one waits, and takes over what that one has timed. None as well if
    nothing can be kept. ``report`` gets the steps done and all of them. Before them ``quiet`` is called, which returns
    once nothing else is at work, and processes that compute beside this one are waited for; that is none of the
    ``seconds``.
    """
    directory = directory or default_directory()
    tabulated = {(table.microkernel, table.element) for table in machine.throughputs}
    core = replace(machine, call_times=()).core
    calls = [call for call in calls if call.key not in tabulated and not _is_known(call.kernel, core)]
    versions = _versions(calls, machine.vector_bytes, toolchain)
    if not _left(by_key(machine.call_times), calls, versions):
        return None
    quiet()
    try:
        with alone(), locked(lock_path(directory, machine.cpu_id)), CallTimer() as timer:
            started = clock()
            known = by_key(read_call_times(directory, machine.cpu_id))
            left = _left(known, calls, versions)
            for key in left:
                if key not in known or known[key].versions != versions[key]:
                    known[key] = CallTimes(*key, machine.vector_elements(ELEMENTS[key[1]]), versions[key], False, ())
            kernels = {call.key: call.kernel for call in calls}
            others = [_spread(kernels[key], machine.vector_bytes, known[key]) for key in left]
            spread = _steps(others, _SPREAD_PER_STEP)
            steps = _steps(left.values(), _CALLS_PER_STEP)
            steps, further = _in_turns(steps, spread, len(left))
            count, longest = 0, 0.0
            for number, step in enumerate(steps):
                begun = clock()
                if number and begun - started + longest > seconds:
                    further = [*steps[number:], *further]
                    break
                times = time_calls(step, machine.vector_bytes, toolchain, measure or timer.time)
                key = step[0].key
                before = len(known[key].calls)
                known[key] = including(known[key], times)
                write_call_times(directory, machine.cpu_id, known.values())
                count += len(known[key].calls) - before
                longest = max(longest, clock() - begun)
                if report is not None:
                    report(number + 1, len(steps))
            with suppress(ExecutionError):
                for key, cycles in timer.again().items():
                    known[key] = including(known[key], _call_times(cycles))
            if left:
                timed_now = {key: replace(known[key], complete=True) for key in left}
                known |= _with_constants(timed_now, kernels, core)
                write_call_times(directory, machine.cpu_id, known.values())
    except OSError:
        return None
    names = tuple(dict.fromkeys(name for name, _ in left))
    machine = replace(machine, call_times=tuple(known.values()))
    return FirstUse(machine, names, count, clock() - started, toolchain, directory, tuple(further))


def lock_path(directory: Path, cpu_id: str) -> Path:
    """The file that a process locks while it times calls."""
    return call_times_path(directory, cpu_id).with_suffix(".lock")


def _fitted_groups(kernel: Microkernel, element: str) -> tuple[FormulaConstants, ...]:
    """The constants in a microkernel's formula that are fitted to times of calls with packed operands."""
    groups = uncalibrated(kernel).formula_constants
    return tuple(each for each in groups if each.group == 1 and not each.decide and each.elements == (element,) * 2)


def _is_known(kernel: Microkernel, core: Core) -> bool:
    """Whether all constants of its formula are better known than as what is usual of all processors."""
    names = [name for wanted in _fitted_groups(kernel, "float") for name in wanted.names]
    return bool(names) and all(core.source(name) != "generic" for name in names)


def _with_constants(
    times: Mapping[Key, CallTimes], kernels: Mapping[Key, Microkernel], core: Core
) -> dict[Key, CallTimes]:
    """The times with those constants of the microkernels' formulas that explain them, where these have such.

    ``core`` has the constants that hold without them. What a call takes comes first: other formulas have constants of
    that one as well.
    """
    found: dict[Key, CallTimes] = {}
    groups = {key: _fitted_groups(kernels[key], key[1]) for key in times}
    for key in sorted(times, key=lambda key: not any("call_cycles" in wanted.names for wanted in groups[key])):
        mine, plain = times[key], uncalibrated(kernels[key])
        cycles = {packed_shape(call, key[1]): call.cycles * core.peak_cycle for call in mine.calls}
        values: dict[str, float] = {}
        for wanted in groups[key]:
            values |= fitted_constants(plain.on(core), wanted, core, cycles, mine.vector_elements)
        fitted = constants(values, "measured")
        core = core.having(fitted)
        found[key] = replace(mine, constants=fitted)
    return found


def _spread(kernel: Microkernel, vector_bytes: int, known: CallTimes) -> list[PackedCall]:
    """Calls of all sizes of a microkernel and element type that are not known, in random order, the same each time."""
    sites = list(grid_sites(kernel, known.element, vector_bytes // ELEMENTS[known.element]))
    random.Random(_SEED).shuffle(sites)
    return [PackedCall(kernel, site) for site in sites if not _is_timed(site, known)]


def _is_timed(site: GemmSite, known: CallTimes) -> bool:
    """Whether the call with the site's full tile was timed, whatever its batch."""
    return any((call.m, call.n, call.k) == (site.m[0], site.n[0], site.k[0]) for call in known.calls)


def _in_turns(
    steps: Sequence[tuple[PackedCall, ...]], spread: Sequence[tuple[PackedCall, ...]], count: int
) -> tuple[list[tuple[PackedCall, ...]], list[tuple[PackedCall, ...]]]:
    """``count`` of the steps, as many of the spread ones, and so on, until the steps end and the least number of others
    does; and the spread ones that are left."""
    mixed: list[tuple[PackedCall, ...]] = []
    first, least = 0, _LEAST_SPREAD * count
    while first < max(len(steps), least):
        mixed += [*steps[first : first + count], *spread[first : first + count]]
        first += count
    return mixed, list(spread[first:])


def versions_of(kernel: Microkernel, element: str, vector_bytes: int, toolchain: Toolchain) -> str:
    """What times of a microkernel's calls depend on: its C, of which one program is looked at, the compiler, and how
    they are taken."""
    extent = 2 * vector_bytes // ELEMENTS[element]
    site = accepted(kernel, packed_site((element, element), (extent,) * 2, (8, 8), (64, 64), (1, 1), transposed=False))
    text = "" if site is None else program(kernel, [site], vector_bytes)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return " ".join(filter(None, (kernel.version(), digest, toolchain.name, _PROTOCOL)))


def _versions(calls: Iterable[PackedCall], vector_bytes: int, toolchain: Toolchain) -> dict[Key, str]:
    kernels = {call.key: call.kernel for call in calls}
    return {key: versions_of(kernel, key[1], vector_bytes, toolchain) for key, kernel in kernels.items()}


def by_key(times: Iterable[CallTimes]) -> dict[Key, CallTimes]:
    """Tables of calls by their microkernel and type of elements."""
    return {(each.microkernel, each.element): each for each in times}


def _left(
    known: Mapping[Key, CallTimes], calls: Iterable[PackedCall], versions: Mapping[Key, str]
) -> dict[Key, list[PackedCall]]:
    """The calls to time of each microkernel that is not known as a whole, without those that are."""
    left: dict[Key, list[PackedCall]] = {}
    for call in calls:
        times = known.get(call.key)
        mine = times if times is not None and times.versions == versions[call.key] else None
        if mine is None or not mine.complete:
            waiting = left.setdefault(call.key, [])
            if len(waiting) < _MOST_CALLS and (mine is None or not _is_timed(call.site, mine)):
                waiting.append(call)
    return left


def _steps(left: Iterable[Sequence[PackedCall]], count: int) -> list[tuple[PackedCall, ...]]:
    """What is timed at once: so many calls of one microkernel and element type, and of all of these in turn."""
    by_key = [[tuple(calls[first : first + count]) for first in range(0, len(calls), count)] for calls in left]
    return [step for turn in zip_longest(*by_key) for step in turn if step is not None]


def time_calls(
    step: Sequence[PackedCall], vector_bytes: int, toolchain: Toolchain, measure: Measure = timed
) -> list[CallTime]:
    """What calls of one microkernel and element type take; nothing if it can't be compiled or run.

    A search finds out about that as well, and says it.
    """
    try:
        cycles = measure(step[0].kernel, [call.site for call in step], vector_bytes, toolchain)
    except ExecutionError:
        return []
    return _call_times(cycles)


def _call_times(cycles: Mapping[GemmShape, float]) -> list[CallTime]:
    return [
        CallTime(shape.m, shape.columns, shape.k, shape.batch, shape.transposed, taken)
        for shape, taken in cycles.items()
    ]


def including(known: CallTimes, times: Iterable[CallTime]) -> CallTimes:
    """The times with further ones, and with better ones of the same calls."""
    by_call = {replace(each, cycles=0.0): each for each in (*known.calls, *times)}
    return replace(known, calls=tuple(by_call.values()))
