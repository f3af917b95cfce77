"""Loops on threads: which ones, and what OpenMP is told of them. No compiler."""

from __future__ import annotations

from dataclasses import replace

from loops_by_hand import adds, array, at, c, context, loop, sets

from polydl.codegen import openmp, team
from polydl.codegen.context import Context, StatementFacts
from polydl.codegen.loop_ir import Body, Evaluate, For, ParallelRegion, Pragma, nodes
from polydl.codegen.passes import fences, openmp_pragmas, parallel_loops, vectorize
from polydl.codegen.passes.thread_choice import with_choice
from polydl.codegen.values import Apply, Name
from polydl.ir.schedule import Loop

STREAM = Evaluate(Apply("polydl_stream", ()))


BETWEEN = Evaluate(Apply(team.BETWEEN, ()))


def on_threads(*places: int, **of_loop: object) -> StatementFacts:
    dealt = Loop("i", 0, parallel=True, **of_loop)  # type: ignore[arg-type]
    return StatementFacts(dict.fromkeys(places, dealt), frozenset({2}), {}, {0: 8, 1: 8, 2: 90}, lanes=16)


def nest(*, last: str | int = 7, inner: int = 89) -> Body:
    name = Name(last) if isinstance(last, str) else last
    statement = sets("S", at("y", "i", "j", "k"), at("x", "i", "j", "k"))
    return (loop("i", 0, 7, loop("j", 1, name, loop("k", 2, inner, statement))),)


def directives(ir: Body, known: Context) -> list[str]:
    for each in (parallel_loops, vectorize, openmp_pragmas, fences):
        ir = each.run(ir, known)
    return [line for line in c(ir) if line.startswith("#pragma") or "streamed" in line]


ARRAYS = (array("x", 8, 8, 90), array("y", 8, 8, 90))


def test_the_outermost_loop_of_the_plans_is_dealt_out() -> None:
    made = parallel_loops.run(nest(), context(*ARRAYS, S=on_threads(0, 1)))
    assert [node.parallel for node in nodes(made) if isinstance(node, For)] == [True, False, False]
    made = parallel_loops.run(nest(), context(*ARRAYS, S=on_threads(1)))
    assert [node.parallel for node in nodes(made) if isinstance(node, For)] == [False, True, False]
    two = (loop("i", 0, 7, adds("S", at("s", 0), at("x", "i", 0, 0)), adds("T", at("t", 0), at("x", "i", 0, 0))),)
    made = parallel_loops.run(two, context(*ARRAYS, S=on_threads(0), T=StatementFacts()))
    assert made == two


def test_two_loops_are_dealt_out_as_one_if_they_are_a_box() -> None:
    simd = "#pragma omp simd simdlen(16)"
    assert directives(nest(), context(*ARRAYS, S=on_threads(0))) == ["#pragma omp parallel for", simd]
    together = ["#pragma omp parallel for collapse(2)", simd]
    assert directives(nest(), context(*ARRAYS, S=on_threads(0, 1))) == together
    # The inner one has other bounds each time.
    assert directives(nest(last="i"), context(*ARRAYS, S=on_threads(0, 1))) == ["#pragma omp parallel for", simd]


def test_a_vector_loop_may_run_on_threads_itself() -> None:
    assert directives(nest(), context(*ARRAYS, S=on_threads(2))) == ["#pragma omp parallel for simd simdlen(16)"]


def test_clauses_come_from_the_plan() -> None:
    sums = (array("s", 4, 3), array("x", 8))
    ir = (loop("i", 0, 7, adds("S", at("s", 0, 1), at("x", "i"))),)
    known = context(*sums, S=on_threads(0, dynamic=True, combined=("s",)))
    assert directives(ir, known) == ["#pragma omp parallel for schedule(dynamic) reduction(+: s[:4][:3])"]


def test_threads_that_write_past_the_caches_wait_at_the_end() -> None:
    ir = (loop("i", 0, 7, sets("S", at("y", "i"), at("x", "i")), STREAM),)
    known = context(array("y", 8), array("x", 8), S=on_threads(0))
    assert directives(ir, known) == ["#pragma omp parallel", "#pragma omp for", "polydl_streamed();"]
    assert directives(ir, context(array("y", 8), array("x", 8), S=StatementFacts())) == ["polydl_streamed();"]
    # What a region has waited for needs no other fence.
    both = (*ir, loop("k", 2, 7, sets("T", at("y", "k"), at("x", "k"))))
    other = StatementFacts(counts={2: 8})
    assert (
        directives(both, context(array("y", 8), array("x", 8), S=on_threads(0), T=other)).count("polydl_streamed();")
        == 1
    )


def test_loops_that_fill_vectors_ask_for_whole_ones() -> None:
    def asked(count: int, *lanes: int) -> int:
        known = {name: StatementFacts(counts={0: count}, lanes=width) for name, width in zip("ST", lanes, strict=False)}
        body = tuple(sets(name, at("y", "i"), at("x", "i")) for name in known)
        return openmp.simdlen(loop("i", 0, count - 1, *body), context(*ARRAYS, exact=False, precise=False, **known))

    assert asked(33, 16) == 16
    assert asked(7, 8) == 0
    # Beside wider elements the narrowest fill a vector as well, where there are so many.
    assert asked(33, 16, 8) == 16
    assert asked(9, 16, 8) == 8


def test_loops_that_are_no_loops_of_the_schedule_stay() -> None:
    after = (loop("polydl_pixel0", -1, 3, sets("", at("y", 0), at("x", 0))),)
    assert parallel_loops.run(after, context(*ARRAYS)) == after
    assert vectorize.run(after, context(*ARRAYS)) is after


def test_a_call_asks_between_its_parallel_loops_and_before_those_that_a_loop_repeats() -> None:
    statement = sets("S", at("y", "i", 0, 0), at("x", "i", 0, 0))
    dealt = replace(loop("i", 0, 7, statement), pragma=Pragma("parallel for"))
    region = ParallelRegion((replace(loop("i", 0, 7, statement), pragma=Pragma("for")),))
    assert with_choice((statement, dealt, statement)) == (statement, dealt, statement)
    assert with_choice((dealt, statement, region)) == (dealt, statement, BETWEEN, region)
    (repeated,) = with_choice((loop("t", 0, 9, dealt, statement),))
    assert isinstance(repeated, For)
    assert repeated.body == (BETWEEN, dealt, statement)
    assert with_choice((loop("t", 0, 9, dealt), dealt))[1:] == (BETWEEN, dealt)
    # A loop of vectors starts no threads.
    lanes = replace(loop("i", 0, 7, statement), pragma=Pragma("simd"))
    assert with_choice((lanes, lanes)) == (lanes, lanes)
    assert with_choice((dealt,), repeated=True) == (BETWEEN, dealt)
