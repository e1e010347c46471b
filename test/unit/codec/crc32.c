/* crc32.c - published check values. */
#include "check.h"
#include "codec/crc32.h"

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
