"""C of the memory that threads keep from call to call: allocated, found again, and freed in time.

Or lent: compiled with ``-DPOLYDL_SCRATCH=NAME``, a kernel takes it from the thread-local pointer ``NAME`` of its
caller, who may lend the same bytes to several kernels. What they hold means nothing from one call to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from polydl.codegen import processor

# Arrays of this size are asked to be in pages of it: those of 4 KiB would come to more than a core keeps addresses of.
_LARGE_PAGE = 1 << 21
# The headers of C99 hide aligned_alloc, and what is called without a declaration returns an int.
_ALLOCATED = f"""\
#if defined __STDC_VERSION__ && __STDC_VERSION__ < 201112L
void *aligned_alloc(size_t alignment, size_t size);
#endif
static void *polydl_allocated(size_t size)
{{
#ifdef MADV_HUGEPAGE
  const size_t page = {_LARGE_PAGE}, whole = (size + page - 1) / page * page;
  if (size >= page) {{
    void *made = aligned_alloc(page, whole);
    if (made)
      (void)madvise(made, whole, MADV_HUGEPAGE);
    return made;
  }}
#endif
  return aligned_alloc(64, size);
}}"""


#: names the caller's pointer
SCRATCH = "POLYDL_SCRATCH"


@cache
def support() -> str:
    """What is the same in all files."""
    lent, own = (
        Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip("\n")
        for name in ("lent_memory.c", "kept_memory.c")
    )
    return "\n".join(
        [f"#ifdef {SCRATCH}", processor.for_all(lent), "#else", processor.for_all(_ALLOCATED, own), "#endif"]
    )


@dataclass(frozen=True)
class KeptMemory:
    """The arrays that each thread keeps. Generated code gets them as ``polydl_kept(number)``.

    It calls ``polydl_reserve()`` first, and ``polydl_leave()`` last if that was true.
    """

    #: bytes of each array of a thread that calls the function, whole cache lines; a call needs all of them
    reserved: tuple[int, ...] = ()
    #: bytes of one more array, for what is prepared; only calls that prepare it themselves need it
    prepared: int = 0

    @property
    def arrays(self) -> tuple[int, ...]:
        """Bytes of all arrays that a thread may keep, the prepared one last."""
        return (*self.reserved, *((self.prepared,) if self.prepared else ()))

    @property
    def bytes(self) -> int:
        """What a calling thread keeps at most."""
        return sum(-(-size // _LARGE_PAGE) * _LARGE_PAGE if size >= _LARGE_PAGE else size for size in self.arrays)

    @property
    def reserved_bytes(self) -> int:
        """What a caller lends for calls that need no prepared array."""
        return sum(self.reserved)

    @property
    def includes(self) -> tuple[str, ...]:
        """The headers that ``definitions`` need; none if no memory is kept."""
        return ("pthread.h", "stdlib.h", "sys/mman.h") if self.arrays else ()

    def definitions(self) -> Sequence[str]:
        """C at file scope."""
        if not self.arrays:
            return ()
        sizes = ", ".join(map(str, self.arrays))
        return (
            f"enum {{ polydl_arrays = {len(self.arrays)}, polydl_reserved = {len(self.reserved)} }};",
            f"static const size_t polydl_sizes[polydl_arrays] = {{{sizes}}};",
            support(),
        )

    def release(self, name: str) -> str:
        """C of a function of that name, which frees what the calling thread keeps."""
        body = ["  if (polydl_enter()) {", "    polydl_drop();", "    polydl_leave();", "  }"] if self.arrays else []
        return "\n".join([f"void {name}(void);", f"void {name}(void)", "{", *body, "}"])
