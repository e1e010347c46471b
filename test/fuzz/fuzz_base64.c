/* fuzz_base64.c - every decoding level gives OpenSSL's verdict and bytes, in place and apart; pieces that
 * stopped at a wrong character are put back; what is encoded decodes to itself. */
#include "codec/base64.h"

#include "fuzz.h"
#include "oracle64.h"

static void decode_everywhere(const uint8_t *data, size_t size) {
  unsigned char *theirs = malloc(size + 4);
  int64_t want = oracle64_decode((const char *)data, size, theirs);
  for (int level = 0; level <= slp_base64_level(); level++) {
    char *text = fuzz_copy(data, size), *apart = malloc(size / 4 * 3 + 1);
    int64_t n = slp_base64_decode_with(level, apart, text, size);
    REQUIRE(n == (want < 0 ? SLP_EBADDATA : want));
    REQUIRE(n <= 0 || memcmp(apart, theirs, (size_t)n) == 0);
    REQUIRE(slp_base64_decode_with(level, text, text, size) == n);
    REQUIRE(n <= 0 || memcmp(text, theirs, (size_t)n) == 0);
    free(apart);
    free(text);
  }
  free(theirs);
}

static void decode_in_pieces(const uint8_t *data, size_t size) {
  char *text = fuzz_copy(data, size);
  size_t used = 0;
  for (size_t piece = 4 + size % 64; used + 4 <= size;) {
    size_t n = piece < size - used ? piece & ~(size_t)3 : (size - used) & ~(size_t)3;
    size_t took = slp_base64_decode_groups(text + used / 4 * 3, text + used, n);
    REQUIRE(took <= n && took % 4 == 0);
    used += took;
    if (took < n) break;
  }
  slp_base64_encode_back(text, 0, used / 4);
  REQUIRE(size == 0 || memcmp(text, data, size) == 0);
  free(text);
}

static void round_trip(const uint8_t *data, size_t size) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, SIZE_MAX / 8);
  REQUIRE(slp_base64_encode(&b, (slp_str){(const char *)data, size}) == 0);
  REQUIRE(b.n == (size + 2) / 3 * 4);
  unsigned char *theirs = malloc(b.n + 1);
  REQUIRE(EVP_EncodeBlock(theirs, data, (int)size) == (int)b.n &&
          (b.n == 0 || memcmp(theirs, b.p, b.n) == 0));
  if (b.n) REQUIRE(slp_base64_decode(b.p, b.p, b.n) == (int64_t)size && memcmp(b.p, data, size) == 0);
  free(theirs);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  decode_everywhere(data, size);
  decode_in_pieces(data, size);
  round_trip(data, size);
  return 0;
}
