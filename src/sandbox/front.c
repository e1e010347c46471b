/* front.c - serves the model at a loopback port: takes HTTP requests and sends answers, on the caller's
 * loop. */
#include "sandbox/front.h"

#include "base/buf.h"
#include "base/clean.h"
#include "base/list.h"
#include "base/mem.h"
#include "host/host.h"
#include "sandbox/h2.h"
#include "sandbox/sandbox.h"

#include <sloop_sandbox.h>
#include <stdio.h>

/* the service takes records of up to 10 MiB; base64 and JSON make a request a third larger */
#define REQUEST_BYTES_MAX (16u << 20)
/* the most bytes that the requests of all connections may take together */
#define REQUESTS_BYTES_MAX (256u << 20)
#define ANSWER_BYTES_MAX (64u << 20)

/* ---- one request ------------------------------------------------------------------------------------ */
typedef struct delayed { /* an answer that is sent after a delay */
  slp_list link;
  slp_timer timer;
  sloop_sandbox_t *b;
  slp_served *rq; /* the request that is answered */
  slp_box_answer answer;
} delayed;

static slp_str header_of(void *arg, const char *name) {
  slp_served *rq = arg;
  return rq->header(rq, name);
}

static void push_begin(sloop_sandbox_t *b, slp_served *rq, slp_box_answer *answer,
                       const slp_serve_answer *out);

static void send_answer(sloop_sandbox_t *b, slp_served *rq, slp_box_answer *answer) {
  slp_http_header headers[6];
  char crc32[16];
  size_t n = 0;
  if (answer->drop) {
    if (answer->subscription) slp_push_close(answer->subscription);
    slp_serve_drop(rq);
    return;
  }
  headers[n++] = (slp_http_header){SLP_STR("x-amzn-RequestId"), slp_str_of(answer->request_id)};
  if (answer->content_type) {
    headers[n++] = (slp_http_header){SLP_STR("Content-Type"), slp_str_of(answer->content_type)};
  }
  if (answer->content_encoding) {
    headers[n++] = (slp_http_header){SLP_STR("Content-Encoding"), slp_str_of(answer->content_encoding)};
  }
  if (answer->protocol) {
    headers[n++] = (slp_http_header){SLP_STR("smithy-protocol"), slp_str_of(answer->protocol)};
  }
  if (answer->error_type[0]) {
    headers[n++] = (slp_http_header){SLP_STR("x-amzn-ErrorType"), slp_str_of(answer->error_type)};
  }
  if (answer->has_crc32) {
    snprintf(crc32, sizeof crc32, "%u", (unsigned)answer->crc32);
    headers[n++] = (slp_http_header){SLP_STR("x-amz-crc32"), slp_str_of(crc32)};
  }
  slp_serve_answer out = {.status = answer->status,
                          .headers = headers,
                          .headers_n = n,
                          .body = &answer->body,
                          .date_ms = slp_front_now_ms(b),
                          .cut_after = answer->cut_after};
  if (answer->subscription)
    push_begin(b, rq, answer, &out);
  else
    slp_serve(rq, &out);
}

static void delayed_free(delayed *d) {
  if (d->answer.subscription) slp_push_close(d->answer.subscription);
  slp_list_remove(&d->link);
  slp_timer_clear(d->b->host, &d->timer);
  slp_buf_free(&d->answer.body);
  slp_free(d->b->mem, d);
}

static void on_delay_over(slp_timer *timer) {
  delayed *d = SLP_OWNER(timer, delayed, timer);
  d->rq->on_gone = NULL;
  send_answer(d->b, d->rq, &d->answer);
  delayed_free(d);
}

static void on_peer_left(slp_served *rq) { delayed_free(rq->user); }

/* ---- subscriptions ------------------------------------------------------------------------------------ */
/* while more bytes than this wait for a client that does not read, no further events are written */
#define WAITING_MAX (1u << 20)
#define BURST 16 /* the most events of one subscription that are sent without a pause */

typedef struct pushed { /* a subscription, and the request that it answers */
  slp_list link;
  slp_timer timer;
  sloop_sandbox_t *b;
  slp_served *rq;
  slp_box_sub *sub;
} pushed;

static void pushed_free(pushed *p) {
  slp_list_remove(&p->link);
  slp_timer_clear(p->b->host, &p->timer);
  slp_push_close(p->sub);
  slp_free(p->b->mem, p);
}

static void pushed_drop(pushed *p) {
  slp_serve_drop(p->rq);
  pushed_free(p);
}

/* Sends the events that are due. If more events are due later, the timer calls this function again. If the
 * client is slow to read, on_sent calls it once the waiting bytes were sent. */
static void push_on(pushed *p) {
  sloop_sandbox_t *b = p->b;
  int64_t now_ms = slp_front_now_ms(b), at_ms = INT64_MAX;
  slp_push_next next = SLP_PUSH_OPEN;
  slp_buf bytes;
  /* the client is slow to read; on_sent will call this function again */
  if (p->rq->waiting > WAITING_MAX) return;
  slp_buf_init(&bytes, b->mem, ANSWER_BYTES_MAX);
  for (int i = 0; i < BURST && next == SLP_PUSH_OPEN; i++) {
    next = slp_push_more(p->sub, now_ms, &bytes, &at_ms);
    if (at_ms > now_ms) break;
  }
  int r = slp_serve_more(p->rq, slp_buf_str(&bytes));
  slp_buf_free(&bytes);
  if (r || next == SLP_PUSH_CUT) {
    pushed_drop(p);
  } else if (next == SLP_PUSH_ENDED) {
    p->rq->on_gone = p->rq->on_sent = NULL;
    slp_serve_end(p->rq);
    pushed_free(p);
  } else if (at_ms != INT64_MAX) {
    uint64_t wait_us = (uint64_t)slp_min_i64(slp_max_i64(at_ms - now_ms, 1), 3600000) * 1000;
    if (slp_timer_set(b->host, &p->timer, slp_after_us(slp_now_us(b->host), wait_us))) pushed_drop(p);
  }
}

static void on_push_timer(slp_timer *timer) { push_on(SLP_OWNER(timer, pushed, timer)); }

static void on_pushed_sent(slp_served *rq) {
  pushed *p = rq->user;
  if (!p->timer.slot) push_on(p);
}

static void on_pushed_gone(slp_served *rq) { pushed_free(rq->user); }

static void push_begin(sloop_sandbox_t *b, slp_served *rq, slp_box_answer *answer,
                       const slp_serve_answer *out) {
  pushed *p = SLP_NEW(b->mem, pushed);
  slp_box_sub *sub = answer->subscription;
  answer->subscription = NULL;
  if (!p) {
    slp_push_close(sub);
    slp_serve_drop(rq);
    return;
  }
  p->b = b;
  p->rq = rq;
  p->sub = sub;
  p->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_push_timer};
  slp_list_add_last(&b->pushed, &p->link);
  rq->user = p;
  rq->on_gone = on_pushed_gone;
  rq->on_sent = on_pushed_sent;
  slp_serve_begin(rq, out);
  push_on(p);
}

static void on_news(slp_event *ev) {
  sloop_sandbox_t *b = SLP_OWNER(ev, sloop_sandbox_t, news);
  for (slp_box_sub *sub; (sub = slp_push_next_news(b->box)) != NULL;) {
    SLP_LIST_EACH(&b->pushed, it) {
      pushed *p = SLP_OWNER(it, pushed, link);
      if (p->sub != sub) continue;
      push_on(p);
      break;
    }
  }
}

static int delay_answer(sloop_sandbox_t *b, slp_served *rq, slp_box_answer *answer) {
  delayed *d = SLP_NEW(b->mem, delayed);
  if (!d) return SLP_ENOMEM;
  d->b = b;
  d->rq = rq;
  d->answer = *answer; /* the memory of the body now belongs to d */
  d->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_delay_over};
  int r =
      slp_timer_set(b->host, &d->timer, slp_after_us(slp_now_us(b->host), (uint64_t)answer->delay_ms * 1000));
  if (r) {
    slp_free(b->mem, d);
    return r;
  }
  slp_list_add_last(&b->waiting, &d->link);
  rq->user = d;
  rq->on_gone = on_peer_left;
  return 0;
}

static void serve_admin(sloop_sandbox_t *b, slp_served *rq) {
  slp_control_answer a = {.status = 500, .content_type = "text/plain"};
  slp_buf_init(&a.body, b->mem, ANSWER_BYTES_MAX);
  slp_control_handle(b, rq->method, rq->path, rq->body, &a);
  slp_http_header type = {SLP_STR("Content-Type"), slp_str_of(a.content_type)};
  slp_serve_answer out = {.status = a.status,
                          .headers = &type,
                          .headers_n = 1,
                          .body = &a.body,
                          .date_ms = slp_front_now_ms(b),
                          .cut_after = SIZE_MAX};
  slp_serve(rq, &out);
  slp_buf_free(&a.body);
}

/* Refuses a request that comes from a web page: one with an Origin header, which browsers add, or a control
 * request with a foreign Host header. A page that is open in a browser on this machine must not change the
 * sandbox. It must not read /_sandbox/ either, by a host name of its author that points to this machine. */
static void refuse_page(slp_served *served) {
  slp_serve_answer out = {.status = 403, .date_ms = -1, .cut_after = SIZE_MAX, .close = 1};
  slp_serve(served, &out);
}

static void on_request(slp_listener *l, slp_served *served) {
  sloop_sandbox_t *b = SLP_OWNER(l, sloop_sandbox_t, listener);
  int orders = slp_control_is(served->path);
  if (served->header(served, "origin").p ||
      (orders && !slp_control_is_here(served->header(served, "host")))) {
    refuse_page(served);
    return;
  }
  slp_post(b->host, &b->news);
  if (orders) {
    serve_admin(b, served);
    return;
  }
  slp_box_answer answer;
  memset(&answer, 0, sizeof answer);
  slp_buf_init(&answer.body, b->mem, ANSWER_BYTES_MAX);
  slp_box_request rq = {
      .method = served->method,
      .path = served->path,
      .host = served->header(served, "host"),
      .target = served->header(served, "x-amz-target"),
      .content_type = served->header(served, "content-type"),
      .authorization = served->header(served, "authorization"),
      .amz_date = served->header(served, "x-amz-date"),
      .security_token = served->header(served, "x-amz-security-token"),
      .body = served->body,
      .header = header_of,
      .header_arg = served,
  };
  slp_box_handle(b->box, slp_front_now_ms(b), &rq, &answer);
  if (answer.delay_ms && !delay_answer(b, served, &answer)) return;
  send_answer(b, served, &answer);
  slp_buf_free(&answer.body);
}

/* ---- starting and stopping ---------------------------------------------------------------------------- */
static void free_all(sloop_sandbox_t *b) {
  slp_mem *mem = b->mem;
  slp_box_free(b->box);
  slp_free(mem, b);
  slp_mem_drop(mem);
}

static void on_host_closed(slp_host *h, void *arg) {
  sloop_sandbox_t *b = arg;
  void (*cb)(void *) = b->on_stopped;
  void *cb_arg = b->on_stopped_arg;
  (void)h;
  free_all(b);
  if (cb) cb(cb_arg);
}

static int is_loopback_address(const char *address) {
  return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static void write_url(sloop_sandbox_t *b, const char *address) {
  int v6 = strchr(address, ':') != NULL;
  snprintf(b->url, sizeof b->url, "http://%s%.40s%s:%u", v6 ? "[" : "", address, v6 ? "]" : "",
           b->listener.port);
}

static int start_sandbox(sloop_sandbox_t *b, struct uv_loop_s *loop, const sloop_sandbox_opts_t *o) {
  slp_uv_options uv = {.in_flight_max = 1};
  int r = slp_uv_host_new(&b->host, loop, b->mem, &uv);
  if (r) return r;
  b->box = slp_box_new(b->mem, o, slp_random(b->host));
  if (!b->box) return SLP_ENOMEM;
  b->listener.on_request = on_request;
  b->listener.body_max = REQUEST_BYTES_MAX;
  b->listener.requests_bytes_max = REQUESTS_BYTES_MAX;
  slp_h2_offer(&b->h2, &b->listener);
  r = slp_listen(b->host, &b->listener, o->address, o->port);
  if (r) return r;
  write_url(b, o->address);
  return 0;
}

int sloop_sandbox_start(sloop_sandbox_t **out, struct uv_loop_s *loop, const sloop_sandbox_opts_t *o) {
  sloop_sandbox_opts_t all;
  sloop_sandbox_opts_init_sized(&all, sizeof all);
  if (o) memcpy(&all, o, o->size < sizeof all ? o->size : sizeof all);
  *out = NULL;
  if (!all.address) all.address = "127.0.0.1";
  if (!is_loopback_address(all.address) || !all.access_key != !all.secret_key) return SLP_EINVAL;
  all.size = sizeof all;
  slp_mem *mem = slp_mem_new(NULL, NULL);
  if (!mem) return SLP_ENOMEM;
  sloop_sandbox_t *b = SLP_NEW(mem, sloop_sandbox_t);
  if (!b) {
    slp_mem_drop(mem);
    return SLP_ENOMEM;
  }
  b->mem = mem;
  b->clock_offset_ms = all.clock_offset_ms;
  slp_list_init(&b->waiting);
  slp_list_init(&b->pushed);
  b->news.run = on_news;
  int r = start_sandbox(b, loop, &all);
  if (!r) {
    *out = b;
  } else if (b->host) {
    slp_host_close(b->host, on_host_closed, b);
  } else {
    free_all(b);
  }
  return r;
}

const char *sloop_sandbox_url(const sloop_sandbox_t *b) { return b->url; }

static void on_listener_closed(slp_listener *l) {
  sloop_sandbox_t *b = SLP_OWNER(l, sloop_sandbox_t, listener);
  slp_host_close(b->host, on_host_closed, b);
}

void sloop_sandbox_stop(sloop_sandbox_t *b, void (*cb)(void *arg), void *arg) {
  b->on_stopped = cb;
  b->on_stopped_arg = arg;
  slp_h2_stop(&b->h2);
  for (slp_list *it; (it = slp_list_first(&b->waiting)) != NULL;) {
    delayed *d = SLP_OWNER(it, delayed, link);
    d->rq->on_gone = NULL;
    slp_serve_drop(d->rq);
    delayed_free(d);
  }
  for (slp_list *it; (it = slp_list_first(&b->pushed)) != NULL;) {
    pushed *p = SLP_OWNER(it, pushed, link);
    p->rq->on_gone = NULL;
    pushed_drop(p);
  }
  slp_unpost(&b->news);
  slp_listen_close(&b->listener, on_listener_closed);
}

/* ---- control requests ---------------------------------------------------------------------------------- */
int sloop_sandbox_stream(sloop_sandbox_t *b, const char *name, uint32_t shards) {
  return slp_box_stream(b->box, slp_front_now_ms(b), name, shards);
}

int sloop_sandbox_synthetic(sloop_sandbox_t *b, const char *name, uint32_t shards, uint64_t records,
                            uint32_t record_bytes, uint64_t records_per_second, uint64_t seed) {
  return slp_box_synthetic(b->box, slp_front_now_ms(b), name, shards, records, record_bytes,
                           records_per_second, seed);
}

int sloop_sandbox_put(sloop_sandbox_t *b, const char *stream, const char *key, size_t key_len,
                      const void *data, size_t data_len, char seq[130], char shard[129]) {
  slp_post(b->host, &b->news);
  return slp_box_put(b->box, slp_front_now_ms(b), stream, (slp_str){key, key_len}, (slp_str){data, data_len},
                     seq, shard);
}

int sloop_sandbox_split(sloop_sandbox_t *b, const char *stream, const char *shard,
                        const char *new_start_hash) {
  slp_post(b->host, &b->news);
  return slp_box_split(b->box, slp_front_now_ms(b), stream, shard, new_start_hash);
}

int sloop_sandbox_merge(sloop_sandbox_t *b, const char *stream, const char *shard, const char *adjacent) {
  slp_post(b->host, &b->news);
  return slp_box_merge(b->box, slp_front_now_ms(b), stream, shard, adjacent);
}

int sloop_sandbox_trim(sloop_sandbox_t *b, const char *stream, int64_t before_ms) {
  return slp_box_trim(b->box, slp_front_now_ms(b), stream, before_ms);
}

int sloop_sandbox_table(sloop_sandbox_t *b, const char *name, uint32_t partitions, const char *view_type) {
  return slp_box_table(b->box, slp_front_now_ms(b), name, partitions, view_type);
}

int sloop_sandbox_change(sloop_sandbox_t *b, const char *table, const char *keys, const char *old_image,
                         const char *new_image, int by_ttl) {
  return slp_box_add_change(b->box, slp_front_now_ms(b), table, slp_str_of(keys), slp_str_of(old_image),
                            slp_str_of(new_image), by_ttl);
}

int sloop_sandbox_stale(sloop_sandbox_t *b, const char *table, uint32_t ms) {
  return slp_box_stale(b->box, slp_front_now_ms(b), table, ms);
}

int sloop_sandbox_roll(sloop_sandbox_t *b, const char *table, int split) {
  return slp_box_roll(b->box, slp_front_now_ms(b), table, split);
}

int sloop_sandbox_trim_table(sloop_sandbox_t *b, const char *table, int64_t before_ms) {
  return slp_box_trim_table(b->box, slp_front_now_ms(b), table, before_ms);
}

int sloop_sandbox_quirk(sloop_sandbox_t *b, const char *table, const char *name, uint32_t value) {
  return slp_box_quirk(b->box, table, name, value);
}

void sloop_sandbox_move_clock(sloop_sandbox_t *b, int64_t ms) { b->clock_offset_ms += ms; }

int sloop_sandbox_faults(sloop_sandbox_t *b, const char *script, char *why, size_t why_size) {
  char text[160] = "";
  int r = slp_box_faults(b->box, script, text);
  slp_clean_copy(why, why_size, text);
  return r;
}

void sloop_sandbox_stats(const sloop_sandbox_t *b, sloop_sandbox_stats_t *out, size_t size) {
  sloop_sandbox_stats_t all;
  slp_box_stats(b->box, &all);
  memset(out, 0, size);
  memcpy(out, &all, size < sizeof all ? size : sizeof all);
}
