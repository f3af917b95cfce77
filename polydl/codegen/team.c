/* How many threads a call takes: those that OpenMP is told to use, or one for as long as calls on all of them have taken
   longer than on one. A thread that loses its core to another program keeps the others waiting; one thread waits for
   nobody. A call on all that has taken too long already runs its remaining loops on one. Compiled with
   -DPOLYDL_ALL_THREADS, all calls take all threads. */
struct polydl_team {
  double serial; /* seconds of a call on one thread, for each unit of its work; 0 before the first */
  double credit; /* seconds that calls on all threads may lose yet; below 0: a tenth of what calls on one must take */
};
struct polydl_call {
  struct polydl_team *team;
  double work, start;
  int threads; /* of the caller; 0 if the call is not timed */
  int serial;  /* whether it runs on one */
  int stopped; /* whether it began on all and goes on on one */
};
#if defined _OPENMP && !defined POLYDL_ALL_THREADS
int omp_in_parallel(void);
int omp_get_max_threads(void);
void omp_set_num_threads(int);
double omp_get_wtime(void);
#ifndef POLYDL_CLOCK
#define POLYDL_CLOCK omp_get_wtime
#endif

/* The call that this thread is in; 0 outside of one that is timed. */
static __thread struct polydl_call *polydl_now;

/* Calls at the same time may each lose what another writes, which delays the choice at most. */
static double polydl_read(double *shared)
{
  double value;
  __atomic_load(shared, &value, __ATOMIC_RELAXED);
  return value;
}

static void polydl_write(double *shared, double value)
{
  __atomic_store(shared, &value, __ATOMIC_RELAXED);
}
#endif

static void polydl_begin(struct polydl_call *call, struct polydl_team *team, double work)
{
  *call = (struct polydl_call){team, work, 0, 0, 0, 0};
#if defined _OPENMP && !defined POLYDL_ALL_THREADS
  const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
  if (threads > 1) {
    call->threads = threads;
    call->serial = polydl_read(&team->serial) <= 0 || polydl_read(&team->credit) < 0;
    if (call->serial)
      omp_set_num_threads(1);
    polydl_now = call;
    call->start = POLYDL_CLOCK();
  }
#endif
}

/* Whether the next loop may take all threads, if the call does. Once it has lost more than it may, its remaining loops
   can't make up for that. */
__attribute__((unused)) static int polydl_between(void)
{
#if defined _OPENMP && !defined POLYDL_ALL_THREADS
  struct polydl_call *const call = polydl_now;
  if (!call)
    return 1;
  if (call->serial || call->stopped)
    return 0;
  const double lost = POLYDL_CLOCK() - call->start - polydl_read(&call->team->serial) * call->work;
  if (lost > 0 && lost > polydl_read(&call->team->credit)) {
    omp_set_num_threads(1);
    call->stopped = 1;
  }
  return !call->stopped;
#else
  return 1;
#endif
}

static void polydl_end(struct polydl_call *call)
{
#if defined _OPENMP && !defined POLYDL_ALL_THREADS
  /* Threads that slept take some 0.1 ms to start, and a first call on one thread has more to do than later ones. */
  const double start = 2e-4, most = 2e-2, first = 0.1;
  if (!call->threads)
    return;
  polydl_now = 0;
  if (call->stopped)
    omp_set_num_threads(call->threads);
  const double seconds = POLYDL_CLOCK() - call->start + 1e-9, unit = seconds / call->work;
  const double serial = polydl_read(&call->team->serial);
  double credit = polydl_read(&call->team->credit);
  if (call->serial) {
    omp_set_num_threads(call->threads);
    /* Near the shortest of the calls; a long one counts as twice as long at most. */
    const double more = unit < 2 * serial ? unit - serial : serial;
    polydl_write(&call->team->serial, serial <= 0 || more < 0 ? unit : serial + more / 8);
    if (serial <= 0)
      credit = seconds < first ? -1e-9 : start;
    else if (credit < 0 && (credit += seconds / 10) >= 0)
      credit = start;
  } else {
    credit += serial * call->work - seconds;
    if (credit > serial * call->work + most)
      credit = serial * call->work + most;
    if (credit < 0)
      credit -= start;
  }
  polydl_write(&call->team->credit, credit);
#else
  (void)call;
#endif
}
