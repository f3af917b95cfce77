"""The decisions of a scop with alternatives, taken in any order, against all of its variants."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.contracts.search import ABSENT
from polydl.ir.variant import RewriteStep
from polydl.variants.decisions import leaves
from polydl.variants.generation import variant_of
from polydl.variants.search.nodes import REWRITES, SpaceNode
from polydl.variants.variant_space import VariantSpace

# Large enough to be packed, and multiplied in quarters.
PRODUCT = (
    "float C[512][512], const float A[512][512], const float B[512][512]",
    """
  for (int i = 0; i < 512; i++) for (int j = 0; j < 512; j++) for (int k = 0; k < 512; k++)
    C[i][j] += A[i][k] * B[k][j];""",
)
ACTIVATED = (
    "float C[64][512], const float A[64][256], const float B[256][512]",
    """
  for (int i = 0; i < 64; i++) for (int j = 0; j < 512; j++) for (int k = 0; k < 256; k++)
    C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 64; i++) for (int j = 0; j < 512; j++)
    C[i][j] = C[i][j] > 0 ? C[i][j] : 0;""",
)
# Some of its alternatives leave nothing to decide.
STENCIL = (
    "float A[400], float B[400]",
    """
  for (int t = 0; t < 40; t++) {
    for (int i = 1; i < 399; i++) B[i] = 0.3f * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < 399; i++) A[i] = 0.3f * (B[i - 1] + B[i] + B[i + 1]);
  }""",
)
SCOPS = {
    "product": (PRODUCT, 1, "c"),
    "activated product": (ACTIVATED, 2, "c"),
    "stencil": (STENCIL, 2, "none"),
}


@dataclass(frozen=True, eq=False)
class Whole:
    """A space with its tree, and every variant with its decisions."""

    root: SpaceNode

    @cached_property
    def decisions(self) -> Mapping[str, Mapping[str, Hashable]]:
        """By the variant's id, from the choices of each nest alone."""
        return {
            variant_of(each.space, choices).id: each.values_of(choices)
            for each in self.root.alternatives
            for choices in product(*(nest.choices for nest in each.space.spaces))
        }

    @cached_property
    def bounds(self) -> Mapping[str, float]:
        """What each variant takes at least, by its id."""
        return {identity: taken(self.root, values).least_seconds() for identity, values in self.decisions.items()}


@cache
def whole(name: str) -> Whole:
    (arrays, loops), threads, microkernel = SCOPS[name]
    machine = machine_with(threads, 64)
    with TemporaryDirectory() as folder:
        path = Path(folder, "nest.c")
        path.write_text(f"void f({arrays})\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")
        space = pipeline.space_on(pipeline.parse(path), machine, microkernel=microkernel)
    few = replace(with_few_shapes(space), alternatives=tuple(map(with_few_shapes, space.alternatives)))
    return Whole(pipeline.decision_tree(few, machine))


def with_few_shapes(space: VariantSpace) -> VariantSpace:
    """So few that all variants can be looked at."""
    return replace(space, spaces=tuple(replace(nest, shapes=nest.shapes[:2]) for nest in space.spaces))


def taken(node: SpaceNode, values: Mapping[str, Hashable]) -> SpaceNode:
    for name, value in values.items():
        narrower = node.take(name, value)
        assert narrower is not None
        node = narrower
    return node


def orders(root: SpaceNode) -> dict[str, Sequence[str]]:
    names = (REWRITES, *dict.fromkeys(name for each in root.alternatives for name in each.decisions))
    chance = random.Random(0)
    return {
        "by default": (),
        "reversed": names[::-1],
        "rewrites last": (*names[1:], REWRITES),
        **{f"drawn {number}": chance.sample(names, len(names)) for number in range(2)},
    }


@parametrized("name", SCOPS, quick=1)
def test_decisions_in_any_order_lead_to_every_variant_once(name: str) -> None:
    root = whole(name).root
    assert len(root.alternatives) > 1
    for order, names in orders(root).items():
        found = [variant.id for leaf in leaves(root, names) if (variant := leaf.variant()) is not None]
        assert len(found) == len(set(found)), order
        assert set(found) == whole(name).decisions.keys(), order


def test_the_alternatives_of_the_product_pack_and_multiply_in_quarters() -> None:
    steps = [each.space.rewrites for each in whole("product").root.alternatives]
    used = {step.json_name for rewrites in steps for step in rewrites if isinstance(step, RewriteStep)}
    assert used >= {"pack_panels", "pack_tiles", "strassen"}


@pytest.mark.parametrize("name", SCOPS)
def test_a_decision_before_the_rewrites_leaves_the_alternatives_in_which_it_may_be_taken(name: str) -> None:
    root = whole(name).root
    assert root.undecided[0] == REWRITES
    every = {each.place: taken(root, {REWRITES: each.place}) for each in root.alternatives}
    removed = 0
    for decision in root.undecided[1:]:
        for value in root.values(decision):
            left = {place for place, alone in every.items() if alone.take(decision, value) is not None}
            if value == ABSENT:
                assert left == {each.place for each in root.alternatives if decision not in each.decisions}
            node = root.take(decision, value)
            assert set(node.values(REWRITES) if node is not None else ()) == left, (decision, value)
            assert node is None or set(node.values(decision)) == {value}
            removed += len(every) - len(left)
    assert removed


@pytest.mark.parametrize("name", SCOPS)
def test_propagation_keeps_all_values_of_variants_and_bounds_their_seconds(name: str) -> None:
    every, bounds = whole(name).decisions, whole(name).bounds
    chance = random.Random(1)
    for identity in chance.sample(sorted(every), min(12, len(every))):
        node, left = whole(name).root, set(every)
        decisions = list(every[identity].items())
        for decision, value in chance.sample(decisions, len(decisions)):
            possible = {every[each].get(decision, ABSENT) for each in left}
            assert possible <= set(node.values(decision)), f"{decision} lost a value that a variant has"
            before = node.least_seconds()
            node = taken(node, {decision: value})
            left = {each for each in left if every[each].get(decision, ABSENT) == value}
            assert before <= node.least_seconds() <= min(bounds[each] for each in left)
        assert not node.undecided
        assert node.next_decision is None
        assert node.decided == every[identity]
        variant = node.variant()
        assert variant is not None
        assert variant.id == identity


def test_the_same_shape_of_the_same_loops_is_one_value_in_all_alternatives() -> None:
    root = whole("activated product").root
    [shapes] = [root.values(name) for name in root.undecided if name == "S0 shape"]
    assert ABSENT not in shapes
    assert len(shapes) < sum(len(each.nests["S0"].shapes) for each in root.alternatives)
    for each in whole("product").root.alternatives:
        for nest in each.nests.values():
            assert len(set(nest.model.inner_loops)) == len(nest.shapes)


def test_a_nest_has_the_name_of_the_statement_that_it_holds_wherever_it_stands() -> None:
    places = {each.nests["S0"].nest.index for each in whole("product").root.alternatives}
    assert len(places) > 1
    assert all(name.startswith("S0 ") for name in whole("product").root.undecided[1:])


def test_a_dead_end_is_none() -> None:
    root = whole("product").root
    assert root.take(REWRITES, 99) is None
    assert root.take("S0 shape", "none of these") is None
    assert root.take("S0 shape", ABSENT) is None, "all alternatives have shapes"
    assert root.take("S0 tile i", 7) is None
    assert root.take("S0 tile q", 8) is None
    blocked = taken(root, {"S0 i outside j_block": "outside"})
    assert 0 not in blocked.values(REWRITES)
    assert blocked.take(REWRITES, 0) is None
    plain = taken(root, {REWRITES: 0})
    assert plain.values("S0 i outside j_block") == (ABSENT,)
    assert plain.take("S0 i outside j_block", "outside") is None
    in_turn = taken(root, {"S0 i outside j": "outside", "S0 j outside k": "outside"})
    assert in_turn.take("S0 i outside k", "inside") is None


def test_by_default_only_the_alternative_that_is_chosen_is_looked_at() -> None:
    root = SpaceNode(tuple(replace(each) for each in whole("product").root.alternatives), lambda *_: 0.0)
    assert root.next_decision == REWRITES
    node = root.take(REWRITES, root.values(REWRITES)[1])
    while node is not None and (name := node.next_decision) is not None:
        node = node.take(name, node.values(name)[0])
    assert node is not None
    assert node.variant() is not None
    assert [each.place for each in root.alternatives if "root" in vars(each)] == [1]
