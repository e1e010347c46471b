/* watch_copy.c - a copy of a poll says the same after the original is gone, and takes memory or nothing. */
#include "cli/watch_copy.h"
#include "check.h"
#include "cli/lease_table.h"
#include "leases_sample.h"

static slp_mem *mem;

static char *json_of(const sloop_leases_t *all) {
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 20);
  CHECK_INT(slp_lease_json(&b, "orders", all, SAMPLE_NOW_MS), 0);
  char *text = strdup(slp_buf_z(&b));
  slp_buf_free(&b);
  return text;
}

TEST(a_copy_says_the_same) {
  slp_watch_copy copy = {.mem = NULL};
  mem = slp_mem_new(NULL, NULL);
  CHECK_INT(slp_watch_copy_make(&copy, mem, &sample), 0);
  char *before = json_of(&sample), *after = json_of(&copy.all);
  CHECK_STR(after, before);
  CHECK(strlen(before) > 500);
  for (size_t i = 0; i < sample.leases_n; i++) {
    CHECK(copy.all.leases[i] != sample.leases[i]);
    CHECK(copy.all.leases[i]->shard != sample.leases[i]->shard &&
          copy.all.leases[i]->owner != sample.leases[i]->owner);
  }
  for (size_t i = 0; i < sample.workers_n; i++) CHECK(copy.all.workers[i]->host != sample.workers[i]->host);
  free(before), free(after);
  slp_watch_copy_free(&copy);
  static const sloop_leases_t none = {.passed_over = "", .unlisted = ""};
  CHECK_INT(slp_watch_copy_make(&copy, mem, &none), 0);
  CHECK_INT(copy.all.leases_n + copy.all.workers_n, 0);
  slp_watch_copy_free(&copy);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
