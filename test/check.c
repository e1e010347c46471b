/* check.c - main() of every test program, and the list of its tests. */
#include "check.h"

static check_test *tests, **last = &tests;
int (*check_part)(const char *part);

void check_add(check_test *t) {
  *last = t;
  last = &t->next;
}

/* "sums" for ../test/unit/room/sums.c */
static size_t file_of(const check_test *t, const char **ret) {
  const char *slash = strrchr(t->path, '/');
  *ret = slash ? slash + 1 : t->path;
  return strcspn(*ret, ".");
}

static int is_of_file(const check_test *t, const char *word) {
  const char *file;
  size_t n = file_of(t, &file);
  return strlen(word) == n && memcmp(word, file, n) == 0;
}

static int is_named(const check_test *t, const char *word) {
  const char *file;
  size_t n = file_of(t, &file);
  if (strncmp(word, file, n) == 0 && word[n] == '.' && strcmp(word + n + 1, t->name) == 0) return 1;
  return strcmp(word, t->name) == 0;
}

static void print_whole_name(const check_test *t) {
  const char *file;
  size_t n = file_of(t, &file);
  printf("%.*s.%s\n", (int)n, file, t->name);
}

static int of_one_file(void) {
  for (const check_test *t = tests; t; t = t->next)
    if (strcmp(t->path, tests->path) != 0) return 0;
  return 1;
}

/* Returns whether it passed. */
static int run_in_child(const check_test *t, const char *program, int whole_name) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(t->seconds);
    t->run();
    exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  int ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  printf("%s ", ok ? "ok  " : "FAIL");
  if (whole_name)
    print_whole_name(t);
  else
    puts(t->name);
  if (ok) return 1;
  if (WIFSIGNALED(status)) printf("     ended by signal %d\n", WTERMSIG(status));
  printf("     again: %s ", program);
  print_whole_name(t);
  return 0;
}

/* Runs those that `is` chooses by the word. Returns how many failed, -1 when there were none. */
static int run_all(int (*is)(const check_test *t, const char *word), const char *word, const char *program,
                   int whole_name) {
  int bad = 0, any = 0;
  for (const check_test *t = tests; t; t = t->next) {
    if (is && !is(t, word)) continue;
    any = 1;
    bad += !run_in_child(t, program, whole_name);
  }
  return any ? bad : -1;
}

/* A word is a file or a test. */
static int run_word(const char *word, const char *program) {
  int bad = run_all(is_of_file, word, program, 0);
  if (bad < 0) bad = run_all(is_named, word, program, 1);
  if (bad < 0) fprintf(stderr, "no file and no test named %s\n", word);
  return bad;
}

/* The only test that the word names; NULL: a file, several, or none. */
static const check_test *only_test(const char *word) {
  const check_test *only = NULL;
  for (const check_test *t = tests; t; t = t->next) {
    if (is_of_file(t, word) || (only && is_named(t, word))) return NULL;
    if (is_named(t, word)) only = t;
  }
  return only;
}

int main(int argc, char **argv) {
  if (argc == 3 && check_part && strcmp(argv[1], "--part") == 0) return check_part(argv[2]);
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (const check_test *t = tests; t; t = t->next) print_whole_name(t);
    return 0;
  }
  if (argc == 1) return run_all(NULL, NULL, argv[0], !of_one_file()) != 0;
  const check_test *only = argc == 2 ? only_test(argv[1]) : NULL;
  if (only) {
    only->run();
    return 0;
  }
  int status = 0;
  for (int i = 1; i < argc && status != 2; i++) {
    int bad = run_word(argv[i], argv[0]);
    if (bad) status = bad < 0 ? 2 : 1;
  }
  return status;
}
