/* ddb_words.c - the reserved words: found in either case, and nothing else is. */
#include "check.h"
#include "sandbox/ddb.h"

TEST(words) {
  static const char *const yes[] = {"ABORT",  "abort",    "Zone",  "owner", "counter",
                                    "status", "position", "name",  "size",  "timestamp",
                                    "key",    "ttl",      "shard", "token", "varchar"};
  static const char *const no[] = {"",      "A",        "ABOR", "ABORTS", "zones", "pos",
                                   "epoch", "leaseKey", "a_b",  "_",      "Z"};
  for (size_t i = 0; i < SLP_COUNT(yes); i++) CHECK(slp_ddb_reserved(slp_str_of(yes[i])));
  for (size_t i = 0; i < SLP_COUNT(no); i++) CHECK(!slp_ddb_reserved(slp_str_of(no[i])));
}
