#include "lease/shard_set.h"

#include "check.h"

static slp_mem *mem;

/* Written and read, the same ids come back, sorted. Returns the bytes it took. */
static size_t round_trip(slp_str *ids, size_t n) {
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 24);
  CHECK(slp_shard_set_write(&b, ids, n) == 0);
  slp_shard_set_reader r;
  slp_str id;
  slp_shard_set_begin(&r, slp_buf_str(&b));
  for (size_t i = 0; i < n; i++) {
    CHECK(slp_shard_set_next(&r, &id) == 1);
    CHECK(slp_str_eq(id, ids[i]));
  }
  CHECK(slp_shard_set_next(&r, &id) == 0);
  size_t bytes = b.n;
  /* Cut anywhere it says so, or is a smaller set; it never reads on. */
  for (size_t cut = 0; cut < b.n && b.n < 4096; cut++) {
    slp_shard_set_begin(&r, (slp_str){b.p, cut});
    size_t seen = 0;
    int got;
    while ((got = slp_shard_set_next(&r, &id)) == 1) CHECK(++seen <= n);
    CHECK(got == 0 || got == SLP_EBADDATA);
  }
  slp_buf_free(&b);
  return bytes;
}

static size_t kinesis(size_t n, unsigned step, char (*texts)[32], slp_str *ids) {
  for (size_t i = 0; i < n; i++) {
    snprintf(texts[i], sizeof texts[i], "shardId-%012zu", 5 + i * step);
    ids[i] = slp_str_of(texts[i]);
  }
  return round_trip(ids, n);
}

TEST(ten_thousand_neighbours_are_a_few_bytes_and_scattered_ones_two_each) {
  mem = slp_mem_new(NULL, NULL);
  char(*texts)[32] = malloc(10000 * sizeof *texts);
  slp_str *ids = malloc(10000 * sizeof *ids);
  CHECK(kinesis(10000, 1, texts, ids) < 10);
  CHECK(kinesis(10000, 3, texts, ids) <= 20002);
  CHECK(kinesis(1, 1, texts, ids) < 5);
  CHECK(kinesis(0, 1, texts, ids) == 1);
  free(texts);
  free(ids);
  slp_mem_drop(mem);
}

/* A few damaged bytes are not to keep a worker busy, or fill its memory, for hours. */
TEST(a_run_without_end_is_damage) {
  const char *const sets[] = {"\x01\x05\xff\xff\xff\xff\x0f", "\x01\x05\xff\xff\x07\x05\xff\xff\x07"};
  for (size_t i = 0; i < SLP_COUNT(sets); i++) {
    slp_shard_set_reader r;
    slp_str id;
    int got = 1;
    slp_shard_set_begin(&r, slp_str_of(sets[i]));
    for (int n = 0; n < 200000 && got == 1; n++) got = slp_shard_set_next(&r, &id);
    CHECK_INT(got, SLP_EBADDATA);
  }
}

TEST(ids_of_any_kind) {
  mem = slp_mem_new(NULL, NULL);
  slp_str ids[] = {
      SLP_STR("shardId-00000001700000000001-aabbccdd"), SLP_STR("b"), SLP_STR("shardId-000000000007"),
      SLP_STR("shardId-00000001700000000001-aabbccde"), SLP_STR("a"), SLP_STR("shardId-99999")};
  CHECK(round_trip(ids, SLP_COUNT(ids)) < 90);
  slp_mem_drop(mem);
}

TEST(bytes_from_anywhere_are_refused_or_end) {
  mem = slp_mem_new(NULL, NULL);
  uint32_t dice = 7;
  for (int round = 0; round < 200000; round++) {
    char bytes[24];
    for (size_t i = 0; i < sizeof bytes; i++) {
      dice = dice * 1103515245u + 12345u;
      bytes[i] = (char)(dice >> 16);
    }
    bytes[0] = (char)(round % 4);
    slp_shard_set_reader r;
    slp_str id;
    slp_shard_set_begin(&r, (slp_str){bytes, sizeof bytes});
    for (int i = 0; i < 100 && slp_shard_set_next(&r, &id) == 1; i++)
      CHECK(id.n > 0 && id.n <= SLP_SHARD_ID_MAX);
  }
  slp_mem_drop(mem);
}
