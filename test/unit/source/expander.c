/* An expander works a slice an event, tells once, and can be stopped between any two of them. */
#include "source/expander.h"

#include "aws_fake_host.h"
#include "kpl_page.h"
#include "kpl_write.h"

static fake_host f;
static slp_mem *mem;
static slp_expander *x;
static slp_page *page;
static int done, verdict;

static void on_done(slp_expander *of, int r) {
  CHECK(of == x);
  done++;
  verdict = r;
}

/* Two aggregates of n records each. */
static void start(size_t n) {
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  x = slp_expander_new(&f.h);
  CHECK(x);
  x->on_done = on_done;
  page = kpl_page_new(mem);
  slp_buf message, sealed;
  slp_buf_init(&message, mem, SIZE_MAX / 2);
  slp_buf_init(&sealed, mem, SIZE_MAX / 2);
  kpl_key(&message, "b"); /* its MD5 begins with 0x92 */
  while (n--) kpl_record(&message, 0, -1, SLP_STR("data"));
  kpl_seal(&sealed, slp_buf_str(&message));
  kpl_page_add(page, slp_buf_str(&sealed));
  kpl_page_add(page, slp_buf_str(&sealed));
  slp_buf_free(&message);
  slp_buf_free(&sealed);
  done = 0;
}

static void finish(void) {
  slp_expander_free(x);
  slp_page_free(page);
  fake_end(&f, mem);
}

static int one_event(void) {
  slp_list *node = slp_list_pop(&f.h.ready);
  if (!node) return 0;
  slp_event *ev = SLP_OWNER(node, slp_event, link);
  ev->run(ev);
  return 1;
}

TEST(long_pages_take_many_events_and_tell_once) {
  start(20000);
  slp_expander_begin(x, page, NULL);
  CHECK_INT(done, 0); /* never from inside the call */
  int events = 0;
  while (!done && one_event()) events++;
  CHECK_INT(done, 1);
  CHECK_INT(verdict, 0);
  CHECK_INT(page->recs_n, 40000);
  CHECK(events >= 40000 / 2048);
  CHECK(!one_event());
  finish();
}

TEST(the_range_is_the_expanders_own) {
  slp_hash_range low = {.first = {0}, .last = {0x7f}};
  start(3);
  slp_expander_begin(x, page, &low);
  memset(&low, 0xff, sizeof low);
  while (one_event()) {
  }
  CHECK_INT(page->recs_n, 6);
  CHECK_INT(page->recs[5].flags, SLP_REC_FOREIGN);
  finish();
}

TEST(stopped_between_any_two_events_it_is_silent) {
  for (int events = 0; events < 20; events++) {
    start(20000);
    slp_expander_begin(x, page, NULL);
    for (int i = 0; i < events; i++) CHECK(one_event());
    slp_expander_stop(x);
    slp_expander_stop(x);
    CHECK(!one_event());
    CHECK_INT(done, 0);
    CHECK_INT(page->recs_n, 2);
    slp_expander_begin(x, page, NULL); /* and is as good as new */
    while (one_event()) {
    }
    CHECK_INT(page->recs_n, 40000);
    finish();
  }
}
