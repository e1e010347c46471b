/* codec.c - how fast pages become records: our readers against jansson and libcbor on the same bytes, base64
 * against OpenSSL, and the memory floor under all of them. */
#include "bench.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codec/base64.h"
#include "codec/page.h"
#include "pages.h"
#if BENCH_JANSSON
#include <jansson.h>
#endif
#if BENCH_LIBCBOR
#include <cbor.h>
#endif

typedef struct codec_bench {
  slp_mem *mem;
  slp_page *page;
  slp_page_reader *reader;
  const bench_page *from;
  int cbor;
  uint64_t seen; /* a figure every method makes, so that nothing is optimised away */
} codec_bench;

/* Puts the untouched answer where the network would have left it. Not timed. */
static void fill(codec_bench *c) {
  slp_buf_clear(&c->page->body);
  if (slp_buf_add(&c->page->body, c->from->body, c->from->n)) bench_die("no memory");
}

static void by_floor(codec_bench *c) { /* one byte of every cache line */
  const char *p = c->page->body.p;
  for (size_t i = 0; i < c->page->body.n; i += 64) c->seen += (unsigned char)p[i];
}

static void by_us(codec_bench *c) {
  int r;
  slp_page_reader_begin(c->reader, c->page, c->cbor ? SLP_FORM_CBOR : SLP_FORM_JSON);
  do r = slp_page_read(c->reader, 64 * 1024, 256); /* the slices of a turn */
  while (r == SLP_MORE);
  if (r) bench_die("our reader refuses the page: %s", slp_page_reader_why(c->reader));
  c->seen += c->page->recs_n;
}

#if BENCH_JANSSON
static void by_jansson(codec_bench *c) { /* without base64 */
  json_error_t e;
  json_t *root = json_loadb(c->page->body.p, c->page->body.n, 0, &e), *rec;
  size_t i;
  if (!root) bench_die("jansson refuses the page: %s", e.text);
  json_t *records = json_object_get(root, "Records");
  json_array_foreach(records, i, rec) {
    c->seen += json_string_length(json_object_get(rec, "SequenceNumber"));
    c->seen += json_string_length(json_object_get(rec, "Data"));
    c->seen += json_string_length(json_object_get(rec, "PartitionKey"));
  }
  json_decref(root);
}
#endif

#if BENCH_LIBCBOR
static void by_libcbor(codec_bench *c) {
  struct cbor_load_result result;
  cbor_item_t *root = cbor_load((const unsigned char *)c->page->body.p, c->page->body.n, &result);
  if (!root) bench_die("libcbor refuses the page at %zu", result.error.position);
  struct cbor_pair *pairs = cbor_map_handle(root);
  for (size_t i = 0; i < cbor_map_size(root); i++)
    if (cbor_isa_array(pairs[i].value)) c->seen += cbor_array_size(pairs[i].value);
  cbor_decref(&root);
}
#endif

static void measure(codec_bench *c, const char *name, void (*run)(codec_bench *), double budget_s) {
  double ns[BENCH_ROUNDS_MAX], spent = 0;
  size_t rounds = 0;
  char text[64];
  while (rounds < BENCH_ROUNDS_MAX && (rounds < 3 || spent < budget_s)) {
    double took = 0;
    size_t times = 0;
    while (took < budget_s / BENCH_ROUNDS_MAX && times < 1000) {
      fill(c);
      double at = bench_wall_s();
      run(c);
      took += bench_wall_s() - at;
      times++;
    }
    ns[rounds++] = took * 1e9 / (double)times / (double)c->from->records;
    spent += took;
  }
  bench_spread s = bench_spread_of(ns, rounds);
  printf("    %-22s %9.0f MB/s of page, ns a record %s\n", name,
         (double)c->from->n / (s.median * (double)c->from->records) * 1e3, bench_spread_text(text, s, 1));
}

/* Every record our reader gives is the one that was written. */
static void verify(codec_bench *c) {
  uint64_t sum = 0;
  fill(c);
  by_us(c);
  for (size_t i = 0; i < c->page->recs_n; i++) {
    const slp_rec *r = &c->page->recs[i];
    slp_str seq = slp_rec_seq(c->page, r), key = slp_rec_key(c->page, r), data = slp_rec_data(c->page, r);
    sum = bench_page_sum(sum, seq.p, seq.n, key.p, key.n, (const unsigned char *)data.p, data.n);
  }
  if (c->page->recs_n != c->from->records || sum != c->from->sum) bench_die("our reader gives other records");
}

static void bench_page_readers(codec_bench *c, const char *name, size_t records, size_t bytes,
                               double budget) {
  for (int cbor = 0; cbor < 2; cbor++) {
    bench_page from;
    bench_page_make(&from, records, bytes, cbor);
    c->from = &from;
    c->cbor = cbor;
    c->page = slp_page_new(c->mem);
    if (!c->page) bench_die("no memory");
    verify(c);
    printf("  %s, %zu x %zu bytes, %s (%zu bytes)\n", name, records, bytes, cbor ? "CBOR" : "JSON", from.n);
    measure(c, "memory floor", by_floor, budget);
    measure(c, "page reader", by_us, budget);
#if BENCH_JANSSON
    if (!cbor) measure(c, "jansson, no base64", by_jansson, budget);
#endif
#if BENCH_LIBCBOR
    if (cbor) measure(c, "libcbor", by_libcbor, budget);
#endif
    slp_page_free(c->page);
    bench_page_free(&from);
  }
}

/* ---- base64 ---------------------------------------------------------------------------------- */
static double base64_once(int level, char *out, const char *text, size_t n, size_t times) {
  double at = bench_wall_s();
  for (size_t i = 0; i < times; i++) {
    int64_t got = level < 0 ? EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n)
                            : slp_base64_decode_with(level, out, text, n);
    if (got < 0) return -1;
    __asm__ volatile("" : : "r"(out) : "memory");
  }
  return bench_wall_s() - at;
}

static void bench_base64(size_t payload, double budget) {
  static const char *const names[] = {"EVP_DecodeBlock", "ours, table", "ours, SSE4.1", "ours, AVX2"};
  char *data = malloc(payload), *text = malloc(payload * 2 + 8), *out = malloc(payload * 2 + 64);
  if (!data || !text || !out) bench_die("no memory");
  for (size_t i = 0; i < payload; i++) data[i] = (char)bench_mix(i);
  size_t n = (size_t)EVP_EncodeBlock((unsigned char *)text, (unsigned char *)data, (int)payload);
  printf("  %zu bytes:", payload);
  for (int level = -1; level < 3; level++) {
    double mb[5];
    size_t times = 1;
    if (level >= 0 && slp_base64_decode_with(level, out, text, n) == SLP_ENOENT) {
      printf("  %s not on this CPU", names[level + 1]);
      continue;
    }
    while (base64_once(level, out, text, n, times) < budget / 20) times *= 2;
    for (size_t i = 0; i < 5; i++)
      mb[i] = (double)payload * (double)times * 1e-6 / base64_once(level, out, text, n, times);
    if (memcmp(out, data, payload)) bench_die("%s decodes wrongly", names[level + 1]);
    printf("  %s %.0f MB/s", names[level + 1], bench_spread_of(mb, 5).median);
  }
  putchar('\n');
  free(data);
  free(text);
  free(out);
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "Page readers and base64 against their peers.");
  double budget = small ? 0.05 : 0.6;
  codec_bench c = {.mem = slp_mem_new(NULL, NULL)};
  bench_pin(bench_cpus_find().client);
  c.reader = c.mem ? slp_page_reader_new(c.mem) : NULL;
  if (!c.reader) bench_die("no memory");
  puts("pages, medians (min to max):");
  bench_page_readers(&c, "a", 1000, 1024, budget);
  bench_page_readers(&c, "b", 10000, 100, budget);
  bench_page_readers(&c, "c", 100, 65536, budget);
  puts("base64, payload:");
  bench_base64(100, budget);
  bench_base64(1024, budget);
  bench_base64(65536, budget);
  slp_page_reader_free(c.reader);
  slp_mem_drop(c.mem);
  fprintf(stderr, "%s", c.seen ? "" : "nothing was read\n");
  return c.seen ? 0 : 1;
}
