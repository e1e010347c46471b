/* follow.c - the hash of a partition key (numbers by another MD5 and another arithmetic), and ranges. */
#include "cli/follow.h"
#include "check.h"

static void check_hash(const char *key, size_t n, const char *want) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  char got[SLP_HASH_DIGITS];
  CHECK_INT(slp_key_hash(mem, (slp_str){key, n}, got), 0);
  CHECK_STR(got, want);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(hashes) {
  check_hash("", 0, "281949768489412648962353822266799178366");
  check_hash("a", 1, "16955237001963240173058271559858726497");
  check_hash("user-7", 6, "86119627827726738194382836302848251264");
  check_hash("k5076", 5, "721068575128694003929114724746765"); /* begins with two zero bytes */
}

TEST(ranges_hold_both_ends) {
  CHECK(slp_key_in_range("10", "10", "20"));
  CHECK(slp_key_in_range("20", "10", "20"));
  CHECK(slp_key_in_range("9", "0", "340282366920938463463374607431768211455"));
  CHECK(!slp_key_in_range("9", "10", "20"));
  CHECK(!slp_key_in_range("21", "10", "20"));
  CHECK(!slp_key_in_range("9", "", ""));
  CHECK(!slp_key_in_range("9", "0", ""));
}
