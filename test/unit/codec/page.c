/* The page reader: the result for each form of an answer; slices of any size, cuts and failing memory change
 * nothing; a slice is bounded. */
#include "codec/page.h"

#include "check.h"
#include "cpu.h"
#include "scarce.h"
#include "codec/base64.h"
#include "codec/cbor.h"
#include "codec/json.h"
#include "codec/json_write.h"

static slp_mem *mem;
static slp_page *page;
static slp_page_reader *reader;

static void start(void) {
  mem = slp_mem_new(NULL, NULL);
  page = slp_page_new(mem);
  reader = slp_page_reader_new(mem);
  CHECK(page && reader);
}

static void finish(void) {
  slp_page_reader_free(reader);
  slp_page_free(page);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

static int read_bytes(const void *p, size_t n, slp_form form, size_t bytes_max, size_t records_max) {
  int r;
  slp_buf_clear(&page->body);
  CHECK_INT(slp_buf_add(&page->body, p, n), 0);
  slp_page_reader_begin(reader, page, form);
  size_t calls = 0;
  do {
    r = slp_page_read(reader, bytes_max, records_max);
    if (++calls > 40 * n + 100) CHECK_FAIL("no progress");
  } while (r == SLP_MORE);
  CHECK_INT(slp_page_read(reader, bytes_max, records_max), r); /* the verdict stays */
  if (r) CHECK(slp_page_reader_why(reader)[0]);
  CHECK(slp_page_reader_where(reader) <= n);
  return r;
}

static int read_json(const char *text) { return read_bytes(text, strlen(text), SLP_FORM_JSON, 65536, 256); }

#define CHECK_REC(i, member, want)                                                                    \
  CHECK_MEM(slp_rec_##member(page, &page->recs[i]).p, slp_rec_##member(page, &page->recs[i]).n, want, \
            sizeof(want) - 1)

TEST(an_answer_as_kinesis_writes_it) {
  start();
  CHECK_INT(
      read_json(
          "{\"MillisBehindLatest\":1500,\"NextShardIterator\":\"AAAA+/=\",\"Records\":["
          "{\"ApproximateArrivalTimestamp\":1.767312000123E9,\"Data\":\"aGVsbG8=\",\"EncryptionType\":"
          "\"KMS\",\"PartitionKey\":"
          "\"k\\u00e9y\",\"SequenceNumber\":\"49590338271490256608559692538361571095921575989136588898\"},"
          "{\"SequenceNumber\":\"0\",\"PartitionKey\":\"\",\"Data\":\"\",\"ApproximateArrivalTimestamp\":"
          "1767312000}]}"),
      0);
  CHECK_INT(page->recs_n, 2);
  CHECK_INT(page->behind_ms, 1500);
  CHECK_MEM(page->next.p, page->next.n, "AAAA+/=", 7);
  CHECK_REC(0, data, "hello");
  CHECK_REC(0, key, "k\xC3\xA9y");
  CHECK_REC(0, seq, "49590338271490256608559692538361571095921575989136588898");
  CHECK_INT(page->recs[0].arrived_ms, 1767312000123);
  CHECK_REC(1, data, "");
  CHECK_REC(1, key, "");
  CHECK_REC(1, seq, "0");
  CHECK_INT(page->recs[1].arrived_ms, 1767312000000);
  CHECK_INT(page->children_given, 0);
  CHECK_INT(page->raw_n, 0);
  CHECK(slp_page_bytes(page) >= page->body.cap + 2 * sizeof(slp_rec));
  finish();
}

TEST(rows_have_the_words_of_their_numbers) {
  static const char answer[] =
      "{\"Records\":[{\"SequenceNumber\":\"49590338271490256608559692538361571095921575989136588898\"},"
      "{\"SequenceNumber\":\"49590338271490256608559692538361571095921575989136588899\"},"
      "{\"SequenceNumber\":\"7\"}]}";
  start();
  page->focus =
      (slp_focus){.id = 3, .length = 56, .from = 37, .shared = "4959033827149025660855969253836157109"};
  CHECK_INT(read_json(answer), 0);
  CHECK_INT(page->recs_n, 3);
  for (size_t i = 0; i < 3; i++)
    CHECK(page->recs[i].word == slp_focus_word(&page->focus, slp_rec_seq(page, &page->recs[i])));
  CHECK(page->recs[0].word == UINT64_C(5921575989136588898) + 1);
  CHECK(page->recs[2].word == SLP_FOCUS_BELOW);
  slp_page_reset(page);
  CHECK_INT(page->focus.id, 0);
  CHECK_INT(read_json(answer), 0);
  CHECK_INT(page->recs[0].word, 0);
  finish();
}

TEST(an_empty_answer_is_valid) {
  static const char all_null[] =
      "{\"Records\":null,\"NextShardIterator\":null,\"MillisBehindLatest\":null,"
      "\"ChildShards\":null}";
  static const char *const empty[] = {"{}", " { } ", "{\"Records\":[]}", all_null,
                                      "{\"NextShardIterator\":\"\"}"};
  start();
  for (size_t i = 0; i < SLP_COUNT(empty); i++) {
    CHECK_INT(read_json(empty[i]), 0);
    CHECK_INT(page->recs_n + page->children_n + page->children_given, 0);
    CHECK_INT(page->behind_ms, -1);
    CHECK(!page->next.p && !page->next.n);
  }
  CHECK_INT(read_json(""), SLP_EBADDATA);
  finish();
}

TEST(the_end_of_a_shard) {
  start();
  CHECK_INT(
      read_json("{\"ChildShards\":[{\"ShardId\":\"s-2\",\"ParentShards\":[\"s-0\",\"s-1\"],\"HashKeyRange\":"
                "{\"StartingHashKey\":\"0\",\"EndingHashKey\":\"99\",\"X\":1}},{\"HashKeyRange\":null,"
                "\"ParentShards\":[\"s-0\"],"
                "\"ShardId\":\"s-3\"}],\"Records\":[]}"),
      0);
  CHECK_INT(page->children_n, 2);
  CHECK_INT(page->children_given, 1);
  CHECK_INT(page->children_bad, 0);
  CHECK(slp_str_is(page->children[0].id, "s-2") && slp_str_is(page->children[0].parent, "s-0"));
  CHECK(slp_str_is(page->children[0].adjacent_parent, "s-1") &&
        slp_str_is(page->children[0].hash_start, "0"));
  CHECK(slp_str_is(page->children[0].hash_end, "99") && !page->children[1].hash_start.p);
  CHECK(slp_str_is(page->children[1].id, "s-3") && !page->children[1].adjacent_parent.p);
  CHECK_INT(read_json("{\"ChildShards\":[]}"), 0);
  CHECK_INT(page->children_given, 1);
  CHECK_INT(page->children_n, 0);
  static const char *const broken[] = {"{}",
                                       "{\"ShardId\":\"s\"}",
                                       "{\"ParentShards\":[\"p\"]}",
                                       "{\"ShardId\":\"s\",\"ParentShards\":[]}",
                                       "{\"ShardId\":\"s\",\"ParentShards\":null}",
                                       "{\"ShardId\":\"s\",\"ParentShards\":[\"a\",\"b\",\"c\"]}",
                                       "{\"ShardId\":null,\"ParentShards\":[\"p\"]}"};
  for (size_t i = 0; i < SLP_COUNT(broken); i++) {
    char text[200];
    snprintf(text, sizeof text, "{\"ChildShards\":[{\"ShardId\":\"s\",\"ParentShards\":[\"p\"]},%s]}",
             broken[i]);
    CHECK_INT(read_json(text), 0);
    CHECK_INT(page->children_bad, 1);
    CHECK_INT(page->children_n, 2);
  }
  finish();
}

TEST(unknown_members_are_skipped_at_any_depth_and_in_any_order) {
  start();
  CHECK_INT(
      read_json(
          "{\"A\":{\"Records\":[{\"B\":[[],{}]}]},\"Records\":[{\"X\":[{\"Data\":\"no\"}],\"Data\":\"QQ==\","
          "\"Y\":{},"
          "\"SequenceNumber\":\"7\",\"Z\":null,\"data\":5}],\"C\":[1,2,[3]],\"records\":false,\"D\":1e5}"),
      0);
  CHECK_INT(page->recs_n, 1);
  CHECK_REC(0, data, "A");
  CHECK_REC(0, key, "");
  CHECK_INT(page->recs[0].arrived_ms, -1);
  finish();
}

TEST(of_members_given_twice_the_last_counts) {
  start();
  CHECK_INT(read_json("{\"Records\":[{\"SequenceNumber\":\"1\",\"Data\":\"!\"},{\"SequenceNumber\":\"2\"}],"
                      "\"MillisBehindLatest\":5,"
                      "\"NextShardIterator\":\"a\",\"ChildShards\":[{}],\"Records\":[{\"SequenceNumber\":"
                      "\"3\",\"Data\":\"!!!!\",\"Data\":\"Qg==\","
                      "\"PartitionKey\":\"a\",\"PartitionKey\":\"b\",\"SequenceNumber\":\"4\","
                      "\"ApproximateArrivalTimestamp\":1,"
                      "\"ApproximateArrivalTimestamp\":null}],\"MillisBehindLatest\":null,"
                      "\"NextShardIterator\":\"b\",\"ChildShards\":null}"),
            0);
  CHECK_INT(page->recs_n, 1);
  CHECK_INT(page->raw_n, 0);
  CHECK_REC(0, seq, "4");
  CHECK_REC(0, data, "B");
  CHECK_REC(0, key, "b");
  CHECK_INT(page->recs[0].arrived_ms, -1);
  CHECK_INT(page->recs[0].flags, 0);
  CHECK_INT(page->behind_ms, -1);
  CHECK_INT(page->children_given + page->children_bad + page->children_n, 0);
  CHECK(slp_str_is(page->next, "b"));
  finish();
}

TEST(data_that_is_no_base64_comes_raw) {
  static const struct {
    const char *text, *data;
    int raw;
  } cases[] = {{"YWJj", "abc", 0},
               {"YWJ", "YWJ", 1},
               {"YW=j", "YW=j", 1},
               {"YW Jj===", "YW Jj===", 1},
               {"\\u0059WJj", "abc", 0},
               {"YWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJj#WJj",
                "YWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJjYWJj#WJj", 1},
               {"YQ==YWJj", "YQ==YWJj", 1},
               {"\\/\\/\\/\\/", "\xff\xff\xff", 0},
               {"YWJj\\n", "YWJj\n", 1},
               {"\xC3\xA9\xC3\xA9", "\xC3\xA9\xC3\xA9", 1},
               {"YWJjYWJj\\/\\/\\/!", "YWJjYWJj///!", 1}};
  start();
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    for (size_t slice = 1; slice < 80; slice += 3) {
      char text[300];
      snprintf(text, sizeof text, "{\"Records\":[{\"SequenceNumber\":\"1\",\"Data\":\"%s\"}]}",
               cases[i].text);
      CHECK_INT(read_bytes(text, strlen(text), SLP_FORM_JSON, slice, 1), 0);
      slp_str data = slp_rec_data(page, &page->recs[0]);
      CHECK_MEM(data.p, data.n, cases[i].data, strlen(cases[i].data));
      CHECK_INT(page->recs[0].flags & SLP_REC_RAW, cases[i].raw ? SLP_REC_RAW : 0);
      CHECK_INT(page->raw_n, cases[i].raw);
    }
  }
  finish();
}

TEST(wrong_answers_are_refused) {
  static const char *const wrong[] = {
      "[]",
      "null",
      "1",
      "\"x\"",
      "{\"Records\":{}}",
      "{\"Records\":[1]}",
      "{\"Records\":[null]}",
      "{\"Records\":[[]]}",
      "{\"Records\":[{}]}",
      "{\"Records\":\"x\"}",
      "{\"Records\":[{\"SequenceNumber\":null}]}",
      "{\"Records\":[{\"SequenceNumber\":1}]}",
      "{\"Records\":[{\"SequenceNumber\":\"\"}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1-\"}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1x\"}]}",
      "{\"Records\":[{\"SequenceNumber\":\"-1\"}]}",
      "{\"Records\":[{\"SequenceNumber\":\"4959033827149025660855969253836157109592157598913658889/\"}]}",
      "{\"Records\":[{\"SequenceNumber\":\":959033827149025660855969253836157109592157598913658889\"}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1\",\"Data\":1}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1\",\"Data\":{}}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1\",\"PartitionKey\":1}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1\",\"PartitionKey\":[]}]}",
      "{\"Records\":[{\"SequenceNumber\":\"1\",\"ApproximateArrivalTimestamp\":\"1\"}]}",
      "{\"NextShardIterator\":1}",
      "{\"MillisBehindLatest\":\"1\"}",
      "{\"MillisBehindLatest\":true}",
      "{\"ChildShards\":{}}",
      "{\"ChildShards\":[1]}",
      "{\"ChildShards\":[{\"ShardId\":1}]}",
      "{\"ChildShards\":[{\"ShardId\":\"shardId-\\u001b[2J\",\"ParentShards\":[\"a\"]}]}",
      "{\"ChildShards\":[{\"ParentShards\":\"x\"}]}",
      "{\"ChildShards\":[{\"ParentShards\":[1]}]}",
      "{\"ChildShards\":[{\"ParentShards\":[null]}]}",
      "{\"ChildShards\":[{\"HashKeyRange\":[]}]}",
      "{\"ChildShards\":[{\"HashKeyRange\":{\"StartingHashKey\":0}}]}",
      "{} x",
      "{}{}",
      "<html></html>",
      "{\"Records\":[{\"SequenceNumber\":\"1\"},]}"};
  start();
  for (size_t i = 0; i < SLP_COUNT(wrong); i++) {
    if (read_json(wrong[i]) != SLP_EBADDATA) CHECK_FAIL("%s was taken", wrong[i]);
  }
  CHECK_INT(read_json("{\"Records\":[{\"SequenceNumber\":\"1\",\"ApproximateArrivalTimestamp\":1e400}]}"),
            SLP_ELIMIT);
  finish();
}

static int read_seq(size_t digits) {
  char text[300], seq[200];
  memset(seq, '9', digits);
  seq[digits] = 0;
  snprintf(text, sizeof text, "{\"Records\":[{\"SequenceNumber\":\"%s\"}]}", seq);
  return read_json(text);
}

TEST(sequence_numbers_of_every_length) {
  start();
  for (size_t n = 1; n <= 129; n++) CHECK_INT(read_seq(n), 0);
  CHECK_INT(read_seq(130), SLP_EBADDATA);
  for (size_t n = 2; n < 60; n++) { /* one wrong digit anywhere is seen */
    for (size_t at = 0; at < n; at++) {
      char text[200], seq[100];
      memset(seq, '1', n);
      seq[at] = at % 2 ? ';' : ',';
      seq[n] = 0;
      snprintf(text, sizeof text, "{\"Records\":[{\"SequenceNumber\":\"%s\"}]}", seq);
      CHECK_INT(read_json(text), SLP_EBADDATA);
    }
  }
  finish();
}

TEST(the_lag_is_clamped) {
  static const struct {
    const char *text;
    int64_t want;
  } cases[] = {{"0", 0},
               {"-5", 0},
               {"12.6", 13},
               {"1e3", 1000},
               {"9223372036854775807", INT64_MAX},
               {"9223372036854775808", INT64_MAX},
               {"1e999", INT64_MAX},
               {"-1e999", 0}};
  start();
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    char text[100];
    snprintf(text, sizeof text, "{\"MillisBehindLatest\":%s}", cases[i].text);
    CHECK_INT(read_json(text), 0);
    CHECK_INT(page->behind_ms, cases[i].want);
  }
  finish();
}

TEST(the_lag_in_cbor_may_be_a_float) {
  static const struct {
    const char *bytes;                                              /* half, single or double; 9 at most */
    int64_t want;                                                   /* -1: no number */
  } cases[] = {{"\xf9\x3e\x00", 1},                                 /* 1.5 */
               {"\xf9\xbe\x00", 0},                                 /* -1.5 */
               {"\xfa\x44\x7a\x00\x00", 1000},                      /* 1000 */
               {"\xfb\x43\xe0\x00\x00\x00\x00\x00\x00", INT64_MAX}, /* 2^63 */
               {"\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00", INT64_MAX}, /* infinite */
               {"\xfb\xff\xf0\x00\x00\x00\x00\x00\x00", 0},         /* and less than any */
               {"\xf9\x7e\x00", -1}};
  start();
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    unsigned char kind = (unsigned char)cases[i].bytes[0];
    size_t n = kind == 0xf9 ? 3 : kind == 0xfa ? 5 : 9;
    char text[40] = "\xa1\x72MillisBehindLatest";
    memcpy(text + 20, cases[i].bytes, n);
    CHECK_INT(read_bytes(text, 20 + n, SLP_FORM_CBOR, 65536, 256), cases[i].want < 0 ? SLP_EBADDATA : 0);
    if (cases[i].want >= 0) CHECK_INT(page->behind_ms, cases[i].want);
  }
  finish();
}

TEST(arrival_times_in_json) {
  static const struct {
    const char *text;
    int64_t want;
  } cases[] = {{"1767312000.123", 1767312000123},
               {"1767312000.1", 1767312000100},
               {"1767312000.12", 1767312000120},
               {"1767312000.1234", 1767312000123},
               {"1.7673120005E9", 1767312000500},
               {"1767312000123", 1767312000123},
               {"0", 0},
               {"-1", -1},
               {"null", -1},
               {"0.0005", 1},
               {"1767312000.12e", -2}};
  start();
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    char text[120];
    snprintf(text, sizeof text,
             "{\"Records\":[{\"SequenceNumber\":\"1\",\"ApproximateArrivalTimestamp\":%s}]}", cases[i].text);
    CHECK_INT(read_json(text), cases[i].want == -2 ? SLP_EBADDATA : 0);
    if (cases[i].want != -2) CHECK_INT(page->recs[0].arrived_ms, cases[i].want);
  }
  finish();
}

/* ---- made-up pages in every form ------------------------------------------------------------------- */

static uint64_t state = 1234567;
static uint64_t below(uint64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % n;
}

typedef struct model {
  size_t n;
  struct {
    char seq[130], key[40], data[300];
    size_t key_n, data_n;
    int64_t ms;
  } rec[12];
} model;
typedef enum dialect {
  JSON,
  CBOR_DEFINITE,
  CBOR_INDEFINITE,
  CBOR_LOCAL
} dialect; /* local servers: text, no tag, nulls */

static void make_model(model *m, size_t data_max) {
  m->n = below(12);
  for (size_t i = 0; i < m->n; i++) {
    size_t digits = 1 + below(129);
    for (size_t d = 0; d < digits; d++) m->rec[i].seq[d] = (char)('1' + below(9));
    if (i && below(8)) { /* mostly ascending, as the service counts */
      memcpy(m->rec[i].seq, m->rec[i - 1].seq, sizeof m->rec[i].seq);
      digits = strlen(m->rec[i].seq);
      if (digits < 129 && below(3)) m->rec[i].seq[digits++] = '0';
    }
    m->rec[i].seq[digits] = 0;
    m->rec[i].key_n = below(sizeof m->rec[i].key);
    for (size_t k = 0; k < m->rec[i].key_n; k++) m->rec[i].key[k] = (char)below(128);
    m->rec[i].data_n = below(data_max);
    for (size_t k = 0; k < m->rec[i].data_n; k++) m->rec[i].data[k] = (char)below(256);
    m->rec[i].ms = (int64_t)(1600000000000u + below(300000000000u));
  }
}

static void write_json(slp_buf *b, const model *m) {
  slp_buf_addf(b, "{\"Records\" : [");
  for (size_t i = 0; i < m->n; i++) {
    slp_buf_addf(
        b, "%s{\"SequenceNumber\":\"%s\",\n\t\"ApproximateArrivalTimestamp\": %" PRId64 ".%03d,\"Data\":\"",
        i ? " , " : "", m->rec[i].seq, m->rec[i].ms / 1000, (int)(m->rec[i].ms % 1000));
    slp_base64_encode(b, (slp_str){m->rec[i].data, m->rec[i].data_n});
    slp_buf_addf(b, "\",\"EncryptionType\":{\"x\":[\"\\ud83d\\ude00\"]},\"PartitionKey\":");
    slp_json_put_line_string(b, (slp_str){m->rec[i].key, m->rec[i].key_n});
    slp_buf_addf(b, "}");
  }
  slp_buf_addf(b,
               "],\"ChildShards\":[{\"ShardId\":\"c\",\"ParentShards\":[\"p\",\"q\"]}],\"NextShardIterator\":"
               "\"it\\n\"}");
}

static void put_text(slp_buf *b, slp_str s, dialect d) {
  if (d != CBOR_INDEFINITE) {
    slp_cbor_put_text(b, s);
    return;
  }
  size_t half = s.n / 2;
  slp_buf_add_char(b, 0x7f);
  slp_cbor_put_text(b, (slp_str){s.p, half});
  slp_cbor_put_text(b, (slp_str){s.p + half, s.n - half});
  slp_cbor_put_break(b);
}

static void put_data(slp_buf *b, slp_str s, dialect d) {
  if (d == CBOR_LOCAL) {
    slp_buf text;
    slp_buf_init(&text, mem, 10000);
    slp_base64_encode(&text, s);
    slp_cbor_put_text(b, slp_buf_str(&text));
    slp_buf_free(&text);
  } else if (d == CBOR_INDEFINITE) {
    slp_buf_add_char(b, 0x5f);
    for (size_t at = 0, n; at < s.n; at += n) {
      n = slp_min_u64(1 + below(40), s.n - at);
      slp_cbor_put_bytes(b, (slp_str){s.p + at, n});
    }
    slp_cbor_put_break(b);
  } else {
    slp_cbor_put_bytes(b, s);
  }
}

static void write_cbor(slp_buf *b, const model *m, dialect d) {
  int open = d == CBOR_INDEFINITE;
  slp_cbor_put_map(b, open ? UINT64_MAX : 3);
  put_text(b, SLP_STR("Records"), d);
  slp_cbor_put_array(b, open ? UINT64_MAX : m->n);
  for (size_t i = 0; i < m->n; i++) {
    slp_cbor_put_map(b, open ? UINT64_MAX : 5);
    put_text(b, SLP_STR("SequenceNumber"), d);
    put_text(b, slp_str_of(m->rec[i].seq), d);
    put_text(b, SLP_STR("EncryptionType"), d);
    slp_cbor_put_null(b);
    put_text(b, SLP_STR("ApproximateArrivalTimestamp"), d);
    if (d == CBOR_LOCAL)
      slp_cbor_put_i64(b, m->rec[i].ms);
    else
      slp_cbor_put_time_ms(b, m->rec[i].ms);
    put_text(b, SLP_STR("Data"), d);
    put_data(b, (slp_str){m->rec[i].data, m->rec[i].data_n}, d);
    put_text(b, SLP_STR("PartitionKey"), d);
    put_text(b, (slp_str){m->rec[i].key, m->rec[i].key_n}, d);
    if (open) slp_cbor_put_break(b);
  }
  if (open) slp_cbor_put_break(b);
  put_text(b, SLP_STR("ChildShards"), d);
  slp_cbor_put_array(b, 1);
  slp_cbor_put_map(b, 2);
  put_text(b, SLP_STR("ShardId"), d);
  put_text(b, SLP_STR("c"), d);
  put_text(b, SLP_STR("ParentShards"), d);
  slp_cbor_put_array(b, 2);
  put_text(b, SLP_STR("p"), d);
  put_text(b, SLP_STR("q"), d);
  put_text(b, SLP_STR("NextShardIterator"), d);
  put_text(b, SLP_STR("it\n"), d);
  if (open) slp_cbor_put_break(b);
}

static void check_model(const model *m) {
  int64_t latest = -1, unordered = 0;
  size_t largest = 0;
  CHECK_INT(page->recs_n, m->n);
  for (size_t i = 0; i < m->n; i++) {
    slp_str seq = slp_rec_seq(page, &page->recs[i]), key = slp_rec_key(page, &page->recs[i]);
    slp_str data = slp_rec_data(page, &page->recs[i]);
    CHECK_MEM(seq.p, seq.n, m->rec[i].seq, strlen(m->rec[i].seq));
    CHECK_MEM(key.p, key.n, m->rec[i].key, m->rec[i].key_n);
    CHECK_MEM(data.p, data.n, m->rec[i].data, m->rec[i].data_n);
    CHECK_INT(page->recs[i].arrived_ms, m->rec[i].ms);
    CHECK_INT(page->recs[i].flags, 0);
    if (m->rec[i].ms > latest) latest = m->rec[i].ms;
    if (m->rec[i].data_n > largest) largest = m->rec[i].data_n;
    if (i && (strlen(m->rec[i].seq) < strlen(m->rec[i - 1].seq) ||
              (strlen(m->rec[i].seq) == strlen(m->rec[i - 1].seq) &&
               strcmp(m->rec[i].seq, m->rec[i - 1].seq) <= 0)))
      unordered = 1;
  }
  CHECK_INT(page->latest_ms, latest);
  CHECK_INT(page->largest_bytes, largest);
  CHECK_INT(page->unordered, unordered);
  CHECK_INT(page->records_given, 1);
  CHECK_INT(page->children_n, 1);
  CHECK(slp_str_is(page->children[0].id, "c") && slp_str_is(page->children[0].parent, "p"));
  CHECK(slp_str_is(page->children[0].adjacent_parent, "q"));
  CHECK(slp_str_is(page->next, "it\n"));
}

static void make_body(slp_buf *b, const model *m, dialect d) {
  slp_buf_clear(b);
  if (d == JSON)
    write_json(b, m);
  else
    write_cbor(b, m, d);
}

TEST(slices_of_every_size_give_the_same_page) {
  start();
  slp_buf b;
  slp_buf_init(&b, mem, 100000);
  for (int round = 0; round < 4; round++) {
    model m;
    make_model(&m, 200);
    for (dialect d = JSON; d <= CBOR_LOCAL; d++) {
      make_body(&b, &m, d);
      for (size_t slice = 1; slice <= b.n + 1; slice += slice < 300 ? 1 : 97) {
        CHECK_INT(read_bytes(b.p, b.n, d == JSON ? SLP_FORM_JSON : SLP_FORM_CBOR, slice, 1 + slice % 5), 0);
        check_model(&m);
      }
    }
  }
  slp_buf_free(&b);
  finish();
}

TEST(an_answer_cut_anywhere_or_with_more_behind_is_refused) {
  start();
  slp_buf b;
  slp_buf_init(&b, mem, 100000);
  model m;
  do make_model(&m, 60);
  while (m.n < 3);
  for (dialect d = JSON; d <= CBOR_LOCAL; d++) {
    slp_form form = d == JSON ? SLP_FORM_JSON : SLP_FORM_CBOR;
    make_body(&b, &m, d);
    for (size_t cut = 0; cut < b.n; cut++) CHECK_INT(read_bytes(b.p, cut, form, 65536, 256), SLP_EBADDATA);
    slp_buf_add_char(&b, d == JSON ? '}' : 0);
    CHECK_INT(read_bytes(b.p, b.n, form, 65536, 256), SLP_EBADDATA);
  }
  slp_buf_free(&b);
  finish();
}

TEST(a_call_stops_after_the_records_it_was_allowed) {
  start();
  slp_buf_add_z(&page->body, "{\"Records\":[");
  for (int i = 1; i <= 1000; i++)
    slp_buf_addf(&page->body, "%s{\"SequenceNumber\":\"%d\"}", i > 1 ? "," : "", i);
  slp_buf_add_z(&page->body, "]}");
  slp_page_reader_begin(reader, page, SLP_FORM_JSON);
  for (size_t want = 256; want < 1000; want += 256) {
    CHECK_INT(slp_page_read(reader, 1 << 20, 256), SLP_MORE);
    CHECK_INT(page->recs_n, want);
  }
  CHECK_INT(slp_page_read(reader, 1 << 20, 256), 0);
  CHECK_INT(page->recs_n, 1000);
  finish();
}

/* A child as both forms write it. */
typedef struct child {
  const char *id, *parent, *adjacent, *from, *to;
} child;

static void child_in_json(slp_buf *b, const child *c) {
  slp_jw w = slp_jw_begin(b);
  slp_jw_array(&w, "ChildShards");
  slp_jw_object(&w, NULL);
  slp_jw_array(&w, "ParentShards");
  slp_jw_z(&w, NULL, c->parent);
  slp_jw_z(&w, NULL, c->adjacent);
  slp_jw_array_end(&w);
  slp_jw_object(&w, "HashKeyRange");
  slp_jw_z(&w, "StartingHashKey", c->from);
  slp_jw_z(&w, "EndingHashKey", c->to);
  slp_jw_object_end(&w);
  slp_jw_z(&w, "ShardId", c->id);
  slp_jw_object_end(&w);
  slp_jw_array_end(&w);
  CHECK_INT(slp_jw_object_end(&w), 0);
}

static void child_in_cbor(slp_buf *b, const child *c, dialect d) {
  slp_cbor_put_map(b, 1);
  put_text(b, SLP_STR("ChildShards"), d);
  slp_cbor_put_array(b, 1);
  slp_cbor_put_map(b, 3);
  put_text(b, SLP_STR("ParentShards"), d);
  slp_cbor_put_array(b, 2);
  put_text(b, slp_str_of(c->parent), d);
  put_text(b, slp_str_of(c->adjacent), d);
  put_text(b, SLP_STR("HashKeyRange"), d);
  slp_cbor_put_map(b, 2);
  put_text(b, SLP_STR("StartingHashKey"), d);
  put_text(b, slp_str_of(c->from), d);
  put_text(b, SLP_STR("EndingHashKey"), d);
  put_text(b, slp_str_of(c->to), d);
  put_text(b, SLP_STR("ShardId"), d);
  put_text(b, slp_str_of(c->id), d);
}

TEST(of_children_only_what_a_listing_may_say_is_taken) {
  char longest[130], number[131];
  memset(longest, 'a', 129);
  memset(number, '9', 130);
  longest[128] = longest[129] = number[129] = number[130] = 0;
  const struct {
    child c;
    const char *why; /* NULL: it is fine */
  } cases[] = {
      {{"s-2", "s-0", "s-1", "0", "340282366920938463463374607431768211455"}, NULL},
      {{longest, longest, longest, number, number}, NULL},
      {{"s-2", "s-0", "s-1", "0", "01"}, NULL},
      {{"s-2", "s-0", "", "", ""}, NULL},
      {{"", "s-0", "s-1", "0", "1"}, "a shard without a usable id"},
      {{"s\x1b[2J", "s-0", "s-1", "0", "1"}, "a shard without a usable id"},
      {{"s 2", "s-0", "s-1", "0", "1"}, "a shard without a usable id"},
      {{"s-2", "s\xc2\x9b", "s-1", "0", "1"}, "a shard whose parent has no usable id"},
      {{"s-2", "s-0", "s/1", "0", "1"}, "a shard whose parent has no usable id"},
      {{"s-2", "s-0", "s-1", "\x1b[2J", "1"}, "a hash key or a sequence number that is no number"},
      {{"s-2", "s-0", "s-1", "0x10", "1"}, "a hash key or a sequence number that is no number"},
      {{"s-2", "s-0", "s-1", "0", "-1"}, "a hash key or a sequence number that is no number"},
      {{"s-2", "s-0", "s-1", "0", "1e3"}, "a hash key or a sequence number that is no number"},
      {{"s-2", "s-0", "s-1", "0", "1 "}, "a hash key or a sequence number that is no number"},
  };
  slp_buf b;
  start();
  slp_buf_init(&b, mem, 10000);
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    for (dialect d = JSON; d <= CBOR_LOCAL; d++) {
      slp_buf_clear(&b);
      if (d == JSON)
        child_in_json(&b, &cases[i].c);
      else
        child_in_cbor(&b, &cases[i].c, d);
      int r = read_bytes(b.p, b.n, d == JSON ? SLP_FORM_JSON : SLP_FORM_CBOR, 1 + i, 256);
      CHECK_INT(r, cases[i].why ? SLP_EBADDATA : 0);
      CHECK_STR(slp_page_reader_why(reader), cases[i].why ? cases[i].why : "");
      if (r) continue;
      CHECK(page->children_n == 1 && !page->children_bad);
      CHECK(slp_str_is(page->children[0].id, cases[i].c.id) &&
            slp_str_is(page->children[0].adjacent_parent, cases[i].c.adjacent) &&
            slp_str_is(page->children[0].hash_end, cases[i].c.to));
    }
  }
  longest[128] = number[129] = '1';
  const child too_long[] = {{longest, "p", "q", "0", "1"},
                            {"c", longest, "q", "0", "1"},
                            {"c", "p", longest, "0", "1"},
                            {"c", "p", "q", number, "1"},
                            {"c", "p", "q", "0", number}};
  for (size_t i = 0; i < SLP_COUNT(too_long); i++) {
    slp_buf_clear(&b);
    child_in_json(&b, &too_long[i]);
    CHECK_INT(read_bytes(b.p, b.n, SLP_FORM_JSON, 65536, 256), SLP_EBADDATA);
    slp_buf_clear(&b);
    child_in_cbor(&b, &too_long[i], CBOR_DEFINITE);
    CHECK_INT(read_bytes(b.p, b.n, SLP_FORM_CBOR, 65536, 256), SLP_EBADDATA);
  }
  slp_buf_free(&b);
  finish();
}

/* {"Records": [{...}]} with the members given, in a map of a count or open. */
static int read_cbor_record(int open, const slp_buf *members, uint64_t n) {
  slp_buf b;
  slp_buf_init(&b, mem, 10000);
  slp_cbor_put_map(&b, 1);
  slp_cbor_put_text(&b, SLP_STR("Records"));
  slp_cbor_put_array(&b, 1);
  slp_cbor_put_map(&b, open ? UINT64_MAX : n);
  slp_buf_add(&b, members->p, members->n);
  if (open) slp_cbor_put_break(&b);
  int r = read_bytes(b.p, b.n, SLP_FORM_CBOR, 65536, 256);
  slp_buf_free(&b);
  return r;
}

TEST(wrong_members_of_cbor_records_are_refused_and_odd_ones_taken) {
  static const struct {
    const char *key, *hex;
    int r;
  } cases[] = {{"SequenceNumber", "6131", 0},
               {"SequenceNumber", "6130", 0},
               {"SequenceNumber", "623031", 0},
               {"SequenceNumber", "613a", SLP_EBADDATA},
               {"SequenceNumber", "60", SLP_EBADDATA},
               {"SequenceNumber", "01", SLP_EBADDATA},
               {"SequenceNumber", "4131", SLP_EBADDATA},
               {"SequenceNumber",
                "7f613161"
                "32ff",
                0},
               {"PartitionKey", "61ff", SLP_EBADDATA},
               {"PartitionKey", "62c3a9", 0},
               {"PartitionKey", "4161", SLP_EBADDATA},
               {"PartitionKey", "f6", 0},
               {"PartitionKey", "60", 0},
               {"PartitionKey", "69616161616161616161", 0},
               {"PartitionKey", "6961616161616161c3ff", SLP_EBADDATA},
               {"PartitionKey",
                "69ffc3616161616161"
                "61",
                SLP_EBADDATA},
               {"ApproximateArrivalTimestamp", "c11b0000018b0d4e0c00", 0},
               {"ApproximateArrivalTimestamp", "c16131", SLP_EBADDATA},
               {"ApproximateArrivalTimestamp", "c11bffffffffffffffff", SLP_ELIMIT},
               {"ApproximateArrivalTimestamp", "c11b00000000000003e8", 0}, /* so few are seconds */
               {"ApproximateArrivalTimestamp", "c10a", 0},
               {"ApproximateArrivalTimestamp", "f6", 0},
               {"Data", "f6", 0},
               {"Data", "40", 0},
               {"Data", "58024142", 0},
               {"Data", "5900024142", 0},
               {"Data", "5a000000024142", 0},
               {"Data", "5b00000000000000024142", 0},
               {"Data", "5affffffff4142", SLP_EBADDATA},
               {"Data", "5c", SLP_EBADDATA},
               {"Data", "f5", SLP_EBADDATA},
               {"Data", "ff", SLP_EBADDATA}};
  start();
  slp_buf m;
  slp_buf_init(&m, mem, 1000);
  for (size_t i = 0; i < 2 * SLP_COUNT(cases); i++) {
    const char *key = cases[i / 2].key;
    int own_seq = strcmp(key, "SequenceNumber") == 0;
    slp_buf_clear(&m);
    if (!own_seq) {
      slp_cbor_put_text(&m, SLP_STR("SequenceNumber"));
      slp_cbor_put_text(&m, SLP_STR("77"));
    }
    slp_cbor_put_text(&m, slp_str_of(key));
    for (const char *h = cases[i / 2].hex; *h; h += 2) {
      unsigned v;
      CHECK(sscanf(h, "%2x", &v) == 1);
      slp_buf_add_char(&m, (char)v);
    }
    int r = read_cbor_record(i % 2 == 1, &m, own_seq ? 1 : 2);
    if (r != cases[i / 2].r) CHECK_FAIL("%s %s gives %d", key, cases[i / 2].hex, r);
    if (!strcmp(cases[i / 2].hex, "c11b00000000000003e8")) CHECK_INT(page->recs[0].arrived_ms, 1000000);
  }
  char digits[131];
  memset(digits, '9', sizeof digits);
  for (size_t n = 1; n <= sizeof digits; n++) {
    slp_buf_clear(&m);
    slp_cbor_put_text(&m, SLP_STR("SequenceNumber"));
    slp_cbor_put_text(&m, (slp_str){digits, n});
    CHECK_INT(read_cbor_record(0, &m, 1), n > 129 ? SLP_EBADDATA : 0);
    digits[n / 2] = '/';
    slp_buf_clear(&m);
    slp_cbor_put_text(&m, SLP_STR("SequenceNumber"));
    slp_cbor_put_text(&m, (slp_str){digits, n});
    CHECK_INT(read_cbor_record(0, &m, 1), SLP_EBADDATA);
    digits[n / 2] = '9';
  }
  slp_buf_clear(&m); /* twice the same member: the last counts; none: refused */
  CHECK_INT(read_cbor_record(1, &m, 0), SLP_EBADDATA);
  for (int i = 1; i <= 2; i++) {
    slp_cbor_put_text(&m, SLP_STR("SequenceNumber"));
    slp_cbor_put_text(&m, i == 1 ? SLP_STR("1") : SLP_STR("2"));
  }
  CHECK_INT(read_cbor_record(0, &m, 2), 0);
  CHECK_REC(0, seq, "2");
  slp_buf_free(&m);
  finish();
}

/* Reads a 14 MB string of each kind: the number of slices tells that none did more than it may; the CPU time
 * has a wide limit, for slow machines and sanitizers. */
static void long_string(const char *before, int c, const char *after, slp_form form, size_t n,
                        size_t *ret_data_n) {
  slp_buf_clear(&page->body);
  slp_buf_add_z(&page->body, before);
  CHECK_INT(slp_buf_reserve(&page->body, n + 100), 0);
  memset(page->body.p + page->body.n, c, n);
  page->body.n += n;
  slp_buf_add_z(&page->body, after);
  slp_page_reader_begin(reader, page, form);
  size_t slices = 0, at = 0;
  double longest = 0;
  int r;
  do {
    uint64_t from = cpu_us();
    r = slp_page_read(reader, 65536, 256);
    double took = (double)(cpu_us() - from) / 1e3;
    if (took > longest) longest = took;
    CHECK(slp_page_reader_where(reader) - at <= 65536 + 16);
    at = slp_page_reader_where(reader);
    slices++;
  } while (r == SLP_MORE);
  CHECK_INT(r, 0);
  CHECK(slices >= n / 65536);
  CHECK(longest < 20);
  *ret_data_n = page->recs_n ? page->recs[0].data_n : 0;
}

TEST(a_slice_is_bounded_inside_the_longest_string) {
  start();
  const size_t n = 14000000;
  size_t got;
  const char *before = "{\"Records\":[{\"SequenceNumber\":\"1\",\"Data\":\"", *after = "\"}]}";
  long_string(before, 'A', after, SLP_FORM_JSON, n, &got);
  CHECK_INT(got, n / 4 * 3);
  long_string(before, 'A', "!AAA\"}]}", SLP_FORM_JSON, n, &got); /* decoded, then all put back */
  CHECK_INT(got, n + 4);
  CHECK_INT(page->raw_n, 1);
  slp_str raw = slp_rec_data(page, &page->recs[0]);
  for (size_t i = 0; i < n; i++) CHECK(raw.p[i] == 'A');
  long_string("{\"Unknown\":\"", 'x', "\"}", SLP_FORM_JSON, n, &got);
  long_string("{\"Unknown\":\"\\n", 'x', "\"}", SLP_FORM_JSON, n, &got);
  long_string("{", ' ', "}", SLP_FORM_JSON, n, &got);
  /* {"Records": [{"SequenceNumber": "1", "Data": base64 as text}]} */
  char head[] =
      "\xa1gRecords\x81\xa2nSequenceNumber\x61\x31"
      "dData\x7a\x01\x01\x01\x01";
  const size_t cbor_n = 0x01010101 - 1; /* the length above, less the character that follows */
  long_string(head, 'A', "A", SLP_FORM_CBOR, cbor_n, &got);
  CHECK_INT(got, 0x01010101);
  CHECK_INT(page->raw_n, 1); /* no multiple of four */
  head[sizeof head - 2] = 0x04;
  long_string(head, 'A', "", SLP_FORM_CBOR, 0x01010104, &got);
  CHECK_INT(got, 0x01010104 / 4 * 3);
  long_string("\xa1gUnknown\x7a\x01\x01\x01\x01", 'x', "", SLP_FORM_CBOR, 0x01010101, &got);
  long_string("\xa1gUnknown\x9f", 1, "\xff", SLP_FORM_CBOR, n, &got);
  finish();
}

/* ---- failing memory --------------------------------------------------------------------------------- */

TEST(every_failing_allocation_is_told_and_leaks_nothing) {
  static const char text[] = "{\"ChildShards\":[{\"ShardId\":\"c\",\"ParentShards\":[\"p\"]}],\"Records\":[";
  int done = 0;
  for (size_t n = 0; !done; n++) {
    CHECK(n < 100);
    scarce memory = {.left = -1};
    mem = slp_mem_new(scarce_alloc, &memory);
    memory.left = (int64_t)n;
    page = slp_page_new(mem);
    reader = page ? slp_page_reader_new(mem) : NULL;
    int64_t left = memory.left;
    memory.left = -1;
    if (reader) {
      slp_buf_add_z(&page->body, text);
      for (int i = 1; i <= 600; i++)
        slp_buf_addf(&page->body, "%s{\"SequenceNumber\":\"%d\"}", i > 1 ? "," : "", i);
      slp_buf_add_z(&page->body, "]}");
      slp_page_reader_begin(reader, page, SLP_FORM_JSON);
      memory.left = left;
      int r;
      do r = slp_page_read(reader, 1000, 10);
      while (r == SLP_MORE);
      memory.left = -1;
      CHECK(r == 0 || r == SLP_ENOMEM);
      if (r == 0) CHECK_INT(page->recs_n, 600);
      done = r == 0;
      CHECK(n > 0 || !done);
    }
    slp_page_reader_free(reader);
    slp_page_free(page);
    CHECK_INT(mem->live_blocks, 0);
    slp_mem_drop(mem);
  }
}

TEST(counts_have_limits) {
  start();
  slp_buf_add_z(&page->body, "{\"ChildShards\":[{}");
  for (int i = 1; i < SLP_PAGE_CHILDREN_MAX; i++) slp_buf_add_z(&page->body, ",{}");
  size_t n = page->body.n;
  slp_buf_add_z(&page->body, "]}");
  slp_page_reader_begin(reader, page, SLP_FORM_JSON);
  CHECK_INT(slp_page_read(reader, 1 << 20, 10), 0);
  CHECK_INT(page->children_n, SLP_PAGE_CHILDREN_MAX);
  page->body.n = n;
  slp_buf_add_z(&page->body, ",{}]}");
  slp_page_reader_begin(reader, page, SLP_FORM_JSON);
  CHECK_INT(slp_page_read(reader, 1 << 20, 10), SLP_ELIMIT);
  slp_buf_clear(&page->body);
  slp_buf_add_z(&page->body, "{\"Records\":[{\"SequenceNumber\":\"1\"}");
  for (int i = 0; i < SLP_PAGE_RECORDS_MAX; i++) slp_buf_add_z(&page->body, ",{\"SequenceNumber\":\"1\"}");
  slp_buf_add_z(&page->body, "]}");
  slp_page_reader_begin(reader, page, SLP_FORM_JSON);
  int r;
  do r = slp_page_read(reader, 1 << 20, 1000);
  while (r == SLP_MORE);
  CHECK_INT(r, SLP_ELIMIT);
  CHECK_INT(page->recs_n, SLP_PAGE_RECORDS_MAX);
  finish();
}

/* The quick reader reads most of these records. A record with an unknown member ("X") goes to the general
 * reader, which must tell the two apart in the same way. */
TEST(a_record_without_a_key_is_told_from_one_with_an_empty_key) {
  static const struct {
    const char *members; /* beside the number */
    int keyless;
  } cases[] = {{"\"PartitionKey\":\"\",", 0},
               {"\"PartitionKey\":null,", 1},
               {"", 1},
               {"\"PartitionKey\":\"k\",", 0},
               {"\"X\":1,", 1},
               {"\"X\":1,\"PartitionKey\":\"\",", 0},
               {"\"X\":1,\"Data\":\"YQ==\",", 1},
               {"\"Data\":\"YQ==\",", 1},
               {"\"Data\":\"!\",", 1},
               {"\"PartitionKey\":\"k\",\"PartitionKey\":null,", 1}};
  start();
  for (size_t i = 0; i < SLP_COUNT(cases); i++) {
    char text[300];
    snprintf(text, sizeof text, "{\"Records\":[{%s\"SequenceNumber\":\"1\"}]}", cases[i].members);
    CHECK_INT(read_json(text), 0);
    CHECK_INT((page->recs[0].flags & SLP_REC_KEYLESS) != 0, cases[i].keyless);
    CHECK_INT((page->recs[0].flags & SLP_REC_RAW) != 0, strstr(text, "!") != NULL);
    CHECK_INT(page->recs[0].key_n, strstr(text, "\"k\"") && !cases[i].keyless);
    slp_page_reset(page);
  }
  finish();
}

TEST(a_page_is_cut_to_its_first_rows) {
  start();
  CHECK_INT(read_json("{\"Records\":[{\"SequenceNumber\":\"1\",\"Data\":\"YQ==\",\"PartitionKey\":\"k\"},"
                      "{\"PartitionKey\":\"long\",\"Data\":\"YmI=\",\"SequenceNumber\":\"22\"},"
                      "{\"SequenceNumber\":\"333\",\"Data\":\"Y2Nj\",\"PartitionKey\":\"k\"}],"
                      "\"MillisBehindLatest\":0,\"NextShardIterator\":\"next\"}"),
            0);
  size_t before = slp_page_bytes(page);
  CHECK_INT(slp_page_rows_end(page, 0, 0), 0);
  CHECK(slp_page_rows_end(page, 0, 2) < slp_page_rows_end(page, 2, 3));
  slp_page_cut(page, 2);
  CHECK_INT(page->recs_n, 2);
  CHECK_INT(page->next.n, 0);
  CHECK(slp_page_bytes(page) < before);
  CHECK_REC(0, seq, "1");
  CHECK_REC(0, data, "a");
  CHECK_REC(1, seq, "22");
  CHECK_REC(1, key, "long");
  CHECK_REC(1, data, "bb");
  CHECK_INT(page->body.n, slp_page_rows_end(page, 0, 2));
  slp_page_reset(page); /* and it takes another answer */
  CHECK_INT(read_json("{\"Records\":[{\"SequenceNumber\":\"1\",\"Data\":\"YQ==\",\"PartitionKey\":\"k\"}]}"),
            0);
  CHECK_REC(0, data, "a");
  finish();
}
