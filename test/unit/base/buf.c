/* buf.c - bytes grow up to their maximum and not beyond, errors stay, numbers are written right. */
#include "base/buf.h"

#include <stdio.h>

#include "check.h"

TEST(the_maximum_is_kept_to_the_byte) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 100);
  for (int i = 0; i < 100; i++) CHECK_INT(slp_buf_add_char(&b, 'x'), 0);
  CHECK_INT(slp_buf_add_char(&b, 'x'), SLP_ELIMIT);
  CHECK_INT(slp_buf_reserve(&b, SIZE_MAX), SLP_ELIMIT);
  CHECK_INT(b.n, 100);
  CHECK_INT(strlen(slp_buf_z(&b)), 100);
  slp_buf_clear(&b);
  CHECK_INT(slp_buf_addf(&b, "%d %s", 42, "things"), 0);
  CHECK_STR(slp_buf_z(&b), "42 things");
  slp_buf_free(&b);
  CHECK_STR(slp_buf_z(&b), "");
  slp_mem_drop(mem);
}

TEST(the_first_error_stays_until_the_buffer_is_emptied_or_cut) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b, to;
  slp_buf_init(&b, mem, 10);
  slp_buf_init(&to, mem, 10);
  CHECK_INT(slp_buf_add_z(&b, "1234"), 0);
  CHECK_INT(slp_buf_failed(&b), 0);
  CHECK_INT(slp_buf_add_z(&b, "5678901"), SLP_ELIMIT);
  CHECK_INT(slp_buf_failed(&b), SLP_ELIMIT);
  /* These would fit. */
  CHECK_INT(slp_buf_add(&b, "x", 1), SLP_ELIMIT);
  CHECK_INT(slp_buf_add(&b, "x", 0), SLP_ELIMIT);
  CHECK_INT(slp_buf_add_z(&b, "x"), SLP_ELIMIT);
  CHECK_INT(slp_buf_add_str(&b, SLP_STR("x")), SLP_ELIMIT);
  CHECK_INT(slp_buf_add_char(&b, 'x'), SLP_ELIMIT);
  CHECK_INT(slp_buf_add_u64(&b, 5), SLP_ELIMIT);
  CHECK_INT(slp_buf_add_i64(&b, -5), SLP_ELIMIT);
  CHECK_INT(slp_buf_add_scaled(&b, 5, 0), SLP_ELIMIT);
  CHECK_INT(slp_buf_addf(&b, "%d", 5), SLP_ELIMIT);
  CHECK_INT(slp_buf_reserve(&b, 1), SLP_ELIMIT);
  CHECK_INT(slp_buf_fail(&b, SLP_EBADDATA), SLP_ELIMIT); /* it is not the first */
  CHECK_STR(slp_buf_z(&b), "1234");
  slp_buf_cut(&b, 2);
  CHECK_INT(slp_buf_failed(&b), 0);
  CHECK_INT(slp_buf_add_char(&b, 'x'), 0);
  CHECK_STR(slp_buf_z(&b), "12x");
  CHECK_INT(slp_buf_fail(&b, SLP_EBADDATA), SLP_EBADDATA);
  CHECK_INT(slp_buf_reserve(&b, 100), SLP_EBADDATA);
  slp_buf_move(&to, &b); /* what failed to be made is no better in another place */
  CHECK_INT(slp_buf_failed(&to), SLP_EBADDATA);
  CHECK_INT(slp_buf_add_char(&b, 'y'), 0);
  slp_buf_clear(&to);
  CHECK_INT(slp_buf_add_char(&to, 'z'), 0);
  slp_buf_fail(&b, SLP_ENOMEM);
  slp_buf_free(&b);
  CHECK_INT(slp_buf_add_char(&b, 'w'), 0);
  slp_buf_free(&b);
  slp_buf_free(&to);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static int left;
static void *failing(void *ctx, void *p, size_t was, size_t want) {
  (void)ctx;
  (void)was;
  if (want == 0) {
    free(p);
    return NULL;
  }
  return left-- > 0 ? realloc(p, want) : NULL;
}

TEST(without_memory_what_was_there_stays) {
  left = 2; /* the allocator itself, and the first 64 bytes */
  slp_mem *mem = slp_mem_new(failing, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  CHECK_INT(slp_buf_add_z(&b, "here"), 0);
  CHECK_INT(slp_buf_addf(&b, "%100s", ""), SLP_ENOMEM);
  left = 5;
  CHECK_INT(slp_buf_addf(&b, "%100s", ""), SLP_ENOMEM);
  CHECK_STR(slp_buf_z(&b), "here");
  slp_buf_clear(&b);
  CHECK_INT(slp_buf_addf(&b, "%100s", ""), 0);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(numbers_at_their_ends) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b, to;
  slp_buf_init(&b, mem, 1000);
  slp_buf_init(&to, mem, 1000);
  slp_buf_add_u64(&b, 0);
  slp_buf_add_char(&b, ' ');
  slp_buf_add_u64(&b, UINT64_MAX);
  slp_buf_add_char(&b, ' ');
  slp_buf_add_i64(&b, INT64_MIN);
  slp_buf_add_char(&b, ' ');
  slp_buf_add_i64(&b, -1);
  slp_buf_move(&to, &b);
  CHECK_STR(slp_buf_z(&to), "0 18446744073709551615 -9223372036854775808 -1");
  CHECK(b.p == NULL && b.n == 0);
  slp_buf_free(&to);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static void check_decimal(slp_buf *b, uint64_t v) {
  char want[32];
  snprintf(want, sizeof want, "%llu", (unsigned long long)v);
  slp_buf_clear(b);
  slp_buf_add_u64(b, v);
  CHECK_STR(slp_buf_z(b), want);
}

TEST(numbers_of_every_length_are_what_printf_writes) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  for (uint64_t power = 1, i = 0; i < 20; i++, power *= 10)
    for (uint64_t near = 0; near < 2200; near++) check_decimal(&b, power - 1100 + near);
  for (uint64_t v = 1; v < 300000000; v += 4001) check_decimal(&b, v);
  uint64_t random = 88172645463325252u;
  for (int i = 0; i < 100000; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    check_decimal(&b, random >> (i & 63));
  }
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

TEST(a_maximum_that_is_lowered_holds_at_once) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 100);
  CHECK_INT(slp_buf_add_z(&b, "1234567"), 0);
  b.max = 8;
  CHECK_INT(slp_buf_add(&b, "89", 2), SLP_ELIMIT);
  CHECK_INT(b.n, 7);
  slp_buf_free(&b);
  slp_mem_drop(mem);
}

static const char *scaled(uint64_t v, unsigned decimals) {
  static char text[64];
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf b;
  slp_buf_init(&b, mem, 1000);
  CHECK_INT(slp_buf_add_scaled(&b, v, decimals), 0);
  snprintf(text, sizeof text, "%s", slp_buf_z(&b));
  slp_buf_free(&b);
  slp_mem_drop(mem);
  return text;
}

TEST(numbers_with_a_point) {
  CHECK_STR(scaled(0, 0), "0");
  CHECK_STR(scaled(0, 6), "0");
  CHECK_STR(scaled(1500, 0), "1500");
  CHECK_STR(scaled(1500, 3), "1.5");
  CHECK_STR(scaled(1000, 3), "1");
  CHECK_STR(scaled(7, 3), "0.007");
  CHECK_STR(scaled(10, 3), "0.01");
  CHECK_STR(scaled(1234567, 6), "1.234567");
  CHECK_STR(scaled(UINT64_MAX, 0), "18446744073709551615");
  CHECK_STR(scaled(UINT64_MAX, 6), "18446744073709.551615");
  CHECK_STR(scaled(UINT64_MAX, 19), "1.8446744073709551615");
  CHECK_STR(scaled(1, 19), "0.0000000000000000001");
}
