/* produce_shards.c - which shard has a hash key, against a search through all of them. */
#include "cli/produce_shards.h"
#include "base/num.h"
#include "check.h"

static slp_mem *mem;
static slp_put_shards s;

static void take(const sloop_shard_t *rows, size_t n) {
  const sloop_shard_t *at[8];
  for (size_t i = 0; i < n; i++) at[i] = &rows[i];
  CHECK_INT(slp_put_shards_take(&s, at, n), 0);
}

static const char *at(const char *hash) {
  uint8_t bytes[16];
  CHECK_INT(slp_parse_u128(slp_str_of(hash), bytes), 0);
  const slp_put_shard *shard = slp_put_shards_at(&s, bytes);
  return shard ? shard->id.p : "";
}
#define CHECK_AT(hash, id_) CHECK(strncmp(at(hash), id_, 1) == 0)

TEST(open_shards_have_the_hash_keys) {
  static const sloop_shard_t rows[] = {
      {"a", "", "", "0", "999", "1", "2", 1, SLOOP_PLACED_BY_KEY},
      {"b", "a", "", "500", "999", "3", "", 0, SLOOP_PLACED_BY_KEY},
      {"c", "a", "", "0", "499", "3", "", 0, SLOOP_PLACED_BY_KEY},
      {"d", "", "", "2000", "340282366920938463463374607431768211455", "3", "", 0, SLOOP_PLACED_BY_KEY},
      {"e", "", "", "", "", "3", "", 0, SLOOP_PLACED_BY_KEY},
  };
  mem = slp_mem_new(NULL, NULL);
  slp_put_shards_init(&s, mem);
  CHECK_STR(at("0"), "");
  take(rows, 5);
  CHECK_INT(s.n, 4); /* one has no range */
  CHECK_INT(s.open_n, 3);
  CHECK_AT("0", "c");
  CHECK_AT("499", "c");
  CHECK_AT("500", "b");
  CHECK_AT("999", "b");
  CHECK_STR(at("1000"), ""); /* a hole: nobody lists it */
  CHECK_STR(at("1999"), "");
  CHECK_AT("2000", "d");
  CHECK_AT("340282366920938463463374607431768211455", "d");
  CHECK(slp_put_shards_find(&s, SLP_STR("a")) && slp_put_shards_find(&s, SLP_STR("b")));
  CHECK(!slp_put_shards_find(&s, SLP_STR("e")) && !slp_put_shards_find(&s, SLP_STR("")));
  take(rows, 1); /* the next listing replaces it */
  CHECK_STR(at("0"), "");
  CHECK_INT(s.n, 1);
  slp_put_shards_free(&s);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}
