"""Mixed precision: images that stay floats in a model of bfloat16s, where convolutions that read them are faster then.

Convolutions of floats may be computed from fewer products (``winograd``), those of bfloat16s have twice as many numbers
in a vector. Which is faster depends on the sizes and on what else the caches hold in a call of the model. So both
models are run, with floats wherever they might be of use and with none, and each operator is timed within its model.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from polydl.errors import ResourceError
from polydl.ir.numerics import keeps_products
from polydl.machine import Machine
from polydl.models.convolution import Convolution
from polydl.models.elementwise import ElementWise
from polydl.models.graph import Graph, Operator
from polydl.models.kernels import OperatorKernel, OperatorNest
from polydl.models.loaded import LoadedModel
from polydl.models.optimized_kernels import KnownKernels
from polydl.models.pooling import Pooling
from polydl.models.program import Lowered, lower, write_program
from polydl.models.verdicts import digest_of, find, keep
from polydl.system.files import temporary_directory

# Instructions that multiply sixteen times as many bfloat16s as floats: more than any transform saves.
_TILES_OF_BFLOAT16S = "amx_bf16"
# Of the time of the operators that read or write a group of values: less than what one run differs from the next.
_LEAST_SAVED = 0.03
# Of images and filters: with fewer, a product at each point is too small to pay for the transforms.
_FEWEST_CHANNELS = 16
# Models take turns, so that what else the machine does comes to all of them.
_ROUNDS, _CALLS_IN_TURN = 7, 3


class FloatsVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the runs of a model came to."""

    #: names of the values that are floats
    floats: list[str]


def in_mixed_precision(graph: Graph, kernels: KnownKernels) -> Graph:
    """The graph with those images as floats that make it faster, measured once for all models with the same kernels.

    Nothing changes in a graph of floats, where fewer products are not asked for or not admitted by the numerics level,
    and on processors that multiply bfloat16s in tiles. Raises ResourceError and ExecutionError as optimizing and
    compiling a model do.
    """
    groups = groups_of_values(graph)
    admitted = kernels.options.fewer_products and not keeps_products(kernels.options.numerics)
    if not groups or not admitted or _TILES_OF_BFLOAT16S in kernels.machine.isa:
        return graph
    ways = [lower(graph), lower(replace(graph, floats=frozenset().union(*groups)))]
    known = kernels.of([nest for way in ways for nest in way.nests])
    directory = kernels.options.directory
    digest = None if directory is None else _question(ways, known, kernels.machine)
    if directory is None or digest is None:
        return _fastest(ways, groups, kernels)
    verdict = find(directory, digest, FloatsVerdict)
    if verdict is not None:
        return replace(graph, floats=frozenset(verdict.floats))
    chosen = _fastest(ways, groups, kernels)
    try:
        keep(directory, digest, FloatsVerdict(sorted(chosen.floats)))
    except ResourceError as error:
        warnings.warn(f"the next time measures again which values are floats: {error}", stacklevel=3)
    return chosen


def _question(ways: Sequence[Lowered], kernels: Mapping[OperatorNest, OperatorKernel], machine: Machine) -> str | None:
    """The digest of what a verdict depends on; None where it can't be listed."""
    content = [
        [operator.output, *operator.inputs, kernels[nest].digest]
        for way in ways
        for operator, nest in zip(way.graph.operators, way.nests, strict=True)
    ]
    return digest_of(content, machine, {"mixed precision": True})


# --------------------------------------------------------------------------------------
# Values that may be floats


def groups_of_values(graph: Graph) -> list[frozenset[str]]:
    """Images of bfloat16s that might better be floats, those together of which operators make one another.

    They are read by convolutions that may be computed from fewer products, and by poolings and element-wise operators
    whose results are such values.
    """
    if graph.value_type == "float":
        return []
    outside = {graph.stored(value) for value in (*graph.inputs, *graph.outputs)}
    groups: dict[str, frozenset[str]] = {}
    for operator in reversed(graph.operators):
        value = operator.output
        readers = [each for each in graph.operators if value in each.inputs]
        if value not in graph.images or value in outside or not readers:
            continue
        passing = {each.output for each in readers if _passes(each, value, groups)}
        if all(each.output in passing or _may_have_fewer_products(each, value) for each in readers):
            together = frozenset({value}).union(*(groups[each] for each in passing))
            groups |= dict.fromkeys(together, together)
    return list(dict.fromkeys(groups.values()))


def _may_have_fewer_products(operator: Operator, value: str) -> bool:
    """Whether an operator is a convolution of a value whose windows overlap: tiles share what is read for them."""
    kind = operator.kind
    if not isinstance(kind, Convolution) or kind.groups > 1 or operator.inputs.count(value) != 1:
        return False
    overlapping = max(kind.kernel) > 1 and kind.stride == kind.dilation == (1, 1)
    many = min(kind.channels, kind.filters) >= _FEWEST_CHANNELS
    return overlapping and many and operator.inputs[0] == value


def _passes(operator: Operator, value: str, groups: Mapping[str, frozenset[str]]) -> bool:
    """Whether an operator on a value alone makes another value that may be floats."""
    alone = isinstance(operator.kind, ElementWise | Pooling) and operator.inputs == (value,)
    return alone and operator.output in groups


# --------------------------------------------------------------------------------------
# Measuring


def _fastest(ways: Sequence[Lowered], groups: Sequence[frozenset[str]], kernels: KnownKernels) -> Graph:
    """The graph of the first way with those groups as floats that save time in the second, where all are."""
    narrow, wide = ways
    narrow_seconds, wide_seconds = _operator_seconds(ways, kernels)
    chosen: frozenset[str] = frozenset()
    for group in groups:
        around = _around(narrow.graph.operators, group, groups)
        saved = sum(narrow_seconds[place] - wide_seconds[place] for place in around)
        if saved > _LEAST_SAVED * sum(narrow_seconds[place] for place in around):
            chosen |= group
    if not chosen:
        return narrow.graph
    mixed = wide
    if chosen != wide.graph.floats:
        mixed = lower(replace(narrow.graph, floats=chosen))
        narrow_seconds, wide_seconds = _operator_seconds([narrow, mixed], kernels)
    return mixed.graph if sum(wide_seconds) < sum(narrow_seconds) else narrow.graph


def _around(operators: Sequence[Operator], group: frozenset[str], groups: Sequence[frozenset[str]]) -> list[int]:
    """The places of the operators whose times depend on whether a group is floats.

    An operator that reads a value of one group and writes one of another depends on what it reads.
    """
    others = frozenset().union(*groups) - group
    places = []
    for place, operator in enumerate(operators):
        reads, writes = not group.isdisjoint(operator.inputs), operator.output in group
        if reads or (writes and others.isdisjoint(operator.inputs)):
            places.append(place)
    return places


def _operator_seconds(ways: Sequence[Lowered], kernels: KnownKernels) -> list[tuple[float, ...]]:
    """The median time of each operator within each model, on the same random inputs."""
    known = kernels.of([nest for way in ways for nest in way.nests])
    generator = np.random.default_rng(0)
    graph = ways[0].graph
    inputs = [generator.standard_normal(graph.shapes[value], np.float32) for value in graph.inputs]
    models = []
    for way in ways:
        with temporary_directory() as folder:
            write_program(way, known, folder, threads=kernels.machine.threads)
            models.append(LoadedModel(folder))
    rounds = [[each.operator_seconds(*inputs, calls=_CALLS_IN_TURN) for each in models] for _ in range(_ROUNDS)]
    return [tuple(map(float, np.median([turn[number] for turn in rounds], 0))) for number in range(len(models))]
