/* Aggregates in pages: good, odd and hostile ones; slices and failing memory change nothing; a slice is
 * bounded. test/contract/vectors/kpl_agg.py compares with other readers. */
#include "codec/kpl.h"

#include "base/num.h"
#include "check.h"
#include "kpl_page.h"
#include "kpl_write.h"
#include "scarce.h"

static slp_mem *mem;
static slp_page *page;
static slp_kpl *kpl;
static slp_buf message, aggregate;

static void start(void) {
  mem = slp_mem_new(NULL, NULL);
  page = kpl_page_new(mem);
  kpl = slp_kpl_new(mem);
  CHECK(kpl);
  slp_buf_init(&message, mem, SIZE_MAX / 2);
  slp_buf_init(&aggregate, mem, SIZE_MAX / 2);
}

static void finish(void) {
  slp_buf_free(&message);
  slp_buf_free(&aggregate);
  slp_kpl_free(kpl);
  slp_page_free(page);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* The message written so far becomes a record of the page. */
static void put(void) {
  slp_buf_clear(&aggregate);
  kpl_seal(&aggregate, slp_buf_str(&message));
  kpl_page_add(page, slp_buf_str(&aggregate));
  slp_buf_clear(&message);
}

static void put_users(size_t n, const char *data) {
  kpl_key(&message, "k");
  for (size_t i = 0; i < n; i++) kpl_record(&message, 0, -1, slp_str_of(data));
  put();
}

static void expand(const slp_hash_range *range) {
  CHECK_INT(kpl_page_expand(kpl, page, range, 65536, 256, NULL), 0);
}

/* "1000.0 a=hello,1000.1 b=world foreign" */
static const char *rows(void) {
  static char text[4000];
  size_t at = 0;
  text[0] = 0;
  for (size_t i = 0; i < page->recs_n; i++) {
    const slp_rec *r = &page->recs[i];
    slp_str seq = slp_rec_seq(page, r), key = slp_rec_key(page, r), data = slp_rec_data(page, r);
    CHECK_INT(r->arrived_ms, kpl_page_ms(seq));
    uint64_t number;
    CHECK(slp_parse_u64(seq, &number) == 0 && r->word == number);
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%.*s.%u %.*s=%.*s%s%s%s", i ? "," : "", (int)seq.n,
                           seq.p, r->sub, (int)key.n, key.p, r->flags ? 0 : (int)data.n, data.p,
                           r->flags & SLP_REC_RAW ? "raw" : "", r->flags & SLP_REC_EMPTY ? "empty" : "",
                           r->flags & SLP_REC_FOREIGN ? "foreign" : "");
    CHECK(at + 200 < sizeof text);
  }
  return text;
}

TEST(the_published_vector) {
  static const char bytes[] =
      "\xf3\x89\x9a\xc2\x0a\x01\x61\x0a\x01\x62\x12\x01\x30\x1a\x09\x08\x00\x1a\x05hello"
      "\x1a\x0b\x08\x01\x10\x00\x1a\x05world\x64\x95\x3d\xbd\xa5\x66\xc4\x8e\x9a\xf4\x3a"
      "\xa8\xaa\x7c\x13\xfe";
  start();
  kpl_page_add(page, SLP_STR("before"));
  kpl_page_add(page, (slp_str){bytes, sizeof bytes - 1});
  kpl_page_add(page, SLP_STR("after"));
  expand(NULL);
  CHECK_STR(rows(), "1000.0 outer=before,1001.0 a=hello,1001.1 b=world,1002.0 outer=after");
  CHECK_INT(page->aggregates_n, 1);
  CHECK_INT(page->extra_n, 1);
  CHECK_INT(page->raw_n + page->empty_n, 0);
  CHECK_INT(page->largest_bytes, sizeof bytes - 1); /* as the service counts */
  CHECK_INT(page->latest_ms, KPL_PAGE_MS + 2);
  CHECK_INT(page->earliest_ms, KPL_PAGE_MS);
  finish();
}

TEST(a_page_without_aggregates_is_left_alone) {
  start();
  kpl_page_add(page, SLP_STR("one"));
  kpl_page_add(page, SLP_STR("\xf3\x89\x9a\xc2 0123456789abcde")); /* too short by one byte */
  const slp_rec *recs = page->recs;
  expand(NULL);
  CHECK(page->recs == recs);
  CHECK_INT(page->recs_n, 2);
  CHECK_INT(page->recs[1].flags, 0);
  slp_page_free(page); /* done with is forgotten */
  page = kpl_page_new(mem);
  CHECK_INT(slp_kpl_step(kpl, 1, 1), 0);
  finish();
}

TEST(what_only_begins_like_one_is_left_whole_and_flagged) {
  start();
  kpl_key(&message, "k");
  kpl_record(&message, 0, -1, SLP_STR("x"));
  kpl_seal(&aggregate, slp_buf_str(&message));
  aggregate.p[aggregate.n - 1] ^= 1; /* its MD5 */
  kpl_page_add(page, slp_buf_str(&aggregate));
  slp_buf_clear(&message);
  kpl_key(&message, "k");
  kpl_record(&message, 0, -1, SLP_STR("fine"));
  kpl_record(&message, 1, -1, SLP_STR("no such key"));
  put();
  kpl_key(&message, "k");
  kpl_record(&message, 0, 0, SLP_STR("no such hash key"));
  put();
  kpl_record(&message, UINT64_MAX, -1, SLP_STR("far out"));
  put();
  put_users(2, "good");
  CHECK_INT(slp_buf_add_z(&message, "\n\5k"), 0); /* no message */
  put();
  slp_buf_reserve(&message, 70000);
  memset(message.p, 'k', 70000); /* a key that no row has room for */
  char *long_key = strndup(message.p, 70000);
  kpl_key(&message, long_key);
  free(long_key);
  put();
  expand(NULL);
  CHECK_STR(rows(),
            "1000.0 outer=raw,1001.0 outer=raw,1002.0 outer=raw,1003.0 outer=raw,1004.0 k=good,1004.1 k=good,"
            "1005.0 outer=raw,1006.0 outer=raw");
  CHECK_INT(page->raw_n, 6);
  CHECK_INT(page->aggregates_n, 1);
  CHECK_INT(page->recs[6].data_at + page->recs[6].data_n < page->body.n, 1);
  finish();
}

TEST(tables_may_come_behind_the_records) {
  start();
  kpl_record(&message, 1, 0, SLP_STR("first"));
  kpl_record(&message, 0, -1, SLP_STR(""));
  kpl_hash(&message, "7");
  kpl_key(&message, "a");
  kpl_key(&message, "");
  put();
  expand(NULL);
  CHECK_STR(rows(), "1000.0 =first,1000.1 a=");
  finish();
}

TEST(an_aggregate_without_records_is_one_row_to_pass_over) {
  start();
  put_users(1, "x");
  kpl_key(&message, "k");
  put();
  CHECK_INT(slp_buf_add(&message, "\40\0", 2), 0); /* an unknown field alone */
  put();
  expand(NULL);
  CHECK_STR(rows(), "1000.0 k=x,1001.0 outer=empty,1002.0 outer=empty");
  CHECK_INT(page->aggregates_n, 3);
  CHECK_INT(page->empty_n, 2);
  CHECK_INT(page->extra_n, 0);
  finish();
}

static slp_hash_range range_of(const char *first, const char *last) {
  slp_hash_range r;
  CHECK_INT(slp_parse_u128(slp_str_of(first), r.first), 0);
  CHECK_INT(slp_parse_u128(slp_str_of(last), r.last), 0);
  return r;
}

/* MD5("a") is 0x0cc1..., MD5("b") is 0x92eb...; 2^127 begins with 0x80. */
#define MIDDLE "170141183460469231731687303715884105728"
#define LAST "340282366920938463463374607431768211455"

static void put_some_keys(void) {
  kpl_key(&message, "a");
  kpl_key(&message, "b");
  kpl_hash(&message, MIDDLE);
  kpl_hash(&message, "0");
  kpl_hash(&message, "no number");
  kpl_hash(&message, LAST "0");
  kpl_record(&message, 0, -1, SLP_STR("A"));
  kpl_record(&message, 1, -1, SLP_STR("B"));
  kpl_record(&message, 0, 0, SLP_STR("C"));
  kpl_record(&message, 1, 1, SLP_STR("D"));
  kpl_record(&message, 0, 2, SLP_STR("E"));
  kpl_record(&message, 0, 3, SLP_STR("F"));
  put();
}

static const char *foreign_ones(const slp_hash_range *range) {
  static char text[20];
  size_t n = 0;
  start();
  put_some_keys();
  expand(range);
  CHECK_INT(page->recs_n, 6);
  for (size_t i = 0; i < 6; i++) {
    if (page->recs[i].flags == SLP_REC_FOREIGN) text[n++] = slp_rec_data(page, &page->recs[i]).p[0];
  }
  text[n] = 0;
  finish();
  return text;
}

TEST(records_whose_hash_is_outside_the_shards_range_are_foreign) {
  slp_hash_range low = range_of("0", "170141183460469231731687303715884105727"),
                 high = range_of(MIDDLE, LAST), whole = range_of("0", LAST), one = range_of(MIDDLE, MIDDLE);
  CHECK_STR(foreign_ones(NULL), "");
  CHECK_STR(foreign_ones(&whole), "");
  CHECK_STR(foreign_ones(&low), "BC");
  CHECK_STR(foreign_ones(&high), "AD");
  CHECK_STR(foreign_ones(&one), "ABD");
}

TEST(long_keys_are_judged_as_short_ones) {
  start();
  char key[300];
  slp_digest *d = slp_digest_new(mem);
  slp_hash_range low = range_of("0", "170141183460469231731687303715884105727");
  for (size_t n = 0; n < sizeof key; n++) {
    key[n] = 0;
    kpl_key(&message, key);
    kpl_record(&message, n, -1, SLP_STR("x"));
    key[n] = (char)('a' + n % 26);
  }
  put();
  expand(&low);
  CHECK_INT(page->recs_n, sizeof key);
  for (size_t n = 0; n < sizeof key; n++) {
    uint8_t md5[16];
    CHECK_INT(slp_rec_key(page, &page->recs[n]).n, n);
    CHECK_INT(slp_md5(d, slp_rec_key(page, &page->recs[n]), md5), 0);
    CHECK_INT(page->recs[n].flags, md5[0] & 0x80 ? SLP_REC_FOREIGN : 0);
  }
  slp_digest_free(d);
  finish();
}

/* ---- limits -------------------------------------------------------------------------------------- */

TEST(one_record_too_many_leaves_the_aggregate_whole) {
  start();
  put_users(SLP_KPL_RECORDS_MAX, "");
  put_users(SLP_KPL_RECORDS_MAX + 1, "");
  expand(NULL);
  CHECK_INT(page->recs_n, SLP_KPL_RECORDS_MAX + 1);
  CHECK_INT(page->recs[SLP_KPL_RECORDS_MAX - 1].sub, SLP_KPL_RECORDS_MAX - 1);
  CHECK_INT(page->recs[SLP_KPL_RECORDS_MAX].flags, SLP_REC_RAW);
  CHECK_INT(page->raw_n, 1);
  finish();
}

TEST(too_many_entries_of_a_table_leave_the_aggregate_whole) {
  start();
  for (size_t i = 0; i <= SLP_KPL_RECORDS_MAX; i++) kpl_key(&message, "");
  kpl_record(&message, 0, -1, SLP_STR("x"));
  put();
  expand(NULL);
  CHECK_INT(page->recs_n, 1);
  CHECK_INT(page->recs[0].flags, SLP_REC_RAW);
  finish();
}

TEST(a_page_that_holds_too_many_ends_earlier_and_leads_nowhere) {
  start();
  put_users(SLP_KPL_RECORDS_MAX, "");
  put_users(SLP_KPL_RECORDS_MAX - 1, "");
  put_users(2, "");
  kpl_page_add(page, SLP_STR("plain"));
  page->next = SLP_STR("iterator");
  page->children_given = 1;
  page->recs[3].flags = SLP_REC_RAW;
  page->raw_n = 1;
  expand(NULL);
  CHECK_INT(page->recs_n, 2 * SLP_KPL_RECORDS_MAX - 1);
  CHECK_INT(page->recs_n - page->extra_n, 2);
  CHECK_INT(page->aggregates_n, 2);
  CHECK_INT(page->raw_n, 0);
  CHECK_INT(page->latest_ms, KPL_PAGE_MS + 1);
  CHECK_INT(page->earliest_ms, KPL_PAGE_MS);
  CHECK(!page->next.p && !page->children_given);
  finish();
}

TEST(a_page_that_is_just_full_goes_on) {
  start();
  put_users(SLP_KPL_RECORDS_MAX, "");
  put_users(SLP_KPL_RECORDS_MAX, "");
  page->next = SLP_STR("iterator");
  expand(NULL);
  CHECK_INT(page->recs_n, SLP_KPL_PAGE_RECORDS_MAX);
  CHECK_INT(page->next.n, 8);
  finish();
}

/* ---- slices -------------------------------------------------------------------------------------- */

static void put_a_mixture(void) {
  put_some_keys();
  kpl_page_add(page, SLP_STR("plain"));
  put_users(30, "user");
  kpl_record(&message, 5, -1, SLP_STR("bad"));
  put();
  kpl_key(&message, "k");
  put();
  put_some_keys();
}

TEST(slices_of_any_size_give_the_same_page) {
  char want[4000];
  slp_hash_range low = range_of("0", "170141183460469231731687303715884105727");
  for (size_t bytes = 1, i = 0; bytes < 3000; bytes = bytes * 2 + 1, i++) {
    start();
    put_a_mixture();
    CHECK_INT(kpl_page_expand(kpl, page, &low, bytes, 1 + bytes % 5, NULL), 0);
    if (i == 0) memcpy(want, rows(), sizeof want);
    CHECK_STR(rows(), want);
    CHECK_INT(page->aggregates_n, 4);
    CHECK_INT(page->raw_n, 1);
    CHECK_INT(page->extra_n, 5 + 29 + 5);
    finish();
  }
}

/* The work of a slice can't be seen from here, but the number of slices can. */
TEST(long_aggregates_and_many_small_ones_take_many_slices) {
  size_t steps;
  start();
  char *data = malloc(1000001);
  memset(data, 'x', 1000000);
  data[1000000] = 0;
  put_users(10, data);
  free(data);
  CHECK_INT(kpl_page_expand(kpl, page, NULL, 65536, 2048, &steps), 0);
  CHECK(steps >= 10000000 / 65536);
  finish();
  start();
  for (int i = 0; i < 1000; i++) put_users(1, "");
  CHECK_INT(kpl_page_expand(kpl, page, NULL, 65536, 2048, &steps), 0);
  CHECK(steps >= 4); /* 256 bytes each for the hash alone */
  finish();
  start();
  for (int i = 0; i < 20000; i++) CHECK_INT(slp_buf_add(&message, "\40\0", 2), 0);
  put();
  CHECK_INT(kpl_page_expand(kpl, page, NULL, 65536, 2048, &steps), 0);
  CHECK(steps >= 9);
  finish();
}

TEST(a_page_dropped_in_the_middle_is_as_it_was) {
  for (int most = 0; most < 40; most++) {
    start();
    put_a_mixture();
    slp_kpl_begin(kpl, page, NULL);
    int r = SLP_MORE;
    for (int i = 0; i < most && r == SLP_MORE; i++) r = slp_kpl_step(kpl, 40, 3);
    CHECK_INT(r, SLP_MORE);
    slp_kpl_drop(kpl);
    CHECK_INT(page->recs_n, 6);
    CHECK_INT(page->recs[0].flags + page->recs[0].sub, 0);
    expand(NULL);
    CHECK_INT(page->recs_n, 6 + 39);
    finish();
  }
}

/* ---- memory -------------------------------------------------------------------------------------- */

TEST(without_memory_the_page_is_as_it_was) {
  int failed = 0;
  for (long n = 0;; n++) {
    scarce memory = {.left = -1};
    mem = slp_mem_new(scarce_alloc, &memory);
    page = kpl_page_new(mem);
    kpl = slp_kpl_new(mem);
    slp_buf_init(&message, mem, SIZE_MAX / 2);
    slp_buf_init(&aggregate, mem, SIZE_MAX / 2);
    put_a_mixture();
    for (int i = 0; i < 20; i++) put_users(100, "x");
    for (int i = 0; i < 100; i++) kpl_hash(&message, "1");
    for (int i = 0; i < 100; i++) kpl_key(&message, "1");
    put();
    memory.left = n;
    int r = kpl_page_expand(kpl, page, NULL, 65536, 256, NULL);
    memory.left = -1;
    if (r == 0) {
      finish();
      break;
    }
    failed++;
    CHECK_INT(r, SLP_ENOMEM);
    CHECK_INT(page->recs_n, 27);
    CHECK_INT(page->recs[2].flags + page->aggregates_n, 0);
    expand(NULL);
    CHECK_INT(page->recs_n, 6 + 1 + 30 + 1 + 1 + 6 + 2000 + 1);
    finish();
  }
  CHECK(failed >= 4); /* rows, rows again, two tables */
}
