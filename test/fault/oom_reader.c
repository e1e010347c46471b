/* oom_reader.c - a plain program in a simulated world. */
#include "fault/oom_reader.h"

#include <stdio.h>

/* The number that swarm/world.c filled a payload with, from its first word; a change's from its key. */
static uint64_t number_of(const sloop_record_t *rec) {
  static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15), inverse = UINT64_C(0xf1de83e19937733d);
  uint64_t word = 0;
  SLP_CHECK(golden * inverse == 1);
  if (rec->event.len) {
    for (size_t i = 0; i < rec->key.len; i++)
      if (rec->key.base[i] >= '0' && rec->key.base[i] <= '9')
        word = word * 10 + (uint64_t)(rec->key.base[i] - '0');
    return word;
  }
  SLP_CHECK(rec->data.len >= 8);
  for (size_t i = 8; i-- > 0;) word = word << 8 | (uint8_t)rec->data.base[i];
  return word * inverse;
}

/* The last record of the shard in this epoch. */
static uint64_t *last_of(oom_reader *x, const char *shard, uint64_t epoch) {
  size_t i = 0;
  while (i < OOM_READER_SHARDS && x->shards[i].id[0] && strcmp(x->shards[i].id, shard)) i++;
  SLP_CHECK(i < OOM_READER_SHARDS);
  snprintf(x->shards[i].id, sizeof x->shards[i].id, "%s", shard);
  if (x->shards[i].epoch != epoch)
    x->shards[i].last = 0; /* its lease was gone, and maybe nobody could tell */
  x->shards[i].epoch = epoch;
  return &x->shards[i].last;
}

static void mark(const oom_reader *x, const sloop_batch_t *b, size_t acked) {
  for (size_t i = 0; i < acked; i++) x->marks->done[number_of(sloop_batch_at(b, i))] = 1;
}

typedef struct later_done {
  oom_reader *reader;
  sloop_batch_t *batch;
} later_done;

/* Gives a batch back; of every fifth only the first half is acknowledged. */
static void done(oom_reader *x, sloop_batch_t *b) {
  size_t n = sloop_batch_count(b), acked = x->batches % 5 == 4 ? n / 2 : n;
  if (!x->closing) mark(x, b, acked);
  x->out--;
  sloop_batch_done(b, acked);
}

static void run_later(void *arg) {
  later_done *l = arg;
  done(l->reader, l->batch);
  slp_free(l->reader->world->mem, l);
}

/* Every other batch goes back at once, the rest 50 ms later. */
static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  oom_reader *x = arg;
  (void)s;
  x->out++;
  for (size_t i = 0; i < sloop_batch_count(b); i++) {
    const sloop_record_t *rec = sloop_batch_at(b, i);
    uint64_t n = number_of(rec), *last = last_of(x, rec->shard, rec->epoch);
    if (n == 0 || n > x->marks->n)
      oom_bad(x->run, "a record that nobody wrote: %llu of %s", (unsigned long long)n, rec->shard);
    if (n <= *last && !(rec->flags & SLOOP_REC_REDELIVERED))
      oom_bad(x->run, "record %llu of %s came after %llu", (unsigned long long)n, rec->shard,
              (unsigned long long)*last);
    *last = n;
    if (n >= OOM_NUMBERS_MAX) return;
  }
  if (++x->batches % 2) {
    done(x, b);
    return;
  }
  later_done *l = SLP_NEW(x->world->mem, later_done);
  SLP_CHECK(l);
  *l = (later_done){x, b};
  slp_sim_at(x->world->sim, slp_sim_now_us(x->world->sim) + 50000, run_later, l);
}

static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  (void)s;
  *last_of(arg, e->shard, 0) = 0; /* opened, moved, lost: what comes next begins anew */
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  oom_reader *x = arg;
  (void)s;
  slp_sim_trace(x->world->sim, "on_error %d fatal %d %s", e->code, e->fatal, e->message);
  if (e->fatal) x->fatal = e->code;
  if (e->code == SLP_ENOMEM) x->run->clean = 1;
}

static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  const oom_reader *x = arg;
  (void)s;
  slp_sim_trace(x->world->sim, "log %d %s", (int)level, line);
}

static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  oom_reader *x = arg;
  (void)s;
  slp_sim_trace(x->world->sim, "lease %d %s %s", (int)e->kind, e->shard, e->text);
  snprintf(x->worker, sizeof x->worker, "%s", e->worker);
}

static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  static const sloop_creds_t keys = {
      .size = sizeof(sloop_creds_t), .access_key = "AKIDSIM", .secret_key = "secret", .expires_at_ms = -1};
  (void)s, (void)arg;
  sloop_creds_done(rq, 0, &keys, NULL);
}

static const char *no_environment(void *ctx, const char *name) {
  (void)ctx, (void)name;
  return NULL;
}

void oom_reader_init(oom_reader *x, oom_run *r, slp_world *w, const char *stream, oom_marks *marks,
                     slp_mem *mem) {
  memset(x, 0, sizeof *x);
  x->run = r;
  x->world = w;
  x->marks = marks;
  x->mem = mem;
  x->host = slp_sim_host_new(w->sim, mem, NULL);
  SLP_CHECK(x->host);
  x->outside.getenv_fn = no_environment;
  sloop_opts_init(&x->opts);
  x->opts.stream = stream;
  x->opts.region = "us-east-1";
  x->opts.endpoint = SLP_ENDPOINT;
  x->opts.start.kind = SLOOP_OLDEST;
  x->opts.batch_records_max = 10;
  x->opts.poll_ms = 500;
  x->opts.arg = x;
  x->opts.on_batch = on_batch;
  x->opts.on_shard = on_shard;
  x->opts.on_error = on_error;
  x->opts.on_log = on_log;
  x->opts.on_lease = on_lease;
  x->opts.creds = creds;
  x->opts.log_level = SLOOP_LOG_DEBUG;
}

int oom_reader_open(oom_reader *x) {
  char why[160] = "";
  int rc = slp_open_on(x->host, x->mem, &x->outside, &x->s, &x->opts, why);
  oom_answer(x->run, "open", rc, 0);
  if (rc && x->s) oom_bad(x->run, "open failed and gave a consumer");
  return rc;
}

int oom_reader_begin(oom_reader *x) {
  int rc = x->s ? 0 : oom_reader_open(x);
  if (rc) return rc;
  rc = sloop_start(x->s);
  x->started = 1;
  oom_answer(x->run, "start", rc, 0);
  return rc;
}

void oom_reader_pass(oom_reader *x, uint64_t ms) { slp_world_pass(x->world, ms); }

int oom_reader_has_read_all(const oom_reader *x) {
  for (uint64_t i = 1; i <= x->marks->n; i++)
    if (!x->marks->done[i]) return 0;
  return 1;
}

void oom_reader_read_all(oom_reader *x, uint64_t ms) {
  uint64_t left = 0;
  for (uint64_t t = 0; t < ms && !x->fatal && !oom_reader_has_read_all(x); t += 100) oom_reader_pass(x, 100);
  if (x->fatal) oom_answer(x->run, "on_error", x->fatal, 0);
  if (x->fatal) return;
  for (uint64_t i = 1; i <= x->marks->n; i++) left += !x->marks->done[i];
  if (left)
    oom_bad(x->run, "%llu of %llu records never came", (unsigned long long)left,
            (unsigned long long)x->marks->n);
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  (void)s, (void)status;
  ((oom_reader *)arg)->stopped = 1;
}

void oom_reader_stop(oom_reader *x, uint64_t limit_ms) {
  int rc = sloop_stop(x->s, limit_ms, on_stopped, x);
  oom_answer(x->run, "stop", rc, SLOOP_ESTATE);
  if (rc) return;
  for (uint64_t t = 0; t < limit_ms + 3000 && !x->stopped; t += 100) oom_reader_pass(x, 100);
  if (!x->stopped) oom_bad(x->run, "stop was never told");
}

static void on_closed(sloop_t *s, int status, void *arg) {
  oom_reader *x = arg;
  (void)s, (void)status;
  x->s = NULL;
  x->closed = 1;
}

void oom_reader_end(oom_reader *x) {
  x->closing = 1;
  if (x->s) {
    sloop_close(x->s, on_closed, x);
    oom_reader_pass(x, 1000);
    if (!x->closed) oom_bad(x->run, "no close callback");
  }
  if (x->run->bad[0]) return; /* the process ends */
  if (x->started && x->run->way == OOM_FOREVER && !oom_reader_has_read_all(x)) x->run->silent = 1;
  slp_host_close(x->host, NULL, NULL);
  oom_reader_pass(x, 1000);
  if (x->out) oom_bad(x->run, "%llu batches are still out", (unsigned long long)x->out);
  slp_mem_drop(x->mem);
  x->mem = NULL;
}
