/* pages.h - GetRecords answers made here, byte for byte known, for timing readers: no part of the library
 * writes them. */
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

#include <stddef.h>
#include <stdint.h>

typedef struct bench_page {
  char *body;
  size_t n;
  size_t records, record_bytes;
  uint64_t sum; /* over sequence numbers, keys and payloads: bench_page_sum() of what a reader should see */
} bench_page;

/* Sequence numbers of 56 digits, keys like UUIDs, an iterator of 228 characters. */
void bench_page_make(bench_page *page, size_t records, size_t record_bytes, int cbor);
void bench_page_free(bench_page *page);
/* Adds one record to a sum. */
uint64_t bench_page_sum(uint64_t sum, const char *seq, size_t seq_n, const char *key, size_t key_n,
                        const unsigned char *data, size_t data_n);

#endif
