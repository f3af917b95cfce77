"""The extents of a library's arrays as C of its sizes, for callers who pass tensors."""

from __future__ import annotations

from polydl.codegen.tvm_ffi import OpenShapes, Told
from polydl.ir.affine import Affine
from polydl.libraries import extents as sums
from polydl.libraries.linear import OPEN
from polydl.libraries.symbolic import SymbolicNest


def open_shapes(nest: SymbolicNest) -> OpenShapes | None:
    """What callers of any sizes are asked for; None where C can't say how far an array reaches."""
    parameters = nest.source.function.parameters
    views = {view.view_of: view.name for view in nest.views}
    extents, elements = {}, {}
    for parameter in parameters:
        name = views.get(parameter.array, parameter.array)
        shape = nest.extents.get(name)
        if shape is None:
            continue
        if parameter.array not in views and OPEN not in shape:
            extents[parameter.array] = tuple(f"({extent})" for extent in shape)
            elements[parameter.array] = " * ".join(f"(long long)({extent})" for extent in shape)
            continue
        needed = _needed(nest, name)
        if needed is None:
            return None
        elements[parameter.array] = needed
    return OpenShapes({size: _told(nest, size) for size in nest.sizes}, extents, elements)


def _told(nest: SymbolicNest, size: str) -> Told | None:
    """The first extent that a size, and no other one, can be computed from; the size itself, if there is one."""
    able = []
    for place, parameter in enumerate(nest.source.function.parameters):
        shape = nest.extents.get(parameter.array, ())
        for dimension, extent in enumerate(() if OPEN in shape else shape):
            terms = sums.parsed(extent, dict.fromkeys(nest.sizes)) or {}
            names = [name for name, factor in terms.items() if name and factor]
            if names == [size]:
                able.append(Told(place, len(shape), dimension, terms[size], terms.get("", 0)))
    return min(able, key=lambda told: told.factor != 1 or told.more != 0, default=None)


def _needed(nest: SymbolicNest, array: str) -> str | None:
    """C of the elements from the first one to the last that is touched; None where that is no sum of sizes."""
    inner = [f"(long long)({extent})" for extent in nest.extents[array][1:]]
    reached = []
    for statement in nest.scop.statements:
        for access in statement.accesses:
            if access.array != array:
                continue
            trips = nest.trips.get(statement.name)
            if trips is None or access.subscripts is None:
                return None
            last = [_last(form, trips) for form in access.subscripts]
            reached.append(" + ".join(" * ".join([f"({place})", *inner[number:]]) for number, place in enumerate(last)))
    places = sorted(set(reached))
    most = places[0]
    for other in places[1:]:
        most = f"({most}) > ({other}) ? ({most}) : ({other})"
    return f"({most}) + 1"


def _last(form: Affine, trips: tuple[str, ...]) -> str:
    """C of the greatest value of a subscript."""
    terms = [
        f"{factor} * ((long long)({trip}) - 1)"
        for factor, trip in zip(form.coefficients, trips, strict=True)
        if factor > 0
    ]
    return " + ".join([*terms, str(form.constant)])
