/* check.h - our whole test framework. A test program is a list of TEST(name) { ... } and
 * CHECK_MAIN(). Every test runs in a process of its own with a time limit; a failed check prints
 * both sides and the line, and ends that process. `program NAME` runs one test in this process
 * (for gdb and valgrind). */
#ifndef SLP_TEST_CHECK_H
#define SLP_TEST_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct check_test {
  const char *name;
  void (*run)(void);
  struct check_test *next;
} check_test;
static check_test *check_tests;
static check_test **check_last __attribute__((unused)) = &check_tests; /* by files without a TEST */

#define TEST(test_name)                                                       \
  static void test_##test_name(void);                                         \
  static check_test entry_##test_name = {#test_name, test_##test_name, NULL}; \
  __attribute__((constructor)) static void add_##test_name(void) {            \
    *check_last = &entry_##test_name;                                         \
    check_last = &entry_##test_name.next;                                     \
  }                                                                           \
  static void test_##test_name(void)

#define CHECK_FAIL(...)                               \
  do {                                                \
    fprintf(stderr, "  %s:%d: ", __FILE__, __LINE__); \
    fprintf(stderr, __VA_ARGS__);                     \
    fputc('\n', stderr);                              \
    exit(1);                                          \
  } while (0)
#define CHECK(x)                            \
  do {                                      \
    if (!(x)) CHECK_FAIL("not so: %s", #x); \
  } while (0)
#define CHECK_INT(a, b)                                                                        \
  do {                                                                                         \
    long long check_a = (long long)(a), check_b = (long long)(b);                              \
    if (check_a != check_b) CHECK_FAIL("%s is %lld, not %s = %lld", #a, check_a, #b, check_b); \
  } while (0)
#define CHECK_STR(a, b)                                                                              \
  do {                                                                                               \
    const char *check_a = (a), *check_b = (b);                                                       \
    if (strcmp(check_a, check_b) != 0) CHECK_FAIL("%s is \"%s\", not \"%s\"", #a, check_a, check_b); \
  } while (0)
#define CHECK_MEM(a, an, b, bn)                                                       \
  do {                                                                                \
    size_t check_an = (an), check_bn = (bn);                                          \
    if (check_an != check_bn || (check_an && memcmp((a), (b), check_an) != 0))        \
      CHECK_FAIL("%s (%zu bytes) is not %s (%zu bytes)", #a, check_an, #b, check_bn); \
  } while (0)

#ifndef CHECK_SECONDS
#define CHECK_SECONDS 30
#endif

static inline int check_main(int argc, char **argv) {
  int bad = 0;
  if (argc > 1 && strcmp(argv[1], "--list") == 0) {
    for (check_test *t = check_tests; t; t = t->next) puts(t->name);
    return 0;
  }
  for (check_test *t = check_tests; t; t = t->next) {
    if (argc > 1) {
      if (strcmp(argv[1], t->name) == 0) {
        t->run();
        return 0;
      }
      continue;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
      alarm(CHECK_SECONDS);
      t->run();
      exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    int ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %s\n", ok ? "ok  " : "FAIL", t->name);
    if (!ok) {
      bad++;
      if (WIFSIGNALED(status)) printf("     ended by signal %d\n", WTERMSIG(status));
      printf("     again: %s %s\n", argv[0], t->name);
    }
  }
  if (argc > 1) {
    fprintf(stderr, "no test named %s\n", argv[1]);
    return 2;
  }
  return bad ? 1 : 0;
}
#define CHECK_MAIN() \
  int main(int argc, char **argv) { return check_main(argc, argv); }

#endif
