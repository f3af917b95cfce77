"""In words: why one variant is placed before another."""

from __future__ import annotations

from polydl.contracts import Candidate
from polydl.ir.kernel import MicrokernelUse
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.model.times import nest_times
from polydl.ranking.cold_constants import reading_seconds
from polydl.ranking.ordering import idle_share, in_units

# Parts of the time that differ by less than this part of the whole aren't worth a word.
_NOTABLE = 0.005


def explain(first: Candidate, second: Candidate, machine: Machine, *, cold_constants: bool = False) -> tuple[str, ...]:
    """Sentences on what the first does otherwise than the second, and what the cost model expects of it.

    The largest difference in time comes first. With ``cold_constants``, the time of reading them from memory is a part
    of it. Other rankers may have other reasons: then a sentence says that the
    cost model sees it the other way round.
    """
    lines = [*_structure(first, second)]
    parts = _parts(first, second, machine)
    one, other = (_total(each, machine) for each in (first, second))
    if cold_constants:
        reading, others_reading = (reading_seconds(each, machine) for each in (first, second))
        parts.append(("reading constants from memory", reading, others_reading))
        one, other = one + reading, other + others_reading
    notable = [part for part in parts if abs(part[1] - part[2]) > _NOTABLE * max(one, other)]
    hidden = _hidden(first, second, machine)
    for name, own, others in sorted(notable, key=lambda part: -abs(part[1] - part[2])):
        better = "less" if own < others else "more"
        behind = ", hidden behind arithmetic in both" if name == hidden else ""
        times = f"{_milliseconds(own)} instead of {_milliseconds(others)}"
        lines.append(f"It spends {better} time on {name}: {times}{behind}.")
    lines += _reuse(first, second, machine)
    if not notable:
        lines.append(
            f"The cost model sees hardly a difference: {_milliseconds(one)} and {_milliseconds(other)} are predicted."
        )
    elif one <= other:
        lines.append(f"In total {_milliseconds(one)} are predicted instead of {_milliseconds(other)}.")
    else:
        lines.append(
            f"The cost model alone would prefer the second ({_milliseconds(other)} against {_milliseconds(one)} "
            "predicted): the ranker has learned otherwise from measurements."
        )
    return tuple(lines)


def _total(candidate: Candidate, machine: Machine) -> float:
    return sum(time.total for time in nest_times(candidate, machine))


def _hidden(first: Candidate, second: Candidate, machine: Machine) -> str:
    """The name of what both move into the first cache, if arithmetic takes longer everywhere."""
    times = (*nest_times(first, machine), *nest_times(second, machine))
    return _moved(machine, 0) if all(time.arithmetic >= time.transfers[0] for time in times) else ""


def _moved(machine: Machine, level: int) -> str:
    return f"what moves into {machine.caches[level].name}"


def _parts(first: Candidate, second: Candidate, machine: Machine) -> list[tuple[str, float, float]]:
    """What the predicted time is made of, for both."""
    one, other = nest_times(first, machine), nest_times(second, machine)
    found = [("computing", sum(t.arithmetic for t in one), sum(t.arithmetic for t in other))]
    for place in range(len(machine.caches)):
        found.append(
            (_moved(machine, place), sum(t.transfers[place] for t in one), sum(t.transfers[place] for t in other))
        )
    found.append(("starting threads", sum(t.starting for t in one), sum(t.starting for t in other)))
    return found


def _structure(first: Candidate, second: Candidate) -> list[str]:
    lines = []
    one, other = ({use.nest: use for use in each.microkernels} for each in (first, second))
    for nest, use in one.items():
        if nest in other and _shape(use) != _shape(other[nest]):
            lines.append(f"Its microkernel computes {_shape(use)} in a call, and the other's {_shape(other[nest])}.")
    own, others = _orders(first.variant), _orders(second.variant)
    if own != others:
        lines.append(f"It runs its loops {own}; the second {others}.")
    own, others = _tiles(first.variant), _tiles(second.variant)
    if own != others:
        lines.append(f"It cuts {own or 'nothing'}; the second {others or 'nothing'}.")
    if first.variant.scop_steps != second.variant.scop_steps:
        own, others = _rewrites(first.variant), _rewrites(second.variant)
        lines.append(f"Its nest was rewritten: {own or 'not at all'}; the second's: {others or 'not at all'}.")
    return lines


def _shape(use: MicrokernelUse) -> str:
    batch = f", {use.batch} at once" if use.batch > 1 else ""
    rows = f", in {use.rows} rows" if use.rows > 1 else ""
    return f"{use.m} by {use.n} by {use.k}{rows}{batch}"


def _rewrites(variant: Variant) -> str:
    """Each rewrite by its kind and all that it was given."""
    found = []
    for step in variant.scop_steps:
        given = (" ".join(str(part) for part in (v if isinstance(v, tuple) else (v,))) for v in vars(step).values())
        found.append(f"{step.json_name.replace('_', ' ')} {' '.join(given)}")
    return ", ".join(found)


def _orders(variant: Variant) -> str:
    given = [nest.order for nest in variant.nests.values() if nest.order is not None]
    orders = [" > ".join(order) or "all in the microkernel" for order in given]
    return "; ".join(orders) or "as in the source"


def _tiles(variant: Variant) -> str:
    tiles = [tile for nest in variant.nests.values() for tile in nest.tiles]
    return ", ".join(f"{tile.loop} into {' and '.join(str(size) for size in tile.sizes)}" for tile in tiles)


def _reuse(first: Candidate, second: Candidate, machine: Machine) -> list[str]:
    lines = []
    for place, level in enumerate(machine.caches):
        own, others = first.working_sets.levels[place], second.working_sets.levels[place]
        if max(own, others) > 2 * min(own, others) and max(own, others) > 0.05 * level.bytes:
            lines.append(f"{in_units(own)} of its reuse is held by {level.name}, of the second's {in_units(others)}.")
    idle_one, idle_other = idle_share(first, machine), idle_share(second, machine)
    if abs(idle_one - idle_other) > 0.01:
        lines.append(f"Its threads wait {idle_one:.0%} of the time for the busiest one, the second's {idle_other:.0%}.")
    return lines


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
