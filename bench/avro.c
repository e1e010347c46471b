/* avro.c - MB/s of an Avro file (its argument) that -s avro turns into lines of JSON: avro.py makes the file, and measures
 * fastavro on it in the same run. The best of seven rounds counts. */
#include "bench.h"

#include <stdio.h>

#include "cli/decode.h"
#include "cli/schemas.h"
#include "host/local.h"

int main(int argc, char **argv) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_schemas schemas;
  slp_decode_chain c;
  slp_decoding d;
  slp_buf file;
  char why[200];
  double best = 1e9;
  if (argc != 2 || !mem) bench_die("give an Avro file");
  slp_buf_init(&file, mem, 1u << 28);
  if (slp_local_read(argv[1], &file) || slp_decode_parse("avro", &c, why))
    bench_die("the file can't be read");
  bench_pin(bench_cpus_find().client);
  slp_schemas_init(&schemas, mem);
  slp_decoding_init(&d, mem);
  d.schemas = &schemas;
  for (int round = 0; round < 7; round++) {
    double from = bench_cpu_s();
    int r;
    slp_decoding_begin(&d, &c, slp_buf_str(&file), 1u << 28);
    do r = slp_decoding_step(&d, why);
    while (r == 1);
    if (r) bench_die("%s", why);
    double took = bench_cpu_s() - from;
    if (took < best) best = took;
  }
  printf("{\"bench\":\"avro\",\"file\":%zu,\"json\":%zu,\"mb_s\":%.1f,\"json_mb_s\":%.1f}\n", file.n, d.in.n,
         (double)file.n / 1e6 / best, (double)d.in.n / 1e6 / best);
  slp_decoding_free(&d);
  slp_schemas_free(&schemas);
  slp_buf_free(&file);
  slp_mem_drop(mem);
  return 0;
}
