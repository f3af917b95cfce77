"""The decisions of nests against brute force over all forms, parallel loops and ways of innermost loops."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import machine_with
from marks import parametrized
from nest_factory import Work, make_scop

from polydl import pipeline
from polydl.ir.statement import AccessKind
from polydl.variants.choice import Choice, runs
from polydl.variants.decisions import Partial, complete, count, enumerate_all
from polydl.variants.forms import Forms
from polydl.variants.generation import generate, variant_of
from polydl.variants.nest_facts import fixed_and_free
from polydl.variants.nest_rules import CACHE_TILED_LOOPS
from polydl.variants.parallel_loops import ThreadedLoop, parallel_choices
from polydl.variants.space import NestSpace

PRODUCT = (
    "float C[24][16], const float A[24][20], const float B[20][16]",
    """
  for (int i = 0; i < 24; i++) for (int j = 0; j < 16; j++) for (int k = 0; k < 20; k++)
    C[i][j] += A[i][k] * B[k][j];""",
)
ROW_OF_SUMS = (
    "float s[24], const float A[24][160]",
    """
  for (int i = 0; i < 24; i++) for (int j = 0; j < 160; j++) s[i] += A[i][j];""",
)
SUM = (
    "float s[1], const float A[40][12]",
    """
  for (int i = 0; i < 40; i++) for (int j = 0; j < 12; j++) s[0] += A[i][j];""",
)
STENCIL = (
    "float A[30][40]",
    """
  for (int t = 0; t < 6; t++) for (int i = 1; i < 29; i++) for (int j = 1; j < 39; j++)
    A[i][j] = 0.2f * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);""",
)
SKEWED = (
    "float A[30][20][9]",
    """
  for (int t = 1; t < 30; t++) for (int i = 0; i < 19; i++) for (int c = 0; c < 9; c++)
    A[t][i][c] = A[t - 1][i + 1][c] * 2;""",
)
TRIANGLE = (
    "float L[40][40], float x[40]",
    """
  for (int i = 0; i < 40; i++) for (int j = 0; j < i; j++) x[i] += L[i][j];""",
)
TRANSPOSED = (
    "float y[20][24][1], const float x[24][20]",
    """
  for (int i = 0; i < 20; i++) for (int j = 0; j < 24; j++) for (int c = 0; c < 1; c++)
    y[i][j][c] = x[j][i];""",
)
IN_PLACE = (
    "float y[20][24], const float x[24][20]",
    """
  for (int i = 0; i < 20; i++) for (int j = 0; j < 24; j++) y[i][j] = y[i][j] + x[j][i];""",
)
LARGE = (
    "float y[640][256], const float x[256][640]",
    """
  for (int i = 0; i < 640; i++) for (int j = 0; j < 256; j++) y[i][j] = x[j][i];""",
)
RECURRENCE = (
    "float A[20][24], const float B[20][24]",
    """
  for (int i = 0; i < 20; i++) for (int j = 1; j < 24; j++) A[i][j] = B[i][j] + 0.5f * A[i][j - 1];""",
)
AGAINST_ROWS = (
    "float A[24][24]",
    """
  for (int j = 1; j < 22; j++) for (int i = 0; i < 20; i++) A[i][j] = 0.5f * A[i + 1][j - 1] + A[i][j];""",
)
NESTS = {
    "product": (PRODUCT, 1, "c"),
    "product on two threads": (PRODUCT, 2, "c"),
    "plain product": (PRODUCT, 2, "none"),
    "row of sums": (ROW_OF_SUMS, 2, "none"),
    "sum": (SUM, 2, "none"),
    "stencil": (STENCIL, 2, "none"),
    "skewed": (SKEWED, 2, "none"),
    "triangle": (TRIANGLE, 2, "none"),
    "transposed": (TRANSPOSED, 2, "none"),
    "in place": (IN_PLACE, 1, "none"),
    "past the caches": (LARGE, 2, "none"),
    "recurrence": (RECURRENCE, 2, "none"),
    "against rows": (AGAINST_ROWS, 2, "none"),
}


@cache
def nest_of(name: str) -> NestSpace:
    (arrays, loops), threads, microkernel = NESTS[name]
    with TemporaryDirectory() as folder:
        path = Path(folder, "nest.c")
        path.write_text(f"void f({arrays})\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")
        scop = pipeline.parse(path)
    space = pipeline.space_on(scop, machine_with(threads, 64), microkernel=microkernel)
    nest = space.spaces[-1]
    # Few shapes, so that all choices can be looked at.
    return replace(nest, shapes=nest.shapes[:6])


def forms(nest: NestSpace) -> Iterator[tuple[Choice, bool]]:
    """Every shape, choice of tiles and order of generated loops, without its parallel loop, and whether it is legal."""
    for shape in nest.shapes:
        sizes = nest.tile_sizes(shape)
        for number in range(CACHE_TILED_LOOPS + 1):
            for loops in combinations(sizes, number):
                for chosen in product(*(sizes[loop] for loop in loops)):
                    tiles = tuple(zip(loops, chosen, strict=True))
                    once, free = fixed_and_free(nest.loop_trips(shape, dict(tiles)))
                    for order in permutations(free):
                        if _allowed(nest, order):
                            complete = (*once, *order)
                            yield Choice(shape, tiles, complete, None), nest.legal_order(shape, complete)


def _allowed(nest: NestSpace, order: tuple[str, ...]) -> bool:
    levels = [[name for name in (f"{loop}_t2", f"{loop}_t1", loop) if name in order] for loop in nest.nest.loops]
    if any([name for name in order if name in own] != own for own in levels):
        return False
    if not nest.plain or not order:
        return True
    return order == nest.straight if nest.straight is not None else order[-1] in nest.innermost


@cache
def brute_force(name: str) -> tuple[Choice, ...]:
    nest = nest_of(name)
    return tuple(
        choice
        for form, is_legal in forms(nest)
        if is_legal
        for on in parallel_choices(nest, form.shape, form.tiles, form.order)
        for choice in runs(nest, replace(form, parallel=on)).values()
    )


def values_of(name: str) -> list[dict[str, Any]]:
    return [nest_of(name).model.values(choice) for choice in brute_force(name)]


def row(values: dict[str, Any]) -> frozenset[tuple[str, Any]]:
    return frozenset(values.items())


@parametrized("name", NESTS, quick=6)
def test_all_choices_are_those_of_brute_force_in_the_same_order(name: str) -> None:
    nest = nest_of(name)
    expected = brute_force(name)
    assert expected
    assert nest.choices == expected
    assert nest.root is not None
    left = [is_legal for choice, is_legal in forms(nest) if _leaves(nest.root, _form_values(nest, choice))]
    assert nest.size() == len(left)
    assert nest.illegal() == left.count(False)
    if len(expected) < 1500:
        assert count(nest.root) == len({row(values) for values in values_of(name)})


@parametrized("name", NESTS, quick=6)
def test_a_nest_holds_its_choices_and_no_other_default(name: str) -> None:
    nest = nest_of(name)
    choices = set(brute_force(name))
    assert all(nest.holds(choice) for choice in random.Random(1).sample(brute_force(name), min(100, len(choices))))
    for choice in (way for default in nest.defaults(8) for way in nest.variations(default)):
        assert nest.holds(choice) == (choice in choices)


def _form_values(nest: NestSpace, form: Choice) -> dict[str, Any]:
    return nest.model.form_values(nest.shapes.index(form.shape), form.tiles, form.order)


def _leaves(candidate: Partial, values: dict[str, Any]) -> bool:
    return all(value in candidate.values(name) for name, value in values.items())


@pytest.mark.parametrize("name", NESTS)
def test_the_forms_of_any_candidate_are_counted_and_drawn_as_brute_force_does(name: str) -> None:
    nest = nest_of(name)
    every = [_form_values(nest, form) for form, _ in forms(nest)]
    generator = random.Random(4)
    for _ in range(8):
        partial = nest.root
        for decision in generator.sample(nest.model.form_scope, min(3, len(nest.model.form_scope))):
            assert partial is not None
            partial = partial.take(decision, generator.choice(partial.values(decision))) or partial
        assert partial is not None
        own = Forms(nest.model, partial)
        left = {row(values) for values in every if _leaves(partial, values)}
        assert own.count == len(left)
        drawn = Counter(row(own.draw_evenly(generator)) for _ in range(20 * len(left) if len(left) < 40 else 20))
        assert set(drawn) <= left
        if len(left) < 40:
            assert set(drawn) == left


@pytest.mark.parametrize("name", NESTS)
def test_choices_keep_all_constraints_and_come_back_from_their_values(name: str) -> None:
    nest = nest_of(name)
    for choice in random.Random(0).sample(brute_force(name), min(300, len(brute_force(name)))):
        values = nest.model.values(choice)
        assert nest.decisions.check(values) == ()
        assert nest.steps(nest.model.choice(values)) == nest.steps(choice)


@pytest.mark.parametrize("name", NESTS)
def test_decisions_in_any_order_lead_to_every_choice_and_lose_none(name: str) -> None:
    nest = nest_of(name)
    everything = values_of(name)
    generator = random.Random(1)
    for _ in range(12):
        left, partial = everything, nest.root
        for decision in generator.sample(nest.decisions.names, len(nest.decisions.names)):
            assert partial is not None
            possible = {values[decision] for values in left}
            assert possible <= set(partial.values(decision)), f"{decision} lost a value that a legal choice has"
            value = generator.choice(sorted(possible, key=str))
            partial = partial.take(decision, value)
            left = [values for values in left if values[decision] == value]
            assert partial is not None
            if len(left) < 40 and len(partial.undecided) > 1:
                assert {row(values) for values in enumerate_all(partial)} == {row(values) for values in left}
        assert partial is not None
        assert partial.decided in left


@pytest.mark.parametrize("name", NESTS)
def test_a_value_that_is_left_when_all_but_it_is_decided_is_legal(name: str) -> None:
    nest = nest_of(name)
    known = {row(values) for values in values_of(name)}
    assert known
    generator = random.Random(2)
    for values in generator.sample(values_of(name), min(20, len(known))):
        last = generator.choice(nest.decisions.names)
        partial: Partial | None = nest.root
        for decision, value in values.items():
            if decision != last and partial is not None:
                partial = partial.take(decision, value)
        assert partial is not None
        assert {row({**values, last: value}) for value in partial.values(last)} <= known


@pytest.mark.parametrize("name", NESTS)
def test_what_is_drawn_is_legal_and_reaches_all_kinds(name: str) -> None:
    nest = nest_of(name)
    generator = random.Random(3)
    drawn = [choice for _ in range(400) if (choice := nest.sample(generator)) is not None]
    assert set(drawn) <= set(brute_force(name))
    assert {choice.shape for choice in drawn} == {choice.shape for choice in brute_force(name)}
    assert {choice.parallel is None for choice in drawn} == {c.parallel is None for c in brute_force(name)}


@pytest.mark.parametrize("name", NESTS)
def test_the_default_keeps_the_source_order_where_it_may(name: str) -> None:
    nest = nest_of(name)
    values = complete(nest.root)
    assert values is not None
    assert values["shape"] == 0
    assert all(not values[f"tile {loop}"] for loop in nest.model.tiled)
    default = nest.default(nest.shapes[0])
    if default in brute_force(name):
        assert nest.model.choice(values).order == default.order


def test_an_order_of_dependent_loops_follows_from_another() -> None:
    nest = nest_of("skewed")
    partial = nest.root
    assert partial is not None
    # t carries the dependence, so that it lies outside of i, which runs against it, and of i's tiles.
    assert partial.values("t outside i") == ("outside",)
    assert partial.values("tiles of i outside t") == ("inside", "apart")
    # Accesses are contiguous along c.
    assert partial.values("i outside c") == ("outside",)
    assert partial.values("t outside c") == ("outside",)


def test_what_lies_outside_of_the_outer_loop_lies_outside_of_the_inner_one() -> None:
    partial = nest_of("plain product").root
    assert partial is not None
    assert partial.values("tiles of i outside i") == ("outside", "apart")
    assert partial.values("i outside k") == ("outside", "inside")
    tiled = partial.take("tiles of i outside k", "inside")
    assert tiled is not None
    assert 0 not in tiled.values("tile i")
    assert tiled.values("tiles of i outside i") == ("outside",)
    assert tiled.values("i outside k") == ("inside",)
    whole = partial.take("tile i", 0)
    assert whole is not None
    assert whole.values("tiles of i outside k") == ("apart",)


def test_what_breaks_is_said_in_words() -> None:
    nest = nest_of("skewed")
    values = complete(nest.root)
    assert values is not None
    wrong = {**values, "t outside i": "inside", "i outside c": "outside"}
    assert "the order i t c breaks a dependence" in nest.decisions.check(wrong)
    circle = {**values, "t outside i": "outside", "i outside c": "outside", "t outside c": "inside"}
    assert nest.decisions.check(circle) == ("the order of the loops goes round in a circle",)
    assert nest.decisions.check({**values, "tiles of t outside i": "outside"}) == (
        "`tiles of t outside i` can't be: there is no loop over tiles of t",
    )
    assert "can't be 9, but one of 0, 8, 16" in nest.decisions.check({**values, "tile t": 9})[0]


def test_another_loop_is_innermost_where_contiguous_ones_wait_for_the_iteration_before() -> None:
    assert nest_of("recurrence").innermost == {"i", "j"}
    assert nest_of("row of sums").innermost == {"j"}


def test_a_contiguous_loop_is_not_innermost_where_no_order_allows_it() -> None:
    nest = nest_of("against rows")
    assert nest.innermost == {"i"}
    assert {choice.parallel for choice in nest.choices if choice.order == ("j", "i")} == {ThreadedLoop("i")}


@st.composite
def stencils(draw: st.DrawFn) -> Work:
    """One statement that reads neighbours of the element that it writes, with dimensions and loops in any order."""
    loops = ("i", "j", "k")[: draw(st.integers(2, 3))]
    dimensions = draw(st.permutations(loops))
    distances = draw(st.lists(st.tuples(*[st.integers(0, 2)] * len(loops)), min_size=1, max_size=3))
    accesses: list[tuple[AccessKind, str, tuple[str, ...]]] = [("write", "A", tuple(f"{i} + 1" for i in dimensions))]
    for distance in distances:
        accesses.append(("read", "A", tuple(f"{i} + {far}" for i, far in zip(dimensions, distance, strict=True))))
    return Work("S0", tuple((name, 0, 4) for name in loops), tuple(accesses))


@given(stencils())
def test_every_stencil_has_a_choice_and_the_source_order_among_its_variants(work: Work) -> None:
    space = pipeline.space_on(make_scop([work]), machine_with(2, 64))
    [nest] = space.spaces
    assert nest.choices
    generation = generate(space, max_variants=8, seed=0)
    assert generation.variants[0].id == variant_of(space, [nest.default(nest.shapes[0])]).id
