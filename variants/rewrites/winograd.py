"""Convolutions by fewer products: tiles of the image and the filters go to a space where they multiply point by point.

A tile of ``m`` pixels of the result takes ``m + r - 1`` products along an axis on which the filter has ``r`` taps, not
``m * r`` (``toom_cook``); with 4 by 4 pixels and 3 by 3 taps that is a quarter of the products. Three nests transform
the image, the filters and, back again, the sums; between them a matrix product for each point is left to a microkernel.
Factors are taken out of sums, which rounds in another way: where sums may not be reassociated, this may not be done.
That the products make up the convolution follows from ``toom_cook``, not from dependences, which isl is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polydl.errors import IllegalVariantError
from polydl.ir.construct import has_loops_alone
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import Winograd
from polydl.match.alignment import loops_alike
from polydl.match.convolution import convolution
from polydl.poly.counting import limited
from polydl.variants.rewrites.transform_domain import Transform, arranged, zeroing
from polydl.variants.rewrites.winograd_nests import WinogradNests
from polydl.vector_functions import called


@limited
def winograd(scop: Scop, step: Winograd) -> Scop:
    """The scop with the statement as products of points, and with the transforms around it.

    Nests come one after the other (``distributed``). A nest in front that sets all of the result to zero goes.
    Raises IllegalVariantError if the statement is no convolution along these axes.
    """
    statement = scop.statement(step.statement)
    conv = convolution(scop, statement)
    names = statement.iterators
    if conv is None or [each[:2] for each in step.axes] != [(names[p], names[t]) for p, t in conv.axes]:
        raise IllegalVariantError(f"{statement.name} is no convolution along {[each[:2] for each in step.axes]}")
    if not has_loops_alone(scop, statement):
        raise IllegalVariantError(f"{statement.name} does not have its loops to itself")
    columns = conv.columns
    if not 1 <= step.columns <= len(columns):
        raise IllegalVariantError(f"{step.columns} of {len(columns)} loops can't be joined")
    shared = [names.index(loop) for loop in step.shared if loop in names]
    over = columns[: -step.columns] if set(shared) & set(columns) else [x for x in conv.filters if x != conv.summed]
    if len(shared) != len(step.shared) or not set(shared) <= set(over):
        raise IllegalVariantError(f"{list(step.shared)} are not outer loops over the filters, nor over the image")
    dropped = zeroing(scop, statement, conv.form.c)
    after = _after(scop, statement, conv.form.c, step.after)
    sizes = [size for _, _, size in step.axes]
    nests = WinogradNests(
        scop, statement, conv, sizes, columns[-step.columns :], shared, adds=dropped is None, after=after
    )
    kept = [each for each in scop.statements if each is not dropped and each.name not in step.after]
    over_image, over_filters = len(nests.a.around), len(nests.b.around)
    ordered: list[tuple[Transform | Statement, int]] = [(nests.image, over_image), (nests.zeros, over_image)]
    ordered.insert(0 if over_image else 2, (nests.filters, over_filters))
    ordered += [(nests.product, len(shared)), (nests.result, over_image)]
    return arranged(scop, kept, statement, ordered, nests.arrays)


def _after(
    scop: Scop, statement: Statement, output: Access, names: Sequence[str]
) -> tuple[tuple[Statement, Mapping[int, tuple[int, int]]], ...]:
    """Element-wise statements by name, each with its loops by those of the other, and what these are behind.

    Raises IllegalVariantError for one that needs more than an element of the result and what nothing writes by then.
    """
    found = []
    for name in names:
        light = scop.statement(name)
        pairs = loops_alike(statement, light)
        if pairs is None or called([light]):
            raise IllegalVariantError(
                f"{name} does not go through all of what {statement.name} writes, and as it does, or calls functions"
            )
        memory = scop.array(output.array).memory
        own = light.writes[0].subscripts
        same = all(
            each.array == output.array and each.subscripts == own
            for each in light.accesses
            if scop.array(each.array).memory == memory
        )
        used = {scop.array(each.array).memory for each in light.accesses}
        between = [
            each
            for each in scop.statements
            if statement.betas[0] < each.betas[0] <= light.betas[0] and each.name not in names
        ]
        stale = any(scop.array(a.array).memory in used for each in between for a in each.writes)
        seen = any(scop.array(a.array).memory == memory for each in between for a in each.accesses)
        if not same or stale or seen or light.betas[0] <= statement.betas[0]:
            raise IllegalVariantError(f"{name} depends on more than the element of `{output.array}` that it writes")
        found.append((light, pairs))
    return tuple(found)
