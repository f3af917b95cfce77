"""A profile as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from polydl.machine.core import CONSTANTS, Source
from polydl.presentation import notation, tables

if TYPE_CHECKING:
    from polydl.calibration.first_use import FirstUse
    from polydl.machine.core import Core
    from polydl.machine.profile import Profile
    from polydl.machine.throughput import Throughput

_ROWS = (1, 8, 16, 17, 32, 48, 64, 96, 128)
_COLUMNS = (1, 2, 4, 6, 8, 12, 16, 28, 32, 64)
_STEPS = 256


def profile_text(profile: Profile, core: Core) -> str:
    """``core`` has the constants of this processor's cores, those among them that the profile has measured."""
    cores = profile.identity.cores
    levels = tables.table(
        "level", "walked", "latency", "loaded", "one core", "all cores",
        right=("walked", "latency", "loaded", "one core", "all cores"),
    )  # fmt: skip
    for level in profile.levels:
        levels.add_row(
            level.name,
            notation.size(level.working_set_bytes),
            notation.duration(level.latency_seconds),
            notation.duration(level.loaded_latency_seconds),
            f"{level.bandwidth_bytes_per_second / 1e9:.1f} GB/s",
            f"{level.total_bandwidth_bytes_per_second / 1e9:.1f} GB/s",
        )
    machine = f"Machine  {profile.identity.name} ({profile.identity.cpu_id}), measured {profile.measured}"
    peak = (
        f"FMA peak {profile.peak_gflops:.1f} GFLOPS of one core, {profile.total_peak_gflops:.1f} of "
        f"{notation.counted(cores, 'core')} at once (fp32; the median probe was {profile.spread:.0%} below the best)"
    )
    whole = profile.identity.cache_bytes[-1]
    shared = ""
    if 0 < profile.usable_bytes < whole:
        shared = (
            f"L{len(profile.identity.cache_bytes)}, which has {notation.size(whole)}, held "
            f"{notation.size(profile.usable_bytes)}: others share it"
        )
    head = [
        *notation.wrapped(machine, ""),
        *notation.wrapped(peak, "  "),
        *(notation.wrapped(shared, "  ") if shared else ()),
        "",
        tables.rendered(levels),
        "",
        core_text(core),
    ]
    return "\n".join([*head, *(_throughput_text(table) for table in profile.throughputs)])


def first_use_text(first: FirstUse) -> str:
    """A sentence."""
    what = "by another process meanwhile"
    if first.calls:
        names = ", ".join(first.microkernels)
        what = f"{notation.counted(first.calls, 'call')} of {names} in {first.seconds:.1f} s, kept for later"
    text = f"Calibrated  {what}; polydl calibrate does it with more care"
    return "\n".join(notation.wrapped(text, ""))


def core_text(core: Core) -> str:
    """Every constant of a core with its source, those that were measured first."""
    order = [*get_args(Source)]
    table = tables.table("constant of a core", "value", "source", right=("value",))
    for name in sorted(CONSTANTS, key=lambda constant: order.index(core.source(constant))):
        value = getattr(core, name)
        shown = " and ".join(map(str, value)) if isinstance(value, tuple) else f"{value:g}"
        table.add_row(name.replace("_", " "), shown, core.source(name))
    return tables.rendered(table)


def _throughput_text(table: Throughput) -> str:
    columns = [str(n) for n in _COLUMNS]
    shown = tables.table("m \\ n", *columns, right=columns)
    for m in _ROWS:
        shown.add_row(str(m), *(notation.percentage(table.efficiency(m, n, _STEPS)) for n in _COLUMNS))
    errors = (
        f"predicts {table.held_out} other shapes with a median error of {table.error:.1%} (its formula: "
        f"{table.formula_error:.1%}); transposed B takes {table.transposed:.2f} times as long"
    )
    return "\n".join(
        [
            "",
            f"{table.microkernel}  {table.element}, share of the FMA peak with k = {_STEPS}",
            "",
            tables.rendered(shown),
            "",
            *notation.wrapped(errors, "  "),
        ]
    )
