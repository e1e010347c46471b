/* given_numbers.c - what a child was given, up to its last checkpoint. */
#include "cli/given_numbers.h"

#include "check.h"

#include <stdio.h>

static slp_given_numbers g;
static slp_mem *mem;

static slp_str text(unsigned i, char out[32]) {
  return (slp_str){out, (size_t)snprintf(out, 32, "%u", 1000 + 3 * i)};
}

static void give(unsigned from, unsigned to) {
  char out[32];
  for (unsigned i = from; i < to; i++) slp_given_add(&g, mem, text(i, out));
}

static int has(unsigned i) {
  char out[32];
  return slp_given_has(&g, text(i, out));
}

TEST(a_number_that_was_not_given_is_known_as_such) {
  mem = slp_mem_new(NULL, NULL);
  CHECK(!has(0));
  give(0, 1000);
  CHECK(has(0) && has(500) && has(999) && !has(1000));
  CHECK(!slp_given_has(&g, SLP_STR("1001")) && !slp_given_has(&g, SLP_STR("1")));
  CHECK(slp_given_has(&g, SLP_STR("0001003")) && !slp_given_has(&g, SLP_STR("10030")));
  char out[32];
  slp_given_forget_before(&g, text(700, out));
  CHECK(has(700) && !has(699) && has(999)); /* the one that is saved may be named again */
  slp_given_forget_before(&g, SLP_STR("5"));
  CHECK(has(700) && g.n == 300);
  slp_given_add(&g, mem, text(999, out)); /* of one aggregate */
  CHECK_INT(g.n, 300);
  slp_given_clear(&g, mem);
  CHECK(!has(999));
  CHECK_INT(mem->live_bytes, 0);
  slp_mem_drop(mem);
}

TEST(of_too_many_any_may_have_been_given) {
  mem = slp_mem_new(NULL, NULL);
  give(0, SLP_GIVEN_MAX);
  CHECK(has(0) && !has(SLP_GIVEN_MAX) && !g.forgot);
  give(SLP_GIVEN_MAX, SLP_GIVEN_MAX + 1);
  CHECK(g.forgot && has(SLP_GIVEN_MAX + 7) && g.n <= SLP_GIVEN_MAX);
  CHECK(mem->live_bytes < SLP_GIVEN_MAX * sizeof(uint64_t) + 1000);
  slp_given_clear(&g, mem);
  slp_mem_drop(mem);
}
