"""Calls of microkernels that are compiled, run and compared with the loop nests that they equal."""

from __future__ import annotations

import itertools
from dataclasses import replace

from polydl.contracts import GemmSite


def site(**changes: object) -> GemmSite:
    plain = GemmSite(
        prefix="site",
        element="float",
        accumulator="float",
        m=(16, 16),
        n=(6, 6),
        k=(8, 8),
        batch=(1, 1),
        lda=16,
        ldc=16,
        stride_bn=8,
        stride_bk=1,
        offsets_a=(0,),
        offsets_b=(0,),
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


SITES = [
    site(),
    site(m=(64, 64), n=(14, 14), k=(32, 32), lda=64, ldc=70, stride_bn=32),
    site(m=(48, 16), n=(9, 5), k=(16, 7), lda=50, ldc=48, stride_bn=40),
    site(m=(32, 32), n=(12, 12), k=(16, 16), lda=32, ldc=32, stride_bn=1, stride_bk=20),
    site(m=(37, 21), n=(7, 7), k=(5, 5), lda=37, ldc=64, stride_bn=5),
    site(
        m=(32, 32),
        n=(7, 3),
        k=(16, 16),
        lda=32,
        ldc=32,
        stride_bn=32,
        batch=(3, 2),
        offsets_a=(0, 512, 1024),
        offsets_b=(0, 16, 300),
    ),
    site(element="double", accumulator="double", m=(24, 24), n=(10, 10), lda=24, ldc=24, stride_bn=8),
    site(m=(1, 1), n=(1, 1), k=(3, 3), lda=1, ldc=1, stride_bn=3),
    site(m=(40, 8), n=(20, 6), k=(9, 9), lda=40, ldc=48, stride_bn=9, overwrites=True),
    site(m=(32, 32), n=(5, 5), lda=32, ldc=32, batch=(2, 2), offsets_a=(0, 256), offsets_b=(0, 8), overwrites=True),
]
WIDER = [
    site(m=(32, 16), n=(7, 7), k=(8, 8), lda=32, ldc=32, rows_b=(0, 72, 144), rows_c=(0, 288, 576)),
    site(m=(39, 39), n=(9, 2), lda=39, ldc=40, rows_b=(0, 80), rows_c=(400, 0), overwrites=True),
    site(
        element="double", accumulator="double", m=(27, 27), n=(14, 14), lda=27, ldc=27, rows_b=(0, 9), rows_c=(0, 500)
    ),
    site(m=(40, 40), n=(5, 5), k=(6, 6), lda=40, ldc=40, stride_bn=90, stride_bk=9),
    site(m=(32, 32), n=(6, 6), k=(1, 1), lda=32, ldc=32, batch=(3, 2), offsets_a=(0, 64, 32), offsets_b=(0, 50, 2)),
    site(m=(32, 32), n=(12, 7), k=(3, 3), lda=32, ldc=32, stride_bn=6, stride_bk=3, overwrites=True),
    site(element="signed char", accumulator="int", m=(20, 20), n=(3, 3), k=(9, 9), lda=20, ldc=20, stride_bn=9),
    site(
        element="signed char",
        element_b="unsigned char",
        accumulator="int",
        m=(70, 20),
        k=(9, 9),
        lda=70,
        ldc=70,
        stride_bn=9,
    ),
    site(element="bfloat16", m=(64, 37), n=(14, 5), k=(16, 7), lda=64, ldc=70, stride_bn=16, overwrites=True),
    site(
        element="bfloat16",
        m=(19, 3),
        n=(6, 6),
        lda=20,
        ldc=19,
        stride_bn=1,
        stride_bk=40,
        batch=(3, 2),
        offsets_a=(0, 160, 320),
        offsets_b=(0, 500, 8),
        rows_b=(0, 20),
        rows_c=(0, 200),
    ),
    site(element="bfloat16", m=(9, 1), n=(1, 1), k=(3, 3), lda=9, ldc=9, stride_bn=3),
]
# For LIBXSMM's kernels that read A in groups: A that is copied, tails in m, n and k, copies that are used again.
GROUPED = [
    site(m=(64, 64), n=(24, 24), k=(64, 64), lda=64, ldc=64, stride_bn=64),
    site(m=(48, 23), n=(37, 16), k=(96, 20), lda=50, ldc=48, stride_bn=100, overwrites=True, anew_a=0.5),
    site(m=(17, 1), n=(1, 1), k=(8, 8), lda=2, ldc=17, stride_bn=3),
    site(
        m=(33, 16),
        n=(7, 2),
        k=(24, 16),
        lda=33,
        ldc=40,
        stride_bn=24,
        batch=(5, 2),
        offsets_a=tuple(800 * r for r in range(5)),
        offsets_b=(0, 24, 48, 7, 500),
        overwrites=True,
        anew_a=0.5,
    ),
]
PAIRS = [replace(each, element="bfloat16") for each in GROUPED] + [
    # A in groups: side by side in B as well, so that they are one product or two, or far apart.
    site(
        element="bfloat16",
        m=(32, 9),
        n=(7, 3),
        k=(2, 2),
        lda=1,
        stride_am=2,
        ldc=32,
        stride_bn=40,
        batch=(12, 12),
        offsets_a=tuple(64 * r for r in range(12)),
        offsets_b=tuple(2 * r for r in range(12)),
        overwrites=True,
    ),
    site(
        element="bfloat16",
        m=(40, 40),
        n=(5, 5),
        k=(2, 2),
        lda=1,
        stride_am=2,
        ldc=40,
        stride_bn=12,
        batch=(12, 6),
        offsets_a=tuple(100 * r for r in range(12)),
        offsets_b=tuple(2 * (r % 6) + 300 * (r // 6) for r in range(12)),
    ),
    site(
        element="bfloat16",
        m=(16, 16),
        n=(5, 5),
        k=(2, 2),
        lda=1,
        stride_am=2,
        stride_bn=10,
        batch=(3, 1),
        offsets_a=(0, 32, 999),
        offsets_b=(0, 2, 40),
    ),
]
FOURS = [
    replace(each, element="signed char", element_b="unsigned char", accumulator="int")
    for each in [
        *GROUPED,
        *(
            replace(
                each,
                k=(4, 4),
                stride_am=4,
                offsets_a=tuple(2 * offset for offset in each.offsets_a),
                offsets_b=tuple(2 * offset for offset in each.offsets_b),
                stride_bn=2 * each.stride_bn,
            )
            for each in PAIRS
            if each.lda == 1
        ),
    ]
]
# Groups as tile registers hold them: sixteen to a product, fewer, none beside another; tails in m, n and the batch;
# rows that are even and not.
IN_TILES = [
    replace(each, element=element, element_b=element_b, accumulator=accumulator, k=(4 // size, 4 // size),
            stride_am=4 // size, offsets_a=tuple(o // size for o in each.offsets_a),
            offsets_b=tuple(o // size for o in each.offsets_b), rows_b=tuple(o // size for o in each.rows_b),
            stride_bn=each.stride_bn // size)
    for element, element_b, accumulator, size in [
        ("bfloat16", "", "float", 2),
        ("signed char", "unsigned char", "int", 1),
        ("unsigned char", "signed char", "int", 1),
        ("signed char", "signed char", "int", 1),
        ("unsigned char", "unsigned char", "int", 1),
    ]
    for each in [
        site(m=(64, 64), n=(56, 56), lda=1, ldc=64, stride_bn=128, batch=(32, 32),
             offsets_a=tuple(256 * r for r in range(32)), offsets_b=tuple(4 * r for r in range(32)), overwrites=True),
        site(m=(48, 23), n=(37, 16), lda=1, ldc=50, stride_bn=104, batch=(24, 12),
             offsets_a=tuple(200 * r for r in range(24)), offsets_b=tuple(4 * r for r in range(24))),
        site(m=(16, 16), n=(9, 9), lda=1, ldc=16, stride_bn=72, batch=(18, 18),
             offsets_a=tuple(64 * (r % 9) + 1024 * (r // 9) for r in range(18)),
             offsets_b=tuple(4 * (r % 9) + 80 * (r // 9) for r in range(18)),
             rows_b=(0, 648, 2000), rows_c=(0, 144, 300), ahead=4096),
        site(m=(33, 33), n=(20, 20), lda=1, ldc=33, stride_bn=160, batch=(10, 10),
             offsets_a=tuple(132 * r for r in range(10)), offsets_b=tuple(8 * r for r in range(10)), overwrites=True),
    ]
]  # fmt: skip
# Tails in m, n and k; rows that are even in C alone, and not at all; steps of k in one piece and in several; columns
# that are split for later calls, before a call, and in passing.
TILED = [
    site(m=(64, 64), n=(56, 56), k=(64, 64), lda=64, ldc=64, stride_bn=64, anew_a=0.5, anew_b=0.5),
    site(m=(48, 23), n=(37, 16), k=(96, 20), lda=50, ldc=48, stride_bn=100, overwrites=True, ahead=64),
    site(m=(32, 17), n=(40, 7), k=(48, 48), lda=32, ldc=40, stride_bn=1, stride_bk=50),
    site(
        m=(80, 80),
        n=(14, 14),
        k=(32, 32),
        lda=80,
        ldc=80,
        stride_bn=32,
        batch=(9, 9),
        offsets_a=tuple(2560 * r for r in range(9)),
        offsets_b=tuple(32 * (r % 3) + 512 * (r // 3) for r in range(9)),
        rows_b=tuple(512 * q for q in range(14)),
        rows_c=tuple(80 * 14 * q for q in range(14)),
        overwrites=True,
    ),
    site(
        m=(33, 33),
        n=(7, 7),
        k=(64, 64),
        lda=33,
        ldc=33,
        stride_bn=64,
        batch=(5, 2),
        offsets_a=tuple(2112 * r for r in range(5)),
        offsets_b=(0, 64, 128, 40, 5000),
        rows_b=(0, 576, 1152),
        rows_c=(0, 300, 900),
    ),
    site(m=(16, 16), n=(16, 16), k=(64, 64), stride_bn=64, batch=(2, 2), offsets_a=(0, 1024), offsets_b=(0, 9000)),
    site(
        m=(96, 40),
        n=(77, 5),
        k=(64, 48),
        lda=96,
        ldc=100,
        stride_bn=80,
        batch=(3, 2),
        offsets_a=(0, 6144, 12288),
        offsets_b=(0, 20000, 40000),
        rows_b=(0, 7000),
        rows_c=(0, 7700),
        anew_a=0.5,
        overwrites=True,
        ahead=100_000,
    ),
    # A split in passing: whole pairs of tiles, then one of 16 and 9 rows.
    site(
        m=(96, 57),
        n=(45, 20),
        k=(64, 40),
        lda=100,
        ldc=96,
        stride_bn=70,
        batch=(3, 2),
        offsets_a=(0, 7000, 13000),
        offsets_b=(0, 4000, 8000),
        anew_b=0.5,
        overwrites=True,
    ),
    # So much of B that it is split anew by each call that reads it.
    site(m=(272, 272), n=(192, 192), k=(256, 256), lda=272, ldc=272, stride_bn=256, anew_b=0.5),
    # B in forty pieces, each read by two products.
    site(
        m=(32, 32),
        n=(16, 16),
        k=(32, 32),
        lda=32,
        ldc=32,
        stride_bn=32,
        batch=(80, 80),
        offsets_a=tuple(1024 * r for r in range(80)),
        offsets_b=tuple(1000 * (r // 2) + 32 * (r % 2) for r in range(80)),
    ),
    # Steps of k that no part of a tile divides: zeros follow the last ones, of B in passing, before and kept, of A in
    # each call and kept.
    site(
        m=(64, 64),
        n=(56, 30),
        k=(21, 21),
        lda=64,
        ldc=64,
        stride_bn=6,
        batch=(7, 5),
        offsets_a=tuple(1344 * r for r in range(7)),
        offsets_b=tuple(700 * r for r in range(7)),
        overwrites=True,
        ahead=1000,
    ),
    site(m=(48, 23), n=(37, 16), k=(63, 35), lda=50, ldc=48, stride_bn=1, stride_bk=40, anew_a=0.5),
    site(m=(80, 80), n=(20, 20), k=(49, 15), lda=80, ldc=80, stride_bn=49, anew_b=0.5),
]
# bfloat16s are not split: B where it lies, or column by column where its rows don't fill tiles or k is not contiguous.
NARROW = [
    site(element="bfloat16", m=(64, 64), n=(56, 56), k=(64, 64), lda=64, ldc=64, stride_bn=64, anew_a=0.5, ahead=9999),
    site(element="bfloat16", m=(48, 23), n=(37, 16), k=(96, 20), lda=50, ldc=48, stride_bn=100, overwrites=True),
    site(element="bfloat16", m=(32, 17), n=(40, 7), k=(48, 48), lda=32, ldc=40, stride_bn=1, stride_bk=50),
    site(
        element="bfloat16",
        m=(33, 33),
        n=(7, 7),
        k=(64, 64),
        lda=33,
        ldc=33,
        stride_bn=64,
        batch=(5, 2),
        offsets_a=tuple(2112 * r for r in range(5)),
        offsets_b=(0, 64, 128, 40, 5000),
        rows_b=(0, 576, 1152),
        rows_c=(0, 300, 900),
        anew_b=0.5,
    ),
    site(
        element="bfloat16",
        m=(32, 32),
        n=(40, 40),
        k=(32, 32),
        lda=32,
        ldc=32,
        stride_bn=32,
        batch=(3, 3),
        offsets_a=(0, 1024, 2048),
        offsets_b=(0, 31, 700),
        overwrites=True,
    ),
]
# All pairs of signs; steps of k in one piece and in several, and last tiles of 32 steps, which fill half a tile.
BYTES = [
    site(
        element=element,
        element_b=element_b,
        accumulator="int",
        m=(80, 23),
        n=(37, 16),
        k=(192, 96),
        lda=90,
        ldc=80,
        stride_bn=200,
        batch=(3, 2),
        offsets_a=(0, 18000, 36000),
        offsets_b=(0, 7700, 1),
        overwrites=True,
        anew_a=0.5 if element == "signed char" else 1.0,
    )
    for element, element_b in itertools.product(("signed char", "unsigned char"), repeat=2)
] + [
    site(
        element="signed char",
        accumulator="int",
        m=(32, 32),
        n=(40, 7),
        k=(32, 32),
        lda=32,
        ldc=40,
        stride_bn=1,
        stride_bk=50,
        rows_b=(0, 2000),
        rows_c=(0, 1800),
    )
]
# A row by row, k contiguous: tails in m, n and k, rows further apart than they are long, at odd distances, or that
# overlap; copies for one call and for several; B where it lies, column by column, and for floats in passing.
ROWWISE = [
    site(m=(64, 64), n=(56, 56), k=(64, 64), lda=1, stride_am=64, ldc=64, stride_bn=64, anew_a=0.5, anew_b=0.5),
    site(m=(48, 23), n=(37, 16), k=(96, 20), lda=1, stride_am=97, ldc=48, stride_bn=100, overwrites=True, ahead=64),
    site(m=(32, 17), n=(40, 7), k=(48, 48), lda=1, stride_am=112, ldc=40, stride_bn=1, stride_bk=50),
    site(m=(272, 272), n=(192, 192), k=(256, 256), lda=1, stride_am=257, ldc=272, stride_bn=256, anew_b=0.5),
    site(
        m=(96, 57),
        n=(45, 20),
        k=(64, 40),
        lda=1,
        stride_am=200,
        ldc=96,
        stride_bn=70,
        batch=(3, 2),
        offsets_a=(0, 70, 19999),
        offsets_b=(0, 4000, 8000),
        rows_b=(0, 35),
        rows_c=(0, 96 * 45),
        overwrites=True,
    ),
]
ROWWISE += [
    replace(each, element=element, element_b=element_b, accumulator=accumulator, k=(4 * each.k[0], 4 * each.k[1]))
    if accumulator == "int"
    else replace(each, element=element)
    for each in (
        replace(ROWWISE[0], stride_am=256, stride_bn=256),
        replace(ROWWISE[1], stride_am=385, stride_bn=391),
        replace(ROWWISE[2], stride_am=3),
        replace(ROWWISE[4], stride_am=320, stride_bn=333),
    )
    for element, element_b, accumulator in (
        ("bfloat16", "", "float"),
        *((*signs, "int") for signs in itertools.product(("signed char", "unsigned char"), repeat=2)),
    )
]
