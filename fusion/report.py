"""What of a scop can be fused and what can't, pair by pair, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from polydl.fusion.algorithm_3 import decisions
from polydl.fusion.operators import Operator, operators
from polydl.fusion.sequences import FusionSearch
from polydl.ir.scop import Scop
from polydl.poly.dependences import Dependence
from polydl.poly.dependences import dependences as all_dependences
from polydl.poly.nests import Nest, distribute, distributed
from polydl.variants.rewrites.fuse import Fuse


@dataclass(frozen=True)
class OperatorPair:
    """Two nests, and whether they can be fused."""

    #: the nests by their lines
    operators: tuple[str, str]
    #: how they would be fused: ``element-wise`` into a nest's tiles, or by sharing ``loops``
    way: str
    #: whether they can
    legal: bool
    #: why they can, or can't
    reason: str


def pairs(
    scop: Scop, nests: Sequence[Nest], dependences: Sequence[Dependence], *, threads: int, reassociate: bool = True
) -> tuple[OperatorPair, ...]:
    """Algorithm 3 for the pairs that it is asked about; where it refuses, whether whole loops can be shared."""
    known = operators(scop, nests)
    made, _ = decisions(scop, nests, dependences)
    result = []
    asked = {}
    for each in made:
        places = (known[each.first].place, known[each.second].place)
        asked[each.first, each.second] = each.legal
        result.append(OperatorPair(places, "element-wise", each.legal, each.reason))
    base = distributed(scop, nests)
    if base is None:
        return tuple(result)
    own = all_dependences(base)
    search = FusionSearch(base, distribute(base, own), own, threads, reassociate)
    for pair in combinations(range(len(nests)), 2):
        if asked.get(pair) or not search.related(pair):
            continue
        steps = search.fusions(pair)
        places = (known[pair[0]].place, known[pair[1]].place)
        reason = _shared(steps[0]) if steps else _apart(search, known, pair)
        result.append(OperatorPair(places, "loops", bool(steps), reason))
    return tuple(result)


def _shared(step: Fuse) -> str:
    names = " ".join(step.orders[0][: step.shared])
    inside = "in one body" if len(set(step.bodies)) == 1 else "one after the other inside"
    sums = f"; threads add up {', '.join(f'`{name}`' for name in step.combined)}" if step.combined else ""
    loops = "loop" if step.shared == 1 else "loops"
    return f"share the {loops} {names}, {inside}{sums}"


def _apart(search: FusionSearch, known: Sequence[Operator], pair: tuple[int, ...]) -> str:
    common = search.common_loops(pair)
    if not common:
        return "no loop of the one walks through the same elements as a loop of the other"
    first, second = known[pair[0]], known[pair[1]]
    names = set(first.nest.statements), set(second.nest.statements)
    for middle in known[pair[0] + 1 : pair[1]]:
        own = set(middle.nest.statements)
        needs = any(d.source in names[0] and d.target in own for d in search.dependences)
        needed = any(d.source in own and d.target in names[1] for d in search.dependences)
        if needs and needed:
            return f"{middle.place} must run after {first.place} and before {second.place}"
    carried = [d for d in search.dependences if d.source in names[0] and d.target in names[1]]
    arrays = " and ".join(dict.fromkeys(f"`{d.array}`" for d in carried)) or "what runs in between"
    return f"{second.place} needs all of {arrays} from {first.place}, or changes it, before its first iteration is over"
