/* lease/former.c: what is kept of a lease comes back as it was, once, and goes after its time. */
#include "lease/former.h"

#include <stdio.h>

#include "check.h"

#include "scarce.h"

enum { SHARDS = 300 };
static const slp_former_numbers some = {.epoch = 1};

static slp_str id_of(int i, char out[32]) {
  snprintf(out, 32, "shardId-%012d", i);
  return slp_str_of(out);
}

TEST(what_is_kept_comes_back_once) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_former e;
  char id[32];
  slp_former_numbers got;
  slp_former_init(&e, mem);
  for (int i = 0; i < SHARDS; i++) {
    slp_former_numbers numbers = {(uint64_t)i, 2 * (uint64_t)i, 3 * (uint64_t)i, i & 1};
    CHECK_INT(slp_former_keep(&e, id_of(i, id), &numbers), 0);
  }
  for (int i = 0; i < SHARDS; i += 3) {
    CHECK(slp_former_has(&e, id_of(i, id)));
    CHECK(slp_former_take(&e, id_of(i, id), &got));
    CHECK(got.epoch == (uint64_t)i && got.released_epoch == 2 * (uint64_t)i);
    CHECK(got.ended_epoch == 3 * (uint64_t)i && got.ended == i % 2);
    CHECK(!slp_former_has(&e, id_of(i, id)) && !slp_former_take(&e, id_of(i, id), &got));
  }
  for (int i = 0; i < SHARDS; i++) CHECK_INT(slp_former_has(&e, id_of(i, id)), i % 3 != 0);
  slp_former_free(&e);
  slp_mem_drop(mem);
}

TEST(what_was_kept_for_its_minutes_goes) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_former e;
  slp_former_init(&e, mem);
  CHECK_INT(slp_former_keep(&e, SLP_STR("a"), &some), 0);
  slp_former_age(&e, 3);
  CHECK_INT(slp_former_keep(&e, SLP_STR("b"), &some), 0);
  slp_former_age(&e, 3);
  CHECK(slp_former_has(&e, SLP_STR("a")));
  slp_former_age(&e, 3);
  CHECK(!slp_former_has(&e, SLP_STR("a")) && slp_former_has(&e, SLP_STR("b")));
  slp_former_age(&e, 3);
  CHECK(!slp_former_has(&e, SLP_STR("b")));
  CHECK_INT(slp_former_keep(&e, SLP_STR("a"), &some), 0); /* it may come again */
  slp_former_free(&e);
  slp_mem_drop(mem);
}

TEST(without_memory_it_is_not_kept) {
  for (int n = 0; n < 3; n++) {
    scarce s = {.left = 1 + n};
    slp_mem *mem = slp_mem_new(scarce_alloc, &s);
    slp_former e;
    slp_former_init(&e, mem);
    CHECK_INT(slp_former_keep(&e, SLP_STR("a"), &some), SLP_ENOMEM);
    CHECK(!slp_former_has(&e, SLP_STR("a")));
    slp_former_free(&e);
    slp_mem_drop(mem);
  }
}
