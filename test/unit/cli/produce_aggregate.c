/* produce_aggregate.c - which records are put together, within which bounds, and that our own reader gets them back. */
#include "cli/produce_aggregate.h"
#include "check.h"
#include "codec/kpl_message.h"

static slp_mem *mem;
static slp_put_queue q;
static slp_put_aggregates a;
static slp_put_record *batch[SLP_PUT_BATCH_RECORDS];

#define MIDDLE "170141183460469231731687303715884105728"
#define LAST "340282366920938463463374607431768211455"

static void begin(void) {
  static const sloop_shard_t
      low = {"low", "", "", "0", "170141183460469231731687303715884105727", "1", "", 0, SLOOP_PLACED_BY_KEY},
      high = {"high", "", "", MIDDLE, LAST, "1", "", 0, SLOOP_PLACED_BY_KEY};
  const sloop_shard_t *both[] = {&low, &high};
  mem = slp_mem_new(NULL, NULL);
  slp_put_queue_init(&q, mem);
  q.together = UINT32_MAX;
  CHECK_INT(slp_put_aggregates_init(&a, mem), 0);
  CHECK_INT(slp_put_shards_take(&a.shards, both, 2), 0);
}
static void end(void) {
  slp_put_queue_free(&q);
  slp_put_aggregates_free(&a);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static void add(const char *key, slp_str data, const char *hash_key) {
  slp_put_new n = {.raw = data, .data = data, .key = slp_str_of(key), .number = q.records + 1};
  if (hash_key) n.hash_key = slp_str_of(hash_key);
  CHECK_INT(slp_put_queue_add(&q, &n), 0);
}

static size_t take(void) {
  size_t n = 0;
  CHECK_INT(slp_put_aggregates_take(&a, &q, batch, &n), 0);
  return n;
}

static size_t length(const slp_put_record *r) {
  size_t n = 0;
  for (; r; r = r->more) n++;
  return n;
}

/* Checks that the entry's records are read back, in their order, with their keys. */
static void check_packed(const slp_put_record *first) {
  static slp_kpl_message m;
  slp_str keys[600], packed = slp_put_aggregates_pack(&a, first);
  size_t keys_n = 0;
  CHECK(packed.p && packed.n <= SLP_PUT_AGGREGATE_BYTES);
  slp_kpl_message_begin(&m, packed.p, 4, packed.n - 16);
  for (int token; (token = slp_kpl_message_next(&m)) != SLP_KPL_END;) {
    CHECK(token >= 0);
    slp_str text = {packed.p + m.text_at, m.text_n};
    if (token == SLP_KPL_KEY) keys[keys_n++] = text;
    if (token != SLP_KPL_RECORD) continue;
    CHECK(first && m.key_index < keys_n && slp_str_eq(keys[m.key_index], first->key));
    CHECK(slp_str_eq(text, first->data));
    CHECK_INT(m.has_hash, first->hash_key.n > 0);
    first = first->more;
  }
  CHECK(!first);
}

TEST(records_of_one_shard_are_together) {
  begin();
  for (int i = 0; i < 10; i++) {
    char key[2] = {(char)('a' + i % 5), 0};
    add(key, SLP_STR("payload"), NULL);
  }
  add("placed", SLP_STR("1"), "7");
  add("placed", SLP_STR("2"), LAST); /* the same key in another shard: it waits for the first one */
  add("placed", SLP_STR("3"), NULL);
  CHECK_INT(take(), 2);
  CHECK_INT(length(batch[0]) + length(batch[1]), 11);
  for (int i = 0; i < 2; i++) {
    uint8_t hash[16];
    check_packed(batch[i]);
    CHECK_INT(slp_md5(a.digest, batch[i]->key, hash), 0);
    const slp_put_shard *shard = slp_put_shards_at(&a.shards, hash);
    const slp_put_shard *other = a.shards.open[shard == a.shards.open[0]];
    CHECK(slp_put_all_belong(batch[i], shard) && !slp_put_all_belong(batch[i], other));
  }
  CHECK_INT(take(), 0);
  for (int i = 0; i < 2; i++)
    for (slp_put_record *r = batch[i], *next; r; r = next) {
      next = r->more;
      slp_put_queue_done(&q, r);
    }
  CHECK_INT(q.records, 2);
  CHECK_INT(take(), 1);
  CHECK(length(batch[0]) == 1 && slp_str_is(batch[0]->data, "2"));
  slp_put_queue_done(&q, batch[0]);
  CHECK_INT(take(), 1);
  end();
}

TEST(aggregates_and_calls_are_bounded) {
  static char big[1 << 20];
  char key[20];
  begin();
  for (int i = 0; i < 200; i++) add("one key", (slp_str){big, 1000}, NULL);
  add("large", (slp_str){big, SLP_PUT_AGGREGATE_BYTES}, "0");
  add("large", (slp_str){big, 1}, "0");
  CHECK_INT(take(), 2);
  CHECK(length(batch[0]) > 45 && length(batch[0]) < 52);
  check_packed(batch[0]);
  CHECK_INT(length(batch[1]), 1); /* it has an entry to itself, and the next one of its key waits */
  CHECK_INT(q.in_calls, length(batch[0]) + 1);
  for (int i = 0; i < 3000; i++) {
    snprintf(key, sizeof key, "k%d", i);
    add(key, (slp_str){big, 2500}, NULL);
  }
  size_t n = take(), bytes = 0;
  for (size_t i = 0; i < n; i++) {
    check_packed(batch[i]);
    bytes += slp_put_aggregates_pack(&a, batch[i]).n + batch[i]->key.n;
  }
  CHECK(n > 90 && bytes <= SLP_PUT_BATCH_BYTES && bytes > SLP_PUT_BATCH_BYTES * 9 / 10);
  end();
}

TEST(refused_records_get_smaller_calls_until_they_are_alone) {
  begin();
  for (int i = 0; i < 8; i++) add("k", SLP_STR("x"), NULL);
  CHECK_INT(take(), 1);
  CHECK_INT(length(batch[0]), 8);
  for (slp_put_record *r = batch[0], *next; r; r = next) {
    next = r->more;
    r->together = 4;
    slp_put_queue_again(&q, r, 0);
  }
  CHECK_INT(take(), 1);
  CHECK_INT(length(batch[0]), 4);
  for (slp_put_record *r = batch[0], *next; r; r = next) {
    next = r->more;
    r->together = 1;
    slp_put_queue_again(&q, r, 0);
  }
  CHECK_INT(take(), 1);
  CHECK_INT(length(batch[0]), 1);
  CHECK_INT(batch[0]->number, 1);
  end();
}

/* As the test of the same name in produce_queue.c, with aggregates. */
TEST(the_order_of_a_key_holds_whatever_fails) {
  enum { N = 20000, KEYS = 37, CALLS = 4 };
  static slp_put_record *batches[CALLS][SLP_PUT_BATCH_RECORDS];
  size_t n[CALLS] = {0}, put = 0;
  uint64_t last[KEYS] = {0}, now_us = 1, added = 0;
  uint32_t x = 7;
  char key[20];
  begin();
  for (int turn = 0; put < N; turn++) {
    CHECK(turn < 1000000);
    x = x * 1664525u + 1013904223u;
    for (uint32_t k = x >> 25; k && added < N; k--) {
      snprintf(key, sizeof key, "%u", (x >> 8) * (k + 1) % KEYS);
      slp_put_new new = {.raw = SLP_STR("x"), .key = slp_str_of(key), .number = ++added};
      new.data = new.raw;
      CHECK_INT(slp_put_queue_add(&q, &new), 0);
    }
    slp_put_queue_wake(&q, ++now_us);
    size_t c = x >> 16 & (CALLS - 1);
    if (!n[c]) {
      CHECK_INT(slp_put_aggregates_take(&a, &q, batches[c], &n[c]), 0);
      continue;
    }
    for (size_t i = 0; i < n[c]; i++) {
      x = x * 1664525u + 1013904223u;
      int fails = x >> 30 == 0, stray = 0;
      for (slp_put_record *r = batches[c][i], *next; r; r = next) {
        next = r->more;
        /* Records of one key have one hash key, so they all go astray or none does. */
        stray = x >> 28 == 5 && r->key.p[0] == '1';
        if (fails || stray) {
          slp_put_queue_again(&q, r, x >> 29 & 1 ? now_us + (x >> 24 & 7) : 0);
          continue;
        }
        uint64_t of = strtoull(
            r->key.n == 2 ? (char[]){r->key.p[0], r->key.p[1], 0} : (char[]){r->key.p[0], 0, 0}, NULL, 10);
        CHECK(r->number > last[of]);
        last[of] = r->number;
        put++;
        slp_put_queue_done(&q, r);
      }
    }
    n[c] = 0;
  }
  CHECK_INT(put, N);
  CHECK(q.records == 0 && q.in_calls == 0 && q.in_calls_bytes == 0 && q.bytes == 0);
  end();
}
