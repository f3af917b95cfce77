/* The command `polydl`: runs Python with SIGINT, SIGTERM and SIGHUP blocked, so that none of them meets Python while it
   starts and shows a traceback. polydl/start.py unblocks them as soon as it handles them. */
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* As -m polydl, but without the modules that Python imports to find that one. */
static char begin[] = "from polydl.start import main; main()";

/* Returns only if there is no such interpreter; a name without a slash is looked for in PATH. */
static void run(char *interpreter, char **arguments) {
  arguments[0] = interpreter;
  execvp(interpreter, arguments);
}

/* What was installed together with this file, PREFIX/lib/python3.11/site-packages/polydl-0.1.0.dist-info, tells the
   version of its Python. That lies beside this file, but for packages of a user or beside those of a distribution. */
static void run_python(const char *prefix, char **arguments) {
  char pattern[2 * PATH_MAX + 64], beside[PATH_MAX + 64];
  size_t length = 0;
  for (const char *letter = prefix; *letter; ++letter) {
    if (strchr("\\*?[", *letter))
      pattern[length++] = '\\';
    pattern[length++] = *letter;
  }
  strcpy(pattern + length, "/lib*/python3*/*-packages/polydl-*.dist-info");
  glob_t installed;
  if (glob(pattern, 0, NULL, &installed) != 0)
    return;
  for (size_t place = 0; place < installed.gl_pathc; ++place) {
    char *version = basename(dirname(dirname(installed.gl_pathv[place])));
    snprintf(beside, sizeof beside, "%s/bin/%s", prefix, version);
    run(beside, arguments);
    run(version, arguments);
  }
}

int main(int count, char **given) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, NULL);

  char here[PATH_MAX];
  const char *started = (const char *)getauxval(AT_EXECFN);
  char **arguments = calloc((size_t)count + 4, sizeof *arguments);
  /* Symbolic links, such as those of pipx, lead to the environment. */
  if (!arguments || !started || !realpath(started, here)) {
    perror("polydl");
    return 1;
  }
  arguments[1] = "-P";
  arguments[2] = "-c";
  arguments[3] = begin;
  for (int place = 1; place < count; ++place)
    arguments[place + 3] = given[place];
  const char *prefix = dirname(dirname(here));
  run_python(prefix, arguments);
  fprintf(stderr, "polydl: there is no Python that polydl is installed for in %s\n", prefix);
  return 1;
}
