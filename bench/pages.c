/* pages.c - makes GetRecords answers in JSON and CBOR. Base64 by OpenSSL, so that our own code is not its own
 * judge. */
#include "pages.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

typedef struct sink {
  char *p;
  size_t n, cap;
} sink;

static void put(sink *s, const void *p, size_t n) {
  if (s->n + n + 1 > s->cap) {
    s->cap = 2 * (s->cap + n) + 4096;
    s->p = realloc(s->p, s->cap);
    if (!s->p) bench_die("no memory");
  }
  memcpy(s->p + s->n, p, n);
  s->n += n;
}
static void put_z(sink *s, const char *z) { put(s, z, strlen(z)); }

static void put_cbor_head(sink *s, unsigned major, uint64_t n) {
  unsigned char h[9] = {(unsigned char)(major << 5)};
  size_t bytes = n < 24 ? 0 : n < 256 ? 1 : n < 65536 ? 2 : n < 4294967296u ? 4 : 8;
  if (!bytes) h[0] |= (unsigned char)n;
  if (bytes) h[0] |= (unsigned char)(bytes == 1 ? 24 : bytes == 2 ? 25 : bytes == 4 ? 26 : 27);
  for (size_t i = 0; i < bytes; i++) h[1 + i] = (unsigned char)(n >> (8 * (bytes - 1 - i)));
  put(s, h, 1 + bytes);
}
static void put_cbor_text(sink *s, const char *z) {
  put_cbor_head(s, 3, strlen(z));
  put_z(s, z);
}

uint64_t bench_page_sum(uint64_t sum, const char *seq, size_t seq_n, const char *key, size_t key_n,
                        const unsigned char *data, size_t data_n) {
  uint64_t h = bench_mix(data_n + 1);
  for (size_t i = 0; i < seq_n; i++) h = h * 31 + (unsigned char)seq[i];
  for (size_t i = 0; i < key_n; i++) h = h * 31 + (unsigned char)key[i];
  for (size_t i = 0; i < data_n; i++) h = h * 31 + data[i];
  return sum + bench_mix(h);
}

static void put_json_record(sink *s, size_t i, const char *seq, const char *key, const unsigned char *data,
                            size_t data_n, char *text) {
  char line[64];
  if (i) put_z(s, ",");
  put_z(s, "{\"SequenceNumber\":\"");
  put_z(s, seq);
  snprintf(line, sizeof line, "\",\"ApproximateArrivalTimestamp\":1.76%06zu%03zuE9,", (i / 1000) % 1000000,
           i % 1000);
  put_z(s, line);
  put_z(s, "\"Data\":\"");
  EVP_EncodeBlock((unsigned char *)text, data, (int)data_n);
  put_z(s, text);
  put_z(s, "\",\"PartitionKey\":\"");
  put_z(s, key);
  put_z(s, "\"}");
}

static void put_cbor_record(sink *s, size_t i, const char *seq, const char *key, const unsigned char *data,
                            size_t data_n) {
  put_z(s, "\xbf");
  put_cbor_text(s, "SequenceNumber");
  put_cbor_text(s, seq);
  put_cbor_text(s, "ApproximateArrivalTimestamp");
  put_cbor_head(s, 6, 1);
  put_cbor_head(s, 0, 1760000000000u + i);
  put_cbor_text(s, "Data");
  put_cbor_head(s, 2, data_n);
  put(s, data, data_n);
  put_cbor_text(s, "PartitionKey");
  put_cbor_text(s, key);
  put_z(s, "\xff");
}

void bench_page_make(bench_page *page, size_t records, size_t record_bytes, int cbor) {
  sink s = {0};
  unsigned char *data = malloc(record_bytes + 8);
  char *text = malloc(record_bytes * 2 + 8), seq[80], key[64], iterator[229];
  if (!data || !text) bench_die("no memory");
  memset(iterator, 'A', 228);
  iterator[228] = 0;
  *page = (bench_page){.records = records, .record_bytes = record_bytes};
  if (cbor)
    put_z(&s, "\xbfgRecords\x9f");
  else
    put_z(&s, "{\"Records\":[");
  for (size_t i = 0; i < records; i++) {
    for (size_t k = 0; k < record_bytes; k += 8) {
      uint64_t w = bench_mix(i * 1000003 + k);
      memcpy(data + k, &w, 8);
    }
    snprintf(seq, sizeof seq, "496607382961234567890123456789012345678901%014zu", i + 10000000000000);
    uint64_t a = bench_mix(i), b = bench_mix(~i);
    snprintf(key, sizeof key, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a & 0xffff),
             (unsigned)(a >> 16 & 0xfff), (unsigned)(b >> 48), (unsigned long long)(b & 0xffffffffffff));
    page->sum = bench_page_sum(page->sum, seq, strlen(seq), key, strlen(key), data, record_bytes);
    if (cbor)
      put_cbor_record(&s, i, seq, key, data, record_bytes);
    else
      put_json_record(&s, i, seq, key, data, record_bytes, text);
  }
  if (cbor) {
    put_z(&s, "\xff");
    put_cbor_text(&s, "NextShardIterator");
    put_cbor_text(&s, iterator);
    put_cbor_text(&s, "MillisBehindLatest");
    put_z(&s, "\x19\x03\xe8\xff");
  } else {
    put_z(&s, "],\"NextShardIterator\":\"");
    put_z(&s, iterator);
    put_z(&s, "\",\"MillisBehindLatest\":1000}");
  }
  free(data);
  free(text);
  page->body = s.p;
  page->n = s.n;
}

void bench_page_free(bench_page *page) { free(page->body); }
