#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>
#ifndef POLYDL_CPUID
#define POLYDL_CPUID(leaf, part, a, b, c, d) __cpuid_count(leaf, part, a, b, c, d)
#endif
/* The first instruction set that the compiler was allowed to use and that the processor or the system lacks. */
static const char *polydl_missing(void)
{
  unsigned out[4], most, most_extended, most_part, saved = 0;
  POLYDL_CPUID(0, 0, most, out[1], out[2], out[3]);
  POLYDL_CPUID(0x80000000, 0, most_extended, out[1], out[2], out[3]);
  POLYDL_CPUID(7, 0, most_part, out[1], out[2], out[3]);
  POLYDL_CPUID(1, 0, out[0], out[1], out[2], out[3]);
  if (out[2] >> 27 & 1) /* The system says which registers it saves. */
    __asm__ volatile("xgetbv" : "=a"(saved) : "c"(0) : "edx");
  for (const struct polydl_instructions *set = polydl_used; set->name; ++set) {
    if (set->leaf > (set->leaf >> 31 ? most_extended : most) || (set->leaf == 7 && set->part > most_part))
      return set->name;
    POLYDL_CPUID(set->leaf, set->part, out[0], out[1], out[2], out[3]);
    if (!(out[set->place] >> set->bit & 1) || (saved & set->registers) != set->registers)
      return set->name;
  }
  return NULL;
}
#else
static const char *polydl_missing(void) { return NULL; }
#endif

static int polydl_fits(void)
{
  static int known; /* 1: yes, 2: no */
  int state = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!state) {
    state = polydl_missing() ? 2 : 1;
    __atomic_store_n(&known, state, __ATOMIC_RELAXED);
  }
  return state == 1;
}
