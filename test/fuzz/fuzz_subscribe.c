/* fuzz_subscribe.c - the answer of SubscribeToShard, by aws/subscribe.c over a transport that is played here.
 * The first byte says how to cut it and when there is a page; the rest is taken as it is, and once more as a
 * list of messages apart by bytes 0x1e, whose first byte chooses a kind and whose sums are right.
 *
 * However it is cut, and whether pages are there before the bytes or after them, the same events come and the
 * same end is told. Of messages that are right, the events are those before the first one that ends it, and
 * each page is what the reader of pages makes of the payload by itself. Nothing is left behind. */
#include "aws/subscribe.h"

#include "aws_fake_host.h"
#include "codec/crc32.h"

#include "fuzz.h"

#define MESSAGES_MAX 64u

static fake_host f;
static slp_mem *mem;
static slp_aws *aws;
static slp_host_ops wired;
static slp_op_subscribe op;
static slp_page *page;
static const fake_pair env_keys[] = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                     {"AWS_SECRET_ACCESS_KEY", "secret"},
                                     {"AWS_REGION", "us-east-1"},
                                     {NULL, NULL}};

/* ---- the transport ------------------------------------------------------------------------------------- */
static slp_http *wire;
static const char *bytes;
static size_t bytes_n, given, piece;
static int paused;
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
    slp_http *call = wire;
    wire = NULL;
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
  REQUIRE(slp_buf_add(wire->into, bytes + given, n) == 0);
  given += n;
  wire->more.run = on_more_event;
  slp_post(&f.h, &wire->more);
  slp_post(&f.h, &flow);
}

static void wired_send(slp_host *h, slp_http *call) {
  call->sent_us = slp_now_us(h);
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
  if (wire != call) return;
  paused = 0;
  slp_post(h, &flow);
}

/* ---- one play ------------------------------------------------------------------------------------------ */
typedef struct result {
  uint32_t n, sums[MESSAGES_MAX * 2]; /* of events */
  int done;
  slp_fail fail;
} result;

static result *now;
static int page_waits; /* there is none yet when the bytes come */

static uint32_t sum_of(const slp_page *p) {
  uint32_t sum = (uint32_t)p->recs_n * 31 + (uint32_t)p->children_n * 7 + (uint32_t)p->behind_ms;
  sum = sum * 31 + slp_crc32(p->next);
  for (size_t i = 0; i < p->recs_n; i++)
    sum = sum * 31 + slp_crc32(slp_rec_seq(p, &p->recs[i])) + slp_crc32(slp_rec_data(p, &p->recs[i]));
  return sum;
}

static void on_event(slp_op_subscribe *o) {
  REQUIRE(o == &op && !now->done && now->n < SLP_COUNT(now->sums));
  now->sums[now->n++] = sum_of(page);
  slp_page_reset(page);
  if (!page_waits) slp_subscribe_next(&op, page);
}

static void on_over(slp_op *o) {
  REQUIRE(o == &op.op && !now->done);
  now->done = 1;
  now->fail = o->fail;
}

static void play(const char *p, size_t n, size_t in_pieces, int pages_late, result *ret) {
  char why[160];
  *ret = (result){0};
  now = ret;
  page_waits = pages_late;
  mem = slp_mem_new(NULL, NULL);
  fake_init(&f, mem);
  f.env = env_keys;
  wired = *f.h.ops;
  wired.http_send = wired_send;
  wired.http_cancel = wired_cancel;
  wired.http_resume = wired_resume;
  f.h.ops = &wired;
  flow.run = on_flow;
  slp_aws_options o = {.endpoint = "http://127.0.0.1:8000", .getenv_fn = fake_getenv, .getenv_ctx = &f};
  REQUIRE(slp_aws_new(&aws, &f.h, &o, why) == 0);
  bytes = p;
  bytes_n = n;
  piece = in_pieces;
  given = 0;
  paused = 0;
  page = slp_page_new(mem);
  op = (slp_op_subscribe){.op = {.on_done = on_over},
                          .consumer_arn = SLP_STR("arn:c"),
                          .shard = SLP_STR("s"),
                          .kind = SLP_ITER_OLDEST,
                          .on_event = on_event};
  REQUIRE(slp_subscribe_begin(aws, &op) == 0);
  if (!pages_late) slp_subscribe_next(&op, page);
  fake_run(&f, 1000000);
  for (uint32_t had = UINT32_MAX; pages_late && !ret->done && had != ret->n;) {
    had = ret->n;
    slp_subscribe_next(&op, page);
    fake_run(&f, 1000000);
  }
  REQUIRE(ret->done);
  slp_subscribe_cancel(&op);
  slp_unpost(&flow);
  slp_page_free(page);
  slp_aws_drop(aws);
  fake_end(&f, mem);
}

/* All ways give the same; returns it. */
static result played(const char *p, size_t n, size_t in_pieces) {
  result whole, pieces, late;
  play(p, n, n ? n : 1, 0, &whole);
  play(p, n, in_pieces, 0, &pieces);
  play(p, n, in_pieces, 1, &late);
  REQUIRE(whole.n == pieces.n && whole.n == late.n);
  REQUIRE(memcmp(whole.sums, pieces.sums, whole.n * sizeof whole.sums[0]) == 0);
  REQUIRE(memcmp(whole.sums, late.sums, whole.n * sizeof whole.sums[0]) == 0);
  REQUIRE(whole.fail.class == pieces.fail.class && whole.fail.class == late.fail.class);
  for (const char *c = whole.fail.message; *c; c++) REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7f);
  return whole;
}

/* ---- messages that are right --------------------------------------------------------------------------- */
typedef struct message_kind {
  const char *type, *header, *name;
  int is_event, ends;
} message_kind;
static const message_kind kinds[] = {
    {"event", ":event-type", "SubscribeToShardEvent", 1, 0},
    {"event", ":event-type", "SubscribeToShardEvent", 1, 0},
    {"event", ":event-type", "initial-response", 0, 0},
    {"event", ":event-type", "SomethingNew", 0, 0},
    {"news", ":event-type", "SomethingNew", 0, 0},
    {"exception", ":exception-type", "ResourceInUseException", 0, 1},
    {"exception", ":exception-type", "NeverHeardOfException", 0, 1},
    {"error", ":error-code", "InternalError", 0, 1},
};

static void put_be32(slp_buf *b, size_t v) {
  for (int i = 3; i >= 0; i--) slp_buf_add_char(b, (char)(v >> 8 * i));
}

static void put_header(slp_buf *b, const char *name, const char *value) {
  slp_buf_add_char(b, (char)strlen(name));
  slp_buf_add_z(b, name);
  slp_buf_add(b, "\7\0", 2);
  slp_buf_add_char(b, (char)strlen(value));
  slp_buf_add_z(b, value);
}

static void put_message(slp_buf *b, const message_kind *k, slp_str payload) {
  size_t from = b->n;
  size_t headers = 13 + 4 + strlen(k->type) + strlen(k->header) + 4 + strlen(k->name);
  put_be32(b, 16 + headers + payload.n);
  put_be32(b, headers);
  put_be32(b, slp_crc32((slp_str){b->p + from, 8}));
  put_header(b, ":message-type", k->type);
  put_header(b, k->header, k->name);
  slp_buf_add_str(b, payload);
  put_be32(b, slp_crc32((slp_str){b->p + from, b->n - from}));
}

/* What the reader of pages makes of it. 0: nothing. */
static int reads(slp_mem *m, slp_str payload, uint32_t *ret_sum) {
  slp_page *p = slp_page_new(m);
  slp_page_reader *r = slp_page_reader_new(m);
  REQUIRE(slp_buf_add_str(&p->body, payload) == 0);
  slp_page_reader_begin(r, p, SLP_FORM_JSON);
  int fine = slp_page_read(r, SIZE_MAX, SIZE_MAX) == 0;
  if (fine) *ret_sum = sum_of(p);
  slp_page_reader_free(r);
  slp_page_free(p);
  return fine;
}

static void play_messages(const uint8_t *data, size_t size, size_t in_pieces) {
  slp_mem *m = slp_mem_new(NULL, NULL);
  slp_buf b;
  uint32_t want[MESSAGES_MAX], want_n = 0;
  int over = 0;
  slp_buf_init(&b, m, 1 << 20);
  for (uint32_t i = 0; size && i < MESSAGES_MAX; i++) {
    const uint8_t *end = memchr(data, 0x1e, size);
    size_t n = end ? (size_t)(end - data) : size;
    const message_kind *k = &kinds[n ? data[0] % SLP_COUNT(kinds) : 0];
    slp_str payload = {(const char *)data + (n > 0), n ? n - 1 : 0};
    put_message(&b, k, payload);
    if (!over && k->is_event && !reads(m, payload, &want[want_n]))
      over = 1;
    else if (!over && k->is_event)
      want_n++;
    if (k->ends) over = 1;
    data += n + (end != NULL);
    size -= n + (end != NULL);
  }
  REQUIRE(slp_buf_failed(&b) == 0);
  result r = played(b.p ? b.p : "", b.n, in_pieces);
  REQUIRE(r.n == want_n && memcmp(r.sums, want, want_n * sizeof want[0]) == 0);
  REQUIRE((r.fail.class == SLP_FINE) == !over);
  slp_buf_free(&b);
  slp_mem_drop(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 || size > 1500) return 0;
  size_t in_pieces = 1u + data[0] % 50;
  char *copy = fuzz_copy(data + 1, size - 1);
  (void)played(copy, size - 1, in_pieces);
  free(copy);
  play_messages(data + 1, size - 1, in_pieces);
  return 0;
}
