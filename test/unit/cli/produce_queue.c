/* produce_queue.c - which records may go into a call, and the order of a key against a list that remembers
 * everything. */
#include "cli/produce_queue.h"
#include "check.h"

static slp_mem *mem;
static slp_put_queue q;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  slp_put_queue_init(&q, mem);
}
static void end(void) {
  slp_put_queue_free(&q);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static void add(const char *key, const char *data, uint64_t number) {
  slp_put_new n = {.raw = slp_str_of(data), .key = slp_str_of(key), .number = number};
  n.data = n.raw;
  CHECK_INT(slp_put_queue_add(&q, &n), 0);
}

TEST(a_call_has_one_record_of_a_key) {
  slp_put_record *batch[SLP_PUT_BATCH_RECORDS], *second[SLP_PUT_BATCH_RECORDS];
  begin();
  add("a", "1", 1);
  add("a", "2", 2);
  add("b", "3", 3);
  CHECK_INT(slp_put_queue_take(&q, batch), 2);
  CHECK_INT(batch[0]->number, 1);
  CHECK_INT(batch[1]->number, 3);
  add("b", "4", 4);
  CHECK_INT(slp_put_queue_take(&q, second), 0); /* both keys are in a call */
  slp_put_queue_done(&q, batch[0]);
  CHECK_INT(slp_put_queue_take(&q, second), 1);
  CHECK_INT(second[0]->number, 2);
  slp_put_queue_again(&q, batch[1], 500); /* its successor waits with it */
  CHECK_INT(slp_put_queue_take(&q, batch), 0);
  CHECK_INT(slp_put_queue_wake(&q, 499), 500);
  CHECK_INT(slp_put_queue_take(&q, batch), 0);
  CHECK(slp_put_queue_wake(&q, 500) == UINT64_MAX);
  CHECK_INT(slp_put_queue_take(&q, batch), 1);
  CHECK_INT(batch[0]->number, 3);
  slp_put_queue_done(&q, batch[0]);
  slp_put_queue_done(&q, second[0]);
  CHECK_INT(q.records, 1);
  end();
}

TEST(a_call_is_bounded) {
  slp_put_record *batch[SLP_PUT_BATCH_RECORDS];
  char key[20], *big = malloc(SLP_PUT_ALONE_BYTES + 1);
  begin();
  memset(big, 'x', SLP_PUT_ALONE_BYTES);
  for (int i = 0; i < 501; i++) {
    snprintf(key, sizeof key, "%d", i);
    add(key, "x", (uint64_t)i);
  }
  CHECK_INT(slp_put_queue_take(&q, batch), 500);
  CHECK_INT(slp_put_queue_take(&q, batch), 1);
  big[SLP_PUT_ALONE_BYTES - 10] = 0; /* five such records and their keys fill a call (5 MiB) */
  for (int i = 600; i < 607; i++) {
    snprintf(key, sizeof key, "%d", i);
    add(key, big, (uint64_t)i);
  }
  CHECK_INT(slp_put_queue_take(&q, batch), 5);
  big[SLP_PUT_ALONE_BYTES - 10] = 'x';
  big[SLP_PUT_ALONE_BYTES] = 0; /* larger than 1 MiB with its key: alone, before and behind others */
  add("big", big, 700);
  add("small", "x", 701);
  CHECK_INT(slp_put_queue_take(&q, batch), 2);
  CHECK_INT(slp_put_queue_take(&q, batch), 1);
  CHECK_INT(batch[0]->number, 700);
  CHECK_INT(slp_put_queue_take(&q, batch), 1);
  CHECK_INT(batch[0]->number, 701);
  free(big);
  end();
}

TEST(texts_are_copied_and_those_inside_the_line_once) {
  char line[] = "key:payload", hash[] = "12";
  slp_put_record *batch[SLP_PUT_BATCH_RECORDS];
  begin();
  slp_put_new n = {
      .raw = {line, 11}, .key = {line, 3}, .data = {line + 4, 7}, .hash_key = {hash, 2}, .input = 3};
  CHECK_INT(slp_put_queue_add(&q, &n), 0);
  memset(line, '?', 11);
  memset(hash, '?', 2);
  CHECK_INT(slp_put_queue_take(&q, batch), 1);
  const slp_put_record *r = batch[0];
  CHECK(slp_str_is(r->raw, "key:payload") && slp_str_is(r->key, "key") && slp_str_is(r->data, "payload") &&
        slp_str_is(r->hash_key, "12"));
  CHECK(r->data.p == r->raw.p + 4);
  CHECK_INT(r->input, 3);
  end();
}

TEST(random_keys_and_unordered_records_do_not_wait) {
  slp_put_record *batch[SLP_PUT_BATCH_RECORDS];
  begin();
  slp_put_new n = {.raw = SLP_STR("x"), .key = SLP_STR("same"), .data = SLP_STR("x"), .random = 1};
  CHECK_INT(slp_put_queue_add(&q, &n) + slp_put_queue_add(&q, &n), 0);
  CHECK_INT(slp_put_queue_take(&q, batch), 2);
  q.unordered = 1;
  add("k", "1", 1);
  add("k", "2", 2);
  CHECK_INT(slp_put_queue_take(&q, batch), 2);
  end();
}

TEST(what_is_left_comes_by_key_in_order) {
  begin();
  for (uint64_t i = 1; i < 10; i++) add(i % 2 ? "odd" : "even", "x", i);
  uint64_t last[2] = {0, 0};
  for (slp_put_record *r; (r = slp_put_queue_pop(&q));) {
    CHECK(r->number > last[r->number % 2]);
    last[r->number % 2] = r->number;
    slp_put_record_free(&q, r);
  }
  CHECK(last[0] == 8 && last[1] == 9 && !q.records && !q.bytes);
  end();
}

/* Records of few keys, several calls at a time, and outcomes by chance: records of a key are put in their
 * order, each once, and no key is in two calls. */
TEST(the_order_of_a_key_holds_whatever_fails) {
  enum { N = 4000, KEYS = 37, CALLS = 4 };
  slp_put_record *batch[CALLS][SLP_PUT_BATCH_RECORDS];
  size_t n[CALLS] = {0}, put = 0;
  uint64_t last[KEYS] = {0}, now_us = 1, added = 0;
  uint32_t x = 7;
  char key[20];
  begin();
  for (int turn = 0; put < N; turn++) {
    CHECK(turn < 1000000);
    x = x * 1664525u + 1013904223u;
    for (uint32_t k = x >> 28; k && added < N; k--) {
      snprintf(key, sizeof key, "%u", (x >> 8) * (k + 1) % KEYS);
      add(key, "x", ++added);
    }
    slp_put_queue_wake(&q, ++now_us);
    size_t c = x >> 16 & (CALLS - 1);
    if (!n[c]) {
      n[c] = slp_put_queue_take(&q, batch[c]);
      continue;
    }
    for (size_t i = 0; i < n[c]; i++) {
      slp_put_record *r = batch[c][i];
      uint64_t of = 0;
      x = x * 1664525u + 1013904223u;
      if (x >> 30 == 0) {
        slp_put_queue_again(&q, r, x >> 29 & 1 ? now_us + (x >> 24 & 7) : 0);
        continue;
      }
      for (size_t d = 0; d < r->key.n; d++) of = of * 10 + (uint64_t)(r->key.p[d] - '0');
      CHECK(r->number > last[of]);
      last[of] = r->number;
      put++;
      slp_put_queue_done(&q, r);
    }
    n[c] = 0;
  }
  CHECK_INT(put, N);
  CHECK_INT(q.records, 0);
  CHECK_INT(q.in_calls, 0);
  CHECK_INT(q.bytes, 0);
  end();
}
