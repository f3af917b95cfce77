"""Which local integers hold data."""

from __future__ import annotations

from clang.cindex import CursorKind, Index

from polydl.frontend.data_integers import data_integers
from polydl.frontend.walk import key_of, preorder

TEXT = """\
void f(long n, int zero, const int a[64], long b[64])
{
    const long last = n - 2;
    long end = last + 1;
    for (long i = 0; i < end; i++) {
        long product = (long)a[i] * 3;
        long twice = product + product;
        long offset = (long)zero * 100000;
        long half = i / 2;
        b[half] = twice + offset;
    }
}
"""


def test_sizes_are_no_data_and_what_is_computed_from_elements_is() -> None:
    unit = Index.create().parse("nest.c", ["-xc"], [("nest.c", TEXT)])
    (function,) = unit.cursor.get_children()
    names = {key_of(each): each.spelling for each in preorder(function) if each.kind == CursorKind.VAR_DECL}
    assert {names[key] for key in data_integers(function)} == {"product", "twice", "offset"}
