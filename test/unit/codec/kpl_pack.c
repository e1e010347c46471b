/* kpl_pack.c - what is packed is byte for byte what the test's own writer makes of the same records, and stays within
 * the bounds that callers count with. */
#include "codec/kpl_pack.h"
#include "check.h"
#include "kpl_write.h"

static slp_mem *mem;
static slp_digest *digest;
static slp_buf packed, message, sealed;

static void begin(void) {
  mem = slp_mem_new(NULL, NULL);
  digest = slp_digest_new(mem);
  slp_buf_init(&packed, mem, UINT32_MAX);
  slp_buf_init(&message, mem, UINT32_MAX);
  slp_buf_init(&sealed, mem, UINT32_MAX);
}
static void end(void) {
  slp_buf_free(&packed);
  slp_buf_free(&message);
  slp_buf_free(&sealed);
  slp_digest_free(digest);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

TEST(two_writers_agree) {
  char *big = calloc(1, 300000);
  begin();
  slp_buf_add_z(&packed, "before");
  size_t from = slp_kpl_pack_begin(&packed);
  CHECK_INT(from, 6);
  slp_kpl_pack_key(&packed, SLP_STR("k"));
  slp_kpl_pack_key(&packed, SLP_STR("\xc3\xbc"));
  slp_kpl_pack_hash(&packed, SLP_STR("340282366920938463463374607431768211455"));
  kpl_key(&message, "k");
  kpl_key(&message, "\xc3\xbc");
  kpl_hash(&message, "340282366920938463463374607431768211455");
  size_t lengths[] = {0, 1, 100, 127, 128, 16383, 16384, 300000};
  for (size_t i = 0; i < SLP_COUNT(lengths); i++) {
    slp_str data = {big, lengths[i]};
    uint32_t key = i == 3 ? 1000000 : i % 2;
    int64_t hash = i == 5 ? 70000 : i % 3 ? -1 : 0;
    slp_kpl_pack_record(&packed, key, hash, data);
    kpl_record(&message, key, hash, data);
  }
  CHECK_INT(slp_kpl_pack_end(&packed, from, digest), 0);
  kpl_seal(&sealed, slp_buf_str(&message));
  CHECK(slp_str_eq((slp_str){packed.p + 6, packed.n - 6}, slp_buf_str(&sealed)));
  free(big);
  end();
}

TEST(bounds_hold) {
  static char text[70000];
  begin();
  size_t from = slp_kpl_pack_begin(&packed);
  CHECK_INT(slp_kpl_pack_end(&packed, from, digest), 0);
  CHECK_INT(packed.n, SLP_KPL_PACK_BYTES);
  size_t was = packed.n;
  slp_kpl_pack_key(&packed, (slp_str){text, sizeof text});
  CHECK(packed.n - was - sizeof text <= SLP_KPL_PACK_ENTRY_BYTES);
  was = packed.n;
  slp_kpl_pack_record(&packed, UINT32_MAX, UINT32_MAX, (slp_str){text, sizeof text});
  CHECK(packed.n - was - sizeof text <= SLP_KPL_PACK_RECORD_BYTES);
  end();
}

TEST(an_error_of_the_buffer_stays) {
  begin();
  packed.max = 30;
  size_t from = slp_kpl_pack_begin(&packed);
  slp_kpl_pack_record(&packed, 0, -1, SLP_STR("longer than the buffer may become"));
  CHECK_INT(slp_kpl_pack_end(&packed, from, digest), SLP_ELIMIT);
  end();
}
