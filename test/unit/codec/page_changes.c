/* Pages of DynamoDB Streams: what is taken from each member, in any order and written in any way; that the
 * answer's bytes stay as they are; that slices, failing memory and pages of another service in between change
 * nothing. Random pages know by themselves what they hold. */
#include "codec/page_changes.h"

#include "check.h"
#include "scarce.h"
#include "codec/page_table.h"

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

static int read_sliced(const char *text, size_t n, size_t bytes_max, size_t records_max) {
  int r;
  slp_buf_clear(&page->body);
  CHECK_INT(slp_buf_add(&page->body, text, n), 0);
  slp_page_reader_begin(reader, page, SLP_FORM_CHANGES);
  for (size_t calls = 0; (r = slp_page_read(reader, bytes_max, records_max)) == SLP_MORE; calls++)
    CHECK(calls < 4 * n + 100);
  CHECK_INT(slp_page_read(reader, bytes_max, records_max), r); /* the verdict stays */
  if (r) CHECK(slp_page_reader_why(reader)[0]);
  CHECK(slp_page_reader_where(reader) <= n);
  CHECK(page->body.n >= n && memcmp(page->body.p, text, n) == 0);
  return r;
}

static int read_text(const char *text) { return read_sliced(text, strlen(text), 65536, 256); }

static slp_str piece(uint32_t at, size_t n) { return (slp_str){page->body.p + at, n}; }
static slp_str whole(size_t i) { return piece(page->changes[i].whole_at, page->changes[i].whole_n); }
static slp_str user(size_t i) { return piece(page->changes[i].user_at, page->changes[i].user_n); }
static slp_str id(size_t i) { return piece(page->changes[i].id_at, page->changes[i].id_n); }
static slp_str event(size_t i) { return piece(page->changes[i].event_at, page->changes[i].event_n); }
static slp_str seq(size_t i) { return slp_rec_seq(page, &page->recs[i]); }
static slp_str key(size_t i) { return slp_rec_key(page, &page->recs[i]); }
static slp_str data(size_t i) { return slp_rec_data(page, &page->recs[i]); }

TEST(a_record_as_the_service_writes_it) {
#define CHANGE                                                                                       \
  "{\"ApproximateCreationDateTime\":1.4798E9,\"Keys\":{\"Username\":{\"S\":\"Jos\\u00e9\"}},"        \
  "\"NewImage\":{\"Username\":{\"S\":\"Jos\\u00e9\"}},\"SequenceNumber\":\"100000000000000000001\"," \
  "\"SizeBytes\":59,\"StreamViewType\":\"NEW_IMAGE\"}"
#define USER "{\"principalId\":\"dynamodb.amazonaws.com\",\"type\":\"Service\"}"
#define RECORD                                                                          \
  "{\"awsRegion\":\"us-west-2\",\"dynamodb\":" CHANGE                                   \
  ",\"eventID\":\"f07f8ca4b0b26cb9\","                                                  \
  "\"eventName\":\"REMOVE\",\"eventSource\":\"aws:dynamodb\",\"eventVersion\":\"1.1\"," \
  "\"userIdentity\":" USER "}"
  start();
  CHECK_INT(read_text("{\"NextShardIterator\":\"arn:...|1|AAAA\",\"Records\":[" RECORD "]}"), 0);
  CHECK_INT(page->recs_n, 1);
  CHECK_TEXT(page->next, "arn:...|1|AAAA");
  CHECK_TEXT(seq(0), "100000000000000000001");
  CHECK_TEXT(key(0), "{\"Username\":{\"S\":\"Jos\\u00e9\"}}");
  CHECK_TEXT(data(0), CHANGE);
  CHECK_TEXT(whole(0), RECORD);
  CHECK_TEXT(user(0), USER);
  CHECK_TEXT(id(0), "f07f8ca4b0b26cb9");
  CHECK_TEXT(event(0), "REMOVE");
  CHECK_INT(page->recs[0].arrived_ms, 1479800000000);
  CHECK_INT(page->recs[0].flags, 0);
  CHECK_INT(page->behind_ms, -1);
  CHECK_INT(page->children_given, 0);
  CHECK_INT(page->records_given, 1);
  CHECK_INT(page->largest_bytes, sizeof(CHANGE) - 1);
  finish();
}

TEST(what_is_absent_or_null_is_empty) {
  start();
  CHECK_INT(read_text("{}"), 0);
  CHECK_INT(page->records_given, 0);
  CHECK(page->next.p == NULL);
  CHECK_INT(read_text("{\"Records\":[],\"NextShardIterator\":null}"), 0);
  CHECK_INT(page->records_given, 1);
  CHECK(page->next.p == NULL);
  CHECK_INT(read_text("{\"Records\":[{\"eventName\":null,\"eventID\":null,\"userIdentity\":null,"
                      "\"dynamodb\":{\"SequenceNumber\":\"7\",\"Keys\":null}}]}"),
            0);
  CHECK_INT(key(0).n + user(0).n + id(0).n + event(0).n, 0);
  CHECK_INT(page->recs[0].arrived_ms, -1);
  CHECK_INT(page->latest_ms, -1);
  finish();
}

TEST(times_of_every_server) {
  static const struct {
    const char *text;
    int64_t ms;
  } times[] = {{"1767312000", 1767312000000},
               {"1767312000.638", 1767312000638},
               {"1767312000.5", 1767312000500},
               {"1.767312000123E9", 1767312000123},
               {"1767312000.0006", 1767312000001},
               {"1767312000123", 1767312000123},
               {"-5", -1},
               {"0", 0}};
  start();
  for (size_t i = 0; i < SLP_COUNT(times); i++) {
    char text[200];
    snprintf(text, sizeof text,
             "{\"Records\":[{\"dynamodb\":{\"ApproximateCreationDateTime\":%s,\"SequenceNumber\":\"1\"}}]}",
             times[i].text);
    CHECK_INT(read_text(text), 0);
    CHECK_INT(page->recs[0].arrived_ms, times[i].ms);
  }
  finish();
}

TEST(escapes_are_undone_where_text_is_handed_out) {
  start();
  CHECK_INT(
      read_text("{\"NextShardItera\\u0074or\":\"a\\/"
                "b\\u00e9\",\"Records\":[{\"event\\u0049D\":\"\\u0031\\ud83d\\ude00\","
                "\"eventName\":\"IN\\u0053ERT\",\"dynamodb\":{\"Sequence\\u004eumber\":\"\\u0034\\u0032\","
                "\"Keys\":{\"\\u0061\":{\"S\":\"\\\"\"}}}}]}"),
      0);
  CHECK_TEXT(page->next, "a/b\xc3\xa9");
  CHECK_TEXT(id(0), "1\xf0\x9f\x98\x80");
  CHECK_TEXT(event(0), "INSERT");
  CHECK_TEXT(seq(0), "42");
  CHECK_TEXT(key(0), "{\"\\u0061\":{\"S\":\"\\\"\"}}");
  finish();
}

TEST(the_last_of_two_counts) {
  start();
  CHECK_INT(
      read_text("{\"Records\":[{\"dynamodb\":{\"SequenceNumber\":\"1\"}}],\"Records\":[{\"eventName\":\"A\","
                "\"dynamodb\":{\"SequenceNumber\":\"2\",\"Keys\":{},\"ApproximateCreationDateTime\":5},"
                "\"eventName\":\"B\",\"userIdentity\":{},\"userIdentity\":null,"
                "\"dynamodb\":{\"SequenceNumber\":\"3\",\"SequenceNumber\":\"4\"}}]}"),
      0);
  CHECK_INT(page->recs_n, 1);
  CHECK_TEXT(seq(0), "4");
  CHECK_INT(key(0).n, 0);
  CHECK_INT(page->recs[0].arrived_ms, -1);
  CHECK_TEXT(event(0), "B");
  CHECK_INT(user(0).n, 0);
  finish();
}

TEST(a_null_takes_back_what_was_said_before) {
  start();
  CHECK_INT(read_text("{\"Records\":[{\"dynamodb\":{\"SequenceNumber\":\"1\"}}],\"Records\":null}"), 0);
  CHECK_INT(page->recs_n, 0);
  CHECK_INT(page->records_given, 0);
  CHECK_INT(read_text("{\"Records\":[{\"dynamodb\":{\"SequenceNumber\":\"1\",\"SequenceNumber\":null}}]}"),
            SLP_EBADDATA);
  CHECK_STR(slp_page_reader_why(reader), "a record without SequenceNumber");
  finish();
}

TEST(no_room_behind_an_answer_for_its_texts_without_escapes) {
  static const char text[] = "{\"NextShardIterator\":\"a\\/b\"}";
  start();
  page->body.max = sizeof text; /* the answer, and less than the text */
  CHECK_INT(read_text(text), SLP_ELIMIT);
  CHECK_STR(slp_page_reader_why(reader), "the answer is too long");
  finish();
}

TEST(what_does_not_fit_is_refused_and_named) {
#define ONE(members) "{\"Records\":[{\"dynamodb\":{\"SequenceNumber\":\"1\"" members "}}]}"
  static const struct {
    const char *text;
    int verdict;
    const char *why;
  } bad[] = {
      {"[]", SLP_EBADDATA, "the answer is no object"},
      {"{\"Records\":{}}", SLP_EBADDATA, "Records is no list"},
      {"{\"Records\":[1]}", SLP_EBADDATA, "a record is no object"},
      {"{\"Records\":[{}]}", SLP_EBADDATA, "a record without dynamodb"},
      {"{\"Records\":[{\"dynamodb\":null}]}", SLP_EBADDATA, "a record without dynamodb"},
      {"{\"Records\":[{\"dynamodb\":[]}]}", SLP_EBADDATA, "dynamodb is no object"},
      {"{\"Records\":[{\"dynamodb\":{}}]}", SLP_EBADDATA, "a record without SequenceNumber"},
      {ONE(",\"SequenceNumber\":1"), SLP_EBADDATA, NULL},
      {ONE(",\"SequenceNumber\":\"1a\""), SLP_EBADDATA, "a SequenceNumber that is none"},
      {ONE(",\"SequenceNumber\":\"\""), SLP_EBADDATA, "a SequenceNumber that is none"},
      {ONE(",\"Keys\":[]"), SLP_EBADDATA, "Keys or userIdentity is no object"},
      {ONE(",\"ApproximateCreationDateTime\":\"x\""), SLP_EBADDATA, NULL},
      {ONE(",\"ApproximateCreationDateTime\":1e300"), SLP_ELIMIT, NULL},
      {"{\"Records\":[{\"dynamodb\":{\"SequenceNumber\":\"1\"},\"eventName\":5}]}", SLP_EBADDATA, NULL},
      {"{\"NextShardIterator\":{}}", SLP_EBADDATA, NULL},
      {ONE("") "x", SLP_EBADDATA, "something follows the value"},
      {ONE(",\"a\":\"\x01\""), SLP_EBADDATA, NULL}, /* nothing is taken unchecked */
      {ONE(",\"a\":\"\xc3(\""), SLP_EBADDATA, NULL},
      {"<html>", SLP_EBADDATA, NULL},
      {"", SLP_EBADDATA, NULL},
  };
  start();
  for (size_t i = 0; i < SLP_COUNT(bad); i++) {
    CHECK_INT(read_text(bad[i].text), bad[i].verdict);
    if (bad[i].why) CHECK_STR(slp_page_reader_why(reader), bad[i].why);
  }
  finish();
}

/* Keys of the largest items are far below it: 3 KiB, written as escapes or base64, and two names. */
TEST(keys_may_be_as_long_as_a_row_can_say) {
  start();
  for (size_t n = UINT16_MAX - 1; n <= UINT16_MAX + 1; n++) {
    slp_buf b;
    slp_buf_init(&b, mem, 1 << 20);
    slp_buf_add_z(&b, "{\"Records\":[{\"dynamodb\":{\"SequenceNumber\":\"1\",\"Keys\":{\"a\":\"");
    for (size_t i = 0; i < n - strlen("{\"a\":\"\"}"); i++) slp_buf_add_char(&b, 'k');
    slp_buf_add_z(&b, "\"}}}]}");
    CHECK_INT(read_sliced(b.p, b.n, 65536, 256), n > UINT16_MAX ? SLP_ELIMIT : 0);
    if (n <= UINT16_MAX) CHECK_INT(key(0).n, n);
    slp_buf_free(&b);
  }
  finish();
}

/* Attributes nest 32 deep (DynamoDB's limit), each level two of JSON. */
TEST(items_may_nest_as_deep_as_the_service_lets_them) {
  start();
  slp_buf b;
  slp_buf_init(&b, mem, 1 << 16);
  slp_buf_add_z(&b, "{\"Records\":[{\"dynamodb\":{\"SequenceNumber\":\"1\",\"NewImage\":{\"x\":");
  for (int i = 0; i < 32; i++) slp_buf_add_z(&b, "{\"L\":[");
  slp_buf_add_z(&b, "{\"S\":\"leaf\"}");
  for (int i = 0; i < 32; i++) slp_buf_add_z(&b, "]}");
  slp_buf_add_z(&b, "}}}]}");
  CHECK_INT(read_sliced(b.p, b.n, 65536, 256), 0);
  CHECK_INT(page->recs_n, 1);
  slp_buf_free(&b);
  finish();
}

/* ---- random pages -------------------------------------------------------------------------------------- */
static uint64_t state;
static uint32_t dice(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state % n);
}

typedef struct expected {
  size_t whole, whole_n, change, change_n, keys, keys_n, user, user_n;
  char seq[24], id[40], event[16];
  int64_t ms;
} expected;

static void put_space(slp_buf *b) {
  static const char *const spaces[] = {"", "", "", " ", "\n", "\t \r\n"};
  slp_buf_add_z(b, spaces[dice(6)]);
}

static void put_name(slp_buf *b, const char *name, int *first) {
  put_space(b);
  if (!*first) slp_buf_add_char(b, ',');
  *first = 0;
  put_space(b);
  slp_buf_addf(b, "\"%s\"", name);
  put_space(b);
  slp_buf_add_char(b, ':');
  put_space(b);
}

/* Writes a value with everything in it that could be mistaken for something else. */
static void put_noise(slp_buf *b, int depth) {
  static const char *const leaves[] = {"{\"S\":\"}]\\\"{\"}",
                                       "{\"N\":\"-1.5e+7\"}",
                                       "{\"NULL\":true}",
                                       "null",
                                       "[]",
                                       "{}",
                                       "-0.5e-3",
                                       "\"SequenceNumber\"",
                                       "{\"dynamodb\":{\"Keys\":1}}",
                                       "{\"S\":\"\\u20ac\\ud83d\\ude00\xe2\x82\xac\"}"};
  if (depth == 0 || dice(3)) {
    slp_buf_add_z(b, leaves[dice(SLP_COUNT(leaves))]);
    return;
  }
  int first = 1;
  slp_buf_add_char(b, '{');
  for (uint32_t i = dice(4); i > 0; i--) {
    static const char *const names[] = {"Keys", "M", "SequenceNumber", "L", "Records"};
    put_name(b, names[dice(5)], &first);
    put_noise(b, depth - 1);
  }
  put_space(b);
  slp_buf_add_char(b, '}');
}

static void put_object(slp_buf *b, size_t *at, size_t *n) {
  *at = b->n;
  slp_buf_add_z(b, "{\"a\":");
  put_noise(b, 3);
  put_space(b);
  slp_buf_add_char(b, '}');
  *n = b->n - *at;
}

static void put_change(slp_buf *b, expected *x, uint32_t i) {
  int first = 1, order = (int)dice(3);
  x->change = b->n;
  slp_buf_add_char(b, '{');
  for (int k = 0; k < 3; k++) {
    if (dice(2)) {
      put_name(b, "NewImage", &first);
      put_noise(b, 4);
    }
    switch ((k + order) % 3) {
      case 0:
        snprintf(x->seq, sizeof x->seq, "1000000000000%08u", i);
        put_name(b, "SequenceNumber", &first);
        slp_buf_addf(b, "\"%s\"", x->seq);
        break;
      case 1:
        if (dice(10) == 0) break;
        put_name(b, "Keys", &first);
        put_object(b, &x->keys, &x->keys_n);
        break;
      default:
        x->ms = -1;
        if (dice(10) == 0) break;
        x->ms = 1767312000000 + dice(1000000);
        put_name(b, "ApproximateCreationDateTime", &first);
        slp_buf_addf(b, "%lld.%03lld", (long long)(x->ms / 1000), (long long)(x->ms % 1000));
    }
  }
  put_space(b);
  slp_buf_add_char(b, '}');
  x->change_n = b->n - x->change;
}

static void put_record(slp_buf *b, expected *x, uint32_t i) {
  int first = 1, order = (int)dice(4);
  memset(x, 0, sizeof *x);
  x->whole = b->n;
  slp_buf_add_char(b, '{');
  for (int k = 0; k < 4; k++) {
    if (dice(3) == 0) {
      put_name(b, "eventSource", &first);
      put_noise(b, 2);
    }
    switch ((k + order) % 4) {
      case 0:
        put_name(b, "dynamodb", &first);
        put_change(b, x, i);
        break;
      case 1:
        snprintf(x->id, sizeof x->id, "%08x%08x", dice(1u << 30), i);
        put_name(b, "eventID", &first);
        slp_buf_addf(b, "\"%s\"", x->id);
        break;
      case 2:
        snprintf(x->event, sizeof x->event, "%s", dice(2) ? "MODIFY" : "UNKNOWN_EVENT");
        put_name(b, "eventName", &first);
        slp_buf_addf(b, "\"%s\"", x->event);
        break;
      default:
        if (dice(2)) break;
        put_name(b, "userIdentity", &first);
        put_object(b, &x->user, &x->user_n);
    }
  }
  put_space(b);
  slp_buf_add_char(b, '}');
  x->whole_n = b->n - x->whole;
}

static void check_record(size_t i, const expected *x, const slp_buf *b) {
  CHECK_MEM(whole(i).p, whole(i).n, b->p + x->whole, x->whole_n);
  CHECK_INT(page->changes[i].whole_at, x->whole);
  CHECK_INT(page->recs[i].data_at, x->change);
  CHECK_INT(page->recs[i].data_n, x->change_n);
  CHECK_INT(page->recs[i].key_n, x->keys_n);
  if (x->keys_n) CHECK_INT(page->recs[i].key_at, x->keys);
  CHECK_INT(page->changes[i].user_n, x->user_n);
  if (x->user_n) CHECK_INT(page->changes[i].user_at, x->user);
  CHECK_MEM(seq(i).p, seq(i).n, x->seq, strlen(x->seq));
  CHECK_MEM(id(i).p, id(i).n, x->id, strlen(x->id));
  CHECK_MEM(event(i).p, event(i).n, x->event, strlen(x->event));
  CHECK_INT(page->recs[i].arrived_ms, x->ms);
}

TEST(random_pages_in_slices_of_any_size) {
  start();
  expected all[200];
  for (uint64_t seed = 1; seed <= 300; seed++) {
    slp_buf b;
    uint32_t n;
    state = seed * 88172645463325252u;
    n = dice(seed % 10 == 0 ? 200 : 12);
    slp_buf_init(&b, mem, 1 << 22);
    slp_buf_add_z(&b, dice(2) ? "{\"NextShardIterator\":\"it|1|x\",\"Records\":[" : "{\"Records\" : [");
    for (uint32_t i = 0; i < n; i++) {
      if (i) slp_buf_add_char(&b, ',');
      put_record(&b, &all[i], i);
    }
    slp_buf_add_z(&b, "]}");
    CHECK_INT(read_sliced(b.p, b.n, seed % 3 ? 1 + dice(4000) : 1, 1 + dice(20)), 0);
    CHECK_INT(page->recs_n, n);
    CHECK_INT(page->unordered, 0);
    for (uint32_t i = 0; i < n; i++) check_record(i, &all[i], &b);
    slp_buf_free(&b);
  }
  finish();
}

/* ---- pages in turn ------------------------------------------------------------------------------------- */
TEST(a_page_may_go_from_one_service_to_the_other_and_back) {
  start();
  slp_buf b, k;
  slp_buf_init(&b, mem, 1 << 20);
  slp_buf_init(&k, mem, 1 << 20);
  slp_buf_add_z(&b, "{\"Records\":[");
  slp_buf_add_z(&k, "{\"Records\":[");
  for (int i = 0; i < 300; i++) {
    slp_buf_addf(&b, "%s{\"dynamodb\":{\"SequenceNumber\":\"%d\"},\"eventName\":\"E%d\"}", i ? "," : "",
                 i + 1, i);
    slp_buf_addf(&k, "%s{\"SequenceNumber\":\"%d\",\"Data\":\"\"}", i ? "," : "", i + 1);
  }
  slp_buf_add_z(&b, "]}");
  slp_buf_add_z(&k, "]}");
  for (int round = 0; round < 4; round++) {
    slp_page_reset(page);
    slp_buf_add(&page->body, k.p, k.n);
    slp_page_reader_begin(reader, page, SLP_FORM_JSON);
    int r;
    while ((r = slp_page_read(reader, 1000, 7)) == SLP_MORE) continue;
    CHECK_INT(r, 0);
    CHECK_INT(page->recs_n, 300);
    CHECK(page->changes == NULL); /* or it would be taken for a change */
    slp_page_reset(page);
    CHECK_INT(read_sliced(b.p, b.n, 500, 9), 0);
    CHECK_INT(page->recs_n, 300);
    CHECK_TEXT(event(299), "E299");
    CHECK(slp_page_bytes(page) >= page->body.cap + 300 * (sizeof(slp_rec) + sizeof(slp_rec_change)));
  }
  slp_buf_free(&b);
  slp_buf_free(&k);
  finish();
}

TEST(without_memory_the_page_fails_and_nothing_leaks) {
  size_t failed = 0;
  for (size_t n = 0;; n++) {
    scarce memory = {.left = -1};
    slp_mem *m = slp_mem_new(scarce_alloc, &memory);
    slp_page *p = slp_page_new(m);
    slp_page_reader *r = slp_page_reader_new(m);
    slp_buf_add_z(&p->body, "{\"Records\":[");
    for (int i = 0; i < 200; i++)
      slp_buf_addf(&p->body, "%s{\"eventID\":\"\\u0041%d\",\"dynamodb\":{\"SequenceNumber\":\"%d\"}}",
                   i ? "," : "", i, i + 1);
    slp_buf_add_z(&p->body, "]}");
    memory.left = (int64_t)n;
    slp_page_reader_begin(r, p, SLP_FORM_CHANGES);
    int e;
    while ((e = slp_page_read(r, 300, 10)) == SLP_MORE) continue;
    if (e) {
      CHECK_INT(e, SLP_ENOMEM);
      CHECK_STR(slp_page_reader_why(r), "no memory");
      failed++;
    }
    slp_page_reader_free(r);
    slp_page_free(p);
    CHECK_INT(m->live_blocks, 0);
    slp_mem_drop(m);
    if (!e) break;
  }
  CHECK(failed >= 5); /* both tables grow, and the body */
}

/* ---- children ------------------------------------------------------------------------------------------ */
TEST(children_from_elsewhere_are_copied_behind_the_answer) {
  char first[] = "shardId-1", parent[] = "shardId-0", second[] = "shardId-2";
  slp_shard_desc kids[SLP_PAGE_CHILDREN_MAX + 1] = {
      {.id = {first, 9}, .parent = {parent, 9}},
      {.id = {second, 9}, .parent = {parent, 9}, .adjacent_parent = {first, 9}}};
  start();
  CHECK_INT(read_text("{\"Records\":[" RECORD "]}"), 0);
  CHECK_INT(slp_page_give_children(page, kids, 2), 0);
  memset(first, 'x', 9);
  memset(parent, 'x', 9);
  CHECK_INT(page->children_n, 2);
  CHECK_TEXT(page->children[0].id, "shardId-1");
  CHECK_TEXT(page->children[0].parent, "shardId-0");
  CHECK_TEXT(page->children[1].id, "shardId-2");
  CHECK(page->children[0].adjacent_parent.p == NULL);
  CHECK_TEXT(page->children[1].adjacent_parent, "shardId-1");
  CHECK_TEXT(whole(0), RECORD); /* the body may have moved, the rows are places in it */
  CHECK_INT(read_text("{}"), 0);
  CHECK_INT(page->children_n, 0);
  CHECK_INT(slp_page_give_children(page, kids, SLP_PAGE_CHILDREN_MAX + 1), SLP_ELIMIT);
  CHECK_INT(page->children_n, 0);
  finish();
}
