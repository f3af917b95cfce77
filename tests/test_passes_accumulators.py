"""Vector accumulators: sums of the lanes of a short loop in registers. No compiler."""

from __future__ import annotations

from loops_by_hand import adds, array, at, c, context, loop, sets

from polydl.codegen.context import Context, StatementFacts
from polydl.codegen.loop_ir import Body
from polydl.codegen.passes import accumulators, parallel_loops
from polydl.ir.schedule import Loop

ARRAYS = (array("y", 8, 16), array("B", 300, 300, 16), array("t", 16, element="double"))


def facts(*, k: int, others: dict[int, int] | None = None, lanes: int = 16, **more: object) -> StatementFacts:
    """Of a statement that adds up ``k`` terms for each of 16 lanes."""
    counts = {1: k, 2: 16, **(others or {})}
    sums = dict.fromkeys((place for place in counts if place != 2), "y")
    return StatementFacts(vector=frozenset({2}), sums=sums, counts=counts, lanes=lanes, **more)  # type: ignore[arg-type]


def nest(k: int, array_name: str = "y") -> Body:
    """Sums over ``k`` of 16 lanes ``m``."""
    return (loop("k", 1, k - 1, loop("m", 2, 15, adds("S", at(array_name, "i", "m"), at("B", "i", "k", "m")))),)


def test_iterations_take_turns_with_several_accumulators() -> None:
    assert c(accumulators.run(nest(9), context(*ARRAYS, S=facts(k=9)))) == [
        "{",
        "float polydl_row0_0[16] = {0}, polydl_row0_1[16] = {0}, polydl_row0_2[16] = {0}, polydl_row0_3[16] = {0};",
        "for (int k = 0; k <= 7; k += 4) {",
        "for (int m = 0; m <= 15; ++m) {",
        "polydl_row0_0[m] += B[i][k][m];",
        "polydl_row0_1[m] += B[i][k + 1][m];",
        "polydl_row0_2[m] += B[i][k + 2][m];",
        "polydl_row0_3[m] += B[i][k + 3][m];",
        "}",
        "}",
        "for (int m = 0; m <= 15; ++m) {",
        "polydl_row0_0[m] += B[i][8][m];",
        "}",
        "#pragma omp simd",
        "for (int m = 0; m < 16; ++m)",
        "y[i][m] += polydl_row0_0[m] + polydl_row0_1[m] + polydl_row0_2[m] + polydl_row0_3[m];",
        "}",
    ]


def test_lanes_of_several_vectors_take_fewer_turns() -> None:
    lines = c(accumulators.run(nest(8), context(*ARRAYS, S=facts(k=8, lanes=8))))
    assert lines[1] == "float polydl_row0_0[16] = {0}, polydl_row0_1[16] = {0};"
    assert lines[2] == "for (int k = 0; k <= 7; k += 2) {"
    one = c(accumulators.run(nest(8), context(*ARRAYS, S=facts(k=8, lanes=4))))
    assert one[1] == "float polydl_row0[16] = {0};"
    assert one[-2] == "y[i][m] += polydl_row0[m];"


def test_beside_other_statements_there_is_one_accumulator() -> None:
    other = sets("T", at("y", 0, "m"), at("B", "i", "k", "m"))
    ir = (loop("k", 1, 8, loop("m", 2, 15, adds("S", at("y", "i", "m"), at("B", "i", "k", "m")), other)),)
    plain = StatementFacts(vector=frozenset({2}), counts={1: 9, 2: 16}, lanes=16)
    lines = c(accumulators.run(ir, context(*ARRAYS, S=facts(k=9), T=plain)))
    assert lines[1] == "float polydl_row0[16] = {0};"
    assert "y[0][m] = B[i][k][m];" in lines


def deep(outer: int, inner: int) -> tuple[Body, StatementFacts]:
    return (loop("l", 0, outer - 1, *nest(inner)),), facts(k=inner, others={0: outer})


def test_many_terms_are_added_up_in_two_chains() -> None:
    ir, known = deep(20, 200)
    lines = c(accumulators.run(ir, context(*ARRAYS, S=known)))
    # 4000 terms: those of 20 iterations join the outer accumulators, 50 each the inner ones.
    assert lines[1] == "float polydl_row0[16] = {0};"
    assert (
        "float polydl_part0_0[16] = {0}, polydl_part0_1[16] = {0}, polydl_part0_2[16] = {0}, polydl_part0_3[16] = {0};"
        in lines
    )
    assert "polydl_row0[m] += polydl_part0_0[m] + polydl_part0_1[m] + polydl_part0_2[m] + polydl_part0_3[m];" in lines
    assert lines[-2] == "y[i][m] += polydl_row0[m];"


def test_few_terms_are_added_up_in_one_chain() -> None:
    ir, known = deep(3, 8)
    lines = c(accumulators.run(ir, context(*ARRAYS, S=known)))
    assert not any("polydl_part" in line for line in lines)
    assert lines[2] == "for (int l = 0; l <= 2; ++l) {"


def test_the_type_is_that_of_the_sum() -> None:
    known = StatementFacts(vector=frozenset({2}), sums={1: "t"}, counts={1: 9, 2: 16}, lanes=16)
    ir = (loop("k", 1, 8, loop("m", 2, 15, adds("S", at("t", "m"), at("B", "i", "k", "m")))),)
    assert c(accumulators.run(ir, context(*ARRAYS, S=known)))[1].startswith("float polydl_row0_0[16]")
    assert c(accumulators.run(ir, context(*ARRAYS, S=known, precise=True)))[1].startswith("double polydl_row0_0[16]")


def unchanged(ir: Body, known: Context) -> bool:
    return c(accumulators.run(ir, known)) == c(ir)


def test_other_loops_stay() -> None:
    long = (loop("k", 1, 8, loop("m", 2, 89, adds("S", at("y", "i", "m"), at("B", "i", "k", "m")))),)
    assert unchanged(long, context(*ARRAYS, S=facts(k=9)))
    # Each lane adds to the same element, which has a vector loop's sum.
    same = StatementFacts(vector=frozenset({2}), sums={1: "y", 2: "y"}, counts={1: 9, 2: 16}, lanes=16)
    assert unchanged(nest(9), context(*ARRAYS, S=same))
    # Its iterations are those of several threads.
    known = context(*ARRAYS, S=facts(k=9, parallel={1: Loop("k", 0, parallel=True)}))
    assert unchanged(parallel_loops.run(nest(9), known), known)


def test_lanes_must_have_elements_of_their_own() -> None:
    diagonal = (loop("k", 1, 8, loop("m", 2, 15, adds("S", at("B", "m", 0, "m"), at("B", "i", "k", "m")))),)
    assert unchanged(diagonal, context(*ARRAYS, S=facts(k=9)))
    shifted = (loop("k", 1, 8, loop("m", 2, 15, adds("S", at("y", "i", "m + 1"), at("B", "i", "k", "m")))),)
    assert "polydl_row0_0[16]" in c(accumulators.run(shifted, context(*ARRAYS, S=facts(k=9))))[1]
