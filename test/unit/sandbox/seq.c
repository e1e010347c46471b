/* seq.c - sequence numbers and hash keys: the layout, there and back, and adding. */
#include "sandbox_box.h"

TEST(layout_is_the_services) {
  /* Worked out with Python's integers from the layout in seq.c:
   * int('2' '06b015835' '1' '0000000000000001' '00' '06b01583a' '00000001' '2', 16) */
  slp_box_seq s = {.create_s = 0x06b015835, .shard = 1, .counter = 1, .arrive_s = 0x06b01583a};
  char text[SLP_BOX_SEQ_TEXT];
  CHECK_INT(slp_box_seq_text(&s, text), 56);
  CHECK_STR(text, "49680423994523268239199310654203061930141949618313756690");
  /* int('2' + 'f' * 26 + '00' + 'f' * 17 + '2', 16) */
  s = (slp_box_seq){
      .create_s = 0xfffffffff, .shard = 0xffffffff, .counter = UINT64_MAX, .arrive_s = 0xfffffffff};
  slp_box_seq_text(&s, text);
  CHECK_STR(text, "73559785961562665201200657303213636610246346105283411954");
}

TEST(text_and_back) {
  uint64_t v = 1;
  for (int i = 0; i < 20000; i++) {
    slp_box_seq a, b;
    char text[SLP_BOX_SEQ_TEXT];
    v = v * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    a = (slp_box_seq){.create_s = v >> 28, .shard = (uint32_t)v, .counter = v * 31, .arrive_s = v >> 30};
    size_t n = slp_box_seq_text(&a, text);
    CHECK_INT(slp_box_seq_parse((slp_str){text, n}, &b), 0);
    CHECK(a.create_s == b.create_s && a.shard == b.shard && a.counter == b.counter &&
          a.arrive_s == b.arrive_s);
  }
}

TEST(what_is_not_of_the_layout_is_refused) {
  slp_box_seq s;
  CHECK_INT(slp_box_seq_parse(SLP_STR("0"), &s), SLP_EBADDATA);
  CHECK_INT(slp_box_seq_parse(SLP_STR("1"), &s), SLP_EBADDATA);
  CHECK_INT(slp_box_seq_parse(SLP_STR(""), &s), SLP_EBADDATA);
  CHECK_INT(slp_box_seq_parse(SLP_STR("4968041723505589483857478333901796597323941855358038835x"), &s),
            SLP_EBADDATA);
  CHECK_INT(slp_box_seq_parse(SLP_STR("99999999999999999999999999999999999999999999999999999999"), &s),
            SLP_EBADDATA);
  CHECK_INT(slp_box_seq_parse(SLP_STR("49680417235055894838574783339017965973239418553580388355"), &s),
            SLP_EBADDATA);
}

TEST(adding_one_is_the_next_number) {
  slp_box_seq s = {
      .create_s = 1795231285, .shard = 37, .counter = UINT64_C(0xfffffffffff0), .arrive_s = 1795231290};
  uint64_t walked[3];
  slp_box_seq_chunks(&s, walked);
  for (int i = 0; i < 100000; i++) {
    char a[SLP_BOX_SEQ_TEXT], b[SLP_BOX_SEQ_TEXT];
    slp_box_seq_chunks_next(walked);
    s.counter++;
    size_t n = slp_box_chunks_text(walked, a);
    slp_box_seq_text(&s, b);
    CHECK_MEM(a, n, b, strlen(b));
  }
}

TEST(hash_keys) {
  slp_u128 v;
  char text[40];
  slp_u128_text(SLP_U128_MAX, text);
  CHECK_STR(text, "340282366920938463463374607431768211455");
  CHECK_INT(slp_box_hash_parse(slp_str_of(text), &v), 0);
  CHECK(slp_u128_eq(v, SLP_U128_MAX));
  CHECK_INT(slp_box_hash_parse(SLP_STR("340282366920938463463374607431768211456"), &v), SLP_ELIMIT);
  CHECK_INT(slp_box_hash_parse(SLP_STR("01"), &v), SLP_EBADDATA);
  CHECK_INT(slp_box_hash_parse(SLP_STR("0"), &v), 0);
  CHECK(slp_u128_eq(v, SLP_U128(0)));
}
