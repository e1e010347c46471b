/* codec_crc32.c - published check values. */
#include "check.h"
#include "codec/crc32.h"

TEST(published_values) {
  CHECK_INT(slp_crc32(SLP_STR("123456789")), 0xcbf43926); /* the check value of the CRC catalogue */
  CHECK_INT(slp_crc32(SLP_STR("{}")), 2745614147);        /* DynamoDB's most frequent answer */
  CHECK_INT(slp_crc32(SLP_STR("")), 0);
  CHECK_INT(slp_crc32((slp_str){NULL, 0}), 0);
  CHECK_INT(slp_crc32(SLP_STR("\xff\xff\xff\xff")), 0xffffffff);
}

CHECK_MAIN()
