/* valve_story.c - see valve_story.h. */
#include "valve_story.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/open.h"
#include "check.h"

#define STREAM "orders"
#define KEY_ID "AKIDSTORY"
#define SECRET "story/secret"
#define SHORT_MS 1000
#define STOP_MS 3000
/* The first worker goes after so many; it is handed two at a time, so some are left for the second. */
#define FIRST_PART 4

/* ---- what is read ----------------------------------------------------------------------------------- */
static void put(story_world *w, int record, int low) {
  char data[8], shard[129];
  /* Keys whose hashes lie in the lower and the upper half: md5("a") begins with 0c, md5("b") with 92. */
  int n = snprintf(data, sizeof data, "%d", record);
  CHECK_INT(sloop_sandbox_put(w->box, STREAM, low ? "a" : "b", 1, data, (size_t)n, w->seq[record], shard), 0);
  w->shard_of[record] = (uint8_t)(shard[strlen(shard) - 1] - '0');
}

void story_world_open(story_world *w, uv_loop_t *loop) {
  sloop_sandbox_opts_t o;
  memset(w, 0, sizeof *w);
  w->loop = loop;
  sloop_sandbox_opts_init(&o);
  o.access_key = KEY_ID;
  o.secret_key = SECRET;
  o.reads_per_second = 0;
  o.read_bytes_per_second = 0;
  CHECK_INT(sloop_sandbox_start(&w->box, loop, &o), 0);
  w->box_port = (uint16_t)strtoul(strrchr(sloop_sandbox_url(w->box), ':') + 1, NULL, 10);
  CHECK_INT(sloop_sandbox_stream(w->box, STREAM, 1), 0);
  for (int i = 0; i < 3; i++) put(w, i, i % 2);
  CHECK_INT(sloop_sandbox_split(w->box, STREAM, "shardId-000000000000", NULL), 0);
  for (int i = 3; i < STORY_RECORDS; i++) put(w, i, i % 2);
  CHECK_INT(w->shard_of[2], 0);
  CHECK_INT(w->shard_of[3] + w->shard_of[4], 3);
}

void story_world_close(story_world *w) {
  sloop_sandbox_stop(w->box, NULL, NULL);
  w->box = NULL;
}

/* ---- what is told ----------------------------------------------------------------------------------- */
static void bad(story *st, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void bad(story *st, const char *fmt, ...) {
  if (st->bad[0]) return; /* the first is the cause */
  va_list args;
  va_start(args, fmt);
  vsnprintf(st->bad, sizeof st->bad, fmt, args);
  va_end(args);
}

void story_write_down(story_book *b, const char *name, const char *text) {
  char line[200];
  int n = snprintf(line, sizeof line, "%s: ", name);
  for (; *text && n + 2 < (int)sizeof line; text++) {
    if (!isdigit((unsigned char)*text))
      line[n++] = *text;
    else if (line[n - 1] != '#')
      line[n++] = '#';
  }
  line[n] = 0;
  size_t i = 0;
  while (i < b->n && strcmp(b->said[i].text, line) != 0) i++;
  if (i == STORY_SAID_MAX) return;
  if (i == b->n) memcpy(b->said[b->n++].text, line, sizeof line);
  b->said[i].times++;
}

static int by_text(const void *a, const void *b) {
  return strcmp(((const story_said *)a)->text, ((const story_said *)b)->text);
}
void story_book_print(const story_book *b) {
  story_book sorted = *b;
  qsort(sorted.said, sorted.n, sizeof sorted.said[0], by_text);
  for (size_t i = 0; i < sorted.n; i++)
    printf("  %7llu %s\n", (unsigned long long)sorted.said[i].times, sorted.said[i].text);
}

/* ---- waits ------------------------------------------------------------------------------------------ */
static const slp_host_ops *real_ops;
static void send_with_short_waits(slp_host *h, slp_http *call) {
  const story *st = h->mem->ctx;
  if (!st->v.fired) call->connect_ms_max = call->total_ms_max = SHORT_MS; /* this one may be it */
  real_ops->http_send(h, call);
}
static void wait_shortly(sloop_t *s) {
  static slp_host_ops ops;
  if (!real_ops) {
    real_ops = s->family->host->ops;
    ops = *real_ops;
    ops.http_send = send_with_short_waits;
  }
  s->family->host->ops = &ops;
}

/* ---- the user --------------------------------------------------------------------------------------- */
static void *count_alloc(void *ctx, void *p, size_t was, size_t want) {
  story *st = ctx;
  if (want == 0) {
    free(p);
    st->live_bytes -= was;
    return NULL;
  }
  void *q = realloc(p, want);
  CHECK(q);
  st->live_bytes += want - was;
  return q;
}

static void give_creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  (void)s, (void)arg;
  sloop_creds_t c = {
      .size = sizeof(sloop_creds_t), .access_key = KEY_ID, .secret_key = SECRET, .expires_at_ms = -1};
  sloop_creds_done(rq, 0, &c, NULL);
}

static story_life *life_of(story *st) { return &st->lives[st->at]; }
static int is_last(const story *st) { return st->at == (st->plan.leased ? 1 : 0); }

static int all_got(const story *st) {
  for (int i = 0; i < STORY_RECORDS; i++)
    if (!st->lives[0].got[i] && !st->lives[1].got[i]) return 0;
  return 1;
}

static void go_stop(story *st);
static void go_close(story *st);

static void take_record(story *st, const sloop_record_t *r) {
  story_life *l = life_of(st);
  int record = r->data.len == 1 ? r->data.base[0] - '0' : -1;
  if (record < 0 || record >= STORY_RECORDS || r->seq.len != strlen(st->world->seq[record]) ||
      memcmp(r->seq.base, st->world->seq[record], r->seq.len) != 0) {
    bad(st, "a record nobody has put: %.*s at %.*s", (int)r->data.len, r->data.base, (int)r->seq.len,
        r->seq.base);
    return;
  }
  int shard = st->world->shard_of[record];
  if (r->shard[strlen(r->shard) - 1] - '0' != shard) bad(st, "record %d comes from %s", record, r->shard);
  if (r->flags) bad(st, "record %d is flagged %u", record, r->flags);
  if (l->got[record]) bad(st, "record %d comes twice to one worker", record);
  if (l->last[shard] >= record) bad(st, "record %d after %d", record, l->last[shard]);
  for (int parent = 0; shard && parent < 3; parent++)
    if (!l->got[parent] && !(st->at && st->lives[0].got[parent]))
      bad(st, "record %d before its parent's %d", record, parent);
  if (st->at && st->lives[0].got[record] && st->lives[0].stop_status == 0)
    bad(st, "record %d again, although the first worker's stop was told to be done", record);
  if (st->at && r->epoch <= st->lives[0].epoch[shard])
    bad(st, "epoch %llu of %s after %llu", (unsigned long long)r->epoch, r->shard,
        (unsigned long long)st->lives[0].epoch[shard]);
  l->got[record] = 1;
  l->got_n++;
  l->last[shard] = (int8_t)record;
  l->epoch[shard] = r->epoch;
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  story *st = arg;
  size_t n = sloop_batch_count(b);
  (void)s;
  for (size_t i = 0; i < n; i++) take_record(st, sloop_batch_at(b, i));
  sloop_batch_done(b, n);
  if (st->plan.leased && st->at == 0 && st->phase == STORY_READS && life_of(st)->got_n >= FIRST_PART)
    go_stop(st);
}

static void look_whether_all(story *st) {
  story_life *l = life_of(st);
  if (st->phase != STORY_READS || !is_last(st) || !l->at_tip || !all_got(st)) return;
  if (st->plan.leased && !(l->taken[1] && l->taken[2])) return;
  go_stop(st);
}

static void on_tip(sloop_t *s, void *arg) {
  (void)s;
  life_of(arg)->at_tip = 1;
  look_whether_all(arg);
}

static void on_loss(sloop_t *s, const sloop_loss_t *l, void *arg) {
  (void)s;
  bad(arg, "a loss was told: %s", l->message);
}

static void end_early(story *st, const char *why) {
  if (!st->ended[0]) snprintf(st->ended, sizeof st->ended, "; ended: %.180s", why);
  if (st->phase == STORY_READS) go_close(st);
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  story *st = arg;
  char name[300];
  (void)s;
  snprintf(name, sizeof name, "%s%s%s%s", e->fatal ? "FATAL " : "", sloop_err_name(e->code),
           e->aws_code[0] ? " " : "", e->aws_code);
  story_write_down(st->book, name, e->message);
  if (!e->message[0]) bad(st, "%s without a sentence", name);
  if (!e->fatal) return;
  if (!st->plan.may_end) bad(st, "fatal: %s: %s", name, e->message);
  end_early(st, e->message);
}

static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  story *st = arg;
  (void)s;
  if (e->kind == SLOOP_SHARD_STOPPED && !st->plan.may_end) bad(arg, "%s was given up", e->shard);
  if (e->kind == SLOOP_SHARD_STOPPED) end_early(st, "a shard was given up");
  if (e->kind == SLOOP_SHARD_LOST) bad(arg, "%s was lost", e->shard);
}

static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  story *st = arg;
  (void)s;
  switch (e->kind) {
    case SLOOP_LEASE_TAKEN: life_of(st)->taken[e->shard[strlen(e->shard) - 1] - '0'] = 1; break;
    case SLOOP_LEASE_LOST: bad(st, "lease of %s lost: %s", e->shard, e->text); break;
    case SLOOP_LEASE_EVICTED: bad(st, "evicted: %s", e->text); break;
    case SLOOP_LEASE_HOLE: bad(st, "a hole: %s", e->text); break;
    case SLOOP_LEASE_BAD_ROW: bad(st, "a bad row: %s", e->text); break;
    case SLOOP_LEASE_SUSPENDED: story_write_down(st->book, "suspended", e->text); break;
    case SLOOP_LEASE_EVICTED_OTHER: story_write_down(st->book, "evicted_other", e->text); break;
    case SLOOP_LEASE_TROUBLE: story_write_down(st->book, "trouble", e->text); break;
    default: break;
  }
  look_whether_all(st);
}

/* ---- a life's end, and the next one ----------------------------------------------------------------- */
static void open_consumer(story *st, uint16_t port) {
  sloop_opts_t o;
  char endpoint[64], why[160] = "", store[48];
  sloop_opts_init(&o);
  snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%u", port);
  snprintf(store, sizeof store, "dynamodb:%s", st->table);
  o.stream = STREAM;
  o.endpoint = endpoint;
  o.region = "us-east-1";
  o.start.kind = SLOOP_OLDEST;
  o.poll_ms = 200;
  o.order_wait_ms = UINT32_MAX;
  o.batch_records_max = 2;
  o.in_flight_max = 8;
  o.alloc = count_alloc;
  o.alloc_ctx = o.arg = st;
  o.creds = give_creds;
  o.on_batch = on_batch;
  o.on_tip = on_tip;
  o.on_loss = on_loss;
  o.on_error = on_error;
  o.on_shard = on_shard;
  if (st->plan.leased) {
    o.app = "billing";
    o.worker = st->at ? "b" : "a";
    o.store = store;
    o.checkpoint_ms = 200;
    o.on_lease = on_lease;
  }
  if (sloop_open(&st->s, st->world->loop, &o, why, sizeof why)) {
    bad(st, "open: %s", why);
    st->phase = STORY_IS_DONE;
    return;
  }
  if (st->plan.short_waits) wait_shortly(st->s);
}

static void live(story *st) {
  story_life *l = life_of(st);
  l->of = st;
  l->last[0] = l->last[1] = l->last[2] = -1;
  l->stop_status = -1;
  st->phase = STORY_READS;
  open_consumer(st, st->v.port);
  if (st->s && sloop_start(st->s)) bad(st, "start failed");
}

static void on_valve_closed(valve *v) {
  story *st = SLP_OWNER(v, story, v);
  if (st->live_bytes) bad(st, "%zu bytes were left", st->live_bytes);
  st->phase = STORY_IS_DONE;
}

/* From a consumer's last callback; what it is made of goes right after. */
static void clear(story *st) {
  st->phase = STORY_CLEARS;
  valve_close(&st->v, on_valve_closed);
}

static void on_asker_closed(sloop_t *s, int status, void *arg) {
  (void)s, (void)status;
  clear(arg);
}

/* The last worker's stop was told to be done: then everything is in the table, and nobody is there any more.
 */
static void judge_rows(story *st, const sloop_leases_t *all) {
  if (all->bad_rows_n) bad(st, "a row of the table makes no sense: %s", all->bad_rows[0]);
  if (all->leases_n != STORY_SHARDS) bad(st, "%zu leases in the table", all->leases_n);
  for (size_t i = 0; i < all->leases_n && !st->bad[0]; i++) {
    const sloop_lease_t *lease = all->leases[i];
    int shard = lease->shard[strlen(lease->shard) - 1] - '0';
    const char *want = NULL; /* the last record; of the shard that was split: its end */
    for (int r = 3; shard && r < STORY_RECORDS; r++)
      if (st->world->shard_of[r] == shard) want = st->world->seq[r];
    const sloop_position_t *is = &lease->position;
    if (!shard ? is->kind != SLOOP_AT_END
               : is->kind != SLOOP_AFTER_SEQ || !want || strcmp(is->seq, want) != 0)
      bad(st, "%s is at %d %s in the table, not after %s", lease->shard, (int)is->kind,
          is->seq ? is->seq : "", want ? want : "its end");
    /* A worker that leaves takes its name out of rows it writes anyway; the others say so in its own row. */
    if (lease->state == SLOOP_LEASE_OWNED) bad(st, "%s still belongs to %s", lease->shard, lease->owner);
    if (lease->epoch < st->lives[1].epoch[shard])
      bad(st, "%s has epoch %llu in the table", lease->shard, (unsigned long long)lease->epoch);
  }
  for (size_t i = 0; i < all->workers_n; i++)
    if (!all->workers[i]->dead) bad(st, "%s is still there", all->workers[i]->worker);
}

static void on_leases(sloop_admin_t *a, int status, const sloop_leases_t *all, const sloop_error_t *e,
                      void *arg) {
  story *st = arg;
  (void)a;
  if (status)
    bad(st, "the table can't be read: %s", e ? e->message : "?");
  else if (st->lives[1].stop_status == 0)
    judge_rows(st, all);
  sloop_close(st->s, on_asker_closed, st);
}

/* Straight to the sandbox. */
static void ask(story *st) {
  st->phase = STORY_ASKS;
  open_consumer(st, st->world->box_port);
  if (st->s && sloop_admin_leases(sloop_admin_of(st->s), on_leases, st))
    bad(st, "asking for the leases failed");
}

static void on_closed(sloop_t *s, int status, void *arg) {
  story *st = arg;
  (void)s, (void)status;
  st->s = NULL;
  if (st->bad[0] || st->ended[0]) {
    clear(st);
  } else if (!is_last(st)) {
    st->at++;
    live(st);
  } else if (st->plan.leased) {
    ask(st);
  } else {
    clear(st);
  }
}

static void go_close(story *st) {
  sloop_stats_t stats;
  sloop_stats_get(st->s, &stats, sizeof stats);
  st->book->retries += stats.retries;
  st->phase = STORY_CLOSES;
  sloop_close(st->s, on_closed, st);
}

static void on_stopped(sloop_t *s, int status, void *arg) {
  story *st = arg;
  (void)s;
  if (st->phase != STORY_STOPS) return;
  if (status && status != UV_ETIMEDOUT) bad(st, "stop was told %d", status);
  if (status) story_write_down(st->book, "stop", sloop_err_name(status));
  life_of(st)->stop_status = status;
  go_close(st);
}

static void go_stop(story *st) {
  st->phase = STORY_STOPS;
  int r = sloop_stop(st->s, STOP_MS, on_stopped, st);
  if (r) bad(st, "stop said %d", r);
}

void story_hurry(story *st, uint32_t calls_max) {
  static const char *const phases[] = {"reads", "stops", "closes", "asks", "clears", "done"};
  if (st->phase == STORY_IS_DONE || ++st->hurried < calls_max) return;
  uint64_t ms = uv_now(st->world->loop) - st->begun_ms;
  bad(st, "not done after %llu ms: worker %d %s, has %zu records", (unsigned long long)ms, st->at,
      phases[st->phase], life_of(st)->got_n);
  st->hurried = 0;
  if (st->phase == STORY_READS || st->phase == STORY_STOPS)
    go_close(st);
  else if (st->phase == STORY_ASKS)
    sloop_close(st->s, on_asker_closed, st);
  else
    CHECK_FAIL("%s", st->bad); /* closing is never late */
}

void story_begin(story *st, story_world *w, story_book *book, const story_plan *plan) {
  memset(st, 0, sizeof *st);
  st->world = w;
  st->book = book;
  st->plan = *plan;
  st->begun_ms = uv_now(w->loop);
  snprintf(st->table, sizeof st->table, "leases-%05u", w->tables++);
  valve_open(&st->v, w->loop, w->box_port, &plan->fault);
  live(st);
}
