"""Loops of the generated code as values: how they are written as C, and what can be asked of them. No compiler."""

from __future__ import annotations

import islpy as isl
import pytest
from loops_by_hand import adds, at, c, loop, sets, value

from polydl.codegen import build
from polydl.codegen.callees import FunctionCallee, Written
from polydl.codegen.loop_ir import (
    Assign,
    Block,
    Call,
    Declare,
    Evaluate,
    For,
    Function,
    If,
    Let,
    Node,
    ParallelRegion,
    Pragma,
    Structure,
    Switch,
    Table,
    Variable,
    While,
    at_file_scope,
    is_straight,
    only_loop,
    rewritten,
    statements,
    with_values_of,
)
from polydl.codegen.print_c import definition, lines, text, whole
from polydl.codegen.support import SUPPORT, needed
from polydl.codegen.values import (
    AddressOf,
    Apply,
    Binary,
    Cast,
    Compound,
    Conditional,
    Constant,
    Element,
    Expr,
    Integer,
    Integral,
    Linear,
    Member,
    Name,
    SizeOf,
    Unary,
    as_sum,
    at_all,
    linear,
    mentions,
    plus,
    substituted,
)

COUNTER, OTHER = Name("i"), Name("j")


@pytest.mark.parametrize(
    ("expression", "operand", "alone"),
    [
        (Integer(-3), "-3", "-3"),
        (
            Element("A", (linear([(2, COUNTER), (-1, OTHER)], 1), Integer(0))),
            "A[2 * i - j + 1][0]",
            "A[2 * i - j + 1][0]",
        ),
        (Binary("*", Binary("+", COUNTER, OTHER), Integer(2)), "((i + j) * 2)", "(i + j) * 2"),
        (Binary("<=", COUNTER, plus(OTHER, 15)), "(i <= j + 15)", "i <= j + 15"),
        (Binary("<=", COUNTER, Binary("+", OTHER, Integer(15))), "(i <= (j + 15))", "i <= (j + 15)"),
        (Conditional(Binary("<", COUNTER, OTHER), COUNTER, OTHER), "((i < j) ? i : j)", "(i < j) ? i : j"),
        (Unary("-", Element("A", (COUNTER,))), "(-(A[i]))", "-(A[i])"),
        (Cast("float", Constant("1.0")), "(float)(1.0)", "(float)(1.0)"),
        (Apply("expf", (Binary("+", COUNTER, OTHER),)), "expf(i + j)", "expf(i + j)"),
        (Integral("min", COUNTER, Integral("max", OTHER, Integer(3))), "polydl_min(i, polydl_max(j, 3))", ""),
        (Integral("floor_div", plus(COUNTER, 1), Integer(2)), "polydl_floor_div(i + 1, 2)", ""),
        (Binary("*", Linear(((1, COUNTER), (-1, OTHER)), 1), SizeOf("A")), "((i - j + 1) * sizeof *A)", ""),
        (AddressOf(Element("A", (COUNTER,))), "&A[i]", "&A[i]"),
        (Linear(((1, AddressOf(at("A", "i"))), (3, OTHER)), 4), "(&A[i] + 3 * j + 4)", "&A[i] + 3 * j + 4"),
        (AddressOf(Compound("struct pair", (COUNTER, plus(OTHER, 1)))), "&(struct pair){i, j + 1}", ""),
        (Linear(((1, Member("given", "x")), (2, COUNTER))), "(given->x + 2 * i)", "given->x + 2 * i"),
        (at_all((COUNTER, OTHER), ((1, 3), (0, 0))), "((j == 3) && (i == 0))", "(j == 3) && (i == 0)"),
        (at_all((COUNTER,), ()), "1", "1"),
        (Linear(((-1, COUNTER), (3, Binary("+", COUNTER, OTHER)))), "(-i + 3 * (i + j))", "-i + 3 * (i + j)"),
    ],
)
def test_expressions_have_the_parentheses_they_need(expression: Expr, operand: str, alone: str) -> None:
    assert text(expression) == operand
    assert whole(expression) == alone or not alone


def test_sums_add_up_their_integers() -> None:
    assert linear([(2, Integer(3)), (0, COUNTER)], 1) == Integer(7)
    assert linear([(1, COUNTER), (4, Integer(0))]) == COUNTER
    assert substituted(linear([(8, COUNTER), (1, OTHER)], 2), {"j": Integer(5)}) == linear([(8, COUNTER)], 7)
    assert as_sum(Binary("+", Binary("*", Integer(8), COUNTER), Integer(7))) == linear([(8, COUNTER)], 7)


def test_elements_are_equal_whatever_reads_them() -> None:
    assert Element("A", (COUNTER,), "reference_1") == Element("A", (COUNTER,), "reference_2")
    assert mentions(at("A", "i + 1"), "i")
    assert not mentions(at("i", "j"), "i")


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (If(Binary("<", COUNTER, OTHER), (sets("S", at("a", "i"), COUNTER),)), "if (i < j) {|  a[i] = i;|}"),
        (If(COUNTER, (Evaluate(COUNTER),), (Evaluate(OTHER),)), "if (i) {|  i;|} else {|  j;|}"),
        (Let("i", Integer(3), (adds("S", at("a", "i"), OTHER),)), "{|  const int i = 3;|  (void)i;|  a[i] += j;|}"),
        (Block((Evaluate(COUNTER),)), "{|  i;|}"),
        (ParallelRegion((Evaluate(COUNTER),)), "#pragma omp parallel|{|  i;|}"),
        (Call(Written("run(&a[0]);"), "S"), "run(&a[0]);"),
        (Call(FunctionCallee("run"), "S", (("to", AddressOf(at("a", "i"))), ("left", OTHER))), "run(&a[i], j);"),
        (While(Binary("<", COUNTER, OTHER), (Evaluate(COUNTER),)), "while (i < j) {|  i;|}"),
        (
            Declare("float", (Variable("a", (4,), Integer(0)), Variable("b", (4,))), alignment=64),
            "_Alignas(64) float a[4] = {0}, b[4];",
        ),
        (Declare("int", (Variable("n", initial=plus(COUNTER, 1)),), constant=True), "const int n = i + 1;"),
        # Loops of the code's own over one assignment have no braces, those of the source have.
        (
            For("i", Integer(0), Binary("<", COUNTER, OTHER), (Assign(at("a", "i"), "+=", OTHER),)),
            "for (int i = 0; i < j; ++i)|  a[i] += j;",
        ),
        (loop("i", 0, 7, adds("S", at("a", "i"), OTHER)), "for (int i = 0; i <= 7; ++i) {|  a[i] += j;|}"),
    ],
)  # fmt: skip
def test_nodes_are_written_as_c(node: Node, expected: str) -> None:
    assert "|".join(lines((node,))) == expected


def test_a_loop_has_a_scope_with_what_belongs_to_it() -> None:
    declared = Declare("float", (Variable("sum", initial=Integer(0)),))
    node = For(
        "i",
        Integer(0),
        Binary("<=", COUNTER, Integer(30)),
        (adds("S", Element("sum"), at("a", "i")),),
        Integer(2),
        before=(declared,),
        after=(Assign(at("s", 0), "+=", Name("sum")),),
        pragma=Pragma("parallel for", 2, 16, dynamic=True, sums=(("+", "sum", ()), ("+", "t", (3, 4)))),
    )
    assert c((node,)) == [
        "{",
        "float sum = 0;",
        "#pragma omp parallel for collapse(2) simdlen(16) schedule(dynamic) reduction(+: sum, t[:3][:4])",
        "for (int i = 0; i <= 30; i += 2) {",
        "sum += a[i];",
        "}",
        "s[0] += sum;",
        "}",
    ]


def test_a_loop_knows_its_values() -> None:
    assert list(loop("i", 0, 7, first=4).range) == [4, 5, 6, 7]
    assert loop("i", 0, OTHER).last == OTHER
    assert not loop("i", 0, OTHER).range
    assert For("i", Integer(0), Binary("<", COUNTER, OTHER), ()).last is None
    assert For("i", Integer(0), Binary("<=", COUNTER, OTHER), (), Integer(2)).last is None


def test_bodies_can_be_asked() -> None:
    first, second = adds("S", at("a", "i"), OTHER), Call(Written("run();"), "T")
    body = (loop("i", 0, 7, If(COUNTER, (first,)), second),)
    assert statements(body) == {"S", "T"}
    assert only_loop(body) is body[0]
    assert only_loop((*body, second)) is None
    assert is_straight((first, second))
    assert not is_straight(body)


def test_calls_are_made_of_values() -> None:
    run = Call(FunctionCallee("run"), "S", (("a", AddressOf(at("a", "i"))),), (COUNTER,), (COUNTER,))
    (other,) = with_values_of((run,), {"i": Integer(3)})
    assert isinstance(other, Call)
    assert (other.counters, other.iterators, c((other,))) == ((Integer(3),), (Integer(3),), ["run(&a[3]);"])
    assert with_values_of((run,), {"j": Integer(3)})[0] is run
    assert c((run.with_arguments(a=OTHER, more=COUNTER),)) == ["run(j, i);"]


def test_what_calls_need_at_file_scope_is_there_once() -> None:
    pointers = (("const float *", "x0"), ("long", "count"))
    moved = Assign(Name("x0"), "+=", Integer(8))
    inner = For(
        "l", Integer(0), Binary("<", Name("l"), Name("count")), (Evaluate(COUNTER),), type="long", along=(moved,)
    )
    scope = (
        Structure("given", pointers),
        Table("rows", (0, 7)),
        Function("after", pointers, (inner,), inlining="always"),
    )
    run = Call(Written("run();"), "S", definitions=scope)
    found = at_file_scope((loop("i", 0, 7, run), run))
    assert [definition(each).splitlines() for each in found] == [
        ["struct given { const float *x0; long count; };"],
        ["static const long rows[] = {0, 7};"],
        [
            "static inline __attribute__((always_inline, unused)) void after(const float *x0, long count)",
            "{",
            "  for (long l = 0; l < count; ++l, x0 += 8)",
            "    i;",
            "}",
        ],
    ]


def test_one_of_several_bodies_runs() -> None:
    one, other = sets("S", at("a", "i"), Integer(1)), sets("S", at("a", "j"), Integer(2))
    chosen = Switch(COUNTER, ((4, (one,)), (2, (other,))))
    body = (If(COUNTER, (one,), (If(OTHER, (other,), (chosen,)),)),)
    shown = [
        *("if (i) {", "a[i] = 1;", "} else if (j) {", "a[j] = 2;", "} else {"),
        *("switch (i) {", "case 4:", "a[i] = 1;", "break;", "case 2:", "a[j] = 2;", "break;", "}", "}"),
    ]
    assert [line.strip() for line in c(body)] == shown
    assert statements((chosen,)) == {"S"}
    assert with_values_of(body, {"k": OTHER}) is body
    assert [line.strip() for line in c(with_values_of((chosen,), {"i": Integer(3)}))][:3] == [
        "switch (3) {", "case 4:", "a[3] = 1;",
    ]  # fmt: skip


def test_what_no_pass_changes_is_the_same_object() -> None:
    body = (loop("i", 0, 7, adds("S", at("a", "i"), OTHER)),)
    assert rewritten(body, lambda node: (node,)) is body
    assert with_values_of(body, {"k": OTHER}) is body
    assert c(with_values_of(body, {"j": Integer(3)}))[1] == "a[i] += 3;"


def test_functions_of_the_codes_own_are_defined_where_they_are_called() -> None:
    total = Evaluate(Apply("polydl_total_float", ()))
    clipped = loop("i", 0, Integral("min", OTHER, Integer(7)), total, Evaluate(Apply("expf", (COUNTER,))))
    assert needed((clipped,)) == [SUPPORT["polydl_min"], SUPPORT["polydl_total_float"]]
    assert needed((loop("polydl_max", 0, 3),)) == []


def test_isl_asts_become_loops() -> None:
    schedule = isl.UnionMap("{ S[i, j] -> [i, j] : 0 <= i < 10 and 0 <= j <= i; T[i] -> [i, 20] : 0 <= i < 5 }")
    names = isl.IdList.alloc(isl.DEFAULT_CONTEXT, 2).add(isl.Id("i")).add(isl.Id("j"))
    tree = isl.AstBuild.from_context(isl.Set("{ : }")).set_iterators(names).node_from_schedule_map(schedule)

    def leaf(name: str) -> build.Leaf:
        return lambda values: Assign(Element(name, tuple(values)), "=", Integer(0), name)

    body = build.body(tree, {"S": leaf("S"), "T": leaf("T")}, {"i": 0, "j": 1})
    assert statements(body) == {"S", "T"}
    loops = [node for node in body if isinstance(node, For)]
    assert loops
    assert all(node.place == 0 for node in loops)
    assert c(body)[:3] == ["for (int i = 0; i <= 9; ++i) {", "for (int j = 0; j <= i; ++j) {", "S[i][j] = 0;"]
    assert value("i + 1") == plus(COUNTER, 1)
