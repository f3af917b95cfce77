"""Decisions and constraints between them against brute force, on small random problems."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from polydl.variants.decisions import (
    Assignment,
    AtMost,
    Compatible,
    Constraint,
    Decision,
    DecisionSpace,
    Domains,
    Partial,
    complete,
    count,
    enumerate_all,
)
from polydl.variants.draws import Draw, Sampler

Row = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Among:
    """A relation given by its rows, from which nothing follows before a single decision is open."""

    scope: tuple[str, ...]
    rows: frozenset[tuple[int, ...]]

    def broken(self, values: Assignment) -> str | None:
        drawn = tuple(values[name] for name in self.scope)
        return None if drawn in self.rows else f"{drawn} is not among the rows"

    def narrow(self, domains: Domains) -> None:
        pass


def row(values: Assignment) -> Row:
    return tuple(sorted(values.items()))


def legal(space: DecisionSpace) -> set[Row]:
    """Every assignment that no constraint refuses, by trying all."""
    names = [each.name for each in space.decisions]
    every = (dict(zip(names, values, strict=True)) for values in product(*(each.values for each in space.decisions)))
    return {row(values) for values in every if not any(c.broken(values) for c in space.constraints)}


@st.composite
def spaces(draw: st.DrawFn) -> DecisionSpace:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    decisions = [Decision("abcde"[place], tuple(range(size))) for place, size in enumerate(sizes)]
    constraints: list[Constraint] = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["rule", "compatible", "at most"]))
        chosen = draw(st.permutations(decisions))[: draw(st.integers(1, len(decisions)))]
        if kind == "rule":
            rows = [values for values in product(*(each.values for each in chosen)) if draw(st.integers(0, 2))]
            constraints.append(Among(tuple(each.name for each in chosen), frozenset(rows)))
        elif kind == "compatible" and len(chosen) > 1:
            first, second = chosen[:2]
            pairs = {pair for pair in product(first.values, second.values) if draw(st.booleans())}
            constraints.append(Compatible.of(first, second, "they don't go together", _among(pairs)))
        elif kind == "at most":
            constraints.append(AtMost.of(chosen, draw(st.integers(0, len(chosen))), "too many"))
    return DecisionSpace(tuple(decisions), tuple(constraints))


def _among(pairs: set[tuple[int, int]]) -> Callable[[int, int], bool]:
    return lambda first, second: (first, second) in pairs


@given(spaces(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_all_that_is_asked_of_a_space_agrees_with_brute_force(space: DecisionSpace, generator: random.Random) -> None:
    expected = legal(space)
    order = generator.sample(space.names, len(space.names))
    found = [row(values) for values in enumerate_all(space.root, order)]
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert count(space.root) == len(expected)
    first = complete(space.root)
    assert first is None if not expected else first is not None and row(first) in expected
    for values in product(*(each.values for each in space.decisions)):
        assignment = dict(zip(space.names, values, strict=True))
        assert (space.check(assignment) == ()) == (row(assignment) in expected)
    drawn = [Sampler(space).sample(generator) for _ in range(20)]
    assert {row(values) for values in drawn if values is not None} <= expected


@given(spaces(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_propagation_removes_no_value_of_a_legal_assignment(space: DecisionSpace, generator: random.Random) -> None:
    left = legal(space)
    partial = space.root
    assert partial is not None or not left
    for name in generator.sample(space.names, len(space.names)):
        if partial is None:
            break
        value = generator.choice(partial.values(name))
        partial = partial.take(name, value)
        left = {each for each in left if dict(each)[name] == value}
        assert partial is not None or not left
        if partial is not None:
            assert all(value in partial.values(other) for each in left for other, value in each)
            assert {row(values) for values in enumerate_all(partial)} == left
            assert count(partial) == len(left)


@given(spaces(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_decisions_reach_the_same_candidate_in_any_order(space: DecisionSpace, generator: random.Random) -> None:
    expected = sorted(legal(space))
    if not expected:
        return
    chosen = dict(generator.choice(expected))

    def taken(order: Sequence[str]) -> Partial:
        partial = space.root
        for name in order:
            assert partial is not None
            partial = partial.take(name, chosen[name])
        assert partial is not None
        return partial

    some = generator.sample(space.names, generator.randint(1, len(space.names)))
    ends = [{row(v) for v in enumerate_all(taken(generator.sample(some, len(some))))} for _ in range(3)]
    assert ends[0] == ends[1] == ends[2]
    assert row(taken(generator.sample(space.names, len(space.names))).decided) == row(chosen)


def colours() -> DecisionSpace:
    """Four points on a ring, neighbours in different colours."""
    points = [Decision(name, ("red", "green", "blue")) for name in ("n", "e", "s", "w")]
    pairs = zip(points, points[1:] + points[:1], strict=True)
    different = [Compatible.of(a, b, f"{a.name} and {b.name} have one colour", lambda x, y: x != y) for a, b in pairs]
    return DecisionSpace(tuple(points), tuple(different))


def test_every_legal_assignment_may_be_drawn() -> None:
    space = colours()
    expected = legal(space)
    assert len(expected) == 18
    generator = random.Random(1)
    drawn = Counter(row(values) for _ in range(600) if (values := Sampler(space).sample(generator)) is not None)
    assert set(drawn) == expected
    assert max(drawn.values()) < 5 * min(drawn.values())


def test_draws_come_first_and_are_refused_as_soon_as_a_constraint_breaks() -> None:
    space = colours()
    red = Draw(("n", "e"), lambda _, generator: {"n": "red", "e": generator.choice(["red", "green"])})

    def not_after_red(values: Assignment, _: random.Random) -> Assignment:
        assert values["e"] == "green", "the draw before was refused"
        return {"w": "green"}

    generator = random.Random(2)
    drawn = [Sampler(space, (red, Draw(("w",), not_after_red))).sample(generator) for _ in range(40)]
    kept = [values for values in drawn if values is not None]
    assert 0 < len(kept) < 40
    assert all(values["n"] == "red" and values["e"] == "green" and not space.check(values) for values in kept)
    assert {values["s"] for values in kept} == {"red", "blue"}


def test_what_is_wrong_is_said_in_words() -> None:
    space = colours()
    assert space.check({"n": "red", "e": "red", "s": "green", "w": "blue"}) == ("n and e have one colour",)
    assert space.check({"n": "red", "e": "pink", "s": "green", "x": 0}) == (
        "there is no decision `x`",
        "`e` can't be pink, but one of red, green, blue",
        "`w` is not decided",
    )


def test_independent_decisions_are_counted_without_walking_through_all() -> None:
    many = [Decision(f"d{number}", tuple(range(10))) for number in range(40)]
    pairs = zip(many[::2], many[1::2], strict=True)
    rising = [Compatible.of(a, b, "they fall", lambda x, y: x <= y) for a, b in pairs]
    assert count(DecisionSpace(tuple(many), tuple(rising)).root) == 55**20
    # A chain comes apart wherever its middle is decided, and what is left is the same again and again.
    chain = [Compatible.of(a, b, "they are equal", lambda x, y: x != y) for a, b in pairwise(many)]
    assert count(DecisionSpace(tuple(many), tuple(chain)).root) == 10 * 9**39


def test_a_decision_without_values_leaves_nothing() -> None:
    space = DecisionSpace((Decision("a", ()), Decision("b", (1, 2))))
    assert space.root is None
    assert count(space.root) == 0
    assert complete(space.root) is None
    assert Sampler(space).sample(random.Random(0)) is None
