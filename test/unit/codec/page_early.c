/* The page reader while the answer comes: in pieces of any size, cut anywhere and announced at that length,
 * wrong at any place, it ends as if all of it had been there at once; and it reads no byte that is not there
 * yet. */
#include "codec/page.h"

#include "check.h"
#include "codec/cbor.h"

static slp_mem *mem;
static slp_page *page, *want;
static slp_page_reader *reader;
static slp_buf body;

static void start(void) {
  mem = slp_mem_new(NULL, NULL);
  page = slp_page_new(mem);
  want = slp_page_new(mem);
  reader = slp_page_reader_new(mem);
  slp_buf_init(&body, mem, 8 << 20);
  CHECK(page && want && reader);
}

static void finish(void) {
  slp_buf_free(&body);
  slp_page_reader_free(reader);
  slp_page_free(page);
  slp_page_free(want);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* ---- answers ---------------------------------------------------------------------------------------- */
static uint64_t state = 88172645463325252u;
static uint64_t below(uint64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % n;
}

typedef enum { PLAIN, ESCAPED, SPACED, NESTED, NOT_BASE64, WITHOUT_DATA, KINDS } kind;

static void add_base64(size_t n) {
  for (size_t i = 0; i < n / 3; i++)
    slp_buf_addf(&body, "%c%c%cx", 'A' + (int)below(26), 'a' + (int)below(26), '0' + (int)below(10));
}

static void json_record(size_t i, kind k, size_t data_n) {
  const char *space = k == SPACED ? " \n " : "";
  slp_buf_addf(&body, "%s{%s\"SequenceNumber\":%s\"49590338%06zu\",", i ? "," : "", space, space, i);
  if (k == NESTED)
    slp_buf_addf(&body, "\"Else\":[{\"a\":{\"SequenceNumber\":\"%zu\"}},[null,1.5e3,true]],", i);
  slp_buf_addf(&body, "\"ApproximateArrivalTimestamp\":17673120%02zu.%03zu,\"PartitionKey\":\"%s%zu\"",
               i % 100, i % 1000, k == ESCAPED ? "k\\u00e9\\ud83d\\ude00\\n" : "key-", i);
  if (k != WITHOUT_DATA) {
    slp_buf_add_z(&body, i % 5 ? ",\"Data\":\"" : ",\"Data\":\"84mawgAA"); /* as aggregates begin */
    add_base64(data_n);
    slp_buf_add_z(&body, k == NOT_BASE64 ? "!\"" : "YQ==\"");
  }
  slp_buf_addf(&body, "%s}", space);
}

static void cbor_record(size_t i, kind k, size_t data_n) {
  char text[40];
  slp_cbor_put_map(&body, k == SPACED ? UINT64_MAX : k == NESTED ? 5 : k == WITHOUT_DATA ? 3 : 4);
  slp_cbor_put_text(&body, SLP_STR("SequenceNumber"));
  snprintf(text, sizeof text, "49590338%06zu", i);
  slp_cbor_put_text(&body, slp_str_of(text));
  if (k == NESTED) {
    slp_cbor_put_text(&body, SLP_STR("Else"));
    slp_cbor_put_array(&body, 2);
    slp_cbor_put_bytes(&body, SLP_STR("bytes"));
    slp_cbor_put_null(&body);
  }
  slp_cbor_put_text(&body, SLP_STR("ApproximateArrivalTimestamp"));
  if (k == ESCAPED)
    slp_cbor_put_i64(&body, 1767312000 + (int64_t)i);
  else
    slp_cbor_put_time_ms(&body, 1767312000000 + (int64_t)i);
  slp_cbor_put_text(&body, SLP_STR("PartitionKey"));
  snprintf(text, sizeof text, "k\xC3\xA9%zu", i);
  slp_cbor_put_text(&body, slp_str_of(text));
  if (k != WITHOUT_DATA) {
    slp_buf data;
    slp_cbor_put_text(&body, SLP_STR("Data"));
    slp_buf_init(&data, mem, 4 << 20);
    if (i % 5 == 0) slp_buf_add(&data, "\xF3\x89\x9A\xC2", 4); /* as aggregates begin */
    for (size_t n = 0; n < data_n; n++) slp_buf_add_char(&data, (char)('A' + below(26)));
    if (k == NOT_BASE64) slp_buf_add_z(&data, "?!");
    if (k == NOT_BASE64 || k == ESCAPED)
      slp_cbor_put_text(&body, slp_buf_str(&data));
    else
      slp_cbor_put_bytes(&body, slp_buf_str(&data));
    slp_buf_free(&data);
  }
  if (k == SPACED) slp_cbor_put_break(&body);
}

/* Records of about data_n bytes, every so many of another shape; 0: all are plain. */
static void json_answer(size_t records, size_t data_n, size_t odd) {
  slp_buf_clear(&body);
  slp_buf_add_z(&body, "{\"MillisBehindLatest\":1500,\"Records\":[");
  for (size_t i = 0; i < records; i++)
    json_record(i, odd && below(odd) == 0 ? (kind)below(KINDS) : PLAIN, data_n / 2 + below(data_n + 1));
  slp_buf_add_z(&body,
                "],\"ChildShards\":[{\"ShardId\":\"c\",\"ParentShards\":[\"p\",\"q\"]}],"
                "\"NextShardIterator\":\"it\\n\"}");
}

static void cbor_answer(size_t records, size_t data_n, size_t odd) {
  slp_buf_clear(&body);
  slp_cbor_put_map(&body, 3);
  slp_cbor_put_text(&body, SLP_STR("NextShardIterator"));
  slp_cbor_put_text(&body, SLP_STR("it\n"));
  slp_cbor_put_text(&body, SLP_STR("Records"));
  slp_cbor_put_array(&body, records);
  for (size_t i = 0; i < records; i++)
    cbor_record(i, odd && below(odd) == 0 ? (kind)below(KINDS) : PLAIN, data_n / 2 + below(data_n + 1));
  slp_cbor_put_text(&body, SLP_STR("MillisBehindLatest"));
  slp_cbor_put_i64(&body, 1500);
}

static void answer(slp_form form, size_t records, size_t data_n, size_t odd) {
  if (form == SLP_FORM_JSON)
    json_answer(records, data_n, odd);
  else
    cbor_answer(records, data_n, odd);
}

/* ---- reading ---------------------------------------------------------------------------------------- */
typedef struct verdict {
  int r;
  const char *why;
  size_t where;
} verdict;

static int read_on(void) {
  int r;
  do r = slp_page_read(reader, 65536, 256);
  while (r == SLP_MORE);
  return r;
}

static verdict read_at_once(size_t n, slp_form form) {
  slp_page_reset(want);
  CHECK_INT(slp_buf_add(&want->body, body.p, n), 0);
  slp_page_reader_begin(reader, want, form);
  int r = read_on();
  return (verdict){r, slp_page_reader_why(reader), slp_page_reader_where(reader)};
}

/* What is not there yet looks like the end of a record, of all of them, or like text. */
static void fill(char *p, size_t n, slp_form form) {
  static const char junk[] = "\"},]}{\"Records\":[{\"SequenceNumber\":\"7\",";
  for (size_t i = 0; i < n; i++)
    p[i] = form == SLP_FORM_JSON ? junk[i % (sizeof junk - 1)] : (char)(i % 3 ? 0x60 : 0xff);
}

/* ret_early: how many records were read before the last piece came. */
static verdict read_in_pieces(size_t n, slp_form form, size_t piece, size_t *ret_early) {
  slp_page_reset(page);
  CHECK_INT(slp_buf_reserve(&page->body, n), 0);
  fill(page->body.p, n, form);
  slp_page_reader_begin_early(reader, page, form, n);
  *ret_early = 0;
  while (page->body.n < n) {
    size_t take = n - page->body.n < piece ? n - page->body.n : piece;
    *ret_early = page->recs_n;
    CHECK_INT(slp_buf_add(&page->body, body.p + page->body.n, take), 0);
    (void)slp_page_read(reader, 65536, 256);
  }
  int r = read_on();
  return (verdict){r, slp_page_reader_why(reader), slp_page_reader_where(reader)};
}

static void check_text(slp_str a, slp_str b) { CHECK_MEM(a.p, a.n, b.p, b.n); }

static void check_same_page(void) {
  CHECK_INT(page->recs_n, want->recs_n);
  for (size_t i = 0; i < want->recs_n; i++) {
    const slp_rec *a = &page->recs[i], *b = &want->recs[i];
    CHECK(memcmp(a, b, sizeof *a) == 0);
    check_text(slp_rec_seq(page, a), slp_rec_seq(want, b));
    check_text(slp_rec_key(page, a), slp_rec_key(want, b));
    check_text(slp_rec_data(page, a), slp_rec_data(want, b));
  }
  check_text(page->next, want->next);
  CHECK_INT(page->behind_ms, want->behind_ms);
  CHECK_INT(page->children_n, want->children_n);
  for (size_t i = 0; i < want->children_n; i++) check_text(page->children[i].id, want->children[i].id);
  CHECK_INT(page->children_given, want->children_given);
  CHECK_INT(page->records_given, want->records_given);
  CHECK_INT(page->raw_n, want->raw_n);
  CHECK_INT(page->largest_bytes, want->largest_bytes);
  CHECK_INT(page->latest_ms, want->latest_ms);
  CHECK_INT(page->earliest_ms, want->earliest_ms);
  CHECK_INT(page->unordered, want->unordered);
  CHECK_INT(page->magic_n, want->magic_n);
}

/* The first n bytes as an answer of that length. Returns how many records were read before its last piece. */
static size_t check_pieces(size_t n, slp_form form, size_t piece) {
  size_t early;
  verdict a = read_at_once(n, form), b = read_in_pieces(n, form, piece, &early);
  if (a.r != b.r || a.where != b.where || strcmp(a.why, b.why) != 0)
    CHECK_FAIL("%zu bytes in pieces of %zu: %d %s (byte %zu) instead of %d %s (byte %zu)", n, piece, b.r,
               b.why, b.where, a.r, a.why, a.where);
  if (!a.r) check_same_page();
  return early;
}

static const slp_form forms[] = {SLP_FORM_JSON, SLP_FORM_CBOR};
static const size_t pieces[] = {1, 7, 1000, 16384, 65536};

/* ---- tests ------------------------------------------------------------------------------------------ */
TEST(records_are_read_before_the_last_piece_comes) {
  start();
  for (size_t f = 0; f < SLP_COUNT(forms); f++) {
    answer(forms[f], 400, 1024, 0);
    for (size_t i = 0; i < SLP_COUNT(pieces); i++) {
      size_t early = check_pieces(body.n, forms[f], pieces[i]);
      if (early < 400 * 3 / 4) CHECK_FAIL("%zu of 400 records, in pieces of %zu", early, pieces[i]);
    }
  }
  finish();
}

TEST(records_of_every_shape_and_size_are_the_same_in_pieces) {
  static const size_t sizes[] = {0, 100, 3000, 60000, 300000};
  start();
  for (size_t f = 0; f < SLP_COUNT(forms); f++)
    for (size_t s = 0; s < SLP_COUNT(sizes); s++)
      for (size_t odd = 1; odd <= 64; odd *= 8) {
        answer(forms[f], sizes[s] < 1000 ? 2500 : sizes[s] < 10000 ? 150 : 8, sizes[s], odd);
        for (size_t i = 0; i < SLP_COUNT(pieces); i++) check_pieces(body.n, forms[f], pieces[i]);
      }
  finish();
}

TEST(an_answer_announced_too_short_is_refused_in_the_same_way) {
  start();
  for (size_t f = 0; f < SLP_COUNT(forms); f++) {
    answer(forms[f], 60, 60, 4);
    for (size_t cut = 0; cut < body.n; cut++) check_pieces(cut, forms[f], cut % 2 ? 7 : 1000);
    answer(forms[f], 300, 1500, 8);
    for (size_t cut = 1; cut < body.n; cut += 1009) check_pieces(cut, forms[f], 16384);
  }
  finish();
}

TEST(a_wrong_byte_anywhere_is_found_in_the_same_way) {
  start();
  for (size_t f = 0; f < SLP_COUNT(forms); f++) {
    answer(forms[f], 200, 1500, 8);
    for (size_t at = 0; at < body.n; at += 1 + below(700)) {
      char was = body.p[at];
      body.p[at] = (char)(at % 3 ? below(256) : '"');
      check_pieces(body.n, forms[f], 16384);
      body.p[at] = was;
    }
  }
  finish();
}
