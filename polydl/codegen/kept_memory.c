/* What a thread keeps from one call to the next. It goes with the thread, with the library, or when it is released. */
struct polydl_memory {
  struct polydl_memory *next, **place;
  void *arrays[polydl_arrays];
};
static pthread_once_t polydl_memory_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t polydl_memory_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t polydl_memory_key;
static struct polydl_memory *polydl_memories; /* those of all threads */
static int polydl_has_key, polydl_closed;
static int polydl_inside; /* calls that are running */

static void polydl_free(struct polydl_memory *memory)
{
  for (int array = 0; array < polydl_arrays; ++array)
    free(memory->arrays[array]);
  free(memory);
}

/* Runs when a thread ends. */
static void polydl_forget(void *of_thread)
{
  struct polydl_memory *memory = of_thread;
  pthread_mutex_lock(&polydl_memory_lock);
  const int closed = polydl_closed;
  if (!closed) {
    *memory->place = memory->next;
    if (memory->next)
      memory->next->place = memory->place;
  }
  pthread_mutex_unlock(&polydl_memory_lock);
  if (!closed)
    polydl_free(memory);
}

static void polydl_make_key(void)
{
  polydl_has_key = !pthread_key_create(&polydl_memory_key, polydl_forget);
}

static struct polydl_memory *polydl_own_memory(void)
{
  struct polydl_memory *memory = pthread_getspecific(polydl_memory_key);
  if (memory)
    return memory;
  memory = calloc(1, sizeof *memory);
  if (!memory || pthread_setspecific(polydl_memory_key, memory)) {
    free(memory);
    return NULL;
  }
  pthread_mutex_lock(&polydl_memory_lock);
  memory->next = polydl_memories;
  memory->place = &polydl_memories;
  if (memory->next)
    memory->next->place = &memory->next;
  polydl_memories = memory;
  pthread_mutex_unlock(&polydl_memory_lock);
  return memory;
}

/* One of the arrays of the calling thread; NULL if there is no memory for it. */
static void *polydl_kept(int array)
{
  struct polydl_memory *memory = polydl_own_memory();
  if (memory && !memory->arrays[array])
    memory->arrays[array] = polydl_allocated(polydl_sizes[array]);
  return memory ? memory->arrays[array] : NULL;
}

static void polydl_drop(void)
{
  struct polydl_memory *memory = pthread_getspecific(polydl_memory_key);
  if (memory && !pthread_setspecific(polydl_memory_key, NULL))
    polydl_forget(memory);
}

static void polydl_leave(void)
{
  __atomic_sub_fetch(&polydl_inside, 1, __ATOMIC_SEQ_CST);
}

/* Whether memory may be used until polydl_leave: not if the library is being closed. */
static int polydl_enter(void)
{
  pthread_once(&polydl_memory_once, polydl_make_key);
  __atomic_add_fetch(&polydl_inside, 1, __ATOMIC_SEQ_CST);
  if (polydl_has_key && !__atomic_load_n(&polydl_closed, __ATOMIC_SEQ_CST))
    return 1;
  polydl_leave();
  return 0;
}

/* Whether the calling thread has the arrays that a call can't do without. */
static int polydl_reserve(void)
{
  if (!polydl_enter())
    return 0;
  for (int array = 0; array < polydl_reserved; ++array)
    if (!polydl_kept(array)) {
      polydl_drop();
      polydl_leave();
      return 0;
    }
  return 1;
}

/* Runs when the library is closed or the process ends. Calls that still run then are left their memory. */
__attribute__((destructor)) static void polydl_close(void)
{
  pthread_mutex_lock(&polydl_memory_lock);
  __atomic_store_n(&polydl_closed, 1, __ATOMIC_SEQ_CST);
  const int idle = polydl_has_key && !__atomic_load_n(&polydl_inside, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&polydl_memory_lock);
  if (!idle)
    return;
  pthread_key_delete(polydl_memory_key);
  while (polydl_memories) {
    struct polydl_memory *memory = polydl_memories;
    polydl_memories = memory->next;
    polydl_free(memory);
  }
}
