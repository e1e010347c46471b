/* decoded.c - MB/s of records that the decoders of -s turn into lines of JSON: decoded DECODERS RECORDS [SCHEMA], where
 * each record stands behind its length, in 4 bytes of this machine's order. decoded.py makes the records, and measures
 * the formats' own libraries on them in the same run. The best of seven rounds counts. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#include "cli/decode.h"
#include "cli/schemas.h"
#include "program/local.h"

typedef struct job {
  slp_decode_chain chain;
  slp_decoding d;
  slp_buf records;
} job;

/* Decodes each record once; returns how many bytes came out. */
static size_t decode_all(job *j) {
  size_t out = 0;
  char why[200];
  for (size_t at = 0; at < j->records.n;) {
    uint32_t n;
    int r;
    memcpy(&n, j->records.p + at, 4);
    slp_decoding_begin(&j->d, &j->chain, (slp_str){j->records.p + at + 4, n}, 1u << 28);
    do r = slp_decoding_step(&j->d, why);
    while (r == 1);
    if (r) bench_die("%s", why);
    out += j->d.in.n;
    at += 4 + n;
  }
  return out;
}

int main(int argc, char **argv) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_schemas schemas;
  job j;
  char why[400];
  size_t out = 0;
  double best = 1e9;
  if (argc < 3 || !mem) bench_die("give the decoders, a file of records and perhaps a schema");
  slp_buf_init(&j.records, mem, 1u << 28);
  slp_schemas_init(&schemas, mem);
  if (slp_local_read(argv[2], &j.records) || slp_decode_parse(argv[1], &j.chain, why))
    bench_die("the decoders or the records can't be read");
  if (argc > 3 && slp_schemas_add_file(&schemas, argv[3], why)) bench_die("%s", why);
  bench_pin(bench_cpus_find().client);
  slp_decoding_init(&j.d, mem);
  j.d.schemas = &schemas;
  for (int round = 0; round < 7; round++) {
    double from = bench_cpu_s();
    out = decode_all(&j);
    double took = bench_cpu_s() - from;
    if (took < best) best = took;
  }
  printf(
      "{\"bench\":\"decoded\",\"decoders\":\"%s\",\"records\":%zu,\"json\":%zu,\"mb_s\":%.1f,\"json_mb_s\":%."
      "1f}\n",
      argv[1], j.records.n, out, (double)j.records.n / 1e6 / best, (double)out / 1e6 / best);
  slp_decoding_free(&j.d);
  slp_schemas_free(&schemas);
  slp_buf_free(&j.records);
  slp_mem_drop(mem);
  return 0;
}
