/* crc32.c - published check values. */
#include "check.h"
#include "codec/crc32.h"

#include <stdlib.h>
#include <zlib.h>

TEST(published_values) {
  CHECK_INT(slp_crc32(SLP_STR("123456789")), 0xcbf43926); /* the check value of the CRC catalogue */
  CHECK_INT(slp_crc32(SLP_STR("{}")), 2745614147);        /* DynamoDB's most frequent answer */
  CHECK_INT(slp_crc32(SLP_STR("")), 0);
  CHECK_INT(slp_crc32((slp_str){NULL, 0}), 0);
  CHECK_INT(slp_crc32(SLP_STR("\xff\xff\xff\xff")), 0xffffffff);
}

TEST(a_sum_in_parts) {
  const char text[] = "123456789";
  for (size_t cut = 0; cut <= 9; cut++) {
    uint32_t first = slp_crc32_more(0, (slp_str){text, cut});
    CHECK_INT(slp_crc32_more(first, (slp_str){text + cut, 9 - cut}), 0xcbf43926);
  }
}

/* Compares the sums of all lengths, at all alignments, with those of zlib. Each text is in memory of exactly its
 * length, so that a sanitizer sees what is read beyond the end. */
TEST(any_length_is_what_zlib_says) {
  uint64_t random = 88172645463325252u;
  for (size_t n = 0; n < 1200; n++) {
    unsigned char *bytes = malloc(n + 17);
    for (size_t i = 0; i < n + 17; i++) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      bytes[i] = (unsigned char)(random >> 24);
    }
    uint32_t before = (uint32_t)random;
    size_t at = n % 17;
    char *exact = malloc(n + 1);
    memcpy(exact, bytes + at, n);
    uint32_t want = (uint32_t)crc32_z(before, bytes + at, n);
    CHECK_INT(slp_crc32_more(before, (slp_str){(const char *)bytes + at, n}), want);
    CHECK_INT(slp_crc32_more(before, (slp_str){exact, n}), want);
    free(exact);
    free(bytes);
  }
}
