"""What the steps of a nest ask for together."""

from __future__ import annotations

from polydl.ir.variant import (
    Attach,
    Interchange,
    NestSchedule,
    Parallel,
    Stream,
    Tile,
    Unroll,
    UseMicrokernel,
    Variant,
    Vectors,
)

PLAIN = (
    Tile(3, "i", (256, 64)),
    Tile(3, "j", (32,)),
    Interchange(3, ("i_t2", "j_t1", "i_t1", "k", "i", "j")),
    Parallel(3, "i_t2"),
    Unroll(3, "i"),
    Unroll(3, "j"),
    Stream(3, ("y", "z")),
    Vectors(3, 32),
)
CALL = UseMicrokernel(1, "c", "j", "i", "k")


def test_a_schedule_has_what_the_steps_of_its_nest_say() -> None:
    schedule = Variant((*PLAIN, CALL)).nest(3)
    assert schedule.steps == PLAIN
    assert schedule.tiles == (Tile(3, "i", (256, 64)), Tile(3, "j", (32,)))
    assert schedule.tile_loops == {"i_t2": ("i", 256), "i_t1": ("i", 64), "j_t1": ("j", 32)}
    assert schedule.order == ("i_t2", "j_t1", "i_t1", "k", "i", "j")
    assert schedule.parallel == Parallel(3, "i_t2")
    assert schedule.unrolled == ("i", "j")
    assert schedule.streamed == ("y", "z")
    assert schedule.vector_bytes == 32
    assert schedule.microkernel is None


def test_without_steps_nothing_is_asked_for() -> None:
    schedule = Variant((CALL,)).nest(0)
    assert schedule == NestSchedule()
    assert (schedule.order, schedule.parallel, schedule.microkernel, schedule.vector_bytes) == (None, None, None, None)
    assert (schedule.tiles, schedule.unrolled, schedule.streamed) == ((), (), ())
    # Not the same as no order: a microkernel runs all loops.
    assert NestSchedule((Interchange(0, ()),)).order == ()


def test_a_variant_has_the_schedules_of_its_nests_in_their_order() -> None:
    variant = Variant((*PLAIN, UseMicrokernel(2, "libxsmm", "j", "i", "k"), CALL, Attach("S0", "S1", "first")))
    assert list(variant.nests) == [1, 2, 3]
    assert variant.nests[1] == variant.nest(1) == NestSchedule((CALL,))
    assert variant.microkernels == {1: "c", 2: "libxsmm"}
    assert Variant((Attach("S0", "S1"),)).nests == {}


def test_schedules_are_equal_where_their_steps_are() -> None:
    one, other = Variant(PLAIN).nest(3), Variant((CALL, *reversed(PLAIN[2:4]), *PLAIN[:2], *PLAIN[4:])).nest(3)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Variant(PLAIN[1:]).nest(3)


def test_on_one_thread_all_but_the_parallel_loop_is_left() -> None:
    variant = Variant((*PLAIN, CALL))
    assert variant.threaded
    alone = variant.on_one_thread()
    assert not alone.threaded
    assert alone.steps == tuple(step for step in variant.steps if step != Parallel(3, "i_t2"))
