/* The caller's, which all of its kernels may share: as many bytes as this one would keep, from a multiple of 64 on. */
extern __attribute__((visibility("hidden"))) _Thread_local char *POLYDL_SCRATCH;

static inline void *polydl_kept(int array)
{
  size_t offset = 0;
  for (int before = 0; before < array; ++before)
    offset += polydl_sizes[before];
  return POLYDL_SCRATCH + offset;
}

static inline int polydl_reserve(void)
{
  return POLYDL_SCRATCH != NULL;
}

static inline void polydl_leave(void) {}

/* Nothing is to be freed. */
static inline int polydl_enter(void)
{
  return 0;
}

static inline void polydl_drop(void) {}
