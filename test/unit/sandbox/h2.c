/* h2_conn.c, h2_stream.c - HTTP/2 against nghttp2's own client, without sockets and without memory. Over real
 * ones, and against clients that are not nghttp2's: process/sandbox_h2.py. */
#include "sandbox/h2_inside.h"

#include "aws_fake_host.h"
#include "base/states.h"
#include "moves.h"
#include "sandbox/front.h"
#include "scarce.h"

#define BODY_MAX 100000

static fake_host f;
static slp_mem *mem;
static slp_host_ops ops;
static scarce memory;
static sloop_sandbox_t b;

/* ---- the front: what the path says -------------------------------------------------------------------- */
static slp_served *held[8];
static int held_n, gone_n, asked_n;
static slp_str big;

static void on_gone(slp_served *rq) {
  for (int i = 0; i < held_n; i++)
    if (held[i] == rq) held[i] = NULL;
  gone_n++;
}

static void answer(slp_served *rq, slp_str text, size_t cut_after, int go_on) {
  slp_buf body;
  slp_http_header h = {SLP_STR("X-Test"), rq->header(rq, "host")};
  slp_buf_init(&body, mem, 1 << 25);
  CHECK(rq->method.n == 4 && rq->path.n); /* also when its peer has left */
  slp_buf_add_str(&body, text);
  slp_serve_answer a = {
      .status = 200, .headers = &h, .headers_n = 1, .body = &body, .date_ms = -1, .cut_after = cut_after};
  if (go_on)
    slp_serve_begin(rq, &a);
  else
    slp_serve(rq, &a);
  slp_buf_free(&body);
}

static void on_request(slp_listener *l, slp_served *rq) {
  CHECK(l == &b.listener);
  asked_n++;
  if (slp_str_is(rq->path, "/drop")) {
    slp_serve_drop(rq);
  } else if (slp_str_is(rq->path, "/cut")) {
    answer(rq, SLP_STR("0123456789"), 4, 0);
  } else if (slp_str_is(rq->path, "/hold") || slp_str_is(rq->path, "/stream")) {
    rq->on_gone = on_gone;
    held[held_n++] = rq;
    if (slp_str_is(rq->path, "/stream")) answer(rq, SLP_STR("one "), SIZE_MAX, 1);
  } else if (slp_str_is(rq->path, "/big")) {
    answer(rq, big, SIZE_MAX, 0);
  } else {
    answer(rq, rq->body.n ? rq->body : rq->method, SIZE_MAX, 0);
  }
}

/* ---- the host's side of a connection ------------------------------------------------------------------ */
typedef struct peer {
  slp_raw raw;
  nghttp2_session *session;
  slp_event ev; /* what was written went out */
  int closed;   /* 1 + slp_raw_end */
  int deaf, stuck, goaway;
  size_t wrote;
  struct {
    int status, over;
    uint32_t error;
    char text[64];
    size_t n;
  } got[64]; /* by the number of the stream */
} peer;
static peer p;

static void raw_write(slp_raw *raw, slp_buf *bytes) {
  CHECK(raw == &p.raw && !p.closed && !slp_list_linked(&p.ev.link) && bytes->n);
  p.wrote += bytes->n;
  if (!p.stuck) CHECK_INT(nghttp2_session_mem_recv(p.session, (const uint8_t *)bytes->p, bytes->n), bytes->n);
  slp_buf_free(bytes);
  if (!p.stuck) slp_post(&f.h, &p.ev);
}
static void on_out(slp_event *ev) {
  (void)ev;
  if (!p.closed) p.raw.on_written(&p.raw);
}
static void raw_read(slp_raw *raw, int on) {
  CHECK(raw == &p.raw);
  p.deaf = !on;
}
static int raw_has_room(slp_raw *raw, size_t more) { return raw->held + more <= 4 * BODY_MAX; }
static void raw_close(slp_raw *raw, slp_raw_end how) {
  CHECK(raw == &p.raw && !p.closed);
  p.closed = 1 + (int)how;
}

/* ---- the client --------------------------------------------------------------------------------------- */
static int on_header(nghttp2_session *s, const nghttp2_frame *frame, const uint8_t *name, size_t name_n,
                     const uint8_t *value, size_t value_n, uint8_t flags, void *user) {
  (void)s, (void)flags, (void)user;
  if (name_n == 7 && memcmp(name, ":status", 7) == 0)
    p.got[frame->hd.stream_id].status = (value[0] - '0') * 100 + (value[1] - '0') * 10 + value[2] - '0';
  if (name_n == 6 && memcmp(name, "x-test", 6) == 0)
    CHECK(value_n == 5 && memcmp(value, "there", 5) == 0); /* :authority */
  return 0;
}
static int on_data(nghttp2_session *s, uint8_t flags, int32_t id, const uint8_t *data, size_t n, void *user) {
  (void)s, (void)flags, (void)user;
  for (size_t i = 0; i < n; i++)
    if (p.got[id].n + i < sizeof p.got[id].text - 1) p.got[id].text[p.got[id].n + i] = (char)data[i];
  p.got[id].n += n;
  return 0;
}
static int on_close(nghttp2_session *s, int32_t id, uint32_t error, void *user) {
  (void)s, (void)user;
  p.got[id].over = 1;
  p.got[id].error = error;
  return 0;
}
static int on_frame(nghttp2_session *s, const nghttp2_frame *frame, void *user) {
  (void)s, (void)user;
  if (frame->hd.type == NGHTTP2_GOAWAY) p.goaway = 1 + (int)frame->goaway.error_code;
  return 0;
}

static void begin(void) {
  nghttp2_session_callbacks *cbs;
  memset(&p, 0, sizeof p);
  memset(&b, 0, sizeof b);
  memory = (scarce){.left = -1};
  held_n = gone_n = asked_n = 0;
  mem = slp_mem_new(scarce_alloc, &memory);
  fake_init(&f, mem);
  ops = fake_ops;
  ops.raw_write = raw_write;
  ops.raw_read = raw_read;
  ops.raw_has_room = raw_has_room;
  ops.raw_close = raw_close;
  f.h.ops = &ops;
  b.mem = mem;
  b.host = &f.h;
  b.listener = (slp_listener){.on_request = on_request, .body_max = BODY_MAX, .host = &f.h};
  slp_h2_offer(&b.h2, &b.listener);
  CHECK_INT(b.listener.preface.n, 24);
  nghttp2_session_callbacks_new(&cbs);
  nghttp2_session_callbacks_set_on_header_callback(cbs, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cbs, on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(cbs, on_close);
  nghttp2_session_callbacks_set_on_frame_recv_callback(cbs, on_frame);
  CHECK_INT(nghttp2_session_client_new(&p.session, cbs, NULL), 0);
  nghttp2_session_callbacks_del(cbs);
  nghttp2_submit_settings(p.session, NGHTTP2_FLAG_NONE, NULL, 0);
  p.raw.listener = &b.listener;
  p.ev.run = on_out;
}
static void connect_peer(void) { b.listener.on_raw(&b.listener, &p.raw); }
static void end(void) {
  if (!p.closed) slp_h2_stop(&b.h2);
  CHECK(p.closed);
  fake_run(&f, 100000); /* on_gone */
  for (int i = 0; i < held_n; i++)
    if (held[i]) CHECK_FAIL("request %d was not told that its peer left", i);
  CHECK(slp_list_empty(&b.h2.conns));
  nghttp2_session_del(p.session);
  slp_unpost(&p.ev);
  fake_end(&f, mem);
}

/* Carries the client's bytes over until neither side has more to say. */
static void run(void) {
  for (int quiet = 0; quiet < 2 && !p.closed;) {
    const uint8_t *bytes;
    ssize_t n = nghttp2_session_mem_send(p.session, &bytes);
    CHECK(n >= 0);
    if (n > 0) p.raw.on_bytes(&p.raw, (slp_str){(const char *)bytes, (size_t)n});
    quiet = n > 0 ? 0 : quiet + 1;
    fake_run(&f, 10000);
  }
}

static ssize_t read_body(nghttp2_session *s, int32_t id, uint8_t *to, size_t room, uint32_t *flags,
                         nghttp2_data_source *source, void *user) {
  slp_str *left = source->ptr;
  size_t n = left->n < room ? left->n : room;
  (void)s, (void)id, (void)user;
  memcpy(to, left->p, n);
  *left = (slp_str){left->p + n, left->n - n};
  if (!left->n) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return (ssize_t)n;
}
#define NV(n, v) \
  { (uint8_t *)(uintptr_t)(n), (uint8_t *)(uintptr_t)(v), strlen(n), strlen(v), NGHTTP2_NV_FLAG_NONE }
static int32_t ask(const char *path, slp_str *body, const char *name, const char *value) {
  nghttp2_nv head[] = {NV(":method", "POST"), NV(":scheme", "http"), NV(":path", path),
                       NV(":authority", "there"), NV(name ? name : "x", name ? value : "y")};
  nghttp2_data_provider from = {{.ptr = body}, read_body};
  int32_t id = nghttp2_submit_request(p.session, NULL, head, SLP_COUNT(head), body ? &from : NULL, NULL);
  CHECK(id > 0 && id < 64);
  return id;
}
static void expect(int32_t id, int status, const char *text, size_t n) {
  CHECK_INT(p.got[id].status, status);
  CHECK_STR(p.got[id].text, text);
  CHECK_INT(p.got[id].n, n);
  CHECK_INT(p.got[id].over, 1);
  CHECK_INT(p.got[id].error, 0);
}

/* ---- tests -------------------------------------------------------------------------------------------- */
TEST(requests_and_answers) {
  begin();
  connect_peer();
  slp_str body = SLP_STR("hello");
  int32_t a = ask("/", NULL, NULL, NULL), c = ask("/", &body, "expect", "100-continue");
  run();
  expect(a, 200, "POST", 4);
  expect(c, 200, "hello", 5);
  CHECK_INT(asked_n, 2);
  CHECK_INT(p.raw.held, 0);
  nghttp2_session_terminate_session(p.session, NGHTTP2_NO_ERROR);
  run();
  CHECK_INT(p.closed, 1 + SLP_RAW_LINGER);
  end();
}

TEST(an_answer_that_goes_on) {
  begin();
  connect_peer();
  int32_t a = ask("/stream", NULL, NULL, NULL);
  run();
  CHECK_STR(p.got[a].text, "one ");
  CHECK_INT(held[0]->waiting, 0);
  CHECK_INT(slp_serve_more(held[0], SLP_STR("two ")), 0);
  CHECK_INT(slp_serve_more(held[0], SLP_STR("three")), 0);
  CHECK_INT(held[0]->waiting, 9);
  run();
  CHECK_STR(p.got[a].text, "one two three");
  CHECK_INT(p.got[a].over, 0);
  slp_serve_end(held[0]);
  held[0] = NULL;
  run();
  expect(a, 200, "one two three", 13);
  end();
}

/* The less a peer reads of its answers, the less is sent, and the fewer of its requests are handed over. */
TEST(a_peer_that_does_not_read) {
  char *text = malloc(20u << 20);
  memset(text, 'x', 20u << 20);
  big = (slp_str){text, 20u << 20};
  begin();
  connect_peer();
  for (int i = 0; i < 10; i++) ask("/big", NULL, NULL, NULL);
  p.stuck = 1;
  run();
  CHECK_INT(asked_n, 2); /* 40 MiB wait: more than 32 */
  CHECK(p.wrote < 1u << 20);
  p.closed = 0;
  slp_h2_stop(&b.h2);
  end();
  free(text);
}

TEST(peers_that_leave) {
  begin();
  connect_peer();
  int32_t a = ask("/hold", NULL, NULL, NULL), c = ask("/stream", NULL, NULL, NULL);
  ask("/hold", NULL, NULL, NULL);
  run();
  CHECK_INT(held_n, 3);
  slp_served *first = held[0];
  nghttp2_submit_rst_stream(p.session, NGHTTP2_FLAG_NONE, a, NGHTTP2_CANCEL);
  nghttp2_submit_rst_stream(p.session, NGHTTP2_FLAG_NONE, c, NGHTTP2_CANCEL);
  first->on_gone = NULL; /* the server answers late, and is not told that the peer has reset the stream */
  held[0] = NULL;
  run();
  CHECK_INT(gone_n, 1);
  answer(first, SLP_STR("late"), SIZE_MAX, 0);
  p.closed = 1;
  p.raw.on_gone(&p.raw); /* and now the whole connection */
  fake_run(&f, 1000);
  CHECK_INT(gone_n, 2);
  end();
}

TEST(faults_end_the_connection) {
  static const struct {
    const char *path, *text;
    slp_raw_end how;
  } ends[] = {{"/drop", "", SLP_RAW_NOW}, {"/cut", "0123", SLP_RAW_RESET}};
  for (size_t i = 0; i < SLP_COUNT(ends); i++) {
    begin();
    connect_peer();
    ask("/hold", NULL, NULL, NULL);
    int32_t a = ask(ends[i].path, NULL, NULL, NULL);
    run();
    CHECK_INT(p.closed, 1 + ends[i].how);
    CHECK_STR(p.got[a].text, ends[i].text);
    CHECK_INT(p.got[a].over, 0);
    end();
    CHECK_INT(gone_n, 1);
  }
}

TEST(what_is_refused) {
  static char text[2 * BODY_MAX], value[4000];
  memset(value, 'v', sizeof value - 1);
  begin();
  connect_peer();
  slp_str a_body = {text, sizeof text}, b_body = a_body;
  int32_t a = ask("/", &a_body, "content-length", "200000"), c = ask("/", &b_body, NULL, NULL);
  run();
  expect(a, 413, "", 0);
  expect(c, 413, "", 0);
  nghttp2_nv head[20] = {NV(":method", "POST"), NV(":scheme", "http"), NV(":path", "/"),
                         NV(":authority", "there")};
  for (int i = 4; i < 13; i++) head[i] = (nghttp2_nv)NV("x", value);
  int32_t d = nghttp2_submit_request(p.session, NULL, head, 13, NULL, NULL);
  run();
  expect(d, 431, "", 0);
  CHECK_INT(asked_n, 0);
  slp_str bodies[8];
  int refused = 0;
  int32_t ids[8];
  p.raw.held = 3 * BODY_MAX; /* of others */
  for (int i = 0; i < 8; i++) {
    bodies[i] = (slp_str){text, 70000};
    ids[i] = ask("/", &bodies[i], NULL, NULL);
  }
  run();
  for (int i = 0; i < 8; i++) refused += p.got[ids[i]].status == 503;
  CHECK(refused > 0 && refused <= 8);
  CHECK_INT(p.raw.held, 3 * BODY_MAX);
  int32_t e = ask("/", NULL, NULL, NULL);
  run();
  expect(e, 200, "POST", 4);
  end();
}

TEST(stop_says_goaway) {
  begin();
  connect_peer();
  ask("/hold", NULL, NULL, NULL);
  run();
  slp_h2_stop(&b.h2);
  CHECK_INT(p.goaway, 1 + NGHTTP2_NO_ERROR);
  CHECK_INT(p.closed, 1 + SLP_RAW_NOW);
  end();
  CHECK_INT(gone_n, 1);
}

/* Each allocation in turn fails. Whatever that ends, nothing is left, and what was answered was whole. */
TEST(without_memory) {
  uint64_t n = 0;
  for (int failed = 1; failed; n++) {
    begin();
    slp_str body = SLP_STR("hello");
    memory.once = 1;
    memory.left = (int64_t)n;
    connect_peer();
    int32_t a = ask("/", &body, NULL, NULL), c = ask("/stream", NULL, NULL, NULL);
    int32_t d = ask("/hold", NULL, NULL, NULL);
    run();
    if (!p.closed && held_n == 2) {
      int r = slp_serve_more(held[0], SLP_STR("two"));
      if (r)
        slp_serve_drop(held[0]);
      else
        slp_serve_end(held[0]);
      held[0] = NULL;
      if (!p.closed) nghttp2_submit_rst_stream(p.session, NGHTTP2_FLAG_NONE, d, NGHTTP2_CANCEL);
      run();
    }
    failed = memory.failed > 0;
    memory.left = -1;
    if (p.got[a].over && p.got[a].status == 200) CHECK_INT(p.got[a].n == 5 || p.got[a].n == 0, 1);
    if (!failed) {
      expect(a, 200, "hello", 5);
      expect(c, 200, "one two", 7);
    }
    end();
  }
  CHECK(n > 30);
}

static int try_move(int from, int to) {
  slp_h2_stream st = {.state = (slp_h2_state)from};
  slp_h2_stream_move(&st, (slp_h2_state)to);
  return (int)st.state;
}
TEST(moves) {
  unsigned moves[SLP_H2_STATES] = {0};
  moves_find(moves, SLP_H2_STATES, try_move);
#define TO(s) SLP_BIT(SLP_H2_##s)
  CHECK_INT(moves[SLP_H2_COMING], TO(WHOLE) | TO(ANSWERING) | TO(OVER));
  CHECK_INT(moves[SLP_H2_WHOLE], TO(SERVING) | TO(OVER));
  CHECK_INT(moves[SLP_H2_SERVING], TO(ANSWERING) | TO(STREAMING) | TO(GONE) | TO(OVER));
  CHECK_INT(moves[SLP_H2_ANSWERING], TO(OVER));
  CHECK_INT(moves[SLP_H2_STREAMING], TO(ENDING) | TO(GONE) | TO(OVER));
  CHECK_INT(moves[SLP_H2_ENDING], TO(OVER));
  CHECK_INT(moves[SLP_H2_GONE], TO(OVER));
  CHECK_INT(moves[SLP_H2_OVER], 0);
}
