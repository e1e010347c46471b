/* The quick reader of JSON records says nothing that the pull reader does not say: on plain records, on
 * every change of a byte, on every cut; and what it leaves alone is as it was. A space before the record
 * keeps the page reader from it. */
#include "codec/base64.h"
#include "codec/page.h"
#include "codec/page_quick.h"
#include "check.h"

typedef struct maker {
  char p[1024];
  size_t n;
} maker;

static void add(maker *m, const char *p, size_t n) {
  CHECK(m->n + n <= sizeof m->p);
  memcpy(m->p + m->n, p, n);
  m->n += n;
}
static void text(maker *m, const char *z) { add(m, z, strlen(z)); }

static const char *const orders[] = {"SADP", "PDAS", "SAPD", "SDAP", "SDPA", "SPAD", "SPDA",
                                     "ASDP", "ASPD", "ADSP", "ADPS", "APSD", "APDS", "DSAP",
                                     "DSPA", "DASP", "DAPS", "DPSA", "DPAS", "PSAD", "PSDA",
                                     "PASD", "PADS", "PDSA", "DSP",  "SD",   "S",    "AS"};

static const char number[] = "49590338271490256608559692538361571095921575989136588898";

static void make_of(maker *m, const char *order, const char *seq, const char *time, const char *key,
                    const char *base64) {
  m->n = 0;
  text(m, "{");
  for (const char *o = order; *o; o++) {
    if (m->n > 1) text(m, ",");
    if (*o == 'S') text(m, "\"SequenceNumber\":\""), text(m, seq), text(m, "\"");
    if (*o == 'A') text(m, "\"ApproximateArrivalTimestamp\":"), text(m, time);
    if (*o == 'D') text(m, "\"Data\":\""), text(m, base64), text(m, "\"");
    if (*o == 'P') text(m, "\"PartitionKey\":\""), text(m, key), text(m, "\"");
  }
  text(m, "}");
}

static void make(maker *m, size_t order, const char *time, const char *key, const char *base64) {
  make_of(m, orders[order], number, time, key, base64);
}

/* By the pull reader: 1: valid, and the page has the record. */
static int slowly(const maker *m, size_t n, slp_page *page, slp_page_reader *reader) {
  slp_page_reset(page);
  slp_buf_add(&page->body, "{\"Records\":[ ", 13);
  slp_buf_add(&page->body, m->p, n);
  slp_buf_add(&page->body, "]}", 2);
  slp_page_reader_begin(reader, page, SLP_FORM_JSON);
  return slp_page_read(reader, 1 << 20, 100) == 0 && page->recs_n == 1;
}

static int same(slp_str a, const char *body, size_t at, size_t n) {
  return slp_str_eq(a, (slp_str){body + at, n});
}

/* 1: the quick reader took it out of just these bytes, and rightly. */
static int agrees(const maker *m) {
  static slp_mem *mem;
  static slp_page *page;
  static slp_page_reader *reader;
  if (!mem) {
    mem = slp_mem_new(NULL, NULL);
    page = slp_page_new(mem);
    reader = slp_page_reader_new(mem);
  }
  slp_rec rec = {0};
  size_t end = 0;
  char *exact =
      malloc(m->n ? m->n : 1); /* of its own size, so that a look behind it is seen by the sanitizer */
  memcpy(exact, m->p, m->n);
  int quick = slp_page_quick_json(exact, m->n, 0, &rec, &end);
  if (!quick) CHECK_MEM(exact, m->n, m->p, m->n);
  if (quick) {
    CHECK(slowly(m, end, page, reader)); /* behind its end may stand anything */
    const slp_rec *r = page->recs;
    CHECK_INT(rec.arrived_ms, r->arrived_ms);
    CHECK_INT(rec.flags, r->flags);
    CHECK(same(slp_rec_seq(page, r), exact, rec.seq_at, rec.seq_n));
    CHECK(same(slp_rec_key(page, r), exact, rec.key_at, rec.key_n));
    CHECK(same(slp_rec_data(page, r), exact, rec.data_at, rec.data_n));
    CHECK_MEM(exact + end, m->n - end, m->p + end, m->n - end);
  }
  free(exact);
  return quick;
}

/* The same with something behind it, for a time needs room. */
static int compare(const maker *m) {
  static maker more;
  agrees(m);
  more = *m;
  text(&more, ",{\"SequenceNumber\":\"");
  return agrees(&more);
}

TEST(takes_plain_records) {
  static const char *const times[] = {"1767312000.123",
                                      "1767312000.1",
                                      "1767312000",
                                      "1.767312000123E9",
                                      "1.7E9",
                                      "1767312000.99",
                                      "1.767312000000E9",
                                      "1.76731200012E9",
                                      "1.7673120001E9",
                                      "1.767312E9",
                                      "1.7673120E9",
                                      "1.76731200E9",
                                      "2E9"};
  static maker m;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_buf base64;
  char payload[200];
  for (size_t i = 0; i < sizeof payload; i++) payload[i] = (char)(i * 37);
  for (size_t n = 0; n <= sizeof payload; n++) {
    slp_buf_init(&base64, mem, 1000);
    CHECK_INT(slp_base64_encode(&base64, (slp_str){payload, n}), 0);
    CHECK_INT(slp_buf_add(&base64, "", 1), 0);
    make(&m, n % SLP_COUNT(orders), times[n % SLP_COUNT(times)], n % 3 ? "key" : "", base64.p);
    CHECK(compare(&m));
    slp_buf_free(&base64);
  }
  make(&m, 0, "1767312000.123", "k", "QUJDRB=="); /* bits under the padding */
  CHECK(compare(&m));
  slp_mem_drop(mem);
}

TEST(leaves_the_unusual_alone) {
  static maker m;
  make(&m, 0, "1767312000.123", "sch\xc3\xb6n", "QUJD");
  CHECK(!compare(&m));
  make(&m, 24, "1767312000.123", "an \\u0065scape", "QUJDRB==");
  CHECK(!compare(&m));
  make(&m, 24, "1767312000.123", "no base64", "QUJDRB==QUJD");
  CHECK(!compare(&m));
  make(&m, 1, "1767312000.123", "no base64",
       "QUJDRUZHSElKS0xNTk9QUVJTVFVWV1hZWmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6*");
  CHECK(!compare(&m));
  static const char *const times[] = {"1767312000.1234",
                                      "17673120000",
                                      "176731200",
                                      "1.5e9",
                                      "-1767312000",
                                      "null",
                                      "17673182714902000.",
                                      "17673182714902000.1231001753637584.123",
                                      "1.7673120001234E9",
                                      "17673120001.1",
                                      "1.7e9",
                                      "1.76731200x123E9",
                                      ".767312000123E9",
                                      "1767312000.",
                                      "0767312000",
                                      "1.E9",
                                      "15E8",
                                      "\"1767312000\""};
  for (size_t i = 0; i < SLP_COUNT(times); i++) {
    make(&m, 0, times[i], "key", "QUJD");
    CHECK(!compare(&m));
    make_of(&m, "SDPA", number, times[i], "key", "QUJD"); /* nothing but the end behind it */
    CHECK(!compare(&m));
  }
  /* No sequence number, or a member that is given twice. */
  static const char *const wrong[] = {"", "D", "ADP", "SS", "SADPS", "SADPD", "SADDP", "SASADP"};
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    make_of(&m, wrong[i], number, "1767312000.123", "key", "QUJDRUZHSElKS0xNTk9QUVJTVFVWV1hZQQ==");
    CHECK(!compare(&m));
  }
  static const char *const broken[] = {"{\"SequenceNumber\":\"1\",}",
                                       "{,\"SequenceNumber\":\"1\"}",
                                       "{\"SequenceNumber\":\"1\"]",
                                       "{\"SequenceNumber\":\"1\" }",
                                       "{\"SequenceNumber\":1}",
                                       "{\"SequenceNumber\":\"1\",,\"Data\":\"\"}",
                                       "{\"SequenceNumber\":\"1\"\"Data\":\"\"}"};
  for (size_t i = 0; i < SLP_COUNT(broken); i++) {
    m.n = 0;
    text(&m, broken[i]);
    CHECK(!compare(&m));
  }
}

TEST(takes_numbers_of_any_length_and_nothing_but_digits) {
  static maker m;
  char seq[132];
  for (size_t n = 0; n <= 131; n++) {
    memset(seq, '7', n);
    seq[n] = 0;
    make_of(&m, "SADP", seq, "1767312000.123", "key", "QUJD");
    CHECK_INT(compare(&m), n > 0 && n <= 129);
    for (size_t i = 0; i < n && n <= 129; i++) {
      static const char wrong[] = {'0' - 1,    '9' + 1, 0,  (char)0x80, (char)('0' + 0x80),
                                   (char)0xff, '\\',    ' '};
      for (size_t k = 0; k < sizeof wrong; k++) {
        make_of(&m, "SADP", seq, "1767312000.123", "key", "QUJD");
        m.p[19 + i] = wrong[k];
        CHECK(!compare(&m));
      }
    }
    if (n < 2 || n > 129) continue;
    seq[0] = '0';
    make_of(&m, "SADP", seq, "1767312000.123", "key", "QUJD");
    CHECK(compare(&m));
  }
}

/* Whatever ends the text of a Data, and wherever. */
TEST(puts_back_what_is_no_base64) {
  static maker m;
  static const char *const ends[] = {"*",    "=",    "==",    "===",  "A=",    "AB=", "ABC=",    "A==",
                                     "AB==", "AB=C", "AB===", "A=B=", "ABC==", "\\n", "\xc3\xb6"};
  char base64[200];
  for (size_t n = 0; n < 140; n++)
    for (size_t e = 0; e < SLP_COUNT(ends); e++) {
      for (size_t i = 0; i < n; i++)
        base64[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[i * 7 % 64];
      strcpy(base64 + n, ends[e]);
      make_of(&m, "SADP", number, "1767312000.123", "key", base64);
      int may_be =
          strchr(ends[e], '=') && (n + strlen(ends[e])) % 4 == 0; /* compare() asks the pull reader */
      CHECK(!compare(&m) || may_be);
      make_of(&m, "SDP", number, "", "an \\u0065scape", base64);
      CHECK(!compare(&m));
    }
}

TEST(agrees_on_every_change_of_a_byte) {
  static maker whole, m;
  size_t taken = 0;
  for (size_t order = 0; order < 2; order++) {
    make(&whole, order, order ? "1.767312000123E9" : "1767312000.123", "some key",
         "QUJDRUZHSElKS0xNTk9QUVJTVFVWV1hZWmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QQ==");
    for (size_t i = 0; i < whole.n; i++)
      for (int v = 0; v < 256; v++) {
        m = whole;
        m.p[i] = (char)v;
        taken += (size_t)compare(&m);
      }
  }
  CHECK(taken > 2 * 256); /* changes inside the payload and the key are still plain */
}

TEST(agrees_on_every_cut) {
  static maker whole, m;
  for (size_t order = 0; order < SLP_COUNT(orders); order++) {
    make(&whole, order, order % 2 ? "1767312000.123" : "1.767312000123E9", "key",
         "QUJDRUZHSElKS0xNTk9QUVJTVFVWV1hZWmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QQ==");
    for (size_t n = 0; n < whole.n; n++) {
      m = whole;
      m.n = n;
      CHECK(!agrees(&m));
      CHECK(!compare(&m));
    }
  }
}
