"""What pet says of a region while some integers of its function have no value: sets and maps with parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product as combinations
from pathlib import Path
from typing import Any

import islpy as isl

from polydl.frontend.passes import ReadingJob, clang_pass, pet_pass
from polydl.frontend.pet_library import find_pet_library
from polydl.frontend.source import read_source
from polydl.ir.scop import Scop
from polydl.system.files import temporary_directory

_TIMEOUT_SECONDS = 60.0
# Types that hold every subscript, so that a cast to them changes nothing.
_WIDE = ("int", "long", "long long", "size_t", "ptrdiff_t", "int64_t", "unsigned long", "unsigned long long")


#: A factor of a term: a size's name, or the position of an iterator.
Factor = str | int
#: A sum of products: the coefficient of each product of factors, which are in order, iterators first.
Polynomial = Mapping[tuple[Factor, ...], int]


@dataclass(frozen=True)
class OpenAccess:
    """What one reference of a statement touches."""

    array: str
    #: the subscripts, as a map from instances to elements; with a product of open sizes, also from that product
    index: str
    #: one for each subscript; None for one that isn't a polynomial of iterators and sizes
    subscripts: tuple[Polynomial | None, ...]


@dataclass(frozen=True)
class OpenStatement:
    """A statement in isl's syntax, under pet's name. Open sizes are parameters."""

    #: its instances, an isl set
    domain: str
    #: of the source, from 1
    line: int
    #: in the order of the statement's expression; values that are computed from iterators are none
    accesses: tuple[OpenAccess, ...]
    #: the statement's expression, as pet has it
    body: Mapping[str, Any]


def open_statements(scop: Scop, sizes: Collection[str]) -> tuple[OpenStatement, ...]:
    """The statements of a nest that was read with values for ``sizes``, in pet's order, without these values.

    Raises the errors of reading the file.
    """
    text = read_source(Path(scop.file)).decode("latin-1")
    with temporary_directory() as folder:
        job = ReadingJob(
            file=str(Path(scop.file).absolute()),
            name=scop.file,
            text=text,
            original=None,
            function=scop.function.name,
            defines={name: value for name, value in scop.defines if name not in sizes},
            include_directories=scop.include_directories,
            folder=folder,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
        facts = clang_pass(job)
        described = pet_pass(job, facts, find_pet_library(None))
    # What pet reads is longer or shorter: it has literals for known integers, and arrays for integers that hold data.
    lines = [text.count("\n", 0, facts.shown.origins[each["start"]]) + 1 for each in described["statements"]]
    data = {variable.shown: variable.name for variable in facts.variables if variable.carries_data}
    return tuple(
        OpenStatement(each["domain"], line, tuple(_accesses(each["body"], data)), each["body"])
        for each, line in zip(described["statements"], lines, strict=True)
        if not each["kill"] and each["body"] is not None and each["body"].get("text") != "assume"
    )


def _accesses(expression: Mapping[str, Any], data: Mapping[str, str]) -> Iterator[OpenAccess]:
    """The accesses of an expression. ``data`` has the integers that pet reads as arrays, by the names of these."""
    if expression["kind"] == "access":
        index = isl.MultiPwAff(expression["index"])
        array = index.get_tuple_name(isl.dim_type.out)
        if array in data:
            scalar = index.drop_dims(isl.dim_type.out, 0, index.dim(isl.dim_type.out))
            yield OpenAccess(data[array], str(scalar.set_tuple_name(isl.dim_type.out, data[array])), ())
        elif array is not None:
            subscripts = [
                _polynomial(index.get_pw_aff(place), expression["arguments"])
                for place in range(index.dim(isl.dim_type.out))
            ]
            yield OpenAccess(array, expression["index"], tuple(subscripts))
        return
    for argument in expression["arguments"]:
        yield from _accesses(argument, data)


def _polynomial(form: isl.PwAff, arguments: list[Mapping[str, Any]]) -> Polynomial | None:
    """An affine form whose last inputs are the values of ``arguments``, as pet writes what is not affine."""
    pieces = form.get_pieces()
    if len(pieces) != 1:
        return None
    aff = pieces[0][1]
    inputs = aff.dim(isl.dim_type.in_)
    total: Counter[tuple[Factor, ...]] = Counter()
    terms: list[tuple[isl.Val, Polynomial]] = [(aff.get_constant_val(), {(): 1})]
    for place in range(aff.dim(isl.dim_type.param)):
        name = str(aff.get_dim_name(isl.dim_type.param, place))
        terms.append((aff.get_coefficient_val(isl.dim_type.param, place), {(name,): 1}))
    for place in range(inputs):
        argument = place - (inputs - len(arguments))
        value: Polynomial | None = {(place,): 1} if argument < 0 else _value(arguments[argument])
        coefficient = aff.get_coefficient_val(isl.dim_type.in_, place)
        if value is None and not coefficient.is_zero():
            return None
        terms.append((coefficient, value or {}))
    if aff.dim(isl.dim_type.div) or not all(coefficient.is_int() for coefficient, _ in terms):
        return None
    for coefficient, term in terms:
        for factors, number in term.items():
            total[factors] += coefficient.to_python() * number
    return {factors: number for factors, number in total.items() if number}


def _value(expression: Mapping[str, Any]) -> Polynomial | None:
    """An integer expression in a subscript, if it is made of sums and products of iterators and sizes."""
    if expression["kind"] == "int":
        return {(): int(expression["text"])}
    if expression["kind"] == "access":
        if not expression["affine"]:
            return None
        return _polynomial(isl.MultiPwAff(expression["index"]).get_pw_aff(0), expression["arguments"])
    if expression["kind"] == "cast" and expression["text"] in _WIDE:
        return _value(expression["arguments"][0])
    if expression["kind"] != "op" or expression["text"] not in ("+", "-", "*") or len(expression["arguments"]) != 2:
        return None
    left, right = map(_value, expression["arguments"])
    if left is None or right is None:
        return None
    total: Counter[tuple[Factor, ...]] = Counter()
    if expression["text"] == "*":
        for (first, one), (second, other) in combinations(left.items(), right.items()):
            total[tuple(sorted((*first, *second), key=_in_order))] += one * other
    else:
        sign = 1 if expression["text"] == "+" else -1
        for value, factor in ((left, 1), (right, sign)):
            for factors, number in value.items():
                total[factors] += factor * number
    return {factors: number for factors, number in total.items() if number}


def _in_order(factor: Factor) -> tuple[bool, str]:
    return isinstance(factor, str), str(factor)
