/* kpl.c - measures the cost of expanding aggregates per user record: against the MD5 that the format demands
 * (by libcrypto, of the same bytes), and on a page without any aggregate, where it should cost nothing. */
#include "bench.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codec/kpl.h"

#define AGGREGATE_BYTES 51200 /* what the producer library packs by default */
#define SLICE_BYTES (64u * 1024)
#define SLICE_RECORDS 2048

typedef struct kpl_bench {
  slp_mem *mem;
  slp_kpl *kpl;
  slp_page *page;
  slp_rec *recs; /* of the page before it is expanded */
  size_t recs_n;
  size_t users_n; /* records inside */
  const slp_hash_range *range;
  uint64_t seen;
  double slice_s_max; /* the longest slice of by_us() in CPU time */
} kpl_bench;

static void must(int ok) {
  if (!ok) bench_die("no memory");
}

/* ---- pages ------------------------------------------------------------------------------------- */
static void put_varint(slp_buf *b, uint64_t v) {
  for (; v > 0x7f; v >>= 7) must(!slp_buf_add_char(b, (char)(v | 0x80)));
  must(!slp_buf_add_char(b, (char)v));
}

static void put_bytes(slp_buf *b, unsigned field, const void *p, size_t n) {
  put_varint(b, field << 3 | 2);
  put_varint(b, n);
  must(!slp_buf_add(b, p, n));
}

/* As the producer library writes it: keys, then records that name them by index. */
static void put_message(slp_buf *b, slp_mem *mem, size_t users, size_t bytes, size_t keys, uint64_t *seed) {
  slp_buf rec;
  char key[40], *data = malloc(bytes + 8);
  must(data != NULL);
  slp_buf_init(&rec, mem, SIZE_MAX / 2);
  for (size_t i = 0; i < keys; i++) {
    int n = snprintf(key, sizeof key, "%016llx", (unsigned long long)bench_mix(++*seed));
    put_bytes(b, 1, key, (size_t)n);
  }
  for (size_t i = 0; i < users; i++) {
    for (size_t at = 0; at < bytes; at += 8) {
      uint64_t word = bench_mix(++*seed);
      memcpy(data + at, &word, 8);
    }
    slp_buf_clear(&rec);
    put_varint(&rec, 1 << 3);
    put_varint(&rec, i % keys);
    put_bytes(&rec, 3, data, bytes);
    put_bytes(b, 3, rec.p, rec.n);
  }
  slp_buf_free(&rec);
  free(data);
}

static void put_record(kpl_bench *k, size_t from) {
  slp_page *page = k->page;
  if (page->recs_n == page->recs_cap) {
    page->recs_cap = page->recs_cap ? page->recs_cap * 2 : 64;
    page->recs = slp_realloc(page->mem, page->recs, page->recs_cap * sizeof *page->recs);
    must(page->recs != NULL);
  }
  slp_rec r = {.arrived_ms = 1, .data_at = (uint32_t)from, .data_n = (uint32_t)(page->body.n - from)};
  page->magic_n += (uint32_t)slp_kpl_begins_like(slp_rec_data(page, &r));
  page->recs[page->recs_n++] = r;
}

static void put_aggregate(kpl_bench *k, size_t users, size_t bytes, size_t keys, uint64_t *seed) {
  slp_buf *b = &k->page->body;
  size_t from = b->n;
  unsigned char md5[16];
  must(!slp_buf_add(b, "\xF3\x89\x9A\xC2", 4));
  put_message(b, k->mem, users, bytes, keys, seed);
  must(EVP_Digest(b->p + from + 4, b->n - from - 4, md5, NULL, EVP_md5(), NULL));
  must(!slp_buf_add(b, md5, sizeof md5));
  put_record(k, from);
  k->users_n += users;
}

/* ---- what is measured ---------------------------------------------------------------------------- */
static void by_md5(kpl_bench *k) {
  EVP_MD *md5 = EVP_MD_fetch(NULL, "MD5", NULL);
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  for (size_t i = 0; i < k->recs_n; i++) {
    unsigned char out[16];
    const slp_rec *r = &k->recs[i];
    must(EVP_DigestInit_ex2(ctx, md5, NULL) &&
         EVP_DigestUpdate(ctx, k->page->body.p + r->data_at, r->data_n) &&
         EVP_DigestFinal_ex(ctx, out, NULL));
    k->seen += out[0];
  }
  EVP_MD_CTX_free(ctx);
  EVP_MD_free(md5);
}

static void by_us(kpl_bench *k) {
  int r;
  slp_kpl_begin(k->kpl, k->page, k->range);
  do {
    double at = bench_cpu_s();
    r = slp_kpl_step(k->kpl, SLICE_BYTES, SLICE_RECORDS);
    double took = bench_cpu_s() - at;
    if (took > k->slice_s_max) k->slice_s_max = took;
  } while (r == SLP_MORE);
  if (r) bench_die("expanding failed");
  k->seen += k->page->recs_n;
}

/* The page as it was before. */
static void restore(kpl_bench *k) {
  slp_page *page = k->page;
  must(page->recs_cap >= k->recs_n);
  memcpy(page->recs, k->recs, k->recs_n * sizeof *k->recs);
  page->recs_n = k->recs_n;
}

static double ns_of(kpl_bench *k, void (*run)(kpl_bench *), double budget_s, const char *what) {
  double ns[BENCH_ROUNDS_MAX], spent = 0;
  size_t rounds = 0;
  char text[64];
  while (rounds < BENCH_ROUNDS_MAX && (rounds < 3 || spent < budget_s)) {
    double took = 0;
    size_t times = 0;
    while (took < budget_s / BENCH_ROUNDS_MAX && times < 100000) {
      restore(k);
      double at = bench_cpu_s();
      run(k);
      took += bench_cpu_s() - at;
      times++;
    }
    ns[rounds++] = took * 1e9 / (double)times / (double)k->users_n;
    spent += took;
  }
  bench_spread s = bench_spread_of(ns, rounds);
  printf("    %-38s ns a record %s\n", what, bench_spread_text(text, s, 2));
  return s.median;
}

static void begin(kpl_bench *k) {
  k->page = slp_page_new(k->mem);
  must(k->page != NULL);
  k->users_n = 0;
}

static void keep(kpl_bench *k) {
  k->recs_n = k->page->recs_n;
  k->recs = malloc(k->recs_n * sizeof *k->recs);
  must(k->recs != NULL);
  memcpy(k->recs, k->page->recs, k->recs_n * sizeof *k->recs);
}

static void end(kpl_bench *k) {
  slp_page_free(k->page);
  free(k->recs);
}

static void bench_aggregates(kpl_bench *k, size_t bytes, size_t keys_each, size_t page_bytes, double budget) {
  static const slp_hash_range half = {.first = {0x40}, .last = {0xbf}};
  uint64_t seed = bytes;
  size_t users = AGGREGATE_BYTES / (bytes + 26 / keys_each + 8), keys = (users + keys_each - 1) / keys_each;
  begin(k);
  while (k->page->body.n < page_bytes) put_aggregate(k, users, bytes, keys, &seed);
  keep(k);
  printf("  %zu aggregates of %zu records of %zu bytes, %zu records a key\n", k->recs_n, users, bytes,
         keys_each);
  k->range = NULL;
  k->slice_s_max = 0;
  double floor = ns_of(k, by_md5, budget, "MD5 alone");
  double ours = ns_of(k, by_us, budget, "expanded");
  if (k->page->recs_n != k->users_n) bench_die("%zu records instead of %zu", k->page->recs_n, k->users_n);
  k->range = &half;
  double judged = ns_of(k, by_us, budget, "expanded, foreign records told");
  printf("    ratio to MD5 %.2f; telling foreign records adds %.0f %%; the longest slice took %.0f us\n",
         ours / floor, (judged / ours - 1) * 100, k->slice_s_max * 1e6);
  printf(
      "{\"bench\":\"kpl\",\"bytes\":%zu,\"records_a_key\":%zu,\"md5_ns\":%.2f,\"expanded_ns\":%.2f,"
      "\"judged_ns\":%.2f,\"slice_us_max\":%.0f}\n",
      bytes, keys_each, floor, ours, judged, k->slice_s_max * 1e6);
  end(k);
}

static void bench_plain(kpl_bench *k, size_t records, double budget) {
  begin(k);
  for (size_t i = 0; i < records; i++) {
    size_t from = k->page->body.n;
    for (int j = 0; j < 8; j++)
      must(!slp_buf_add(&k->page->body, &(uint64_t){bench_mix(i * 8 + (size_t)j)}, 8));
    put_record(k, from);
  }
  k->users_n = records;
  keep(k);
  printf("  a page of %zu plain records\n", records);
  double ns = ns_of(k, by_us, budget, "looked through");
  printf("{\"bench\":\"kpl\",\"plain_ns\":%.3f}\n", ns);
  end(k);
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "Expanding aggregates of the Kinesis Producer Library.");
  double budget = small ? 0.05 : 0.6;
  size_t page_bytes = small ? 512 * 1024 : 8 * 1024 * 1024;
  kpl_bench k = {.mem = slp_mem_new(NULL, NULL)};
  must(k.mem != NULL);
  k.kpl = slp_kpl_new(k.mem);
  must(k.kpl != NULL);
  bench_pin(bench_cpus_find().client);
  bench_aggregates(&k, 100, 1, page_bytes, budget);
  bench_aggregates(&k, 100, 10, page_bytes, budget);
  bench_aggregates(&k, 1000, 1, page_bytes, budget);
  bench_aggregates(&k, 20, 1, page_bytes, budget);
  bench_plain(&k, 10000, budget);
  slp_kpl_free(k.kpl);
  if (k.mem->live_blocks) bench_die("%zu blocks left", k.mem->live_blocks);
  slp_mem_drop(k.mem);
  return 0;
}
