"""C of vectors that take elements of two others by their numbers, for compilers of any age."""

from __future__ import annotations

#: Defines ``polydl_shuffled``. Older compilers take the numbers as a vector of integers of the same size.
SHUFFLED = """#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif"""
