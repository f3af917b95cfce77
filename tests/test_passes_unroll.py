"""Unroll-and-jam, and which loops fill vectors. No compiler."""

from __future__ import annotations

from loops_by_hand import adds, array, at, c, context, loop, sets, times

from polydl.codegen.callees import Written
from polydl.codegen.context import Context, StatementFacts
from polydl.codegen.loop_ir import Body, Call, For, nodes
from polydl.codegen.passes import unroll_and_jam, vectorize
from polydl.codegen.values import Binary, Expr, Integer, Integral, Name, linear

ARRAYS = (array("z", 12), array("A", 12, 90), array("x", 90), array("B", 14, 90))


def known(unrolled: dict[int, int], *, vector: tuple[int, ...] = (0,)) -> Context:
    facts = StatementFacts(vector=frozenset(vector), counts={0: 90, 1: 3, 2: 2}, unrolled=unrolled)
    return context(*ARRAYS, S=facts)


def nest(last: int | Expr, first: int | Expr = 0) -> Body:
    """Rows of a matrix inside of a vector loop over its columns."""
    row = loop("i", 1, last, adds("S", at("z", "i"), times(at("A", "i", "j"), at("x", "j"))), first=first)
    return (loop("j", 0, 89, row),)


def test_all_iterations_run_side_by_side() -> None:
    assert c(unroll_and_jam.run(nest(2), known({1: 3}))) == [
        "for (int j = 0; j <= 89; ++j) {",
        "z[0] += A[0][j] * x[j];",
        "z[1] += A[1][j] * x[j];",
        "z[2] += A[2][j] * x[j];",
        "}",
    ]
    start, end = Binary("*", Integer(3), Name("t")), Binary("+", Binary("*", Integer(3), Name("t")), Integer(2))
    (made,) = unroll_and_jam.run(nest(end, start), known({1: 3}))
    assert c((made,))[2] == "z[3 * t + 1] += A[3 * t + 1][j] * x[j];"
    assert isinstance(made, For)
    assert [getattr(each, "copy", "") for each in made.body] == ["_0", "_1", "_2"]


def test_a_shorter_last_tile_has_a_body_of_its_own() -> None:
    end = Integral("min", Integer(11), Name("t"))
    assert c(unroll_and_jam.run(nest(end), known({1: 2}))) == [
        "if (polydl_min(11, t) - 0 == 2) {",
        "for (int j = 0; j <= 89; ++j) {",
        "z[0] += A[0][j] * x[j];",
        "z[1] += A[1][j] * x[j];",
        "z[2] += A[2][j] * x[j];",
        "}",
        "} else {",
        "for (int j = 0; j <= 89; ++j) {",
        "z[0] += A[0][j] * x[j];",
        "z[1] += A[1][j] * x[j];",
        "}",
        "}",
    ]


def taps(last: int | Expr) -> Body:
    """Three neighbours are added to each of several rows, in a vector loop."""
    row = loop(
        "i",
        2,
        last,
        adds("S", at("A", "i", "j"), times(at("z", "k"), at("B", linear([(1, Name("i")), (1, Name("k"))]), "j"))),
    )
    return (loop("j", 0, 89, loop("k", 1, 2, row)),)


def test_all_loops_inside_of_a_vector_loop_run_side_by_side() -> None:
    (made,) = unroll_and_jam.run(taps(1), known({1: 3, 2: 2}))
    assert c((made,)) == [
        "for (int j = 0; j <= 89; ++j) {",
        "A[0][j] += z[0] * B[0][j];",
        "A[1][j] += z[0] * B[1][j];",
        "A[0][j] += z[1] * B[1][j];",
        "A[1][j] += z[1] * B[2][j];",
        "A[0][j] += z[2] * B[2][j];",
        "A[1][j] += z[2] * B[3][j];",
        "}",
    ]
    assert isinstance(made, For)
    assert [getattr(each, "copy", "") for each in made.body] == ["_0_0", "_0_1", "_1_0", "_1_1", "_2_0", "_2_1"]
    # The inner one could fill vectors itself, but is unrolled in the other.
    assert unroll_and_jam.run(taps(1), known({1: 3, 2: 2}, vector=(0, 2))) == (made,)


def test_other_loops_stay() -> None:
    clipped = nest(Integral("min", Integer(11), Name("t")))
    # What is left in the last tile is not known.
    assert unroll_and_jam.run(clipped, known({1: 0})) is clipped
    # It isn't to be unrolled, or the loop around it can't fill vectors.
    assert unroll_and_jam.run(clipped, known({})) is clipped
    assert unroll_and_jam.run(clipped, known({1: 2}, vector=())) is clipped
    # Only one of two loops is to be unrolled.
    both = taps(1)
    assert unroll_and_jam.run(both, known({2: 2})) is both
    # Its bounds depend on the loop around it.
    triangle = nest(Name("j"))
    assert unroll_and_jam.run(triangle, known({1: 3})) is triangle


def vectors(ir: Body, facts: StatementFacts) -> list[str]:
    made = vectorize.run(ir, context(*ARRAYS, S=facts))
    return [node.iterator for node in nodes(made) if isinstance(node, For) and node.vector]


def test_loops_of_varying_length_stay() -> None:
    low, high = Integral("max", Integer(0), Name("t")), Integral("min", Integer(2), Name("t"))
    for first, last in ((low, 2), (low, high), (Name("t"), 2), (0, Name("t")), (0, 1)):
        facts = known({1: 2}) if first is low else known({1: 0})
        body = nest(last, first)
        assert unroll_and_jam.run(body, facts) == body


def test_innermost_loops_fill_vectors_if_they_may() -> None:
    assert vectors(nest(2), StatementFacts(vector=frozenset({0, 1}))) == ["i"]
    assert vectors(nest(2), StatementFacts(vector=frozenset({0}))) == []
    # All statements of a loop must allow it.
    two = (loop("j", 0, 89, sets("S", at("x", "j"), at("A", 0, "j")), sets("T", at("z", 0), at("A", 1, "j"))),)
    both = {"S": StatementFacts(vector=frozenset({0})), "T": StatementFacts()}
    assert vectorize.run(two, context(*ARRAYS, exact=False, precise=False, **both)) is two
    calls = (loop("j", 0, 89, Call(Written("run();"), "S")),)
    assert vectors(calls, StatementFacts()) == []
