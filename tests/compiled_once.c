/* Stands for a compiler in tests: what it compiled before is copied.

   Tests compile the same text again and again. This program is put before the compilers on the path, under their names.
   Under a digest of its arguments and of all files that they name, with those that these include by a name in quotes, it
   keeps the file that the compiler wrote, in the folder "kept" beside its own. Commands that write something else, and
   those that the compiler had to say something about, are run each time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether something else counts than the digest does. */
static int unknown;

enum { MOST_DEEP = 8, MOST_FILES = 100 };

static uint64_t digest[2] = {14695981039346656037u, 0x9e3779b97f4a7c15u};

static void add(const char *bytes, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    digest[0] = (digest[0] ^ (unsigned char)bytes[i]) * 1099511628211u;
    digest[1] = (digest[1] + (unsigned char)bytes[i]) * 6364136223846793005u + 1442695040888963407u;
  }
}

/* Texts that follow each other differ from one that is as long as all of them. */
static void add_text(const char *text, size_t count)
{
  add((const char *)&count, sizeof count);
  add(text, count);
}

static const char *last_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static char *content(const char *path, size_t *count)
{
  struct stat state;
  if (stat(path, &state))
    return NULL;
  /* To look into a pipe takes what is there from the compiler. */
  unknown |= !S_ISREG(state.st_mode) && !S_ISDIR(state.st_mode);
  const int file = S_ISREG(state.st_mode) ? open(path, O_RDONLY) : -1;
  if (file < 0)
    return NULL;
  char *text = malloc(state.st_size + 1);
  *count = 0;
  for (ssize_t got; text && (got = read(file, text + *count, state.st_size - *count)) > 0;)
    *count += got;
  close(file);
  if (text)
    text[*count] = 0;
  return text;
}

/* A file, and those beside it that it includes. Returns 0 if there is none. */
static int add_file(const char *path, int depth)
{
  size_t count;
  char *text = content(path, &count);
  if (!text)
    return 0;
  add_text(text, count);
  for (char *at = text; depth < MOST_DEEP && (at = strchr(at, '#')); ++at) {
    const char *word = at + 1 + strspn(at + 1, " \t"), *name = word + strlen("include");
    if (strncmp(word, "include", strlen("include")))
      continue;
    name += strspn(name, " \t");
    char included[PATH_MAX];
    const int length = *name == '"' ? (int)strcspn(name + 1, "\"\n") : 0, folder = (int)(last_name(path) - path);
    if (length && snprintf(included, sizeof included, "%.*s%.*s", folder, path, length, name + 1) < PATH_MAX)
      add_file(included, depth + 1);
  }
  free(text);
  return 1;
}

static int by_name(const struct dirent **one, const struct dirent **other)
{
  return strcmp((*one)->d_name, (*other)->d_name);
}

/* All files of a folder, or the name alone of one with many, which no test writes. */
static void add_folder(const char *path)
{
  struct dirent **names;
  const int count = scandir(path, &names, NULL, by_name);
  if (count < 0)
    return;
  if (count > MOST_FILES)
    add_text(path, strlen(path));
  for (int i = 0; i < count; ++i) {
    char inner[PATH_MAX];
    if (count <= MOST_FILES && names[i]->d_name[0] != '.' &&
        snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name) < PATH_MAX) {
      add_text(names[i]->d_name, strlen(names[i]->d_name));
      if (!add_file(inner, MOST_DEEP))
        add_folder(inner);
    }
    free(names[i]);
  }
  free(names);
}

/* The first program of that name on the path that is not this one; the path of this one goes to `own`. */
static int find_compiler(const char *name, char *compiler, char *own)
{
  const ssize_t length = readlink("/proc/self/exe", own, PATH_MAX - 1);
  if (length < 0 || !getenv("PATH"))
    return 0;
  own[length] = 0;
  char *path = strdup(getenv("PATH"));
  for (char *folder = strtok(path, ":"); folder; folder = strtok(NULL, ":")) {
    char same[PATH_MAX];
    if (snprintf(compiler, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && !access(compiler, X_OK) &&
        realpath(compiler, same) && strcmp(same, own))
      return 1;
  }
  return 0;
}

static int copied(const char *from, const char *to)
{
  size_t count, written = 0;
  char *bytes = content(from, &count);
  const int file = bytes ? open(to, O_WRONLY | O_CREAT | O_TRUNC, 0777) : -1;
  for (ssize_t put; file >= 0 && written < count && (put = write(file, bytes + written, count - written)) > 0;)
    written += put;
  const int closed = file >= 0 && !close(file);
  free(bytes);
  return closed && written == count;
}

/* Runs the compiler, and hands on what it says. Returns whether it was content and silent; ends with it otherwise. */
static int silent(const char *compiler, char **arguments)
{
  int said[2];
  if (pipe(said))
    return 0;
  const pid_t process = fork();
  if (process == 0) {
    dup2(said[1], 2);
    close(said[0]);
    close(said[1]);
    execv(compiler, arguments);
    _exit(127);
  }
  close(said[1]);
  char part[4096];
  size_t words = 0;
  for (ssize_t got; (got = read(said[0], part, sizeof part)) > 0 || (got < 0 && errno == EINTR);)
    if (got > 0) {
      words += got;
      for (ssize_t put = 0, more; put < got && (more = write(2, part + put, got - put)) > 0; put += more) {
      }
    }
  int status = 1;
  waitpid(process, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status))
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  return !words;
}

int main(int count, char **arguments)
{
  /* Where compilers look besides. */
  static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"};
  static char compiler[PATH_MAX], own[PATH_MAX], kept[PATH_MAX + 64], whole[PATH_MAX + 96];
  if (!find_compiler(last_name(arguments[0]), compiler, own)) {
    fprintf(stderr, "there is no %s\n", arguments[0]);
    return 127;
  }
  /* Or it would look for its parts beside this program. */
  arguments[0] = compiler;
  const char *output = NULL;
  int files = 0;
  add_text(compiler, strlen(compiler));
  for (int i = 0; i < (int)(sizeof variables / sizeof *variables); ++i) {
    const char *value = getenv(variables[i]);
    add_text(value ? value : "", value ? strlen(value) : 0);
  }
  for (int i = 1; i < count; ++i) {
    const char *argument = arguments[i], *path = argument + (strncmp(argument, "-I", 2) ? 0 : 2);
    struct stat state;
    if (!strcmp(argument, "-o") && i + 1 < count)
      output = arguments[++i];
    else if (!stat(path, &state) && S_ISDIR(state.st_mode))
      add_folder(path);
    else if (argument[0] != '-' && add_file(argument, 0)) {
      add_text(last_name(argument), strlen(last_name(argument)));
      ++files;
    } else
      add_text(argument, strlen(argument));
    unknown |= !strcmp(argument, "-E") || !strncmp(argument, "-M", 2) || !strcmp(argument, "-") ||
                 argument[0] == '@' || (!strncmp(argument, "-L", 2) && argument[2] != '/');
  }
  if (!output || !files || unknown || strncmp(output, "/dev/", 5) == 0) {
    execv(compiler, arguments);
    return 127;
  }
  snprintf(kept, sizeof kept, "%.*skept/%016llx%016llx", (int)(last_name(own) - own), own,
           (unsigned long long)digest[0], (unsigned long long)digest[1]);
  if (!access(kept, R_OK) && copied(kept, output))
    return 0;
  if (silent(compiler, arguments)) {
    snprintf(whole, sizeof whole, "%s.%ld", kept, (long)getpid());
    if (!copied(output, whole) || rename(whole, kept))
      unlink(whole);
  }
  return 0;
}
