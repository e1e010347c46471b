/* changes_number.c - numbers rise along a lineage, get longer, and are found again. */
#include "base/num.h"
#include "sandbox_changes.h"

TEST(numbers_rise_and_get_longer) {
  char before[SLP_CHANGE_NUMBER_TEXT] = "0", text[SLP_CHANGE_NUMBER_TEXT];
  uint64_t lengths = 0;
  /* every counter at first, then ever larger steps; the salt changes as from shard to shard */
  for (uint64_t c = SLP_CHANGE_BASE_MIN; c < UINT64_C(9000000000000); c += 1 + c / 5000) {
    size_t n = slp_change_number(c, c / 777, text);
    CHECK_INT(n, strlen(text));
    CHECK(n >= 21 && n <= 40);
    CHECK(slp_num_valid(slp_str_of(text)));
    if (slp_num_cmp(slp_str_of(before), slp_str_of(text)) >= 0) CHECK_FAIL("%s before %s", before, text);
    memcpy(before, text, sizeof before);
    lengths |= UINT64_C(1) << n;
  }
  for (int n = 21; n <= 40; n++) CHECK(lengths >> n & 1); /* every length comes */
}

TEST(one_record_on_changes_all_low_digits) {
  char a[SLP_CHANGE_NUMBER_TEXT], b[SLP_CHANGE_NUMBER_TEXT];
  slp_change_number(5000, 1, a);
  slp_change_number(5000, 2, b);
  CHECK(strcmp(a, b) != 0);
  CHECK(memcmp(a, b, 4) == 0);
  slp_change_number(5000, 1, b);
  CHECK_STR(a, b);
}

TEST(places_are_found) {
  slp_change_shard sh = {.base = 1500, .salt = 99, .next = 3000};
  char text[SLP_CHANGE_NUMBER_TEXT];
  int exact = 0;
  for (uint64_t place = 0; place < sh.next; place++) {
    slp_change_text(&sh, place, text);
    CHECK_INT(slp_change_place(&sh, slp_str_of(text), &exact), place);
    CHECK(exact);
    text[strlen(text) - 1] ^= 1; /* the next number or the one before: of no record */
    uint64_t near = slp_change_place(&sh, slp_str_of(text), &exact);
    CHECK(!exact && (near == place || near == place + 1));
  }
  slp_change_start_text(&sh, text);
  CHECK_INT(slp_change_place(&sh, slp_str_of(text), &exact), 0);
  CHECK(!exact);
  slp_change_end_text(&sh, text);
  CHECK_INT(slp_change_place(&sh, slp_str_of(text), &exact), 3000);
  CHECK(!exact);
}
