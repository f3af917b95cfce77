"""C over a ring: the same text with numbers in which every reordering of sums and products is exact.

Two rings: the integers modulo 2^32 (2^64 for double), where ``float`` becomes ``int`` and the text stays C; and the
field of the integers modulo the prime 2^31 - 1, in which one can divide, where ``float`` becomes a C++ class. A literal
becomes the element that it stands for: 0.75 is 3 / 4 of the field. Functions of ``<math.h>`` become fixed scramblings
of bits, since a variant that calls them with the same numbers must get the same result; the larger of two and the
absolute value are what they are, of the elements as signed numbers.

Types are replaced by the preprocessor, and what generated C has beside plain arithmetic is known (``Ingredients``).
Tokens are looked at for literals alone, and for the shift in conversions of bfloat16. These are the user's: they stand
in the source, and generated loops have the user's statements in them, so that all of their text is gone through. (What
polydl's own functions convert in the same way is met on the way, and needs no ingredient of its own.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np

from polydl.c_tokens import Token, TokenKind, code, floating, tokens
from polydl.ir.ingredients import PLAIN, Ingredients

Ring = Literal["integers modulo 2^32", "integers modulo 2^31 - 1"]
INTEGERS: Ring = "integers modulo 2^32"
FIELD: Ring = "integers modulo 2^31 - 1"
MODULUS = 2**31 - 1
# Literals that a transform writes are quotients of small numbers, rounded.
_LARGEST_DENOMINATOR = 1 << 14

# Numbers of <float.h> that are no fractions. What no integer can hold is converted by compilers to another one than by
# processors.
_LARGEST = {"FLT_MAX": "3.40282347e+38f", "DBL_MAX": "1.7976931348623157e+308"}
# What stands before a name that a directive is about, which stays as it is.
_DIRECTIVES = frozenset({"define", "undef", "ifdef", "ifndef", "defined"})

_FLOATING = frozenset({"float", "double"})

_INTEGER_PRELUDE = """\
#define float int
#define double long
#define POLYDL_BITS(x) ((unsigned long)(x))
"""
# A residue is below the modulus. Vectors of them have as many bytes as the vectors of floats that they replace; they
# are the compiler's own, and nothing is included of C++'s library, which takes the compiler longer than all of this.
_FIELD_PRELUDE = """\
#define restrict __restrict__
#define _Thread_local thread_local
#define _Alignas alignas
#define __builtin_shufflevector polydl_picked
template <bool yes, class T = void> struct polydl_if {};
template <class T> struct polydl_if<true, T> { typedef T type; };
template <class T> struct polydl_integral { enum { value = __is_enum(T) }; };
#define POLYDL_INTEGRAL(T) template <> struct polydl_integral<T> { enum { value = 1 }; };
POLYDL_INTEGRAL(bool)
POLYDL_INTEGRAL(char)
POLYDL_INTEGRAL(signed char)
POLYDL_INTEGRAL(unsigned char)
POLYDL_INTEGRAL(short)
POLYDL_INTEGRAL(unsigned short)
POLYDL_INTEGRAL(int)
POLYDL_INTEGRAL(unsigned int)
POLYDL_INTEGRAL(long)
POLYDL_INTEGRAL(unsigned long)
POLYDL_INTEGRAL(long long)
POLYDL_INTEGRAL(unsigned long long)
static const unsigned long polydl_modulus = 2147483647;
static inline unsigned long polydl_times(unsigned long a, unsigned long b)
{
  const unsigned long whole = a * b, folded = (whole & polydl_modulus) + (whole >> 31);
  return folded >= polydl_modulus ? folded - polydl_modulus : folded;
}
static inline unsigned long polydl_inverse(unsigned long x)
{
  unsigned long power = 1;
  for (unsigned long left = polydl_modulus - 2; left; left >>= 1, x = polydl_times(x, x))
    if (left & 1)
      power = polydl_times(power, x);
  return power;
}
template <class Word> struct polydl_number {
  Word residue;
  polydl_number() = default;
  template <class Other> polydl_number(polydl_number<Other> x) : residue((Word)x.residue) {}
  template <class Integer, class = typename polydl_if<polydl_integral<Integer>::value>::type>
  polydl_number(Integer x)
      : residue((Word)(((long)x % (long)polydl_modulus + (long)polydl_modulus) % (long)polydl_modulus)) {}
};
template <class Element, int lanes> struct polydl_wide {
  typedef decltype(Element::residue) Word;
  typedef Word Words __attribute__((vector_size(lanes * sizeof(Word)), aligned(sizeof(Word))));
  enum { bytes = lanes * sizeof(Word), whole = bytes < sizeof(long) ? sizeof(long) : bytes };
  typedef unsigned long Longs __attribute__((vector_size(whole)));
  union { Element lane[lanes]; Words words; };
  static Words reduced(Words x) { const Words p = Words{} + (Word)polydl_modulus; return x >= p ? x - p : x; }
  static Longs folded(Longs x) { return (x & polydl_modulus) + (x >> 31); }
  Element &operator[](int i) { return lane[i]; }
  const Element &operator[](int i) const { return lane[i]; }
};
template <class E, int n, class... Place>
inline polydl_wide<E, sizeof...(Place)> polydl_picked(polydl_wide<E, n> x, polydl_wide<E, n> y, Place... places)
{
  const int from[] = {places...};
  polydl_wide<E, sizeof...(Place)> result;
  for (int i = 0; i < (int)sizeof...(Place); ++i)
    result[i] = from[i] < n ? x[from[i] < 0 ? 0 : from[i]] : y[from[i] - n];
  return result;
}
template <class E, int n> inline polydl_wide<E, n> polydl_everywhere(E x)
{ polydl_wide<E, n> result; result.words = typename polydl_wide<E, n>::Words{} + x.residue; return result; }
template <class E, int n> inline polydl_wide<E, n> polydl_products(polydl_wide<E, n> x, polydl_wide<E, n> y)
{
  typedef polydl_wide<E, n> V;
  typedef typename V::Longs Longs;
  const Longs a = (Longs)x.words, b = (Longs)y.words, low = (Longs){} + 0xfffffffful, whole = V::folded(a * b);
  const Longs even = V::folded((a & low) * (b & low)), odd = V::folded((a >> 32) * (b >> 32));
  x.words = V::reduced((typename V::Words)(sizeof(E) == sizeof(long) ? whole : even | odd << 32));
  return x;
}
template <class E> inline polydl_wide<E, 1> polydl_products(polydl_wide<E, 1> x, polydl_wide<E, 1> y)
{ x.lane[0].residue = polydl_times(x.lane[0].residue, y.lane[0].residue); return x; }
template <class E, int n> inline polydl_wide<E, n> polydl_quotients(polydl_wide<E, n> x, polydl_wide<E, n> y)
{
  for (int i = 0; i < n; ++i)
    x.lane[i].residue = polydl_times(x.lane[i].residue, polydl_inverse(y.lane[i].residue));
  return x;
}
template <class A, class B> using polydl_wider = polydl_number<decltype(A() + B())>;
#define POLYDL_IF_INTEGER(I) class = typename polydl_if<polydl_integral<I>::value>::type
#define POLYDL_OPERATOR(op, value, vectors) \\
  template <class A, class B> inline polydl_wider<A, B> operator op(polydl_number<A> x, polydl_number<B> y) \\
  { \\
    const unsigned long a = x.residue, b = y.residue; \\
    polydl_wider<A, B> result; \\
    result.residue = (value); \\
    return result; \\
  } \\
  template <class A, class I, POLYDL_IF_INTEGER(I)> inline polydl_number<A> operator op(polydl_number<A> x, I y) \\
  { return x op polydl_number<A>(y); } \\
  template <class A, class I, POLYDL_IF_INTEGER(I)> inline polydl_number<A> operator op(I x, polydl_number<A> y) \\
  { return polydl_number<A>(x) op y; } \\
  template <class E, int n> inline polydl_wide<E, n> operator op(polydl_wide<E, n> x, polydl_wide<E, n> y) \\
  { x.words = (vectors); return x; } \\
  template <class E, int n, class S> inline polydl_wide<E, n> operator op(polydl_wide<E, n> x, S y) \\
  { return x op polydl_everywhere<E, n>(E(y)); } \\
  template <class E, int n, class S> inline polydl_wide<E, n> operator op(S x, polydl_wide<E, n> y) \\
  { return polydl_everywhere<E, n>(E(x)) op y; } \\
  template <class A, class S> inline polydl_number<A> &operator op##=(polydl_number<A> &x, S y) \\
  { return x = x op y; } \\
  template <class E, int n, class S> inline polydl_wide<E, n> &operator op##=(polydl_wide<E, n> &x, S y) \\
  { return x = x op y; }
POLYDL_OPERATOR(+, a + b >= polydl_modulus ? a + b - polydl_modulus : a + b, x.reduced(x.words + y.words))
POLYDL_OPERATOR(-, a >= b ? a - b : a + polydl_modulus - b, x.reduced(x.words - y.words + (unsigned int)polydl_modulus))
POLYDL_OPERATOR(*, polydl_times(a, b), polydl_products(x, y).words)
POLYDL_OPERATOR(/, polydl_times(a, polydl_inverse(b)), polydl_quotients(x, y).words)
template <class A> inline polydl_number<A> operator-(polydl_number<A> x) { return 0 - x; }
template <class E, int n> inline polydl_wide<E, n> operator-(polydl_wide<E, n> x) { return 0 - x; }
template <class A> inline polydl_number<A> operator+(polydl_number<A> x) { return x; }
template <class A> inline long polydl_signed(polydl_number<A> x)
{ return (unsigned long)x.residue > polydl_modulus / 2 ? (long)x.residue - (long)polydl_modulus : (long)x.residue; }
#define POLYDL_COMPARISON(op) \\
  template <class A, class B> inline bool operator op(polydl_number<A> x, polydl_number<B> y) \\
  { return polydl_signed(x) op polydl_signed(y); } \\
  template <class A, class I, POLYDL_IF_INTEGER(I)> inline bool operator op(polydl_number<A> x, I y) \\
  { return x op polydl_number<A>(y); } \\
  template <class A, class I, POLYDL_IF_INTEGER(I)> inline bool operator op(I x, polydl_number<A> y) \\
  { return polydl_number<A>(x) op y; }
POLYDL_COMPARISON(<)
POLYDL_COMPARISON(>)
POLYDL_COMPARISON(<=)
POLYDL_COMPARISON(>=)
POLYDL_COMPARISON(==)
POLYDL_COMPARISON(!=)
#define float polydl_number<unsigned int>
#define double polydl_number<unsigned long>
#define POLYDL_BITS(x) ((unsigned long)(x).residue)
"""
_SCRAMBLE = """\
static inline long polydl_scrambled(unsigned long which, unsigned long x, unsigned long y)
{
  unsigned long bits = (x + which) * 0x9e3779b97f4a7c15ul ^ (y + which) * 0xbf58476d1ce4e5b9ul;
  bits = (bits ^ bits >> 29) * 0x94d049bb133111ebul;
  return (long)(bits >> 34);
}
"""
# A time is no number of a ring, and what a source does with one is no result.
_NO_TIME = """\
static inline double polydl_ring_omp_get_wtime(void) { return 0; }
#define omp_get_wtime polydl_ring_omp_get_wtime"""
_PLAIN = {"fmax": "x > y ? x : y", "fmin": "x < y ? x : y", "fabs": "x < 0 ? -x : x"}
_TWO_ARGUMENTS = frozenset({"fmax", "fmin", "pow", "atan2", "hypot", "fmod", "fdim", "copysign"})
_ONE_ARGUMENT = """\
fabs sqrt cbrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf
erfc floor ceil round trunc rint nearbyint"""
_FUNCTIONS = _TWO_ARGUMENTS | set(_ONE_ARGUMENT.split())


def has_fractions(text: str) -> bool:
    """Whether a floating-point literal is no integer."""
    literals = (floating(token) for token in tokens(text))
    return any(literal is not None and literal[0].denominator != 1 for literal in literals)


def over(
    ring: Ring,
    texts: Sequence[str],
    functions: Iterable[str],
    includes: Iterable[str] = (),
    ingredients: Ingredients = PLAIN,
) -> list[str]:
    """C texts over a ring, each complete with what it needs; ``functions`` of ``<math.h>`` are called.

    Those for the field are C++. ``includes`` are the system's headers that the user's C includes; these, and those
    among the ``ingredients`` of the texts, come before all that is changed. Functions that make machine code make none
    there: what the texts do without it is what is done.
    """
    headers = dict.fromkeys(("stdlib.h", "string.h", "math.h", *includes, *ingredients.includes))
    prelude = _INTEGER_PRELUDE if ring == INTEGERS else _FIELD_PRELUDE
    known = sorted(name for name in functions if name in _FUNCTIONS or name.removesuffix("f") in _FUNCTIONS)
    defined = [_function(name, number) for number, name in enumerate(known, 1)]
    absent = [f"#define {each.name}(...) 0" for each in ingredients.dispatch_functions]
    head = "\n".join([*map(_hoisted, headers), prelude, _SCRAMBLE, _NO_TIME, *defined, *dict.fromkeys(absent), ""])
    declarations = _declarations(ring, ingredients)
    return [head + rewritten_for(ring, _replaced(text, declarations)) for text in texts]


def rewritten_for(ring: Ring, text: str) -> str:
    """A C text whose literals are those of the ring. It is not complete: see ``over``."""
    parts = list(tokens(text))
    significant = code(parts)
    is_bfloat16 = any("bfloat16" in token.text for token in parts if token.kind is TokenKind.WORD)
    for before, place in pairwise(significant):
        if is_bfloat16 and (parts[before].text, parts[place].text) == ("<<", "16"):
            # It is the upper half of a float, but the lower half of an element of a ring, or products would vanish.
            parts[place] = Token(TokenKind.NUMBER, "0")
    words = [parts[place].text for place in significant if parts[place].text != "("]
    in_directives = {name for before, name in pairwise(words) if before in _DIRECTIVES}
    largest = {name: literal for name, literal in _LARGEST.items() if name not in in_directives}
    for place in significant:
        if parts[place].text in largest:
            parts[place] = Token(TokenKind.NUMBER, largest[parts[place].text])
    return "".join([_over(ring, token) for token in parts])


def _declarations(ring: Ring, ingredients: Ingredients) -> dict[str, str]:
    """What takes the place of declarations: for vectors the class ``polydl_wide``; nothing for absent functions."""
    declarations = {each.declaration: "" for each in ingredients.dispatch_functions}
    if ring == FIELD:
        for each in ingredients.vector_types:
            if each.element in _FLOATING:
                declarations[each.declaration] = f"typedef polydl_wide<{each.element}, {each.lanes}> {each.name};"
    return declarations


def _replaced(text: str, declarations: Mapping[str, str]) -> str:
    """The text with other declarations."""
    for declaration, other in declarations.items():
        text = text.replace(declaration, other)
    return text


def _over(ring: Ring, token: Token) -> str:
    """A token, and for a literal the element of the ring."""
    literal = floating(token)
    return token.text if literal is None else _element(ring, *literal)


def _element(ring: Ring, value: Fraction, suffix: str) -> str:
    if abs(value) >= 2**64:
        # Digits that the type doesn't have are left out in one text, and stand in another.
        nearest = np.float64(float(value)) if suffix == "" else np.float32(float(value))
        value = Fraction(float(nearest)) if np.isfinite(nearest) else value
    if ring == INTEGERS:
        whole = int(value) % 2**64 if suffix == "" else int(value) % 2**32
        return f"((double){whole}u)" if suffix == "" else f"((float){whole}u)"
    single = suffix in ("f", "F")
    simple = value.limit_denominator(_LARGEST_DENOMINATOR)
    rounded = np.float32(float(simple)) == np.float32(float(value)) if single else float(simple) == float(value)
    if not rounded:
        simple = value
    residue = simple.numerator * pow(simple.denominator, -1, MODULUS) % MODULUS
    return f"({'float' if single else 'double'}({residue}))"


# Headers of some processors, by what those have which have anything that generated code uses from there.
_OF_PROCESSORS = {"cpuid.h": "__x86_64__", "emmintrin.h": "__SSE2__", "immintrin.h": "__AVX__"}


def _hoisted(name: str) -> str:
    include = f"#include <{name}>"
    needed = _OF_PROCESSORS.get(name)
    return include if needed is None else f"#if defined {needed}\n{include}\n#endif"


def _function(name: str, number: int) -> str:
    """A function of ``<math.h>`` over the ring, which takes the place of its name."""
    single = name not in _FUNCTIONS
    base, element = (name[:-1], "float") if single else (name, "double")
    both = base in _TWO_ARGUMENTS
    scrambled = f"({element})polydl_scrambled({number}, POLYDL_BITS(x), {'POLYDL_BITS(y)' if both else 0})"
    parameters = f"{element} x, {element} y" if both else f"{element} x"
    definition = f"{element} polydl_ring_{name}({parameters}) {{ return {_PLAIN.get(base, scrambled)}; }}"
    return f"static inline {definition}\n#define {name} polydl_ring_{name}"
