/* repeat.c - loops over pages end whatever the service answers, and what is begun anew does not race. */
#include "base/repeat.h"

#include <stdio.h>

#include "check.h"

static uint64_t wait_us;
static char why[160];

static int next(slp_paging *p, const char *token, size_t news) {
  why[0] = 0;
  return slp_paging_next(p, slp_str_of(token), 100, news, 0, &wait_us, why);
}

TEST(a_token_that_does_not_move_ends_at_the_second_page) {
  slp_paging p;
  slp_paging_begin(&p, 100, 1000);
  CHECK_INT(next(&p, "a", 1), 0);
  CHECK_INT(next(&p, "a", 1), SLP_ELIMIT);
  CHECK(strstr(why, "came before") && strstr(why, "page 2"));
}

/* Any circle, whatever leads to it, is found within three times its way. */
TEST(tokens_that_go_in_a_circle_end) {
  for (unsigned before = 0; before < 20; before++)
    for (unsigned circle = 1; circle < 20; circle++) {
      slp_paging p;
      slp_paging_begin(&p, 1000, 1000000);
      unsigned n = 0;
      for (char token[20];; n++) {
        snprintf(token, sizeof token, "%u", n < before ? n : 1000 + (n - before) % circle);
        if (next(&p, token, 1)) break;
      }
      CHECK(strstr(why, "came before"));
      CHECK(n >= before + circle && n <= 3 * (before + circle));
    }
}

TEST(tokens_that_differ_go_on_to_the_limit_of_pages) {
  slp_paging p;
  slp_paging_begin(&p, 500, 1000000);
  char token[20];
  for (int i = 1; i < 500; i++) {
    snprintf(token, sizeof token, "%d", i);
    CHECK_INT(next(&p, token, 1), 0);
    CHECK_INT(wait_us, i < (int)SLP_PAGING_AT_ONCE ? 0 : SLP_PAGING_GAP_US);
  }
  CHECK_INT(next(&p, "last", 1), SLP_ELIMIT);
  CHECK_STR(why, "there is a next page after 500 of them");
}

/* 16 loops at once ask no more often than one alone. */
TEST(loops_that_run_at_once_share_the_pace) {
  slp_paging p;
  slp_paging_begin(&p, 500, 1000000);
  p.share = 16;
  char token[20];
  for (unsigned i = 1; i < 100; i++) {
    snprintf(token, sizeof token, "%u", i);
    CHECK_INT(next(&p, token, 1), 0);
    CHECK_INT(wait_us, i < SLP_PAGING_AT_ONCE / 16 ? 0 : 16 * SLP_PAGING_GAP_US);
  }
}

TEST(pages_without_news_wait_longer_and_end) {
  slp_paging p;
  slp_paging_begin(&p, 500, 1000000);
  char token[20];
  uint64_t before = 0;
  CHECK_INT(next(&p, "first", 1), 0);
  for (unsigned i = 1; i < SLP_PAGING_VAIN_MAX; i++) {
    snprintf(token, sizeof token, "%u", i);
    CHECK_INT(next(&p, token, 0), 0);
    CHECK(wait_us > before || wait_us == SLP_PAGING_VAIN_US);
    before = wait_us;
  }
  slp_paging now = p;
  CHECK_INT(next(&now, "news", 1), 0);
  CHECK_INT(wait_us, 0);
  CHECK_INT(next(&p, "vain", 0), SLP_ELIMIT);
  CHECK(strstr(why, "brought nothing new"));
}

/* Every other page is empty, and gives the token that it was asked for with. */
TEST(a_token_that_need_not_move_is_not_looked_at) {
  slp_paging p;
  slp_paging_begin(&p, 500, 1000000);
  char token[20];
  for (unsigned i = 0; i < 100; i++) {
    snprintf(token, sizeof token, "%u", i);
    CHECK_INT(next(&p, token, 1), 0);
    CHECK_INT(slp_paging_next(&p, (slp_str){NULL, 0}, 100, 0, 0, &wait_us, why), 0);
  }
  unsigned n = 0;
  while (!next(&p, "99", 1)) n++;
  CHECK(n < 100);
}

TEST(what_is_kept_and_what_is_read_have_an_end) {
  slp_paging p;
  slp_paging_begin(&p, 500, 4u << 20);
  CHECK_INT(slp_paging_next(&p, SLP_STR("a"), 1, 1, 4u << 20, &wait_us, why), 0);
  CHECK_INT(slp_paging_next(&p, SLP_STR("b"), 1, 1, (4u << 20) + 1, &wait_us, why), SLP_ELIMIT);
  CHECK_STR(why, "the first 2 pages come to more than 4 MiB");
  slp_paging_begin(&p, 500, 4u << 20);
  CHECK_INT(slp_paging_next(&p, SLP_STR("a"), 16u << 20, 1, 0, &wait_us, why), 0);
  CHECK_INT(slp_paging_next(&p, SLP_STR("b"), 4, 1, 0, &wait_us, why), SLP_ELIMIT);
  CHECK_STR(why, "the first 2 pages are more than 16 MiB long");
}

TEST(what_follows_closely_waits_longer_each_time) {
  slp_paced p = {0};
  uint64_t now = 1000000, least = 100, most = 1000;
  const uint64_t waits[] = {0, 0, 0, 100, 200, 400, 800, 1000, 1000};
  for (size_t i = 0; i < SLP_COUNT(waits); i++) {
    uint64_t at = slp_paced_us(&p, now, least, most);
    CHECK_INT(at - now, waits[i]);
    CHECK_INT(slp_paced_us(&p, now + 5000, least, most), now + 5000);
    now = at;
    slp_paced_done(&p, now, most);
  }
  now += 4 * most + 1;
  slp_paced_done(&p, now, most);
  CHECK_INT(slp_paced_us(&p, now, least, most), now);
}
