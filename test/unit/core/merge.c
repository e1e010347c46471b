/* merge.c - the merge gives the least key, against a model that looks at everything. */
#include "core/merge.h"
#include "check.h"
#include "rnd.h"

/* Keys that tie often, at every length of common prefix. */
static void random_key(char *text, slp_key *key) {
  size_t n = rnd(4) == 0 ? 1 + rnd(129) : 56;
  memset(text, '4', n);
  if (n > 1) text[1 + rnd(n - 1)] = (char)('0' + rnd(10));
  if (n > 1 && rnd(8) == 0) memset(text, '0', 1 + rnd(n - 1)); /* zeros in front */
  if (rnd(8) == 0) n = 0;
  *key = (slp_key){(int64_t)rnd(3), {text, n}, (uint32_t)rnd(2)};
}

/* Of equal keys a record is before a watermark. */
static int before(const slp_merge_node *a, const slp_merge_node *b) {
  int c = slp_key_cmp(&a->key, &b->key);
  return c ? c < 0 : a->ready > b->ready;
}

static void check_least(const slp_merge *m, const slp_merge_node *nodes, size_t n) {
  const slp_merge_node *least = NULL, *ready = NULL;
  for (size_t k = 0; k < n; k++) {
    if (!nodes[k].slot) continue;
    if (!least || before(&nodes[k], least)) least = &nodes[k];
    if (nodes[k].ready && (!ready || before(&nodes[k], ready))) ready = &nodes[k];
  }
  const slp_merge_node *top = slp_merge_top(m), *first = slp_merge_first_ready(m);
  CHECK(!top == !least && !first == !ready);
  if (top) CHECK(!before(least, top));
  if (first) CHECK(!before(ready, first));
}

TEST(the_top_is_always_the_least_of_all) {
  enum { NODES = 40 };
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_merge m;
  static slp_merge_node nodes[NODES];
  static char texts[NODES][2][130];
  static int turn[NODES];
  slp_merge_init(&m, mem);
  CHECK_INT(slp_merge_reserve(&m, NODES), 0);
  for (int step = 0; step < 200000; step++) {
    size_t i = rnd(NODES);
    if (rnd(4) == 0) {
      slp_merge_remove(&m, &nodes[i]);
    } else {
      slp_key key;
      turn[i] ^= 1; /* the old key's text must live until the node has moved */
      random_key(texts[i][turn[i]], &key);
      slp_merge_put(&m, &nodes[i], &key, (int)rnd(2));
    }
    if (step % 64 == 0) CHECK(slp_merge_valid(&m));
    check_least(&m, nodes, NODES);
  }
  slp_merge_free(&m);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* ---- numbers as a stream has them --------------------------------------------------------------------- */

enum { SHARDS_MAX = 1024, ROOM = 132 };

/* A merge of shards whose keys grow. The old text of a key is spoiled as soon as the node has another. */
typedef struct stream {
  slp_mem *mem;
  slp_merge m;
  slp_merge_node nodes[SHARDS_MAX];
  char texts[SHARDS_MAX][2][ROOM];
  uint8_t turn[SHARDS_MAX];
  uint64_t puts, ties, focused, looked_at; /* looked_at: entries, when digits were chosen */
} stream;

static void stream_begin(stream *t, uint32_t shards) {
  memset(t, 0, sizeof *t);
  t->mem = slp_mem_new(NULL, NULL);
  slp_merge_init(&t->m, t->mem);
  CHECK_INT(slp_merge_reserve(&t->m, shards), 0);
}

static void stream_end(stream *t) {
  slp_merge_free(&t->m);
  CHECK_INT(t->mem->live_blocks, 0);
  slp_mem_drop(t->mem);
}

static void stream_put(stream *t, size_t i, int64_t time, const char *seq, uint32_t sub, int ready) {
  char *text = t->texts[i][t->turn[i] ^= 1];
  size_t n = strlen(seq);
  uint32_t ties = t->m.focus.ties;
  memcpy(text, seq, n);
  slp_key key = {time, {text, n}, sub};
  if (rnd(2))
    slp_merge_put(&t->m, &t->nodes[i], &key, ready);
  else
    slp_merge_put_word(&t->m, &t->nodes[i], &key, slp_focus_word(slp_merge_focus_now(&t->m), key.seq), ready);
  memset(t->texts[i][!t->turn[i]], '9', ROOM);
  t->puts++;
  if (t->m.focus.ties < ties) {
    t->focused++;
    t->looked_at += t->m.n;
  } else {
    t->ties += t->m.focus.ties - ties;
  }
}

/* 56 digits, of which a counter in the middle and the last 21 change. */
static const char *number_of(uint64_t major, uint64_t minor, uint32_t shard) {
  static char text[ROOM];
  snprintf(text, sizeof text, "4959033827149025660%016llu%015llu%06u", (unsigned long long)major,
           (unsigned long long)minor, shard);
  return text;
}

TEST(heads_of_growing_shards_leave_in_order) {
  static stream t;
  stream_begin(&t, 64);
  uint64_t now[64] = {0};
  for (int step = 0; step < 300000; step++) {
    uint32_t i = rnd(8) && t.m.n ? (uint32_t)(slp_merge_top(&t.m) - t.nodes) : (uint32_t)rnd(64);
    if (rnd(500) == 0) {
      memset(t.texts[i], '9', sizeof t.texts[i]); /* its page may be gone */
      slp_merge_remove(&t.m, &t.nodes[i]);
      continue;
    }
    now[i] += 1 + rnd(rnd(3) ? 30 : 3000);
    uint64_t major = now[i] / (now[i] < 4000000 ? 1000 : 1);
    int silent = rnd(16) == 0;
    stream_put(&t, i, (int64_t)(now[i] / 1000) + silent, silent ? "" : number_of(major, now[i], i),
               (uint32_t)rnd(2), !silent);
    if (step % 16 == 0) check_least(&t.m, t.nodes, 64);
    if (step % 64 == 0) CHECK(slp_merge_valid(&t.m));
  }
  CHECK(t.focused > 0);
  stream_end(&t);
}

TEST(numbers_of_every_length_are_in_order) {
  static stream t;
  stream_begin(&t, 48);
  size_t length = 56, shared = 30;
  char base[ROOM] = "";
  for (int step = 0; step < 300000; step++) {
    if (step % 3000 == 0) { /* what they share is another number, as long as any */
      length = rnd(4) ? 19 + rnd(111) : 1 + rnd(129);
      shared = rnd(length);
      for (size_t k = 0; k < length; k++) base[k] = (char)('1' + rnd(9));
    }
    char seq[ROOM] = "";
    size_t n = rnd(20) ? length : 1 + rnd(129);
    memcpy(seq, base, n < length ? n : length);
    for (size_t k = n < length ? n : length; k < n; k++) seq[k] = '5';
    size_t from = rnd(50) ? shared : rnd(n);
    for (size_t k = from; k < n; k++) {
      if (rnd(3) == 0) seq[k] = (char)('1' + rnd(9));
    }
    size_t i = rnd(48);
    if (rnd(20) == 0) slp_merge_remove(&t.m, &t.nodes[rnd(48)]);
    stream_put(&t, i, rnd(50) ? 7 : INT64_MAX - (int64_t)rnd(2), seq, (uint32_t)rnd(2), (int)rnd(2));
    if (step % 4 == 0) check_least(&t.m, t.nodes, 48);
    if (step % 64 == 0) CHECK(slp_merge_valid(&t.m));
  }
  CHECK(t.focused > 0);
  stream_end(&t);
}

/* Each shard once more, round after round, in one order or another. Returns the ties of the last round. */
static uint64_t play_rounds(stream *t, uint32_t shards, uint64_t per_ms, int ties) {
  uint64_t before_last = 0;
  for (uint64_t round = 0; round < 24; round++) {
    before_last = t->ties;
    for (uint32_t k = 0; k < shards; k++) {
      uint32_t i = round ? (uint32_t)(slp_merge_top(&t->m) - t->nodes) : k;
      uint64_t now = round * shards + (i * 7919 + round) % shards;
      stream_put(t, i, (int64_t)(now / per_ms), number_of(ties ? now / per_ms : now, now, i), 0, 1);
    }
  }
  return t->ties - before_last;
}

TEST(the_digits_that_differ_are_found_and_kept) {
  static stream t;
  static const uint32_t shards[] = {3, 16, 256, SHARDS_MAX};
  for (size_t k = 0; k < 4; k++) {
    for (int ties = 0; ties < 2; ties++) {
      stream_begin(&t, shards[k]);
      play_rounds(&t, shards[k], 1000, ties);
      CHECK_INT(play_rounds(&t, shards[k], 1000, ties), 0);
      CHECK(t.focused <= 2);
      stream_end(&t);
    }
  }
}

/* The numbers of 64 shards that were made in one second have sixteen beginnings, each shared by four shards, and
 * records written together differ in the last digits only. Other digits chosen would void the pages' words. */
TEST(digits_that_no_others_are_better_than_stay) {
  static stream t;
  uint64_t id = 0;
  stream_begin(&t, 64);
  for (uint64_t round = 0; round < 400; round++) {
    for (uint32_t k = 0; k < 64; k++) {
      uint32_t i = round ? (uint32_t)(slp_merge_top(&t.m) - t.nodes) : k;
      char seq[ROOM];
      snprintf(seq, sizeof seq, "49680481840%02u%018llu%019llu%06u", i % 16, (unsigned long long)round, 7ull,
               i);
      stream_put(&t, i, (int64_t)(round / 10), seq, 0, 1);
    }
    if (round == 10) id = slp_merge_focus_now(&t.m)->id;
    CHECK(slp_merge_valid(&t.m));
  }
  CHECK(t.ties > 20000);
  CHECK_INT(slp_merge_focus_now(&t.m)->id, id);
  stream_end(&t);
}

/* Numbers of two lengths, each sharing nothing but length with the next of its kind, or all but the end with
 * the one after: no choice of digits is right for long. */
TEST(no_stream_makes_each_put_look_at_all_entries) {
  static stream t;
  stream_begin(&t, SHARDS_MAX);
  for (int step = 0; step < 200000; step++) {
    char seq[ROOM];
    int kind = step / 700 % 4;
    snprintf(seq, sizeof seq, "%0*d%020d", kind & 1 ? 36 : 40, 0, (int)rnd(1000));
    seq[0] = (char)('1' + (kind & 2 ? rnd(9) : 0));
    seq[20] = (char)('0' + rnd(10));
    stream_put(&t, rnd(SHARDS_MAX), 7, seq, 0, 1);
  }
  CHECK(t.focused > 10); /* it was hostile */
  CHECK(t.looked_at * 2 < t.ties);
  CHECK(t.looked_at < t.puts * 10); /* of 1024 */
  stream_end(&t);
}

TEST(a_shard_that_stays_first_does_not_play) {
  static stream t;
  stream_begin(&t, 16);
  for (uint32_t i = 0; i < 16; i++) stream_put(&t, i, i ? 9 : 1, number_of(1, i, i), 0, 1);
  slp_merge_entry *tree = t.m.tree;
  stream_put(&t, 0, 2, number_of(1, 20, 0), 0, 1);
  for (uint32_t at = 8; at > 1; at /= 2) tree[at].word = 77; /* nobody looks at those */
  for (int64_t time = 3; time < 9; time++) {
    stream_put(&t, 0, time, number_of(1, 30, 0), 0, 1);
    CHECK(slp_merge_top(&t.m) == &t.nodes[0]);
    CHECK_INT(tree[8].word, 77);
  }
  stream_put(&t, 5, 8, number_of(1, 10, 5), 0, 1); /* another one is put, before it: now they are mended */
  CHECK(slp_merge_top(&t.m) == &t.nodes[5]);
  CHECK(slp_merge_valid(&t.m));
  stream_put(&t, 5, 10, number_of(1, 40, 5), 0, 1);
  CHECK(slp_merge_top(&t.m) == &t.nodes[0]);
  stream_end(&t);
}

TEST(keys_compare_by_time_then_number_then_sub_sequence) {
  slp_key a = {5, SLP_STR("99"), 0}, b = {5, SLP_STR("100"), 0}, c = {5, SLP_STR("100"), 1},
          d = {6, SLP_STR("1"), 0};
  slp_key watermark = {5, SLP_STR(""), 0};
  CHECK_INT(slp_key_cmp(&a, &b), -1);
  CHECK_INT(slp_key_cmp(&b, &c), -1);
  CHECK_INT(slp_key_cmp(&d, &c), 1);
  CHECK_INT(slp_key_cmp(&b, &b), 0);
  CHECK_INT(slp_key_cmp(&watermark, &a), -1);
}

TEST(a_record_goes_before_a_watermark_of_the_same_key) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_merge m;
  slp_merge_node watermark = {0}, record = {0};
  slp_key key = {5, SLP_STR("49"), 0};
  slp_merge_init(&m, mem);
  slp_merge_reserve(&m, 2);
  slp_merge_put(&m, &watermark, &key, 0);
  slp_merge_put(&m, &record, &key, 1);
  CHECK(slp_merge_top(&m) == &record);
  slp_merge_free(&m);
  slp_mem_drop(mem);
}
