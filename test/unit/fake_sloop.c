/* fake_sloop.c - sloop.h played from a script, so that the command's own manners (exit codes, counting,
 * back-pressure, signals, hints) can be tested without a service. The script is the environment:
 *   FAKE_RECORDS=N        that many records in all (default 0: none), then the tip
 *   FAKE_BATCH=N          records a batch (default 10)
 *   FAKE_BYTES=N          bytes of payload (default: a short text with the record's number)
 *   FAKE_SHARDS=N         records go round over so many shards (default 1)
 *   FAKE_ERROR=CODE[:fatal][:xN]  the first thing that happens is this error, N times (default 1)
 *   FAKE_LOSS=1           a loss event before the first record
 *   FAKE_RAW=1, FAKE_LATE=1, FAKE_NOTIME=1, FAKE_BINARY=1   what the records look like
 *   FAKE_ENDLESS=1        after FAKE_RECORDS begin again
 *   FAKE_STUCK_STOP=1     sloop_stop never answers before its limit
 *   FAKE_CLOSE_MS=N       sloop_close takes so long; time in which the process stands does not count
 *   FAKE_STOPPED_SHARD=1  one shard is given up before the tip
 *   FAKE_EVENT=1          records are changes of DynamoDB
 *   FAKE_DATA=FILE        every payload is the content of this file
 *   FAKE_SAME=N           N records in a row have the same payload
 *   FAKE_SLOW_MS=N        between two batches
 *   FAKE_NOT_YET=1        sloop_token knows nothing yet
 *   FAKE_LOG_LINES=1      two lines of log, of the parts order and shard
 *   FAKE_METRICS=CODE     metrics can't be opened; else they are at whatever address was asked for
 *   FAKE_METRICS_LOG=1    one line of log, of metrics
 *   FAKE_LEASES=N         the lease table has so many (default 3); a shard more has moved at every look
 *   FAKE_MINE=N           this worker reads so many shards, by its statistics (default 0), read anew each time
 *   FAKE_ERROR_OF_TEXT=1  FAKE_ERROR is what changing leases says, not looking at them
 *   FAKE_SILENT=1         lists of shards and of leases are never answered
 *   FAKE_OWNED=FILE       what sloop_batch_owned answers, read anew each time
 *   FAKE_LOG=FILE         one line for each thing of note: out N, done N ACKED, stop, closing, close
 * A token's sequence number counts the records acknowledged without a gap; SLOOP_AT_TOKEN goes on behind
 * them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <uv.h>

#include "api/find_apps.h"
#include "api/find_streams.h"
#include "api/identity.h"
#include "sloop_admin.h"

#define SEQ_ROOM 64 /* behind a text */

struct sloop_batch_s {
  sloop_t *s;
  size_t n;
  uint64_t first;
  sloop_record_t *records;
  char **texts;
};

struct sloop_admin_s {
  sloop_t *s;
  int alone; /* 1: opened by sloop_admin_open() */
  sloop_admin_closed_cb closed_cb;
  void *closed_arg;
};

struct sloop_s {
  uv_timer_t timer;
  sloop_opts_t o;
  uint64_t total, next, batch_n, shards_n, bytes, errors_left;
  int error, fatal;
  sloop_admin_t admin;
  int out, started, stopping, closing, closed, told_loss, told_stop, told_tip;
  int asked; /* requests about leases that are not answered yet */
  uint64_t stop_at;
  sloop_cb stop_cb, close_cb;
  void *stop_arg, *close_arg;
  sloop_stats_t st;
  uint64_t acked;               /* records, without a gap */
  uint64_t slow_ms, not_before; /* the next batch, by uv_now */
  char *stream;                 /* as sloop.h promises: a copy */
  int log, told_shards;
  uint64_t paused_n;
  uint64_t close_turns; /* of CLOSE_TURN_MS: until it is closed */
};

static uint64_t env_u64(const char *name, uint64_t other) {
  const char *v = getenv(name);
  return v ? strtoull(v, NULL, 10) : other;
}

static void note(sloop_t *s, const char *what, uint64_t a, uint64_t b) {
  char line[100];
  int n = snprintf(line, sizeof line, "%s %llu %llu\n", what, (unsigned long long)a, (unsigned long long)b);
  if (s->log >= 0 && write(s->log, line, (size_t)n) != n) abort();
}

const char *sloop_err_name(int err) {
#define X(name, num, text) \
  if (err == num) return #name;
  SLOOP_ERRORS(X)
#undef X
  return uv_err_name(err);
}
/* metrics_text.c of the library, which the command links, asks for it */
const char *sloop_shard_state_name(sloop_shard_state_t state) {
  (void)state;
  return "reading";
}

const char *sloop_strerror(int err) {
#define X(name, num, text) \
  if (err == num) return text;
  SLOOP_ERRORS(X)
#undef X
  return uv_strerror(err);
}
const char *sloop_version(void) { return "0.0.0-fake"; }
void sloop_creds_done(sloop_creds_req_t *rq, int status, const sloop_creds_t *creds, const char *why) {
  (void)rq;
  (void)status;
  (void)creds;
  (void)why;
}

void sloop_opts_init_sized(sloop_opts_t *o, size_t size) {
  memset(o, 0, size);
  o->size = size;
  o->start.kind = SLOOP_LATEST;
  o->order = SLOOP_ORDER_TIME;
  o->wire = SLOOP_WIRE_AUTO;
  o->retrieval = SLOOP_RETRIEVAL_POLL;
  o->on_trimmed = SLOOP_TRIMMED_CONTINUE;
  o->order_wait_ms = 1000;
  o->poll_ms = 1000;
  o->fetch_records_max = 10000;
  o->buffered_bytes_max = 64u << 20;
  o->batches_out_max = 2;
  o->batch_records_max = 1000;
  o->batch_bytes_max = 1u << 20;
  o->in_flight_max = 128;
  o->list_ms = 60000;
  o->log_level = SLOOP_LOG_WARN;
  o->on_retry = SLOOP_RETRY_REDELIVER;
  o->retry_max = 10;
  o->lease_ms = 10000;
  o->checkpoint_ms = 5000;
  o->handover_ms = 30000;
  o->weight = 1;
}

size_t sloop_batch_count(const sloop_batch_t *b) { return b->n; }
const sloop_record_t *sloop_batch_at(const sloop_batch_t *b, size_t i) {
  if (i >= b->n) abort();
  return &b->records[i];
}
int64_t sloop_batch_behind_ms(const sloop_batch_t *b) {
  (void)b;
  return 1234;
}
int sloop_batch_owned(sloop_batch_t *b, size_t i) {
  const char *path = getenv("FAKE_OWNED");
  int owned = 1;
  FILE *f = path ? fopen(path, "r") : NULL;
  if (i >= b->n || (f && fscanf(f, "%d", &owned) != 1)) abort();
  if (f) fclose(f);
  return owned;
}

void sloop_batch_ack(sloop_batch_t *b, size_t i) {
  if (i >= b->n) abort();
  if (!b->s->closing && b->first + i == b->s->acked) b->s->acked++;
}

static void on_turn(uv_timer_t *timer);
/* Never 0: libuv 1.44 runs a timer of 0 ms again in the same round, and nothing else gets a turn. */
static void wake(sloop_t *s, uint64_t ms) { uv_timer_start(&s->timer, on_turn, ms ? ms : 1, 0); }

static void free_if_unused(
    sloop_t *s) { /* batches and timers of requests outlive the consumer and point to it */
  if (!s->closed || s->out || s->asked) return;
  if (s->log >= 0) close(s->log);
  free(s->stream);
  free(s);
}

void sloop_batch_done(sloop_batch_t *b, size_t acked) {
  if (acked > b->n) abort();
  note(b->s, "done", b->first, acked);
  sloop_t *s = b->s;
  if (!s->closing && b->first <= s->acked && b->first + acked > s->acked) s->acked = b->first + acked;
  s->out--;
  uint64_t now = uv_now(s->timer.loop);
  if (!s->closing) wake(s, s->not_before > now ? s->not_before - now : 0);
  for (size_t i = 0; i < b->n; i++) free(b->texts[i]);
  free(b->texts);
  free(b->records);
  free(b);
  free_if_unused(s);
}

static char *read_data(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  char *text = malloc((1 << 20) + SEQ_ROOM);
  if (!f || !text) abort();
  *n = fread(text, 1, 1 << 20, f);
  fclose(f);
  return text;
}

static char *make_text(sloop_t *s, uint64_t number, size_t *n) {
  if (getenv("FAKE_DATA")) return read_data(getenv("FAKE_DATA"), n);
  number /= env_u64("FAKE_SAME", 1);
  size_t room = s->bytes > 64 ? s->bytes : 64;
  char *text = malloc(room + SEQ_ROOM);
  if (!text) abort();
  *n = (size_t)snprintf(text, room, "record %llu", (unsigned long long)number);
  if (s->bytes) {
    memset(text + *n, 'x', room - *n);
    *n = s->bytes;
  }
  if (getenv("FAKE_BINARY")) {
    memcpy(text, "\xff\x00\x01", 3);
    *n = 3;
  }
  return text;
}

static void give_batch(sloop_t *s) {
  static char ids[64][40];
  static char seqs[SEQ_ROOM];
  sloop_batch_t *b = calloc(1, sizeof *b);
  uint64_t left = s->total - s->next;
  b->s = s;
  b->n = left < s->batch_n ? left : s->batch_n;
  b->first = s->next;
  b->records = calloc(b->n, sizeof *b->records);
  b->texts = calloc(b->n * 2, sizeof *b->texts);
  for (size_t i = 0; i < b->n; i++, s->next++) {
    sloop_record_t *r = &b->records[i];
    unsigned shard = (unsigned)(s->next % s->shards_n) % 64;
    snprintf(ids[shard], sizeof ids[shard], "shardId-%012u", shard);
    size_t n;
    b->texts[i] = make_text(s, s->next, &n);
    r->stream = s->stream;
    r->shard = ids[shard];
    snprintf(seqs, sizeof seqs, "4951%llu", (unsigned long long)(1000 + s->next));
    /* The text and the sequence number share one block: both live as long as the batch. It is not asked for
     * by realloc(), which is how the command takes memory: fault/fail_alloc.py counts those. */
    size_t m = strlen(seqs);
    memcpy(b->texts[i] + n, seqs, m);
    r->seq = (sloop_str_t){b->texts[i] + n, m};
    r->key = (sloop_str_t){"key", 3};
    r->data = (sloop_str_t){b->texts[i], n};
    r->arrived_at_ms = getenv("FAKE_NOTIME") ? -1 : (int64_t)(1700000000000 + (int64_t)s->next);
    r->attempt = 1;
    if (getenv("FAKE_EVENT")) {
      static const char keys[] = "{\"id\":{\"N\":\"7\"}}";
      static const char change[] =
          "{\"Keys\":{\"id\":{\"N\":\"7\"}},\"NewImage\":{\"id\":{\"N\":\"7\"},\"name\":{\"S\":\"x y\"}}}";
      r->key = (sloop_str_t){keys, sizeof keys - 1};
      r->data = (sloop_str_t){change, sizeof change - 1};
      r->event = (sloop_str_t){"INSERT", 6};
      r->event_id = r->seq;
      if (s->next % 2) r->user = (sloop_str_t){"{\"type\":\"Service\"}", 18};
    }
    if (s->o.app) r->epoch = 7;
    if (getenv("FAKE_RAW")) r->flags |= SLOOP_REC_RAW;
    if (getenv("FAKE_LATE")) r->flags |= SLOOP_REC_LATE;
    s->st.records++;
    s->st.payload_bytes += n;
  }
  if (s->next == s->total && getenv("FAKE_ENDLESS")) s->next = 0;
  s->out++;
  s->st.pages++;
  note(s, "out", b->first, b->n);
  s->o.on_batch(s, b, s->o.arg);
}

static void on_closed(uv_handle_t *h) {
  sloop_t *s = h->data;
  note(s, "close", (uint64_t)s->out, 0);
  if (s->close_cb) s->close_cb(s, 0, s->close_arg);
  s->closed = 1;
  free_if_unused(s);
}

static void end_stop(sloop_t *s, int status) {
  sloop_cb cb = s->stop_cb;
  s->stop_cb = NULL;
  if (cb) cb(s, status, s->stop_arg);
}

static void give_error(sloop_t *s) {
  sloop_error_t e = {
      .code = s->error, .fatal = s->fatal, .attempt = 1, .aws_code = "", .request_id = "", .shard = ""};
  e.retry_in_ms = s->fatal ? UINT64_MAX : 100;
  e.message = s->error == SLOOP_EAUTH ? "DescribeStreamSummary: 400 UnrecognizedClientException"
                                      : sloop_strerror(s->error);
  if (s->error == SLOOP_EAUTH) e.aws_code = "UnrecognizedClientException", e.http_status = 400;
  if (s->error == SLOOP_EREMOTE) e.http_status = 503;
  s->errors_left--;
  s->o.on_error(s, &e, s->o.arg);
}

static void give_lease_event(sloop_t *s, sloop_lease_event_kind_t what, const char *shard, const char *text) {
  sloop_lease_event_t e = {what, shard, "me.1", text, 7};
  s->o.on_lease(s, &e, s->o.arg);
}

static void on_turn(uv_timer_t *timer) {
  sloop_t *s = timer->data;
  if (s->closing) return;
  if (s->stop_cb) {
    uint64_t now = uv_now(timer->loop);
    if (s->out == 0 && !getenv("FAKE_STUCK_STOP")) return end_stop(s, 0);
    if (now >= s->stop_at) return end_stop(s, UV_ETIMEDOUT);
    return wake(s, s->stop_at - now);
  }
  if (!s->started || s->stopping) return;
  if (s->errors_left) {
    give_error(s);
    if (!s->closing && !s->fatal) wake(s, 1);
    return;
  }
  if (!s->told_shards++) {
    if (s->o.app) give_lease_event(s, SLOOP_LEASE_JOINED, "", "");
    for (unsigned i = 0; i < s->shards_n; i++) {
      char id[40];
      snprintf(id, sizeof id, "shardId-%012u", i);
      sloop_shard_event_t e = {SLOOP_SHARD_OPENED, id};
      if (s->o.on_shard && !s->closing) s->o.on_shard(s, &e, s->o.arg);
    }
    if (s->o.on_log && getenv("FAKE_LOG_LINES")) {
      s->o.on_log(s, SLOOP_LOG_INFO, "order: one line", s->o.arg);
      s->o.on_log(s, SLOOP_LOG_DEBUG, "shard: another line", s->o.arg);
    }
    if (s->o.on_log && getenv("FAKE_METRICS_LOG"))
      s->o.on_log(s, SLOOP_LOG_WARN, "metrics: CloudWatch: no", s->o.arg);
    s->st.shards_now = s->shards_n;
  }
  if (s->closing) return;
  if (getenv("FAKE_LOSS") && !s->told_loss++) {
    sloop_loss_t loss = {"shardId-000000000000", "", "", 1, "records are no longer kept"};
    s->o.on_loss(s, &loss, s->o.arg);
    if (!s->closing) wake(s, 0);
    return;
  }
  if (getenv("FAKE_STOPPED_SHARD") && !s->told_stop++)
    s->o.on_shard(s, &(sloop_shard_event_t){SLOOP_SHARD_STOPPED, "shardId-000000000000"}, s->o.arg);
  if (s->next < s->total) {
    if (s->out >= 2) return wake(s, 3600000); /* batches_out_max */
    s->not_before = uv_now(timer->loop) + s->slow_ms;
    give_batch(s);
    if (!s->closing) wake(s, s->slow_ms);
    return;
  }
  s->st.tip_now = s->shards_n;
  s->st.tip_age_ms_now = 0;
  if (s->out == 0 && !s->told_tip++) s->o.on_tip(s, s->o.arg);
  if (!s->closing && !s->stop_cb)
    wake(s, 3600000); /* as the real one, an idle consumer keeps the loop alive */
}

slp_aws *slp_identity_of(const sloop_t *s) {
  (void)s;
  return NULL; /* no service is here */
}

int sloop_open(sloop_t **out, struct uv_loop_s *loop, const sloop_opts_t *o, char *why, size_t why_size) {
  if (o->poll_ms == 77) { /* stands for a combination only the library refuses */
    snprintf(why, why_size, "poll_ms is 77");
    return SLOOP_EOPTION;
  }
  uint64_t begin = 0;
  if (o->start.kind == SLOOP_AT_TOKEN) {
    const char *at = strstr(o->start.token, "\"sequence_number\":\"4951");
    if (at) begin = strtoull(at + strlen("\"sequence_number\":\"4951"), NULL, 10) - 999;
  }
  sloop_t *s = calloc(1, sizeof *s);
  s->o = *o;
  s->admin.s = s;
  s->stream = strdup(o->stream);
  s->acked = s->next = begin;
  s->slow_ms = env_u64("FAKE_SLOW_MS", 0);
  s->total = env_u64("FAKE_RECORDS", 0);
  s->batch_n = env_u64("FAKE_BATCH", 10);
  s->shards_n = env_u64("FAKE_SHARDS", 1);
  s->bytes = env_u64("FAKE_BYTES", 0);
  const char *error = getenv("FAKE_ERROR");
  if (error) {
    s->error = (int)strtoll(error, NULL, 10);
    s->fatal = strstr(error, ":fatal") != NULL;
    const char *x = strstr(error, ":x");
    s->errors_left = x ? strtoull(x + 2, NULL, 10) : 1;
  }
  const char *log = getenv("FAKE_LOG");
  s->log = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  s->st.behind_ms_now = s->st.tip_age_ms_now = UINT64_MAX;
  uv_timer_init(loop, &s->timer);
  s->timer.data = s;
  *out = s;
  return 0;
}

int sloop_start(sloop_t *s) {
  s->started = 1;
  /* Keeps the loop alive as the real one does. */
  wake(s, 0);
  return 0;
}

int sloop_stop(sloop_t *s, uint64_t limit_ms, sloop_cb cb, void *arg) {
  if (!s->started || s->stopping) return SLOOP_ESTATE;
  note(s, "stop", limit_ms, 0);
  s->stopping = 1;
  s->stop_cb = cb;
  s->stop_arg = arg;
  s->stop_at = uv_now(s->timer.loop) + limit_ms;
  wake(s, 0);
  return 0;
}

/* The time is that of a tick of the command, which counts its ticks on the way out. Both timers are of one loop,
 * so a busy machine delays both alike. */
#define CLOSE_TURN_MS 100

static void on_closing(uv_timer_t *timer) {
  sloop_t *s = timer->data;
  if (--s->close_turns == 0) uv_close((uv_handle_t *)timer, on_closed);
}

void sloop_close(sloop_t *s, sloop_cb cb, void *arg) {
  if (s->closing) return;
  s->closing = 1;
  s->close_cb = cb;
  s->close_arg = arg;
  s->close_turns = env_u64("FAKE_CLOSE_MS", 0) / CLOSE_TURN_MS;
  if (s->close_turns) {
    note(s, "closing", 0, 0);
    uv_timer_start(&s->timer, on_closing, CLOSE_TURN_MS, CLOSE_TURN_MS);
  } else {
    uv_close((uv_handle_t *)&s->timer, on_closed);
  }
}

const char *sloop_worker(const sloop_t *s) { return s->o.app ? "me.1" : ""; }

void sloop_ref(sloop_t *s) { (void)s; }
void sloop_unref(sloop_t *s) { (void)s; }
/* The script names no positions: what asks for them is tested by multilang_seeds and cli_multilang.py. */
int sloop_checkpoint_at(sloop_t *s, const char *shard, const sloop_position_t *to, sloop_cb cb, void *arg) {
  (void)s, (void)shard, (void)to, (void)cb, (void)arg;
  return SLOOP_ESTATE;
}
int sloop_seek_checkpoint(sloop_t *s, const char *shard) {
  (void)s, (void)shard;
  return SLOOP_ESTATE;
}
int sloop_handover(sloop_t *s, const char *shard) {
  (void)s, (void)shard;
  return SLOOP_ESTATE;
}
void sloop_shard_stats_each(sloop_t *s, void (*each)(const sloop_shard_stats_t *, void *arg), void *arg) {
  (void)s;
  char shard[24];
  for (uint64_t i = 0; i < env_u64("FAKE_MINE", 0); i++) {
    snprintf(shard, sizeof shard, "shardId-%012u", (unsigned)i);
    each(&(sloop_shard_stats_t){.shard = shard, .at_tip = 1}, arg);
  }
}

int sloop_token(sloop_t *s, char *buf, size_t *len) {
  char text[400];
  if (!s->told_shards || getenv("FAKE_NOT_YET")) return SLOOP_ESTATE;
  int n =
      snprintf(text, sizeof text,
               "{\"stream_arn\":\"arn:aws:kinesis:us-east-1:000000000000:stream/%s\",\"active\":[\"shardId-"
               "000000000000\"],\"shards\":[{\"shard_id\":\"shardId-000000000000\",\"iterator_type\":\"",
               s->stream);
  if (s->acked)
    n += snprintf(text + n, sizeof text - (size_t)n, "after_sequence\",\"sequence_number\":\"4951%llu\"}]}",
                  (unsigned long long)(1000 + s->acked - 1));
  else
    n += snprintf(text + n, sizeof text - (size_t)n, "trim_horizon\"}]}");
  size_t room = *len;
  *len = (size_t)n;
  if (room <= (size_t)n) return UV_ENOBUFS;
  memcpy(buf, text, (size_t)n + 1);
  return 0;
}
int sloop_seek(sloop_t *s, const sloop_position_t *to, sloop_cb cb, void *arg) {
  (void)s;
  (void)to;
  (void)cb;
  (void)arg;
  return SLOOP_ESTATE;
}
int sloop_pause(sloop_t *s, const char *shard) {
  note(s, "pause", shard ? strtoull(shard + strlen("shardId-"), NULL, 10) : 0, 0);
  if (++s->paused_n == s->shards_n) s->st.tip_age_ms_now = 0; /* nobody is left who may be behind */
  return 0;
}
struct sloop_metrics_s {
  char url[80];
};
void sloop_metrics_opts_init_sized(sloop_metrics_opts_t *o, size_t size) {
  memset(o, 0, size);
  o->size = size;
  o->cloudwatch_ms = 60000;
}
int sloop_metrics_open(sloop_metrics_t **out, sloop_t *s, const sloop_metrics_opts_t *o, char *why,
                       size_t why_size) {
  static sloop_metrics_t m; /* one is enough for a command */
  note(s, "metrics", s->started != 0, o->cloudwatch_ms);
  int r = (int)strtol(getenv("FAKE_METRICS") ? getenv("FAKE_METRICS") : "0", NULL, 10);
  *out = r ? NULL : &m;
  snprintf(m.url, sizeof m.url, "%s%s", o->listen ? "http://" : "", o->listen ? o->listen : "");
  snprintf(why, why_size, "%s", r ? "the library says why" : "");
  return r;
}
int sloop_metrics_add(sloop_metrics_t *m, sloop_t *joined) {
  note(joined, "metrics-add", m != NULL, 0);
  return 0;
}
const char *sloop_metrics_url(const sloop_metrics_t *m) { return m->url; }
void sloop_metrics_close(sloop_metrics_t *m) { (void)m; }
/* ---- leases, as FAKE_LEASES says ---- */
int sloop_admin_open(sloop_admin_t **out, struct uv_loop_s *loop, const sloop_opts_t *o, char *why,
                     size_t why_size) {
  sloop_t *s;
  int r = sloop_open(&s, loop, o, why, why_size);
  if (r) return r;
  s->admin.alone = 1;
  *out = &s->admin;
  return 0;
}
sloop_admin_t *sloop_admin_of(sloop_t *s) { return &s->admin; }
static void on_handle_closed(sloop_t *s, int status, void *arg) {
  (void)status, (void)arg;
  s->admin.closed_cb(&s->admin, s->admin.closed_arg);
}
void sloop_admin_close(sloop_admin_t *h, sloop_admin_closed_cb cb, void *arg) {
  if (!h->alone) return;
  h->closed_cb = cb;
  h->closed_arg = arg;
  sloop_close(h->s, on_handle_closed, NULL);
}
typedef struct admin {
  uv_timer_t timer;
  sloop_admin_t *h;
  char what[40];
  sloop_leases_cb leases_cb;
  sloop_explain_cb explain_cb;
  sloop_admin_cb cb;
  sloop_migrate_cb migrate_cb;
  int to_token;
  void *arg;
} admin;

static void forget_admin(uv_handle_t *h) { free(h->data); }

static void give_leases(admin *a) {
  static char ids[4096][24], owners[3][16] = {"one.1", "two.1", ""};
  static sloop_lease_t leases[4096];
  static const sloop_lease_t *at[4096];
  sloop_worker_t workers[2] = {
      {.worker = owners[0], .host = "h1", .lease_ms = 10000, .weight = 1, .leads = 1},
      {.worker = owners[1], .host = "h2", .lease_ms = 10000, .weight = 1}};
  static uint64_t looks;
  struct timeval now;
  gettimeofday(&now, NULL);
  int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_usec / 1000;
  size_t n = env_u64("FAKE_LEASES", 3);
  looks++;
  for (size_t i = 0; i < n && i < 4096; i++) {
    snprintf(ids[i], sizeof ids[i], "shardId-%012u", (unsigned)i);
    /* At every look, the shard of its number goes to the other worker. */
    const char *owner = owners[(i + (looks > i)) % 2];
    leases[i] = (sloop_lease_t){.shard = ids[i],
                                .owner = owner,
                                .claim = "",
                                .position = {.kind = SLOOP_AFTER_SEQ, .shard = ids[i], .seq = "4951"},
                                .parents = {"", ""},
                                .state = SLOOP_LEASE_OWNED,
                                .epoch = looks,
                                .written_at_ms = now_ms - 3000,
                                .behind_ms = (int64_t)i * 1000,
                                .avoid = ""};
    at[i] = &leases[i];
  }
  for (int i = 0; i < 2; i++)
    workers[i].written_at_ms = now_ms - 500, workers[i].behind_ms = workers[i].rate_bytes = -1;
  const sloop_worker_t *worker_at[2] = {&workers[0], &workers[1]};
  sloop_leases_t all = {at, n, worker_at, 2, NULL, 0};
  a->leases_cb(a->h, 0, &all, NULL, a->arg);
}

/* As many moves as there are leases. */
static void give_migration(admin *a) {
  static char ids[4096][24], token[1 << 20];
  static sloop_move_t moves[4096];
  static const sloop_move_t *at[4096];
  size_t n = env_u64("FAKE_LEASES", 3);
  for (size_t i = 0; i < n && i < 4096; i++) {
    snprintf(ids[i], sizeof ids[i], "shardId-%012u", (unsigned)i);
    sloop_position_t position = {.kind = SLOOP_AFTER_SEQ, .shard = ids[i], .seq = "4951"};
    moves[i] =
        (sloop_move_t){.shard = ids[i], .kind = SLOOP_MOVE_DONE, .from = position, .to = position, .why = ""};
    at[i] = &moves[i];
  }
  if (a->to_token) memset(token, '-', n * 200 < sizeof token ? n * 200 : sizeof token - 1);
  sloop_migration_t found = {.moves = at, .moves_n = n, .wrote = 1, .token = token};
  a->migrate_cb(a->h, 0, &found, NULL, a->arg);
}

/* The word asked for comes back as the shard's name. */
static void give_answer(admin *a) {
  sloop_explanation_t e = {.why = SLOOP_WHY_NO_LEASE,
                           .shard = {.shard = a->what, .listed = 1},
                           .assigned_to = "",
                           .bad_row = "",
                           .leader = "",
                           .hole_from = "",
                           .hole_to = ""};
  sloop_change_t change = {.shard = a->what, .kind = SLOOP_CHANGE_WAS_SO, .was_owner = ""};
  const sloop_change_t *at = &change;
  sloop_admin_result_t r = {.changes = &at, .changes_n = 1, .worker = ""};
  if (a->explain_cb)
    a->explain_cb(a->h, 0, &e, NULL, a->arg);
  else
    a->cb(a->h, 0, &r, NULL, a->arg);
}

static void on_admin(uv_timer_t *timer) {
  admin *a = timer->data;
  uv_close((uv_handle_t *)timer, forget_admin);
  a->h->s->asked--;
  if (a->h->s->closed) {
    free_if_unused(a->h->s);
    return;
  }
  if (a->h->s->errors_left && (!a->leases_cb || !getenv("FAKE_ERROR_OF_TEXT"))) {
    sloop_error_t e = {.code = a->h->s->error,
                       .fatal = 1,
                       .aws_code = "",
                       .request_id = "",
                       .shard = "",
                       .message = "said so"};
    if (e.code == SLOOP_EACCESS) e.aws_code = "AccessDeniedException", e.http_status = 400;
    a->h->s->errors_left--;
    if (a->leases_cb) a->leases_cb(a->h, e.code, NULL, &e, a->arg);
    if (a->explain_cb) a->explain_cb(a->h, e.code, NULL, &e, a->arg);
    if (a->cb) a->cb(a->h, e.code, NULL, &e, a->arg);
    if (a->migrate_cb) a->migrate_cb(a->h, e.code, NULL, &e, a->arg);
  } else if (a->leases_cb) {
    give_leases(a);
  } else if (a->migrate_cb) {
    give_migration(a);
  } else {
    give_answer(a);
  }
}

static admin *begin_admin(sloop_admin_t *h, void *arg) {
  admin *a = calloc(1, sizeof *a);
  sloop_t *s = h->s;
  a->h = h;
  a->arg = arg;
  s->asked++;
  uv_timer_init(s->timer.loop, &a->timer);
  a->timer.data = a;
  uv_timer_start(&a->timer, on_admin, 1, 0);
  wake(s, 3600000); /* one that is open keeps the loop alive, as the real one */
  return a;
}

int sloop_admin_leases(sloop_admin_t *h, sloop_leases_cb cb, void *arg) {
  if (env_u64("FAKE_SILENT", 0)) {
    wake(h->s, 3600000);
    return 0;
  }
  begin_admin(h, arg)->leases_cb = cb;
  return 0;
}
int sloop_admin_lag(sloop_admin_t *h, uint32_t limit_ms, sloop_leases_cb cb, void *arg) {
  (void)limit_ms;
  return sloop_admin_leases(h, cb, arg);
}
static admin *admin_asked(sloop_admin_t *h, const char *what, const char *name, void *arg) {
  admin *a = begin_admin(h, arg);
  snprintf(a->what, sizeof a->what, "%s %s", what, name ? name : "all");
  return a;
}
int sloop_admin_explain(sloop_admin_t *h, const char *shard, sloop_explain_cb cb, void *arg) {
  admin_asked(h, "explain", shard, arg)->explain_cb = cb;
  return 0;
}
int sloop_admin_release(sloop_admin_t *h, const char *name, sloop_admin_cb cb, void *arg) {
  admin_asked(h, "release", name, arg)->cb = cb;
  return 0;
}
int sloop_admin_pause(sloop_admin_t *h, const char *shard, int on, uint32_t limit_ms, sloop_admin_cb cb,
                      void *arg) {
  (void)limit_ms;
  admin_asked(h, on ? "pause" : "resume", shard, arg)->cb = cb;
  return 0;
}
int sloop_admin_drain(sloop_admin_t *h, int on, uint32_t limit_ms, sloop_drain_cb cb, void *arg) {
  (void)h, (void)on, (void)limit_ms, (void)cb, (void)arg;
  return SLOOP_EOPTION; /* tried with the real one: cli_drain.py */
}
int sloop_admin_reset(sloop_admin_t *h, const char *shard, const sloop_position_t *to, int force,
                      sloop_admin_cb cb, void *arg) {
  char what[20];
  snprintf(what, sizeof what, "%s%d %s", force ? "force " : "", (int)to->kind, to->seq ? to->seq : "-");
  admin_asked(h, what, shard, arg)->cb = cb;
  return 0;
}

void sloop_place_init_sized(sloop_place_t *p, size_t size) {
  memset(p, 0, size);
  p->size = size;
}

int sloop_admin_migrate(sloop_admin_t *h, const sloop_place_t *from, const sloop_place_t *to, int write,
                        sloop_migrate_cb cb, void *arg) {
  (void)from, (void)write; /* what it does is tried with the real one: cli_migrate.py */
  if (env_u64("FAKE_SILENT", 0)) {
    wake(h->s, 3600000);
    return 0;
  }
  admin *a = begin_admin(h, arg);
  a->migrate_cb = cb;
  a->to_token = !to->app;
  return 0;
}

int sloop_admin_registered(sloop_admin_t *h, sloop_registered_cb cb, void *arg) {
  (void)h, (void)cb, (void)arg;
  return SLOOP_EOPTION; /* tried with the real one, as is the next: tail_push.py */
}
int sloop_admin_deregister(sloop_admin_t *h, const char *name, sloop_registered_cb cb, void *arg) {
  (void)h, (void)name, (void)cb, (void)arg;
  return SLOOP_EOPTION;
}

int sloop_resume(sloop_t *s, const char *shard) { return s && shard ? 0 : 0; }
void sloop_stats_get(sloop_t *s, sloop_stats_t *out, size_t size) { memcpy(out, &s->st, size); }

typedef struct listing {
  uv_timer_t timer;
  sloop_t *s;
  sloop_list_cb cb;
  void *arg;
} listing;

static void forget(uv_handle_t *h) { free(h->data); }

static void on_listed(uv_timer_t *timer) {
  listing *l = timer->data;
  static const sloop_shard_t shards[] = {
      {"shardId-000000000000", "", "", "0", "10", "49510", "49519", 1},
      {"shardId-000000000001", "shardId-000000000000", "", "0", "5", "49520", "", 0},
      {"shardId-000000000002", "shardId-000000000000", "shardId-000000000009", "6", "10", "49521", "", 0}};
  static const sloop_shard_t *const listed[] = {&shards[0], &shards[1], &shards[2]};
  uv_close((uv_handle_t *)timer, forget);
  if (l->s->errors_left) {
    sloop_error_t e = {.code = l->s->error,
                       .fatal = 1,
                       .aws_code = "ResourceNotFoundException",
                       .request_id = "",
                       .shard = "",
                       .message = "ListShards: 400",
                       .retry_in_ms = UINT64_MAX};
    l->cb(l->s, l->s->error, NULL, 0, &e, l->arg);
  } else {
    l->cb(l->s, 0, listed, 3, NULL, l->arg);
  }
}

int sloop_list(sloop_t *s, sloop_list_cb cb, void *arg) {
  wake(s, 3600000); /* one that is open keeps the loop alive, as the real one */
  if (env_u64("FAKE_SILENT", 0)) return 0;
  listing *l = calloc(1, sizeof *l);
  *l = (listing){.s = s, .cb = cb, .arg = arg};
  uv_timer_init(s->timer.loop, &l->timer);
  l->timer.data = l;
  uv_timer_start(&l->timer, on_listed, 0, 0);
  return 0;
}

/* The names of other streams, which the command asks for after an error about the stream: there are none here. */
int slp_find_new(slp_find **ret, sloop_t *s, const slp_find_calls *calls, void *arg) {
  (void)ret;
  (void)s;
  (void)calls;
  (void)arg;
  return UV_ENOMEM;
}

void slp_find_free(slp_find *f) { (void)f; }

/* tried with the real one: cli_apps.py */
int slp_apps_new(slp_apps **ret, sloop_t *s, const char *store, const slp_apps_calls *calls, void *arg) {
  (void)ret, (void)s, (void)store, (void)calls, (void)arg;
  return SLP_ENOMEM;
}
void slp_apps_free(slp_apps *f) { (void)f; }
