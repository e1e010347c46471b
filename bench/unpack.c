/* unpack.c - MB/s of unpacked text that the decoders of -s make, beside the same library's own call, which unpacks
 * a whole text at once into room of just that size. In one process, turn by turn; the best round of each counts. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "cli/decode.h"
#if SLP_HAVE_ZSTD
#include <zstd.h>
#endif
#if SLP_HAVE_LZ4
#include <lz4frame.h>
#endif
#if SLP_HAVE_SNAPPY
#include <snappy-c.h>
#endif
#if SLP_HAVE_BROTLI && BENCH_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif

typedef struct text {
  char *p;
  size_t n;
} text;

typedef struct row {
  const char *decoder;
  size_t (*pack)(text in, text out); /* 0: it failed */
  size_t (*unpack)(text in, text out);
} row;

static void must(int ok) {
  if (!ok) bench_die("no memory, or a packer failed");
}

static size_t pack_zlib(text in, text out) {
  uLongf n = out.n;
  return compress2((Bytef *)out.p, &n, (const Bytef *)in.p, in.n, 6) == Z_OK ? n : 0;
}
static size_t unpack_zlib(text in, text out) {
  uLongf n = out.n;
  return uncompress((Bytef *)out.p, &n, (const Bytef *)in.p, in.n) == Z_OK ? n : 0;
}
#if SLP_HAVE_ZSTD
static size_t pack_zstd(text in, text out) { return ZSTD_compress(out.p, out.n, in.p, in.n, 3); }
static size_t unpack_zstd(text in, text out) { return ZSTD_decompress(out.p, out.n, in.p, in.n); }
#endif
#if SLP_HAVE_LZ4
static size_t pack_lz4(text in, text out) {
  LZ4F_preferences_t how = {.frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
  return LZ4F_compressFrame(out.p, out.n, in.p, in.n, &how);
}
static size_t unpack_lz4(text in, text out) {
  LZ4F_dctx *z;
  size_t made = out.n, read = in.n;
  must(!LZ4F_isError(LZ4F_createDecompressionContext(&z, LZ4F_VERSION)));
  size_t left = LZ4F_decompress(z, out.p, &made, in.p, &read, NULL);
  LZ4F_freeDecompressionContext(z);
  return left ? 0 : made;
}
#endif
#if SLP_HAVE_SNAPPY
static size_t pack_snappy(text in, text out) {
  size_t n = out.n;
  return snappy_compress(in.p, in.n, out.p, &n) == SNAPPY_OK ? n : 0;
}
static size_t unpack_snappy(text in, text out) {
  size_t n = out.n;
  return snappy_uncompress(in.p, in.n, out.p, &n) == SNAPPY_OK ? n : 0;
}
#endif
#if SLP_HAVE_BROTLI && BENCH_BROTLI
static size_t pack_brotli(text in, text out) {
  size_t n = out.n;
  return BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, in.n, (const uint8_t *)in.p, &n, (uint8_t *)out.p)
             ? n
             : 0;
}
static size_t unpack_brotli(text in, text out) {
  size_t n = out.n;
  return BrotliDecoderDecompress(in.n, (const uint8_t *)in.p, &n, (uint8_t *)out.p) ==
                 BROTLI_DECODER_RESULT_SUCCESS
             ? n
             : 0;
}
#endif

static const row rows[] = {
    {"zlib", pack_zlib, unpack_zlib},
#if SLP_HAVE_ZSTD
    {"zstd", pack_zstd, unpack_zstd},
#endif
#if SLP_HAVE_LZ4
    {"lz4", pack_lz4, unpack_lz4},
#endif
#if SLP_HAVE_SNAPPY
    {"snappy", pack_snappy, unpack_snappy},
#endif
#if SLP_HAVE_BROTLI && BENCH_BROTLI
    {"brotli", pack_brotli, unpack_brotli},
#endif
};

/* Lines of JSON, as logs are. */
static void fill(text t) {
  uint64_t seed = 1;
  size_t at = 0;
  while (at < t.n) {
    char line[200];
    uint64_t r = bench_mix(++seed);
    int n =
        snprintf(line, sizeof line, "{\"ts\":%llu,\"level\":\"%s\",\"path\":\"/v1/orders/%u\",\"ms\":%u}\n",
                 (unsigned long long)(1700000000000u + seed * 7), r & 3 ? "INFO" : "WARN",
                 (unsigned)(r >> 40 & 4095), (unsigned)(r >> 20 & 255));
    size_t some = (size_t)n < t.n - at ? (size_t)n : t.n - at;
    memcpy(t.p + at, line, some);
    at += some;
  }
}

static void ours(slp_decoding *d, const slp_decode_chain *c, text packed, size_t want) {
  char why[100];
  int r;
  slp_decoding_begin(d, c, (slp_str){packed.p, packed.n}, 1u << 28);
  do r = slp_decoding_step(d, why);
  while (r == 1);
  must(r == 0 && d->in.n == want);
}

static void measure(const row *of, size_t bytes, size_t total) {
  text in = {malloc(bytes), bytes}, packed = {malloc(bytes * 2 + 1000), bytes * 2 + 1000},
       out = {malloc(bytes), bytes};
  must(in.p && packed.p && out.p);
  fill(in);
  packed.n = of->pack(in, packed);
  must(packed.n > 0);
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_decode_chain c;
  slp_decoding d;
  char why[200];
  must(mem != NULL && slp_decode_parse(of->decoder, &c, why) == 0);
  slp_decoding_init(&d, mem);
  double best_ours = 1e9, best_its = 1e9;
  size_t times = total / bytes + 1;
  for (int round = 0; round < 7; round++) {
    double from = bench_cpu_s();
    for (size_t i = 0; i < times; i++) ours(&d, &c, packed, bytes);
    double between = bench_cpu_s();
    for (size_t i = 0; i < times; i++) must(of->unpack(packed, out) == bytes);
    double end = bench_cpu_s();
    if (between - from < best_ours) best_ours = between - from;
    if (end - between < best_its) best_its = end - between;
  }
  must(memcmp(in.p, out.p, bytes) == 0);
  double mb = (double)(bytes * times) / 1e6;
  printf("%-8s %8zu bytes, packed to %7zu: -s %6.0f MB/s, the library at once %6.0f MB/s (%.2f)\n",
         of->decoder, bytes, packed.n, mb / best_ours, mb / best_its, best_its / best_ours);
  printf(
      "{\"bench\":\"unpack\",\"decoder\":\"%s\",\"bytes\":%zu,\"packed\":%zu,\"mb_s\":%.0f,\"library_mb_s\":%"
      ".0f}\n",
      of->decoder, bytes, packed.n, mb / best_ours, mb / best_its);
  fflush(stdout);
  slp_decoding_free(&d);
  slp_mem_drop(mem);
  free(in.p), free(packed.p), free(out.p);
}

int main(int argc, char **argv) {
  size_t total = argc > 1 && strcmp(argv[1], "--small") == 0 ? 2u << 20 : 64u << 20;
  static const size_t sizes[] = {1000, 50000, 1000000, 10000000};
  bench_pin(bench_cpus_find().client);
  for (size_t i = 0; i < SLP_COUNT(rows); i++)
    for (size_t k = 0; k < SLP_COUNT(sizes); k++) measure(&rows[i], sizes[k], total);
  return 0;
}
