"""Epilogues of calls: the functions that finish blocks of an output, and what calls tell them. No compiler."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loops_by_hand import access, adds, at, c, call, loop, of_calls, sets, times

from polydl import bfloat16
from polydl.codegen.context import CallFacts, EpilogueFacts
from polydl.codegen.loop_ir import Assign, Body, Call, For, at_file_scope, nodes
from polydl.codegen.passes import epilogue
from polydl.codegen.passes.nested_conditionals import distributed
from polydl.codegen.print_c import definition
from polydl.codegen.values import Apply, Binary, Cast, Conditional, Constant, Element, Expr, Linear, Name
from polydl.plan.epilogue import EpilogueOperand

# The product adds to C[i][j] over k. Rows of a block are along j, columns along i, in two rows of twelve.
PLACES = (1, 0, 0, 0), (0, 1, 0, 0)
OUTPUT = EpilogueOperand(access("C", *PLACES), "float", 4, True, True, 1, 40, (0, 1000))
BIAS = EpilogueOperand(access("b", (0, 1, 0, 0)), "float", 4, False, False, 1, 0, (0, 0))
SCALE = EpilogueOperand(access("s", (2, 0, 0, 0)), "double", 8, False, False, 0, 2, (0, 50))
TURNED = EpilogueOperand(access("t", (0, 3, 0, 0)), "float", 4, False, False, 3, 0, (0, 0))
C, B, S, T = at("C", "i", "j"), at("b", "j"), at("s", Linear(((2, Name("i")),))), at("t", Linear(((3, Name("j")),)))


def facts(
    *statements: Assign, operands: tuple[EpilogueOperand, ...] = (OUTPUT, BIAS), accumulator: str = "float"
) -> EpilogueFacts:
    return EpilogueFacts(
        prefix="gemm",
        accumulator=accumulator,
        columns=12,
        vector_bytes=32,
        iterators=("i", "j", "k"),
        statements=statements,
        operands=operands,
        linear=True,
        last=((2, 3),),
    )


def finishing(known: EpilogueFacts, *, flushes: bool = False) -> Body:
    """The call in its loops."""
    run = call("S", "i", "j", "k", a=at("A", "i"))
    return epilogue.run(
        (loop("i", 0, 7, loop("j", 1, 7, loop("k", 2, 3, run))),),
        replace(of_calls(S=CallFacts(epilogue=known)), vector_bytes=64, exact=not flushes),
    )


def functions(known: EpilogueFacts, *, flushes: bool = False) -> dict[str, list[str]]:
    """The lines of what is at file scope, by its name."""
    scope = at_file_scope(finishing(known, flushes=flushes))
    return {each.name: [line.strip() for line in definition(each).splitlines()] for each in scope}


def test_calls_are_told_whether_they_are_the_last_and_where_operands_are() -> None:
    made = finishing(facts(adds("T", C, B)))
    told = "last: k == 3, operands: &(struct gemm_operands){&C[i][j], &b[j]}"
    assert c(made)[3] == f"run(a: &A[i], {told});"
    # Where a counter has one value, and isl has put it in.
    run = call("S", 5, "j", 3, a=at("A", 5))
    known = of_calls(S=CallFacts(epilogue=facts(adds("T", C, B))))
    assert c(epilogue.run((run,), known)) == [
        "run(a: &A[5], last: 3 == 3, operands: &(struct gemm_operands){&C[5][j], &b[j]});"
    ]
    assert epilogue.run((run,), of_calls(T=CallFacts(epilogue=facts(adds("T", C, B))))) == (run,)
    assert epilogue.run((run,), of_calls(S=CallFacts())) == (run,)


def test_several_calls_of_a_product_have_the_same_functions() -> None:
    known = of_calls(S=CallFacts(epilogue=facts(adds("T", C, B))))
    first, second = (call("S", i, "j", "k", a=at("A", i)) for i in (0, 1))
    made = epilogue.run((loop("k", 2, 3, first), loop("k", 2, 3, second)), known)
    calls = [node for node in nodes(made) if isinstance(node, Call)]
    assert [bool(each.definitions) for each in calls] == [True, True]
    assert len(at_file_scope(made)) == len(calls[0].definitions)


def test_statements_become_one_loop_over_the_rows_of_a_column() -> None:
    found = functions(
        facts(adds("T", C, times(B, T)), sets("U", C, Binary("/", C, S)), operands=(OUTPUT, BIAS, TURNED, SCALE))
    )
    assert found["gemm_operands"] == [
        "struct gemm_operands { float *x0; const float *x1; const float *x2; const double *x3; };"
    ]
    assert found["gemm_finished"] == [
        "static inline __attribute__((always_inline, unused)) void gemm_finished("
        "const float *sums, float *x0, const float *x1, const float *x2, const double *x3, long rows)",
        "{",
        # Doubles fill a vector of 32 bytes by fours.
        "#pragma omp simd simdlen(4)",
        "for (long i = 0; i < rows; ++i) {",
        "float polydl_element = sums[i];",
        "polydl_element += x1[i] * x2[3 * i];",
        "polydl_element = polydl_element / x3[0];",
        "x0[i] = polydl_element;",
        "}",
        "}",
    ]


@pytest.mark.parametrize(("element", "element_bytes", "lanes"), [("unsigned long", 8, 4), ("short", 2, 8)])
def test_a_vector_holds_as_many_rows_as_the_widest_elements_let(element: str, element_bytes: int, lanes: int) -> None:
    scale = replace(SCALE, element=element, element_bytes=element_bytes)
    found = functions(facts(sets("T", C, times(C, S)), operands=(OUTPUT, scale)))
    assert f"#pragma omp simd simdlen({lanes})" in found["gemm_finished"]


def test_results_are_rounded_to_bfloat16_together_where_small_numbers_are_zeros() -> None:
    bits = EpilogueOperand(access("d", *PLACES), "bfloat16", 2, False, False, 1, 40, (0, 1000))
    output, rounded = replace(OUTPUT, written=False), replace(bits, access=access("e", *PLACES), written=True)
    added = Binary("+", Binary("+", C, B), Apply(bfloat16.TO_FLOAT, (at("d", "i", "j"),)))
    known = facts(
        sets("T", at("e", "i", "j"), Apply(bfloat16.FROM_FLOAT, (added,))), operands=(output, BIAS, bits, rounded)
    )
    value = "(polydl_element + x1[i]) + polydl_widen(x2[i])"
    head = ["#pragma omp simd simdlen(16)", "for (long i = 0; i < rows; ++i) {", "float polydl_element = sums[i];"]
    assert functions(known)["gemm_finished"][2:] == [*head, f"x3[i] = polydl_narrow({value});", "}", "}"]
    # Rows of the result that do not follow each other are rounded one by one.
    apart = replace(known, operands=(output, BIAS, bits, replace(rounded, along_m=3)))
    assert functions(apart, flushes=True)["gemm_finished"][2:] == [
        *head,
        f"x3[3 * i] = polydl_narrow({value});",
        "}",
        "}",
    ]
    assert functions(known, flushes=True)["gemm_finished"][2:] == [
        "for (long part = 0; part < rows; part += 64) {",
        "const long last = (part + 64 < rows) ? (part + 64) : rows;",
        "_Alignas(64) float polydl_rounded[64];",
        "#pragma omp simd simdlen(8)",
        "for (long i = part; i < last; ++i) {",
        "float polydl_element = sums[i];",
        f"polydl_rounded[i - part] = {value};",
        "}",
        "polydl_round(&x3[part], polydl_rounded, last - part);",
        "}",
        "}",
    ]


def test_operands_begin_where_the_column_is() -> None:
    found = functions(facts(sets("T", C, times(C, S)), operands=(OUTPUT, SCALE)))
    given = "const struct gemm_operands *operands, const float *sums"
    starts = ["float *x0 = operands->x0 + 40 * j + row;", "const double *x1 = operands->x1 + 2 * j;"]
    assert found["gemm_after_column"] == [
        "static inline __attribute__((always_inline, unused)) void gemm_after_column("
        f"{given}, long first, long row, long rows)",
        "{",
        "const long j = first;",
        *starts,
        "gemm_finished(sums, x0, x1, rows);",
        "}",
    ]
    assert found["gemm_after"] == [
        f"static inline void gemm_after({given}, long apart, long first, long columns, long row, long rows)",
        "{",
        "while (columns > 0) {",
        "const long j = first;",
        "const long length = columns;",
        *starts,
        "for (long column = 0; column < length; ++column, sums += apart, x0 += 40, x1 += 2)",
        "gemm_finished(sums, x0, x1, rows);",
        "first += length;",
        "columns -= length;",
        "}",
        "}",
    ]


def test_rows_of_columns_begin_where_tables_say() -> None:
    found = functions(replace(facts(adds("T", C, B)), linear=False))
    assert found["gemm_rows0"] == ["static const long gemm_rows0[] = {0, 1000};"]
    assert found["gemm_rows1"] == ["static const long gemm_rows1[] = {0, 0};"]
    starts = [
        "const long q = first / 12, j = first % 12;",
        "float *x0 = operands->x0 + gemm_rows0[q] + 40 * j + row;",
        "const float *x1 = operands->x1 + gemm_rows1[q] + row;",
    ]
    assert found["gemm_after_column"][2:5] == starts
    length = "const long length = (columns < (12 - j)) ? columns : (12 - j);"
    assert found["gemm_after"][3:7] == [starts[0], length, *starts[1:]]


def bounded(low: str, high: str) -> Expr:
    """The element between two bounds."""
    above = Conditional(Binary(">", C, Constant(high)), Constant(high), C)
    return Conditional(Binary("<", C, Constant(low)), Constant(low), above)


def test_conditionals_inside_of_others_have_loops_of_their_own_in_registers() -> None:
    found = functions(facts(sets("T", C, bounded("0.0f", "6.0f"))))
    head = ["#pragma omp simd simdlen(8)", "for (long i = 0; i < rows; ++i) {", "float polydl_element = sums[i];"]
    assert found["gemm_after_column"][5:] == [
        "float inner0[8];",
        *head,
        "polydl_element = (polydl_element > 6.0f) ? 6.0f : polydl_element;",
        "inner0[i] = polydl_element;",
        "}",
        *head,
        "polydl_element = (polydl_element < 0.0f) ? 0.0f : inner0[i];",
        "x0[i] = polydl_element;",
        "}",
        "}",
    ]
    # Blocks of any number of rows are finished by one loop.
    assert found["gemm_finished"].count("for (long i = 0; i < rows; ++i) {") == 1
    assert "gemm_finished(sums, x0, x1, rows);" in found["gemm_after"]


def test_several_statements_hand_their_values_on() -> None:
    found = functions(facts(adds("T", C, B), sets("U", C, bounded("0", "6"))))["gemm_after_column"]
    assert [line for line in found if "[8]" in line] == ["float values[8];", "float inner0[8];"]
    assert [line for line in found if line.startswith("float polydl_element")] == [
        "float polydl_element = sums[i];",
        "float polydl_element = values[i];",
        "float polydl_element = values[i];",
    ]
    assert [line for line in found if line.endswith("[i] = polydl_element;")] == [
        "values[i] = polydl_element;",
        "inner0[i] = polydl_element;",
        "x0[i] = polydl_element;",
    ]
    # A statement that adds does so to what the one before has left.
    assert "polydl_element += x1[i];" in found


@pytest.mark.parametrize(
    ("value", "accumulator"),
    [
        (Conditional(Binary("<", C, Constant("0.0f")), Constant("0.0f"), C), "float"),
        # It must be asked before whether there is anything to read or to divide by, and functions take time.
        (Conditional(Binary("<", C, Constant("1")), C, Conditional(Binary("<", B, C), B, C)), "float"),
        (Conditional(Binary("<", C, Constant("1")), C, Conditional(Binary("/", C, C), C, Constant("1"))), "float"),
        (Conditional(Binary("<", C, Constant("1")), C, Conditional(Apply("f", (C,)), C, Constant("1"))), "float"),
        # These numbers would make a float a double, and integers may overflow.
        (bounded("0.0", "6.0"), "float"),
        (bounded("0", "6"), "int"),
    ],
)
def test_other_conditionals_stay_together(value: Expr, accumulator: str) -> None:
    found = functions(facts(sets("T", C, value), accumulator=accumulator))
    assert "gemm_finished(sums, x0, x1, rows);" in found["gemm_after_column"]


def test_only_loops_over_an_element_are_distributed() -> None:
    inner = loop("i", 0, 7, sets("S", Element("x0", (Name("i"),)), bounded("0", "6")))
    assert isinstance(inner, For)
    assert distributed(inner, 8) == ()


def test_what_goes_to_another_array_fills_vectors_of_its_elements() -> None:
    """Sums that nobody else reads are not stored."""
    bytes_of_c = EpilogueOperand(
        access("y", (1, 0, 0, 0), (0, 1, 0, 0)), "unsigned char", 1, False, True, 1, 40, (0, 0)
    )
    output = replace(OUTPUT, written=False)
    rounded = sets("T", at("y", "i", "j"), Cast("unsigned char", times(C, B)))
    found = functions(facts(rounded, operands=(output, BIAS, bytes_of_c)))["gemm_finished"]
    assert found[0].endswith(
        "gemm_finished(const float *sums, const float *x0, const float *x1, unsigned char *x2, long rows)"
    )
    assert found[2:-1] == [
        "#pragma omp simd simdlen(32)",
        "for (long i = 0; i < rows; ++i) {",
        "float polydl_element = sums[i];",
        "x2[i] = (unsigned char)(polydl_element * x1[i]);",
        "}",
    ]
    kept = functions(facts(rounded, operands=(OUTPUT, BIAS, bytes_of_c)))["gemm_finished"]
    assert kept[-3] == "x0[i] = polydl_element;"
