/* Positions that the user named: lease/naming.c. */
#include "lease/naming.h"

#include "check.h"

static int is_first(void *ctx, slp_str shard) {
  (void)ctx;
  return slp_str_is(shard, "first");
}

TEST(namings_are_sent_together_and_told_one_by_one) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_list all;
  slp_naming got;
  int marks[3];
  slp_str any = {NULL, 0};
  slp_list_init(&all);
  CHECK_INT(slp_namings_take(&all, 0, mem, &got), 0);
  CHECK_INT(slp_namings_add(&all, mem, SLP_STR("first"), SLP_NAMING_WAITS, NULL, &marks[0]), 0);
  CHECK_INT(slp_namings_add(&all, mem, SLP_STR("gone"), SLP_NAMING_WAITS, NULL, &marks[1]), 0);
  slp_namings_move(&all, SLP_NAMING_WAITS, SLP_NAMING_SENT);
  CHECK_INT(slp_namings_add(&all, mem, SLP_STR("first"), SLP_NAMING_WAITS, NULL, &marks[2]), 0);
  CHECK_INT(slp_namings_have(&all, SLP_NAMING_SENT, SLP_STR("gone")), 1);
  CHECK_INT(slp_namings_have(&all, SLP_NAMING_WAITS, SLP_STR("gone")), 0);
  CHECK_INT(slp_namings_have(&all, SLP_NAMING_OVER, any), 0);
  CHECK_INT(slp_namings_take(&all, 1, mem, &got), 0);
  slp_namings_written(&all, is_first, NULL);
  CHECK_INT(slp_namings_take(&all, 1, mem, &got), 1);
  CHECK(got.arg == &marks[0] && got.status == 0);
  CHECK_INT(slp_namings_take(&all, 1, mem, &got), 1);
  CHECK(got.arg == &marks[1] && got.status == SLOOP_ENOSHARD);
  CHECK_INT(slp_namings_take(&all, 1, mem, &got), 0); /* the third still waits */
  CHECK_INT(slp_namings_take(&all, 0, mem, &got), 1); /* and goes when all is closed */
  CHECK(got.arg == &marks[2]);
  CHECK_INT(mem->live_bytes, 0);
  slp_mem_drop(mem);
}
