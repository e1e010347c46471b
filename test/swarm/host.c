/* host.c - the simulated hosts: their clocks, their turns, and their HTTP calls on their way. */
#include "swarm/host.h"

#include <inttypes.h>
#include <sloop.h>
#include <stdio.h>
#include <strings.h>

#include "swarm/inside.h"

#define FILES_MAX 8
#define TOTAL_MS_DEFAULT 30000 /* host.h: total_ms_max 0 */

typedef struct sim_host {
  slp_host base;
  struct slp_sim_shell *shell;
} sim_host;

typedef struct slp_sim_shell {
  slp_sim *sim;
  struct slp_sim_shell *next;
  sim_host *host; /* NULL: gone */
  size_t number;
  slp_sim_clock clock;
  uint64_t born_us, random;
  uint64_t wake_at_us, wake_tag; /* true time; a wake event with an older tag is void */
  uint64_t frozen_until_us;
  size_t blocked; /* it is within a callback that takes long: its place among those, + 1 */
  uint64_t window_us, window_turns;
  slp_quotas quotas; /* a host is a process */
  slp_sim_host_stats stats;
  struct {
    const char *path, *content;
  } files[FILES_MAX];
} slp_sim_shell;

typedef enum { FATE_FINE, FATE_REFUSED, FATE_RESET, FATE_SILENT, FATE_CUT, FATE_CLIP } call_fate;

/* A call under way. It outlives a cancel: what was sent still reaches the service. */
typedef struct slp_sim_call {
  slp_list link;
  slp_sim_shell *shell;
  slp_http *http; /* NULL: cancelled or done; nothing of it is touched any more */
  uint32_t refs;  /* events that point here, and http while it is set */
  call_fate fate;
  slp_buf text; /* url, header names, values and body, copied */
  slp_sim_ask ask;
  slp_http_header *headers;
  slp_sim_reply reply;
  size_t given, end; /* bytes of the body handed over, and where it ends or is cut */
  uint8_t piece_due, paused, clipped, head_cut;
  uint64_t limit_us, paused_at_us, paused_us;
} slp_sim_call;

typedef struct sim_file {
  slp_list link;
  slp_sim_shell *shell;
  slp_file *file; /* NULL: cancelled */
} sim_file;

static slp_sim_shell *shell_of(const slp_host *h) { return ((const sim_host *)h)->shell; }

/* ---- clocks ------------------------------------------------------------------------------------ */
static uint64_t mono_at(const slp_sim_shell *s, uint64_t true_us) {
  uint64_t lived = true_us - s->born_us;
  int64_t gained = (int64_t)(lived / 1000000) * s->clock.drift_ppm +
                   (int64_t)(lived % 1000000) * s->clock.drift_ppm / 1000000;
  return s->clock.mono_start_us + (uint64_t)((int64_t)lived + gained);
}

/* The first true moment at which the host's clock shows at_us or more. */
static uint64_t true_at(const slp_sim_shell *s, uint64_t at_us) {
  uint64_t now = s->sim->now_us, shown = mono_at(s, now);
  if (at_us <= shown) return now;
  uint64_t ahead = at_us - shown;
  if (ahead > UINT64_C(1) << 50) return UINT64_MAX;
  uint64_t million = (uint64_t)(1000000 + s->clock.drift_ppm); /* of its microseconds; ahead may be a year */
  uint64_t t = now + ahead / million * 1000000 + ahead % million * 1000000 / million;
  while (mono_at(s, t) < at_us) t++;
  return t;
}

/* Reading a clock takes a microsecond: work that goes on until time has passed comes to an end. */
static uint64_t op_mono_us(slp_host *h) {
  slp_sim_shell *s = shell_of(h);
  return mono_at(s, s->sim->now_us++);
}
static uint64_t op_cpu_us(slp_host *h) {
  const slp_sim *sim = shell_of(h)->sim;
  return sim->cpu_us ? sim->cpu_us() : 0;
}
static void op_where(slp_host *h, char name[65], uint32_t *pid) {
  (void)h;
  memcpy(name, "sim", 4);
  *pid = 1;
}

static slp_quotas *op_quotas(slp_host *h) { return &shell_of(h)->quotas; }
static void op_quotas_back(slp_host *h) { (void)h; }

static int64_t op_wall_ms(slp_host *h) {
  const slp_sim_shell *s = shell_of(h);
  return slp_sim_unix_ms(s->sim) + s->clock.wall_off_ms;
}
static uint64_t op_random(slp_host *h) { return slp_sim_draw(&shell_of(h)->random); }

void slp_sim_wall_jump(slp_host *h, int64_t ms) { shell_of(h)->clock.wall_off_ms += ms; }
void slp_sim_wall_right(slp_host *h) { shell_of(h)->clock.wall_off_ms = 0; }

void slp_sim_freeze(slp_host *h, uint64_t us) {
  slp_sim_shell *s = shell_of(h);
  s->frozen_until_us = slp_max_u64(s->frozen_until_us, s->sim->now_us + us);
  slp_sim_trace(s->sim, "host %zu frozen for %" PRIu64 " us", s->number, us);
}

/* It comes back from its callback when all those that began within it are over. */
static uint64_t blocked_until(const slp_sim_shell *s) {
  uint64_t until = s->frozen_until_us;
  for (size_t i = s->blocked; i < s->sim->blocked_n; i++)
    until = slp_max_u64(until, s->sim->blocked[i]->frozen_until_us);
  return slp_max_u64(until, s->sim->now_us) + 1;
}

/* 1: put off until the host runs again. */
static int frozen(slp_sim_shell *s, slp_sim_fn run, void *arg, uint64_t tag) {
  if (s->sim->now_us >= s->frozen_until_us && !s->blocked) return 0;
  uint64_t at = s->blocked ? blocked_until(s) : s->frozen_until_us;
  slp_sim_push(s->sim, at, run, arg, tag);
  return 1;
}

void slp_sim_block(slp_host *h, uint64_t us) {
  slp_sim_shell *s = shell_of(h);
  slp_sim_freeze(h, us);
  SLP_CHECK(!s->blocked && s->sim->blocked_n < SLP_COUNT(s->sim->blocked));
  s->sim->blocked[s->sim->blocked_n++] = s;
  s->blocked = s->sim->blocked_n;
  while (s->sim->now_us < s->frozen_until_us) slp_sim_run(s->sim, s->frozen_until_us, NULL, NULL);
  s->sim->blocked_n--;
  s->blocked = 0;
}

size_t slp_sim_host_number(const slp_host *h) { return shell_of(h)->number; }
uint64_t slp_sim_frozen_until(const slp_host *h) {
  const slp_sim_shell *s = shell_of(h);
  return s->blocked ? blocked_until(s) : s->frozen_until_us;
}

void slp_sim_drift(slp_host *h, int32_t ppm) {
  slp_sim_shell *s = shell_of(h);
  s->clock.mono_start_us = mono_at(s, s->sim->now_us);
  s->born_us = s->sim->now_us;
  s->clock.drift_ppm = ppm;
}

/* ---- turns ------------------------------------------------------------------------------------- */
static void run_turn(void *arg, uint64_t tag) {
  slp_sim_shell *s = arg;
  if (!s->host || tag != s->wake_tag) return;
  if (frozen(s, run_turn, s, tag)) return;
  s->wake_at_us = UINT64_MAX;
  if (s->sim->now_us - s->window_us >= 1000) {
    s->window_us = s->sim->now_us;
    s->window_turns = 0;
  }
  s->stats.turns++;
  s->stats.turns_at_once_peak = slp_max_u64(s->stats.turns_at_once_peak, ++s->window_turns);
  slp_host_turn(&s->host->base);
}

static void op_wake(slp_host *h, uint64_t at_us) {
  slp_sim_shell *s = shell_of(h);
  uint64_t at = at_us == UINT64_MAX ? UINT64_MAX : at_us == 0 ? s->sim->now_us : true_at(s, at_us);
  if (at == s->wake_at_us && at > s->sim->now_us) return;
  s->wake_at_us = at;
  s->wake_tag++;
  if (at != UINT64_MAX) slp_sim_push(s->sim, at, run_turn, s, s->wake_tag);
}

/* Events put off until then stay so; those that come from now on run at once. */
/* ---- calls: life ------------------------------------------------------------------------------- */
static void unref(slp_sim_call *c) {
  SLP_CHECK(c->refs > 0);
  if (--c->refs) return;
  slp_mem *mem = c->shell->sim->mem;
  slp_list_remove(&c->link);
  slp_buf_free(&c->text);
  if (c->reply.body.mem) slp_buf_free(&c->reply.body);
  slp_free(mem, c->headers);
  slp_free(mem, c);
}

static void later(slp_sim_call *c, uint64_t at_us, slp_sim_fn run) {
  c->refs++;
  slp_sim_push(c->shell->sim, at_us, run, c, 0);
}

/* Takes the call off its caller. */
static void detach(slp_sim_call *c) {
  c->http->transfer = NULL;
  c->http = NULL;
  c->shell->stats.in_flight_now--;
  unref(c);
}

static void run_done(slp_event *ev) {
  slp_http *call = SLP_OWNER(ev, slp_http, ev);
  call->on_done(call);
}

static void finish(slp_sim_call *c, int error, const char *text) {
  slp_http *call = c->http;
  slp_sim_shell *s = c->shell;
  call->error = error;
  if (!error) s->sim->longest_call_us = slp_max_u64(s->sim->longest_call_us, s->sim->now_us - c->ask.sent_us);
  snprintf(call->error_text, sizeof call->error_text, "%s%s%.*s", text, *text ? " " : "",
           *text ? (int)c->ask.authority.n : 0, c->ask.authority.p);
  call->done_us = slp_now_refresh_us(&s->host->base);
  slp_sim_trace(s->sim, "host %zu answer %d status %d, %zu bytes", s->number, error, call->status,
                call->into ? call->into->n : 0);
  call->ev.run = run_done;
  slp_host *h = &s->host->base;
  detach(c);
  if (c->reply.body.mem) slp_buf_free(&c->reply.body);
  slp_post(h, &call->ev);
}

/* ---- calls: the way back ----------------------------------------------------------------------- */
static void copy_head(slp_sim_call *c) {
  slp_http *call = c->http;
  const slp_sim_reply *r = &c->reply;
  call->status = r->status;
  call->date_ms = r->date_ms < 0 ? -1 : r->date_ms / 1000 * 1000;
  call->length_known = !c->clipped;
  call->length = c->clipped ? UINT64_MAX : r->body.n;
  snprintf(call->error_type, sizeof call->error_type, "%s", r->error_type);
  snprintf(call->request_id, sizeof call->request_id, "%s", r->request_id);
  size_t n = 0;
  for (const char *p = r->content_type; *p && *p != ';' && n + 1 < sizeof call->content_type; p++)
    call->content_type[n++] = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
  call->content_type[n] = 0;
}

static void run_piece(void *arg, uint64_t tag) {
  slp_sim_call *c = arg;
  slp_sim *sim = c->shell->sim;
  if (c->http && frozen(c->shell, run_piece, c, tag)) return;
  c->piece_due = 0;
  if (!c->http) slp_buf_free(&c->reply.body); /* not kept until the time limit's event has passed */
  if (!c->http || c->paused) {
    unref(c);
    return;
  }
  slp_http *call = c->http;
  if (c->given == 0 && !c->head_cut) copy_head(c);
  size_t want =
      (size_t)slp_sim_draw_between(&sim->net_random, sim->net.piece_bytes_min, sim->net.piece_bytes_max);
  size_t n = (size_t)slp_min_u64(want ? want : 1, c->end - c->given);
  if (n && call->may_grow && !call->may_grow(call, n)) {
    c->paused = 1;
    c->paused_at_us = sim->now_us;
    c->shell->stats.pauses++;
    slp_sim_trace(sim, "host %zu pauses an answer at %zu of %zu", c->shell->number, c->given, c->end);
    unref(c);
    return;
  }
  int rc = 0;
  if (c->given == 0 && !c->clipped) rc = slp_buf_reserve(call->into, c->reply.body.n); /* as Content-Length */
  if (rc == 0 && n) rc = slp_buf_add(call->into, c->reply.body.p + c->given, n);
  c->given += n;
  if (rc == 0 && n && call->on_piece) call->on_piece(call);
  if (rc == SLP_ELIMIT) {
    finish(c, SLOOP_ETOOBIG, "answer too large from");
  } else if (rc) {
    finish(c, SLP_ENOMEM, "no memory for the answer of");
  } else if (c->given < c->end) {
    c->piece_due = 1;
    later(c, sim->now_us + slp_sim_draw_between(&sim->net_random, 0, sim->net.piece_gap_us_max), run_piece);
  } else if (c->head_cut || (c->end < c->reply.body.n && !c->clipped)) {
    finish(c, SLOOP_EREMOTE, "connection closed within the answer of");
  } else {
    finish(c, 0, "");
  }
  unref(c);
}

static void run_broken(void *arg, uint64_t tag) {
  slp_sim_call *c = arg;
  if (c->http && frozen(c->shell, run_broken, c, tag)) return;
  if (c->http) {
    if (c->fate == FATE_REFUSED)
      finish(c, -ECONNREFUSED, "connection refused by");
    else
      finish(c, -ECONNRESET, "connection reset by");
  }
  unref(c);
}

static void run_limit(void *arg, uint64_t tag) {
  slp_sim_call *c = arg;
  slp_sim *sim = c->shell->sim;
  if (c->http && frozen(c->shell, run_limit, c, tag)) return;
  if (c->http) {
    uint64_t paused = c->paused_us + (c->paused ? sim->now_us - c->paused_at_us : 0);
    if (c->paused || sim->now_us < c->limit_us + paused) /* time spent paused does not count */
      later(c, slp_max_u64(sim->now_us + sim->paused_look_us, c->limit_us + paused), run_limit);
    else
      finish(c, SLP_ETIMEDOUT, "no answer in time from");
  }
  unref(c);
}

void slp_sim_thaw(slp_host *h) {
  slp_sim_shell *s = shell_of(h);
  if (s->blocked) return; /* the callback takes as long as it takes */
  /* What came meanwhile was put off until the freeze would have ended. An answer may be lost for as long as that; a
   * time limit may not. */
  SLP_LIST_EACH(&s->sim->calls, it) {
    slp_sim_call *c = SLP_OWNER(it, slp_sim_call, link);
    if (c->shell == s && c->http && s->sim->now_us < s->frozen_until_us)
      later(c, slp_max_u64(s->sim->now_us, c->limit_us), run_limit);
  }
  s->frozen_until_us = 0;
  s->wake_at_us = UINT64_MAX;
  op_wake(h, 0);
}

/* ---- calls: at the service --------------------------------------------------------------------- */
static uint64_t latency(slp_sim *sim) {
  return slp_sim_draw_between(&sim->net_random, sim->net.latency_us_min, sim->net.latency_us_max);
}

static int net_chance(slp_sim *sim, uint32_t ppm) {
  return ppm && slp_sim_draw_between(&sim->net_random, 0, 999999) < ppm;
}

static void choose_end(slp_sim_call *c) {
  slp_sim *sim = c->shell->sim;
  size_t body = c->reply.body.n;
  c->end = body;
  if (c->reply.cut_after < SLP_SIM_HEAD_BYTES) {
    c->head_cut = 1;
    c->end = 0;
  } else if (c->reply.cut_after - SLP_SIM_HEAD_BYTES < body) {
    c->end = c->reply.cut_after - SLP_SIM_HEAD_BYTES;
  } else if ((c->fate == FATE_CUT || c->fate == FATE_CLIP) && body) {
    c->end = (size_t)slp_sim_draw_between(&sim->net_random, 0, body - 1);
    c->clipped = c->fate == FATE_CLIP;
  }
}

/* The service gets the request; every byte of both is part of what a seed decides. */
static void serve_once(slp_sim_call *c, slp_sim_reply *reply) {
  slp_sim *sim = c->shell->sim;
  reply->cut_after = SIZE_MAX;
  reply->date_ms = slp_sim_unix_ms(sim);
  c->ask.from = c->shell->host ? &c->shell->host->base : NULL;
  slp_buf_init(&reply->body, sim->mem, SIZE_MAX / 2);
  SLP_CHECK(sim->serve);
  slp_sim_fold(sim, c->text.p, c->text.n);
  sim->serve(sim->serve_arg, &c->ask, reply);
  slp_sim_fold(sim, reply->body.p, reply->body.n);
}

/* The same request a second time: a copy that took another way. */
static void run_copy(void *arg, uint64_t tag) {
  (void)tag;
  slp_sim_call *c = arg;
  slp_sim_reply unheard = {0};
  serve_once(c, &unheard);
  slp_buf_free(&unheard.body);
  unref(c);
}

static void run_arrive(void *arg, uint64_t tag) {
  (void)tag;
  slp_sim_call *c = arg;
  slp_sim *sim = c->shell->sim;
  serve_once(c, &c->reply);
  if (c->reply.drop) c->fate = FATE_RESET;
  if (c->reply.silent) c->fate = FATE_SILENT;
  uint64_t at = sim->now_us + latency(sim) + (uint64_t)c->reply.delay_ms * 1000;
  if (net_chance(sim, sim->net.slow_ppm))
    at += slp_sim_draw_between(&sim->net_random, 0, sim->net.slow_us_max);
  if (c->fate == FATE_RESET) {
    later(c, at, run_broken);
  } else if (c->fate != FATE_SILENT) {
    choose_end(c);
    c->piece_due = 1;
    later(c, at, run_piece);
  }
  unref(c);
}

static slp_str copied(slp_buf *b, slp_str s) {
  SLP_CHECK(b->n + s.n <= b->cap); /* reserved whole beforehand: the pointers must not move */
  char *p = b->p + b->n;
  if (s.n) SLP_CHECK(slp_buf_add(b, s.p, s.n) == 0);
  return (slp_str){p, s.n};
}

/* http://AUTHORITY/PATH */
static void split_url(slp_sim_ask *ask) {
  slp_str url = ask->url;
  const char *p = memmem(url.p, url.n, "://", 3);
  SLP_CHECK(p);
  p += 3;
  const char *end = url.p + url.n, *slash = memchr(p, '/', (size_t)(end - p));
  ask->authority = (slp_str){p, (size_t)((slash ? slash : end) - p)};
  ask->path = slash ? (slp_str){slash, (size_t)(end - slash)} : SLP_STR("/");
}

static void copy_request(slp_sim_call *c, const slp_http *call) {
  slp_mem *mem = c->shell->sim->mem;
  slp_str url = slp_str_of(call->url), method = slp_str_of(call->method);
  size_t n = url.n + method.n + call->body.n;
  for (size_t i = 0; i < call->headers_n; i++) n += call->headers[i].name.n + call->headers[i].value.n;
  slp_buf_init(&c->text, mem, SIZE_MAX / 2);
  SLP_CHECK(slp_buf_reserve(&c->text, n + 1) == 0);
  c->headers = slp_zalloc_n(mem, call->headers_n + 1, sizeof *c->headers);
  SLP_CHECK(c->headers);
  c->ask.url = copied(&c->text, url);
  c->ask.method = copied(&c->text, method);
  c->ask.body = copied(&c->text, call->body);
  for (size_t i = 0; i < call->headers_n; i++) {
    c->headers[i].name = copied(&c->text, call->headers[i].name);
    c->headers[i].value = copied(&c->text, call->headers[i].value);
  }
  c->ask.sent_us = c->shell->sim->now_us;
  c->ask.from_number = c->shell->number;
  c->ask.headers = c->headers;
  c->ask.headers_n = call->headers_n;
  split_url(&c->ask);
}

slp_str slp_sim_ask_header(const slp_sim_ask *ask, const char *name) {
  slp_str want = slp_str_of(name);
  for (size_t i = 0; i < ask->headers_n; i++) {
    slp_str has = ask->headers[i].name;
    if (has.n == want.n && strncasecmp(has.p, want.p, want.n) == 0) return ask->headers[i].value;
  }
  return (slp_str){NULL, 0};
}

/* ---- calls: the ops ---------------------------------------------------------------------------- */
static call_fate draw_fate(slp_sim *sim) {
  const slp_sim_net *n = &sim->net;
  if (net_chance(sim, n->refuse_ppm)) return FATE_REFUSED;
  if (net_chance(sim, n->reset_ppm)) return FATE_RESET;
  if (net_chance(sim, n->silent_ppm)) return FATE_SILENT;
  if (net_chance(sim, n->cut_ppm)) return FATE_CUT;
  if (net_chance(sim, n->clip_ppm)) return FATE_CLIP;
  return FATE_FINE;
}

static void op_http_send(slp_host *h, slp_http *call) {
  slp_sim_shell *s = shell_of(h);
  slp_sim *sim = s->sim;
  SLP_CHECK(!call->transfer && !slp_list_linked(&call->ev.link)); /* one sending at a time */
  SLP_CHECK(call->url && call->method && call->on_done);
  slp_sim_call *c = SLP_NEW(sim->mem, slp_sim_call);
  SLP_CHECK(c);
  c->shell = s;
  c->http = call;
  c->refs = 1;
  slp_list_add_last(&sim->calls, &c->link);
  copy_request(c, call);
  call->transfer = c;
  call->error = call->status = 0;
  call->error_text[0] = call->content_type[0] = call->error_type[0] = call->request_id[0] = 0;
  call->date_ms = -1;
  call->crc32_given = 0;
  call->retry_after_ms = 0;
  call->length_known = 1;
  call->reused = s->stats.calls > 0;
  call->sent_us = slp_now_refresh_us(h);
  s->stats.calls++;
  s->stats.in_flight_peak = slp_max_u64(s->stats.in_flight_peak, ++s->stats.in_flight_now);
  c->fate = draw_fate(sim);
  slp_sim_trace(sim, "host %zu sends %zu bytes, lane %d", s->number, call->body.n, (int)call->lane);
  uint64_t at = sim->now_us + latency(sim);
  if (net_chance(sim, sim->net.late_ppm))
    at += slp_sim_draw_between(&sim->net_random, 0, sim->net.late_us_max);
  later(c, at, c->fate == FATE_REFUSED ? run_broken : run_arrive);
  if (c->fate != FATE_REFUSED && net_chance(sim, sim->net.twice_ppm))
    later(c, at + slp_sim_draw_between(&sim->net_random, 0, sim->net.late_us_max), run_copy);
  c->limit_us = sim->now_us + UINT64_C(1000) * (call->total_ms_max ? call->total_ms_max : TOTAL_MS_DEFAULT);
  later(c, c->limit_us, run_limit);
}

static void op_http_cancel(slp_host *h, slp_http *call) {
  slp_unpost(&call->ev);
  slp_sim_call *c = call->transfer;
  if (!c) return;
  shell_of(h)->stats.calls_cancelled++;
  slp_sim_trace(c->shell->sim, "host %zu cancels a call", c->shell->number);
  detach(c);
}

static void op_http_resume(slp_host *h, slp_http *call) {
  slp_sim_call *c = call->transfer;
  if (!c || !c->paused) return;
  slp_sim *sim = shell_of(h)->sim;
  c->paused = 0;
  c->paused_us += sim->now_us - c->paused_at_us;
  c->piece_due = 1;
  later(c, sim->now_us, run_piece);
}

/* ---- what the simulator has no use for --------------------------------------------------------- */
static int op_listen(slp_host *h, slp_listener *l, const char *address, uint16_t port) {
  (void)h, (void)l, (void)address, (void)port;
  return -ENOSYS; /* services are functions here */
}
static void op_listen_close(slp_listener *l) { (void)l; }
static void op_serve(slp_served *rq, const slp_serve_answer *answer) { (void)rq, (void)answer; }
static void op_ref(slp_host *h, int on) { (void)h, (void)on; }

/* ---- files -------------------------------------------------------------------------------------- */
void slp_sim_file(slp_host *h, const char *path, const char *content) {
  slp_sim_shell *s = shell_of(h);
  size_t i = 0;
  while (i < FILES_MAX && s->files[i].path) i++;
  SLP_CHECK(i < FILES_MAX);
  s->files[i].path = path;
  s->files[i].content = content;
}

static void run_file_done(slp_event *ev) {
  slp_file *file = SLP_OWNER(ev, slp_file, ev);
  file->on_done(file);
}

static void run_file(void *arg, uint64_t tag) {
  sim_file *f = arg;
  slp_sim_shell *s = f->shell;
  if (f->file && frozen(s, run_file, f, tag)) return;
  if (f->file) {
    slp_file *file = f->file;
    file->error = SLP_ENOENT;
    for (size_t i = 0; i < FILES_MAX && s->files[i].path; i++) {
      if (strcmp(s->files[i].path, file->path)) continue;
      slp_str text = slp_str_of(s->files[i].content);
      file->error = text.n > file->bytes_max ? SLP_E2BIG : slp_buf_add_str(file->into, text);
    }
    file->impl = NULL;
    file->ev.run = run_file_done;
    slp_post(&s->host->base, &file->ev);
  }
  slp_list_remove(&f->link);
  slp_free(s->sim->mem, f);
}

static void op_file_read(slp_host *h, slp_file *file) {
  slp_sim *sim = shell_of(h)->sim;
  sim_file *f = SLP_NEW(sim->mem, sim_file);
  SLP_CHECK(f);
  f->shell = shell_of(h);
  f->file = file;
  file->impl = f;
  slp_list_add_last(&sim->files, &f->link);
  slp_sim_push(sim, sim->now_us + slp_sim_draw_between(&sim->net_random, 10, 2000), run_file, f, 0);
}

static void op_file_cancel(slp_host *h, slp_file *file) {
  (void)h;
  slp_unpost(&file->ev);
  sim_file *f = file->impl;
  if (f) f->file = NULL;
  file->impl = NULL;
}

/* Other threads are as fast as nothing here: work is done in the turn that answers it. */
static void run_work(slp_event *ev) {
  slp_work *work = SLP_OWNER(ev, slp_work, ev);
  work->run(work);
  work->on_done(work);
}

static void op_work_send(slp_host *h, slp_work *work) {
  work->ev.run = run_work;
  slp_post(h, &work->ev);
}

static void op_work_cancel(slp_host *h, slp_work *work) {
  (void)h;
  if (!slp_list_linked(&work->ev.link)) return;
  slp_unpost(&work->ev);
  if (work->always) work->run(work);
  work->on_left(work);
}

/* No world has programs: whoever starts one is told that it is not there. */
static void run_child(slp_event *ev) {
  slp_child *child = SLP_OWNER(ev, slp_child, ev);
  child->on_done(child);
}

static void op_spawn(slp_host *h, slp_child *child) {
  child->error = SLP_ENOENT;
  child->ev.run = run_child;
  slp_post(h, &child->ev);
}

static void op_spawn_cancel(slp_host *h, slp_child *child) {
  (void)h;
  slp_unpost(&child->ev);
}

/* ---- birth and death ----------------------------------------------------------------------------- */
static void run_closed(void *arg, uint64_t tag) {
  slp_sim_shell *s = arg;
  if (frozen(s, run_closed, s, tag)) return;
  sim_host *host = s->host;
  slp_mem *mem = slp_mem_hold(host->base.mem);
  slp_host_closed(&host->base);
  s->host = NULL;
  s->sim->hosts_alive--;
  slp_free(mem, host);
  slp_mem_drop(mem);
}

static void op_close(slp_host *h) {
  slp_sim_shell *s = shell_of(h);
  SLP_CHECK(s->stats.in_flight_now == 0); /* host.h: every call must be done or cancelled before */
  SLP_LIST_EACH(&s->sim->files, it) {
    const sim_file *f = SLP_OWNER(it, sim_file, link);
    SLP_CHECK(f->shell != s || !f->file);
  }
  s->wake_tag++;
  slp_sim_push(s->sim, s->sim->now_us, run_closed, s, 0);
}

static const slp_host_ops sim_ops = {
    .mono_us = op_mono_us,
    .cpu_us = op_cpu_us,
    .wall_ms = op_wall_ms,
    .where = op_where,
    .quotas = op_quotas,
    .quotas_back = op_quotas_back,
    .random = op_random,
    .wake = op_wake,
    .http_send = op_http_send,
    .http_cancel = op_http_cancel,
    .http_resume = op_http_resume,
    .listen = op_listen,
    .listen_close = op_listen_close,
    .serve = op_serve,
    .file_read = op_file_read,
    .file_cancel = op_file_cancel,
    .work_send = op_work_send,
    .work_cancel = op_work_cancel,
    .spawn = op_spawn,
    .spawn_cancel = op_spawn_cancel,
    .ref = op_ref,
    .close = op_close,
};

slp_host *slp_sim_host_new(slp_sim *sim, slp_mem *host_mem, const slp_sim_clock *clock) {
  sim_host *host = SLP_NEW(host_mem, sim_host);
  if (!host) return NULL;
  slp_sim_shell *s = SLP_NEW(sim->mem, slp_sim_shell);
  SLP_CHECK(s);
  s->sim = sim;
  s->host = host;
  s->number = sim->hosts_made++;
  if (clock) s->clock = *clock;
  s->born_us = sim->now_us;
  s->wake_at_us = UINT64_MAX;
  s->random = slp_sim_draw(&sim->world_random);
  s->next = sim->shells;
  sim->shells = s;
  sim->hosts_alive++;
  host->shell = s;
  slp_host_init(&host->base, &sim_ops, host_mem);
  return &host->base;
}

slp_sim_host_stats slp_sim_stats(const slp_host *h) { return shell_of(h)->stats; }

void slp_sim_forget_hosts(slp_sim *sim) {
  while (!slp_list_empty(&sim->calls)) { /* requests that were cancelled and never arrived */
    slp_sim_call *c = SLP_OWNER(slp_list_first(&sim->calls), slp_sim_call, link);
    SLP_CHECK(!c->http);
    c->refs = 1;
    unref(c);
  }
  for (slp_list *it; (it = slp_list_pop(&sim->files));) slp_free(sim->mem, SLP_OWNER(it, sim_file, link));
  while (sim->shells) {
    slp_sim_shell *s = sim->shells;
    sim->shells = s->next;
    slp_free(sim->mem, s);
  }
}
