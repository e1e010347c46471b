/* aws_fake_host.h - a host for tests of aws/: virtual time, HTTP answers out of a script, files and
 * environment variables out of lists. Runs the real queue and timers of host/host.c. */
#ifndef SLP_TEST_AWS_FAKE_HOST_H
#define SLP_TEST_AWS_FAKE_HOST_H

#include "host/host.h"

#include "check.h"

#ifndef FAKE_ANSWERS_MAX
#define FAKE_ANSWERS_MAX 64
#endif
#define FAKE_WALL_MS 1767323045000 /* 2026-01-02T03:04:05Z */

typedef struct fake_answer { /* what one request gets */
  int status;
  const char *content_type; /* NULL: application/x-amz-json-1.1 */
  slp_str body;
  int error; /* transport's */
  int reused;
  int64_t date_off_ms; /* the Date header is wall time plus this; FAKE_NO_DATE */
  int hang;            /* no answer at all */
  uint64_t retry_after_ms;
  uint32_t crc32;   /* x-amz-crc32; 0: not given */
  size_t piece;     /* the body comes in pieces of this size, may_grow asked for each; 0: whole */
  size_t announced; /* by Content-Length, and room made for it; 0: not */
  uint64_t late_us; /* so long after it was made it is read */
  int64_t jump_ms;  /* so far the machine's clock is set meanwhile */
  const char *error_type, *request_id, *error_text; /* cut as a transport does; NULL: the usual */
} fake_answer;
#define FAKE_NO_DATE INT64_MIN

typedef struct fake_sent { /* what was asked */
  char url[5200], method[8], target[80], type[80], authorization[6000], token[6000], date[20];
  char metadata_token[1100], bearer[4200], ttl[20], accept[40]; /* of the credential sources */
  char proof[1200];                                             /* DPoP */
  uint8_t no_proxy;
  char body[6200];
  size_t body_n;
  slp_lane lane;
  uint32_t total_ms_max;
  uint64_t at_us;
} fake_sent;

typedef struct fake_pair {
  const char *name, *value;
} fake_pair;

typedef struct fake_program { /* what a child process does */
  const char *out, *said;
  int error, status, signal;
  int hang;
} fake_program;

typedef struct fake_host {
  slp_host h;
  uint64_t mono_us, wake_us, random;
  uint64_t tick_us; /* how far each look at the clock moves it: makes turns end early */
  int64_t wall_off_ms;
  fake_answer answers[FAKE_ANSWERS_MAX];
  size_t answers_n, answered_n;
  const fake_answer *always; /* when the script is over; NULL: nothing more is expected */
  fake_sent sent[FAKE_ANSWERS_MAX];
  size_t sent_n, resumed_n, cancelled_n, file_reads_n;
  const fake_pair *env;        /* ends with name NULL */
  const fake_pair *files;      /* path and content; content NULL: no permission */
  const fake_program *program; /* whatever is started; NULL: there are none */
  char argv[1000];             /* of the last one, each word in <> */
  size_t spawned_n;
  slp_http *paused;
  size_t paused_at; /* of its body */
} fake_host;

static inline fake_host *fake_of(slp_host *h) { return SLP_OWNER(h, fake_host, h); }
static uint64_t fake_mono(slp_host *h) { return fake_of(h)->mono_us += fake_of(h)->tick_us; }
static uint64_t fake_cpu(slp_host *h) { return fake_of(h)->mono_us; }
static int64_t fake_wall(slp_host *h) {
  return FAKE_WALL_MS + fake_of(h)->wall_off_ms + (int64_t)(fake_of(h)->mono_us / 1000);
}
static uint64_t fake_random(slp_host *h) {
  fake_host *f = fake_of(h);
  f->random = f->random * 6364136223846793005u + 1442695040888963407u;
  return f->random ^ (f->random >> 31);
}
static void fake_wake(slp_host *h, uint64_t at_us) { fake_of(h)->wake_us = at_us; }

static inline const char *fake_getenv(void *ctx, const char *name) {
  for (const fake_pair *p = ((fake_host *)ctx)->env; p && p->name; p++) {
    if (strcmp(p->name, name) == 0) return p->value;
  }
  return NULL;
}

static void fake_keep(char *to, size_t size, slp_str from) {
  CHECK(from.n < size);
  if (from.n) memcpy(to, from.p, from.n);
  to[from.n] = 0;
}

static void fake_http_run(slp_event *ev) {
  slp_http *call = SLP_OWNER(ev, slp_http, ev);
  call->on_done(call);
}

/* Gives the body from paused_at on; 0: stopped again. */
static int fake_give(fake_host *f, slp_http *call, const fake_answer *a, size_t at) {
  size_t piece = a->piece ? a->piece : a->body.n;
  if (a->announced && at == 0) {
    call->length = a->announced;
    CHECK_INT(slp_buf_reserve(call->into, a->announced), 0);
  }
  for (; at < a->body.n; at += piece) {
    size_t n = a->body.n - at < piece ? a->body.n - at : piece;
    if (call->may_grow && !call->may_grow(call, n)) {
      f->paused = call;
      f->paused_at = at;
      return 0;
    }
    int r = slp_buf_add(call->into, a->body.p + at, n);
    if (r) {
      call->error = r;
      return 1;
    }
    if (call->on_piece) call->on_piece(call);
  }
  return 1;
}

static void fake_http_send(slp_host *h, slp_http *call) {
  fake_host *f = fake_of(h);
  CHECK(f->sent_n < FAKE_ANSWERS_MAX);
  fake_sent *s = &f->sent[f->sent_n++];
  fake_keep(s->url, sizeof s->url, slp_str_of(call->url));
  for (size_t i = 0; i < call->headers_n; i++) {
    slp_str name = call->headers[i].name, value = call->headers[i].value;
    if (slp_str_is(name, "X-Amz-Target")) fake_keep(s->target, sizeof s->target, value);
    if (slp_str_is(name, "Content-Type")) fake_keep(s->type, sizeof s->type, value);
    if (slp_str_is(name, "Authorization")) fake_keep(s->authorization, sizeof s->authorization, value);
    if (slp_str_is(name, "X-Amz-Security-Token")) fake_keep(s->token, sizeof s->token, value);
    if (slp_str_is(name, "X-aws-ec2-metadata-token"))
      fake_keep(s->metadata_token, sizeof s->metadata_token, value);
    if (slp_str_is(name, "X-aws-ec2-metadata-token-ttl-seconds")) fake_keep(s->ttl, sizeof s->ttl, value);
    if (slp_str_is(name, "x-amz-sso_bearer_token")) fake_keep(s->bearer, sizeof s->bearer, value);
    if (slp_str_is(name, "DPoP")) fake_keep(s->proof, sizeof s->proof, value);
    if (slp_str_is(name, "Accept")) fake_keep(s->accept, sizeof s->accept, value);
    if (slp_str_is(name, "X-Amz-Date")) fake_keep(s->date, sizeof s->date, value);
  }
  fake_keep(s->body, sizeof s->body, call->body);
  fake_keep(s->method, sizeof s->method, slp_str_of(call->method));
  s->no_proxy = call->no_proxy;
  s->body_n = call->body.n;
  s->lane = call->lane;
  s->total_ms_max = call->total_ms_max;
  s->at_us = f->mono_us;
  if (f->answered_n == f->answers_n && !f->always)
    CHECK_FAIL("request %zu (%s %s) was not expected", f->sent_n, s->url, s->target);
  const fake_answer *a = f->answered_n == f->answers_n ? f->always : &f->answers[f->answered_n++];
  call->sent_us = f->mono_us;
  call->ev.run = fake_http_run;
  if (a->hang) return;
  f->mono_us += 1000;
  call->status = a->status;
  call->error = a->error;
  call->reused = a->reused != 0;
  call->length_known = 1;
  call->date_ms = a->date_off_ms == FAKE_NO_DATE ? -1 : fake_wall(h) + a->date_off_ms;
  f->mono_us += a->late_us;
  f->wall_off_ms += a->jump_ms;
  call->done_us = f->mono_us;
  call->retry_after_ms = a->retry_after_ms;
  call->crc32 = a->crc32;
  call->crc32_given = a->crc32 != 0;
  call->crc32 = a->crc32;
  call->crc32_given = a->crc32 != 0;
  if (a->error) snprintf(call->error_text, sizeof call->error_text, "fake failure %d", a->error);
  if (a->error_text) snprintf(call->error_text, sizeof call->error_text, "%s", a->error_text);
  snprintf(call->error_type, sizeof call->error_type, "%s", a->error_type ? a->error_type : "");
  snprintf(call->content_type, sizeof call->content_type, "%s",
           a->content_type ? a->content_type : "application/x-amz-json-1.1");
  snprintf(call->request_id, sizeof call->request_id, "rq-%zu", f->sent_n);
  if (a->request_id) snprintf(call->request_id, sizeof call->request_id, "%s", a->request_id);
  if (fake_give(f, call, a, 0)) slp_post(h, &call->ev);
}

static void fake_http_cancel(slp_host *h, slp_http *call) {
  fake_of(h)->cancelled_n++;
  slp_unpost(&call->ev);
}

static void fake_http_resume(slp_host *h, slp_http *call) {
  fake_host *f = fake_of(h);
  f->resumed_n++;
  if (f->paused != call) return;
  f->paused = NULL;
  if (fake_give(f, call, &f->answers[f->answered_n - 1], f->paused_at)) slp_post(h, &call->ev);
}

static void fake_file_run(slp_event *ev) {
  slp_file *file = SLP_OWNER(ev, slp_file, ev);
  file->on_done(file);
}

static void fake_file_read(slp_host *h, slp_file *file) {
  fake_host *f = fake_of(h);
  f->file_reads_n++;
  file->error = SLP_ENOENT;
  for (const fake_pair *p = f->files; p && p->name; p++) {
    if (strcmp(p->name, file->path) != 0) continue;
    file->error = p->value ? slp_buf_add_z(file->into, p->value) : -EACCES;
  }
  file->ev.run = fake_file_run;
  slp_post(h, &file->ev);
}
static void fake_file_cancel(slp_host *h, slp_file *file) {
  (void)h;
  slp_unpost(&file->ev);
}

static void fake_work_run(slp_event *ev) {
  slp_work *work = SLP_OWNER(ev, slp_work, ev);
  work->run(work);
  work->on_done(work);
}

static void fake_work_send(slp_host *h, slp_work *work) {
  work->ev.run = fake_work_run;
  slp_post(h, &work->ev);
}

static void fake_work_cancel(slp_host *h, slp_work *work) {
  (void)h;
  if (!slp_list_linked(&work->ev.link)) return;
  slp_unpost(&work->ev);
  if (work->always) work->run(work);
  work->on_left(work);
}

static void fake_child_run(slp_event *ev) {
  slp_child *child = SLP_OWNER(ev, slp_child, ev);
  child->on_done(child);
}

static void fake_spawn(slp_host *h, slp_child *child) {
  fake_host *f = fake_of(h);
  const fake_program *p = f->program;
  size_t n = 0;
  f->argv[0] = 0;
  for (const char *const *word = child->argv; *word; word++)
    n += (size_t)snprintf(f->argv + n, sizeof f->argv - n, "<%s>", *word);
  f->spawned_n++;
  child->error = p ? p->error : SLP_ENOENT;
  child->status = p ? p->status : 0;
  child->signal = p ? p->signal : 0;
  snprintf(child->said, sizeof child->said, "%s", p && p->said ? p->said : "");
  if (p && p->hang) return;
  if (p && p->out && slp_buf_add_z(child->into, p->out)) child->error = SLP_E2BIG;
  child->ev.run = fake_child_run;
  slp_post(h, &child->ev);
}
static void fake_spawn_cancel(slp_host *h, slp_child *child) {
  fake_of(h)->cancelled_n++;
  slp_unpost(&child->ev);
}

static const slp_host_ops fake_ops = {.mono_us = fake_mono,
                                      .cpu_us = fake_cpu,
                                      .wall_ms = fake_wall,
                                      .random = fake_random,
                                      .wake = fake_wake,
                                      .http_send = fake_http_send,
                                      .http_cancel = fake_http_cancel,
                                      .http_resume = fake_http_resume,
                                      .file_read = fake_file_read,
                                      .file_cancel = fake_file_cancel,
                                      .work_send = fake_work_send,
                                      .work_cancel = fake_work_cancel,
                                      .spawn = fake_spawn,
                                      .spawn_cancel = fake_spawn_cancel};

static inline void fake_init(fake_host *f, slp_mem *mem) {
  memset(f, 0, sizeof *f);
  f->wake_us = UINT64_MAX;
  f->random = 42;
  slp_host_init(&f->h, &fake_ops, mem);
}

static inline fake_answer *fake_script(fake_host *f, int status, const char *body) {
  CHECK(f->answers_n < FAKE_ANSWERS_MAX);
  fake_answer *a = &f->answers[f->answers_n++];
  *a = (fake_answer){.status = status, .body = slp_str_of(body)};
  return a;
}

/* Turns until nothing is left to do, or `us` of virtual time have passed. */
static inline void fake_run(fake_host *f, uint64_t us) {
  uint64_t end = f->mono_us + us;
  for (int turns = 0;; turns++) {
    CHECK(turns < 100000);
    if (f->wake_us == UINT64_MAX || f->wake_us > end) {
      f->mono_us = end > f->mono_us && f->wake_us != UINT64_MAX ? end : f->mono_us;
      return;
    }
    if (f->wake_us > f->mono_us) f->mono_us = f->wake_us;
    f->wake_us = UINT64_MAX;
    slp_host_turn(&f->h);
  }
}

/* Gives back what the queue allocated; everything else must be gone already. */
static inline void fake_end(fake_host *f, slp_mem *mem) {
  CHECK(slp_list_empty(&f->h.ready));
  CHECK_INT(f->h.timers_n, 0);
  slp_free(mem, f->h.timers);
  slp_mem_drop(mem); /* the host's hold */
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

#endif
