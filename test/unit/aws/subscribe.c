/* aws/subscribe.c: a subscription cut at every byte, ended at every byte, in pieces of every size; pages
 * that are not there yet, budgets, silence, exceptions. The transport is played here, bytes and all; the
 * real one is met in test/process/tail_push.py. */
#include "aws/subscribe.h"

#include "aws/limits.h"
#include "aws_fake_host.h"
#include "aws_quotes.h"
#include "codec/crc32.h"
#include "sloop.h"

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_host_ops wired;
static slp_op_subscribe op;
static slp_page *page;
static int done, events, denied, keep_page_away;
static char seen[400]; /* what events brought, in order */
static const fake_pair env_keys[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                     {"AWS_SECRET_ACCESS_KEY", "secret"},
                                     {"AWS_REGION", "us-east-1"},
                                     {NULL, NULL}};
static const fake_pair *keys = env_keys;
static const char *request_id = "";

/* ---- the transport ------------------------------------------------------------------------------------- */
static slp_http *wire;
static const char *bytes; /* of the answer, up to where it breaks or ends */
static size_t bytes_n, given, piece;
static int paused, ends_with;
static slp_event flow;

static void on_more_event(slp_event *ev) {
  slp_http *call = SLP_OWNER(ev, slp_http, more);
  call->on_more(call);
}

static void on_done_event(slp_event *ev) {
  slp_http *call = SLP_OWNER(ev, slp_http, ev);
  call->on_done(call);
}

static void on_flow(slp_event *ev) {
  (void)ev;
  if (!wire || paused) return;
  if (given == bytes_n) {
    if (ends_with == SLP_MORE) return; /* it stays open */
    slp_http *call = wire;
    wire = NULL;
    call->error = ends_with;
    call->status = 200;
    call->ev.run = on_done_event;
    slp_unpost(&call->more);
    slp_post(&f.h, &call->ev);
    return;
  }
  size_t n = bytes_n - given < piece ? bytes_n - given : piece;
  wire->status = 200;
  if (!wire->may_grow(wire, n)) {
    paused = 1;
    return;
  }
  CHECK_INT(slp_buf_add(wire->into, bytes + given, n), 0);
  given += n;
  wire->more.run = on_more_event;
  slp_post(&f.h, &wire->more);
  slp_post(&f.h, &flow);
}

static void wired_send(slp_host *h, slp_http *call) {
  CHECK_INT(call->lane, SLP_LANE_PUSH);
  call->sent_us = slp_now_us(h);
  snprintf(call->request_id, sizeof call->request_id, "%s", request_id);
  call->date_ms = 1000;
  wire = call;
  slp_post(h, &flow);
}

static void wired_cancel(slp_host *h, slp_http *call) {
  (void)h;
  slp_unpost(&call->more);
  slp_unpost(&call->ev);
  wire = NULL;
}

static void wired_resume(slp_host *h, slp_http *call) {
  if (wire != call) return; /* it is over, which is not told yet */
  paused = 0;
  slp_post(h, &flow);
}

/* ---- the stream ------------------------------------------------------------------------------------------ */
static char stream[11000000];
static size_t stream_n, ends[8], ends_n; /* where each message ends */
static int more_headers;                 /* each of 108 bytes */

static void be32(size_t v) {
  for (int i = 3; i >= 0; i--) stream[stream_n++] = (char)(v >> 8 * i);
}

static void text_header(const char *name, const char *value) {
  stream[stream_n++] = (char)strlen(name);
  stream_n += (size_t)sprintf(stream + stream_n, "%s", name);
  stream[stream_n++] = 7;
  stream[stream_n++] = 0;
  stream[stream_n++] = (char)strlen(value);
  stream_n += (size_t)sprintf(stream + stream_n, "%s", value);
}

static void add(const char *type, const char *kind, const char *name, const char *payload) {
  size_t from = stream_n, headers = 13 + 3 + 1 + strlen(type) + strlen(kind) + 4 + strlen(name);
  char more[13], value[101] = "";
  headers += (size_t)more_headers * 108;
  be32(16 + headers + strlen(payload));
  be32(headers);
  be32(slp_crc32((slp_str){stream + from, 8}));
  text_header(":message-type", type);
  text_header(kind, name);
  memset(value, 'v', 100);
  for (int i = 0; i < more_headers; i++) {
    snprintf(more, sizeof more, ":x%02u", (unsigned)i % 100);
    text_header(more, value);
  }
  CHECK_INT(stream_n, from + 12 + headers);
  stream_n += (size_t)sprintf(stream + stream_n, "%s", payload);
  be32(slp_crc32((slp_str){stream + from, stream_n - from}));
  ends[ends_n++] = stream_n;
}

static void add_event(const char *seq) {
  char payload[300];
  snprintf(payload, sizeof payload,
           "{\"Records\":[{\"SequenceNumber\":\"%s\",\"Data\":\"eA==\",\"PartitionKey\":\"k\"}],"
           "\"ContinuationSequenceNumber\":\"%s5\",\"MillisBehindLatest\":0}",
           seq, seq);
  add("event", ":event-type", "SubscribeToShardEvent", payload);
}

/* ---- one play -------------------------------------------------------------------------------------------- */
static void on_event(slp_op_subscribe *o) {
  CHECK(o == &op && page->recs_n == 1);
  slp_str seq = slp_rec_seq(page, &page->recs[0]);
  snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s(%.*s) ", (int)seq.n, seq.p,
           (int)page->next.n, page->next.p);
  CHECK_TEXT(slp_rec_data(page, &page->recs[0]), "x");
  events++;
  slp_page_reset(page);
  if (!keep_page_away) slp_subscribe_next(&op, page);
}

static void on_over(slp_op *o) {
  CHECK(o == &op.op);
  done++;
}

static int may_grow(slp_op_subscribe *o, size_t n) {
  (void)o, (void)n;
  return !denied;
}

static void open_it(size_t cut, int how) {
  char why[160];
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = keys;
  wired = *f.h.ops;
  wired.http_send = wired_send;
  wired.http_cancel = wired_cancel;
  wired.http_resume = wired_resume;
  f.h.ops = &wired;
  flow.run = on_flow;
  slp_aws_options o = {.endpoint = "http://127.0.0.1:8000", .getenv_fn = fake_getenv, .getenv_ctx = &f};
  if (slp_aws_new(&aws, &f.h, &o, why)) CHECK_FAIL("%s", why);
  bytes = stream;
  bytes_n = cut;
  given = 0;
  paused = done = events = 0;
  ends_with = how;
  seen[0] = 0;
  page = slp_page_new(mem);
  op = (slp_op_subscribe){.op = {.on_done = on_over},
                          .consumer_arn = SLP_STR("arn:c"),
                          .shard = SLP_STR("s"),
                          .kind = SLP_ITER_OLDEST,
                          .may_grow = may_grow,
                          .on_event = on_event};
  CHECK_INT(slp_subscribe_begin(aws, &op), 0);
  if (!keep_page_away) slp_subscribe_next(&op, page);
  CHECK(!done && !events); /* never inside the call */
}

static void close_it(void) {
  slp_subscribe_cancel(&op);
  slp_unpost(&flow);
  slp_page_free(page);
  slp_aws_drop(aws);
  fake_end(&f, mem);
}

static void make_stream(void) {
  stream_n = ends_n = 0;
  add("event", ":event-type", "initial-response", "{}");
  add_event("11");
  add("event", ":event-type", "SomethingNew", "[1]");
  add_event("22");
  add_event("33");
}

static size_t whole_before(size_t cut) { return (cut >= ends[1]) + (cut >= ends[3]) + (cut >= ends[4]); }

static int is_boundary(size_t cut) {
  for (size_t i = 0; i < ends_n; i++) {
    if (cut == ends[i]) return 1;
  }
  return cut == 0;
}

/* Whatever came whole is handed out, each once and in order, and then the end is told as it was. */
static void cut_everywhere(int how) {
  static const char all[] = "11(115) 22(225) 33(335) ";
  make_stream();
  for (piece = 1; piece < 4096; piece *= 7) {
    for (size_t cut = 0; cut <= stream_n; cut++) {
      open_it(cut, how);
      fake_run(&f, 5000000);
      CHECK_INT(done, 1);
      CHECK_INT((size_t)events, whole_before(cut));
      CHECK(strncmp(all, seen, strlen(seen)) == 0 && strlen(seen) == 8u * (size_t)events);
      int fine = how == 0 && is_boundary(cut);
      if ((op.op.fail.class == SLP_FINE) != fine)
        CHECK_FAIL("cut at %zu of %zu in pieces of %zu: %s", cut, stream_n, piece, op.op.fail.message);
      close_it();
    }
  }
}

/* A payload behind a short head stays where it came; one behind a long head is moved to the front. Both are
 * read. */
TEST(heads_of_any_length) {
  keep_page_away = 0;
  piece = 4000;
  for (more_headers = 0; more_headers < 60; more_headers++) {
    make_stream();
    open_it(stream_n, 0);
    fake_run(&f, 5000000);
    CHECK_STR(seen, "11(115) 22(225) 33(335) ");
    CHECK_INT(done, 1);
    close_it();
  }
  more_headers = 0;
}

/* As soon as the length of a large event is known, there is room for the whole event, and no more than that. */
static size_t cap_of_page;
static void on_large_event(slp_op_subscribe *o) {
  cap_of_page = page->body.cap;
  on_event(o);
}

/* Makes the stream one event with a payload of so many bytes. */
static void make_large_event(size_t payload_bytes) {
  static char payload[10500000];
  int n = snprintf(payload, sizeof payload,
                   "{\"Records\":[{\"SequenceNumber\":\"11\",\"Data\":\"eA==\",\"PartitionKey\":\"k\"}],"
                   "\"ContinuationSequenceNumber\":\"115\",\"MillisBehindLatest\":0,\"Beside\":\"");
  memset(payload + n, 'b', payload_bytes - (size_t)n);
  strcpy(payload + payload_bytes, "\"}");
  stream_n = ends_n = 0;
  add("event", ":event-type", "SubscribeToShardEvent", payload);
  piece = 16384;
}

TEST(a_large_event_takes_the_room_it_needs) {
  static const size_t sizes[] = {150000, 4100000, 4194304, 9000000, 10400000};
  for (size_t i = 0; i < SLP_COUNT(sizes); i++) {
    make_large_event(sizes[i]);
    open_it(stream_n, 0);
    op.on_event = on_large_event;
    fake_run(&f, 5000000);
    CHECK_STR(seen, "11(115) ");
    CHECK(cap_of_page >= stream_n && cap_of_page <= stream_n + 16384);
    close_it();
  }
}

TEST(a_large_event_that_is_only_announced_takes_4_MB_and_then_twice_what_has_come) {
  static const size_t come[] = {100, 20000, 4000000, 5000000, 9000000};
  for (size_t i = 0; i < SLP_COUNT(come); i++) {
    make_large_event(10400000);
    open_it(come[i], SLP_MORE);
    fake_run(&f, 5000000);
    size_t room = come[i] < 4177920 ? 4194304 : 2 * come[i];
    CHECK(mem->peak_bytes >= come[i] && mem->peak_bytes < room + 100000);
    close_it();
  }
}

TEST(cut_at_every_byte) { cut_everywhere(-ECONNRESET); }
TEST(ended_at_every_byte) { cut_everywhere(0); }

/* A bit turned anywhere: events before it come, none behind it, and none is wrong. */
TEST(damaged_at_every_byte) {
  make_stream();
  piece = 50;
  for (size_t at = 0; at < stream_n; at++) {
    stream[at] ^= 0x10;
    open_it(stream_n, 0);
    fake_run(&f, 5000000);
    CHECK_INT(done, 1);
    CHECK(op.op.fail.class == SLP_TRANSIENT);
    CHECK(strncmp("11(115) 22(225) 33(335) ", seen, strlen(seen)) == 0);
    close_it();
    stream[at] ^= 0x10;
  }
}

/* A length of fewer bytes than a message begins with: they are waited for, and then it is seen to be damaged. */
TEST(a_length_that_is_too_small_is_no_whole_message) {
  make_stream();
  memset(stream + ends[0], 0, 4);
  for (piece = 1; piece < 4096; piece *= 7) {
    open_it(stream_n, SLP_MORE);
    fake_run(&f, 5000000);
    CHECK_INT(done, 1);
    CHECK(op.op.fail.class == SLP_TRANSIENT && events == 0);
    close_it();
  }
}

/* While a part of a message is here the shard is not silent. */
TEST(part_of_a_message_is_pending) {
  make_stream();
  for (piece = 1; piece < 4096; piece *= 7) {
    for (size_t cut = 0; cut <= stream_n; cut++) {
      open_it(cut, SLP_MORE);
      fake_run(&f, 1000000);
      CHECK_INT((size_t)events, whole_before(cut));
      CHECK_INT(op.pending, !is_boundary(cut));
      close_it();
    }
  }
}

/* Without a page nothing is taken off the connection but the piece that was on its way. */
TEST(a_page_is_waited_for) {
  make_stream();
  piece = 20;
  keep_page_away = 1;
  open_it(stream_n, SLP_MORE);
  fake_run(&f, 1000000);
  CHECK(paused && given == 0);
  for (int i = 1; i <= 3; i++) {
    slp_subscribe_next(&op, page);
    fake_run(&f, 1000000);
    CHECK_INT(events, i);
    CHECK(given < ends[i == 1 ? 1 : i + 1] + piece);
  }
  CHECK(!done);
  fake_run(&f, 600000000); /* who pauses can't blame the other end for its silence */
  CHECK(!done);
  close_it();
  keep_page_away = 0;
}

TEST(the_budget_says_no) {
  make_stream();
  piece = 20;
  denied = 1;
  open_it(stream_n, SLP_MORE);
  fake_run(&f, 60000000);
  CHECK(given == 0 && !done && paused);
  denied = 0;
  slp_subscribe_resume(&op);
  fake_run(&f, 1000000);
  CHECK_INT(events, 3);
  close_it();
}

TEST(silence_is_the_end) {
  make_stream();
  piece = 4096;
  open_it(ends[1], SLP_MORE);
  fake_run(&f, 29000000);
  CHECK(!done);
  CHECK_INT(events, 1);
  fake_run(&f, 2000000);
  CHECK_INT(done, 1);
  CHECK(op.op.fail.class == SLP_TRANSIENT && op.op.fail.code == SLP_ETIMEDOUT);
  close_it();
}

TEST(exceptions_and_errors) {
  static const struct {
    const char *type, *kind, *name;
    slp_class class;
  } rows[] = {{"exception", ":exception-type", "ResourceInUseException", SLP_BUSY},
              {"exception", ":exception-type", "ResourceNotFoundException", SLP_GONE},
              {"exception", ":exception-type", "KMSThrottlingException", SLP_THROTTLE},
              {"exception", ":exception-type", "KMSDisabledException", SLP_ACCESS},
              {"exception", ":exception-type", "InternalFailureException", SLP_TRANSIENT},
              {"exception", ":exception-type", "NeverHeardOfException", SLP_TRANSIENT},
              {"error", ":error-code", "InternalError", SLP_TRANSIENT}};
  for (size_t i = 0; i < SLP_COUNT(rows); i++) {
    stream_n = ends_n = 0;
    add_event("11");
    add(rows[i].type, rows[i].kind, rows[i].name, "{\"message\":\"so it is\"}");
    piece = 33;
    open_it(stream_n, SLP_MORE);
    fake_run(&f, 1000000);
    CHECK_INT(done, 1);
    CHECK_INT(events, 1);
    if (op.op.fail.class != rows[i].class)
      CHECK_FAIL("%s: %s %s", rows[i].name, slp_class_name(op.op.fail.class), op.op.fail.message);
    if (i < 5) CHECK(strstr(op.op.fail.message, "so it is"));
    close_it();
  }
}

/* What was sent minutes ago is quoted by the stream's end: in its name, its text, the request's id; also when the
 * connection is gone by the time that this is read, or when it is the connection's end that quotes. */
TEST(no_end_repeats_what_was_sent) {
  static const char *const secrets[] = {"wJalrXUtnFEMI/K7MDENG+bPxRfiCYzQ0pLmVtS",
                                        "FwoGZXIvYXdzEBYaDH/ab+cd==TheRestOfTheToken"};
  static const fake_pair env_quoted[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                         {"AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzQ0pLmVtS"},
                                         {"AWS_SESSION_TOKEN", "FwoGZXIvYXdzEBYaDH/ab+cd==TheRestOfTheToken"},
                                         {"AWS_REGION", "us-east-1"},
                                         {NULL, NULL}};
  static const size_t pads[] = {0, 40, 70, 110};
  enum { EXCEPTION, EXCEPTION_NAME, ERROR_TEXT, ERROR_NAME, DAMAGED, ENDS_FIRST, LOST_FIRST, HOWS };
  char q[QUOTE_ROOM], payload[QUOTE_ROOM + 50], about[100];
  for (int i = 0; i < HOWS * QUOTES * (int)(SLP_COUNT(pads) * SLP_COUNT(secrets)); i++) {
    int how = i % HOWS, as = i / HOWS % QUOTES, rest = i / HOWS / QUOTES;
    const char *secret = secrets[rest % 2];
    quote(q, secret, as, pads[rest / 2]);
    int behind = how == ENDS_FIRST || how == LOST_FIRST, name = how == EXCEPTION_NAME || how == ERROR_NAME;
    snprintf(about, sizeof about, "how %d, quote %d behind %zu", how, as, pads[rest / 2]);
    snprintf(payload, sizeof payload, "{\"message\":\"%s\"}", q);
    stream_n = ends_n = 0;
    add_event("11");
    if (behind) add_event("22");
    if (name)
      add(how == ERROR_NAME ? "error" : "exception", how == ERROR_NAME ? ":error-code" : ":exception-type", q,
          payload);
    else
      add(how == ERROR_TEXT ? "error" : "exception", how == ERROR_TEXT ? ":error-message" : ":exception-type",
          how == ERROR_TEXT ? q : "AccessDeniedException", payload);
    if (how == DAMAGED) stream[stream_n - 1] ^= 1;
    request_id = q;
    piece = 4096;
    keep_page_away = behind;
    keys = env_quoted;
    open_it(stream_n, how == LOST_FIRST ? -ECONNRESET : how == ENDS_FIRST ? 0 : SLP_MORE);
    if (behind) slp_subscribe_next(&op, page);
    fake_run(&f, 1000000);
    if (behind && !done) slp_subscribe_next(&op, page);
    fake_run(&f, 1000000);
    if (behind && !done) slp_subscribe_next(&op, page);
    fake_run(&f, 1000000);
    CHECK_INT(done, 1);
    CHECK(op.op.fail.class != SLP_FINE);
    quotes_nothing(op.op.fail.message, secret, about);
    quotes_nothing(op.op.fail.aws_code, secret, about);
    quotes_nothing(op.op.fail.request_id, secret, about);
    close_it();
  }
  request_id = "";
  keys = env_keys;
  keep_page_away = 0;
}

TEST(cancelled_at_any_time) {
  make_stream();
  piece = 10;
  for (uint64_t us = 0; us < 60; us++) {
    open_it(stream_n, 0);
    for (uint64_t i = 0; i < us && !done; i++) fake_run(&f, 1);
    close_it(); /* checks that nothing is left */
  }
}
