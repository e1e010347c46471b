/* check.h - our whole test framework. A test program is files with TEST(name) { ... } in them, linked with
 * check.c, which has main(). Every test runs in a process of its own with a time limit; a failed check prints
 * both sides and the line, and ends that process.
 *   program              all tests
 *   program FILE...      those of FILE.c
 *   program FILE.NAME    one test, in this process (for gdb and valgrind); or NAME, if one file has it
 *   program --list       FILE.NAME of every test */
#ifndef SLP_TEST_CHECK_H
#define SLP_TEST_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CHECK_SECONDS
#define CHECK_SECONDS 30 /* of each test in a file; before the include, a file may say otherwise */
#endif

typedef struct check_test {
  const char *path, *name;
  void (*run)(void);
  unsigned seconds;
  struct check_test *next;
} check_test;
void check_add(check_test *t);

#define TEST(test_name)                                                                      \
  static void test_##test_name(void);                                                        \
  __attribute__((constructor)) static void add_##test_name(void) {                           \
    static check_test entry = {__FILE__, #test_name, test_##test_name, CHECK_SECONDS, NULL}; \
    check_add(&entry);                                                                       \
  }                                                                                          \
  static void test_##test_name(void)

/* For tests that start their own program once more: `program --part NAME` calls play(NAME) and runs no test.
 */
extern int (*check_part)(const char *part);
#define CHECK_PART(play) \
  __attribute__((constructor)) static void add_part(void) { check_part = play; }

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
#define CHECK_TEXT(a, b) /* an slp_str and a C string */                                     \
  do {                                                                                       \
    slp_str check_a = (a), check_b = slp_str_of(b);                                          \
    if (!slp_str_eq(check_a, check_b))                                                       \
      CHECK_FAIL("%s is \"%.*s\", not \"%s\"", #a, (int)(check_a.n < 200 ? check_a.n : 200), \
                 check_a.p ? check_a.p : "", check_b.p);                                     \
  } while (0)
#define CHECK_MEM(a, an, b, bn)                                                       \
  do {                                                                                \
    size_t check_an = (an), check_bn = (bn);                                          \
    if (check_an != check_bn || (check_an && memcmp((a), (b), check_an) != 0))        \
      CHECK_FAIL("%s (%zu bytes) is not %s (%zu bytes)", #a, check_an, #b, check_bn); \
  } while (0)

#endif
