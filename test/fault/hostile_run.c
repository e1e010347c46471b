/* hostile_run.c - plays the runs of hostile_run.h, and judges them. */
#include "hostile_run.h"

#include "../check.h"
#include "../cpu.h"
#include "api/open.h"
#include "base/clean.h"
#include "bounds.h"
#include "sanitized.h"
#include "swarm/served.h"

#include <stdio.h>
#include <time.h>

typedef struct limit {
  const char *op;
  uint32_t burst, mean;
} limit;
static const limit limits[] = {{"GetRecords", RECORDS_CALLS, RECORDS_CALLS_MEAN},
                               {"GetShardIterator", ITERATOR_CALLS, ITERATOR_CALLS_MEAN},
                               {"ListShards", LISTING_CALLS, LISTING_CALLS_MEAN},
                               {"DescribeStream", LISTING_CALLS, LISTING_CALLS_MEAN},
                               {"Query", ROWS_CALLS, ROWS_CALLS_MEAN},
                               {"Scan", ROWS_CALLS, ROWS_CALLS_MEAN},
                               {NULL, OTHER_CALLS, OTHER_CALLS_MEAN}};

/* ---- the service --------------------------------------------------------------------------------------- */
static void count(run *r, const char *op) {
  uint64_t second = slp_sim_now_us(r->w->sim) / 1000000;
  if (second != r->second)
    for (size_t i = 0; i < r->ops_n; i++) r->ops[i].now = 0;
  r->second = second;
  size_t i = 0;
  while (i < r->ops_n && strcmp(r->ops[i].name, op) != 0) i++;
  CHECK(i < OPS_MAX);
  if (i == r->ops_n) snprintf(r->ops[r->ops_n++].name, sizeof r->ops[0].name, "%s", op);
  r->ops[i].all++;
  if (++r->ops[i].now > r->ops[i].worst) r->ops[i].worst = r->ops[i].now;
}

static void serve(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply) {
  run *r = arg;
  slp_world *w = r->w;
  slp_box_request rq = slp_served_request(ask);
  slp_str target = rq.target;
  const char *dot = target.n ? memchr(target.p, '.', target.n) : NULL;
  char op[40];
  snprintf(op, sizeof op, "%.*s", dot ? (int)(target.p + target.n - dot - 1) : 0, dot ? dot + 1 : "");
  count(r, op);
  reply->cut_after = SIZE_MAX;
  reply->date_ms = slp_world_ms(w);
  if (r->op && strcmp(op, r->op) == 0 && slp_sim_now_us(w->sim) >= r->from_us) {
    r->n++;
    r->asked = rq.body;
    r->say(r, reply);
    return;
  }
  slp_box_answer answer = {.cut_after = SIZE_MAX};
  slp_buf_init(&answer.body, w->mem, SIZE_MAX / 2);
  slp_box_handle(w->box, slp_world_ms(w), &rq, &answer);
  slp_served_reply(reply, &answer, slp_world_ms(w));
}

int slp_hostile_ask(run *r, const char *target, slp_str body, slp_buf *ret) {
  slp_box_request rq = {.method = SLP_STR("POST"),
                        .path = SLP_STR("/"),
                        .host = SLP_STR("sim"),
                        .target = slp_str_of(target),
                        .content_type = strncmp(target, "Kinesis", 7) ? SLP_STR("application/x-amz-json-1.0")
                                                                      : SLP_STR("application/x-amz-json-1.1"),
                        .authorization = SLP_STR("AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/any/"
                                                 "aws4_request, SignedHeaders=host, Signature=0"),
                        .body = body};
  slp_box_answer answer = {.cut_after = SIZE_MAX};
  slp_buf_init(&answer.body, r->w->mem, SIZE_MAX / 2);
  slp_box_handle(r->w->box, slp_world_ms(r->w), &rq, &answer);
  slp_buf_free(ret);
  slp_buf_move(ret, &answer.body);
  return answer.status;
}

/* ---- the consumer -------------------------------------------------------------------------------------- */
static void look(run *r, const char *text) {
  for (const char *p = text; *p && !r->unsafe[0]; p++)
    if ((p == text || ((unsigned char)*p & 0xc0) != 0x80) && slp_unsafe_length(p, strlen(p)))
      snprintf(r->unsafe, sizeof r->unsafe, "%s", text);
}
static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  (void)s;
  ((run *)arg)->records += (uint32_t)sloop_batch_count(b);
  sloop_batch_done(b, sloop_batch_count(b));
}
static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  run *r = arg;
  (void)s;
  r->errors++;
  r->fatal += e->fatal != 0;
  snprintf(r->last, sizeof r->last, "%s: %s", sloop_err_name(e->code), e->message);
  look(r, e->message);
  look(r, e->aws_code);
  look(r, e->request_id);
  look(r, e->shard);
}
static void on_log(sloop_t *s, sloop_log_level_t level, const char *line, void *arg) {
  run *r = arg;
  (void)s;
  r->told += level <= SLOOP_LOG_WARN;
  look(r, line);
}
static void on_lease(sloop_t *s, const sloop_lease_event_t *e, void *arg) {
  run *r = arg;
  (void)s;
  r->told += e->kind == SLOOP_LEASE_BAD_ROW || e->kind == SLOOP_LEASE_HOLE ||
             e->kind == SLOOP_LEASE_TROUBLE || e->kind == SLOOP_LEASE_LOST ||
             e->kind == SLOOP_LEASE_RELEASED || e->kind == SLOOP_LEASE_ENDED ||
             e->kind == SLOOP_LEASE_EVICTED;
  look(r, e->shard);
  look(r, e->worker);
  look(r, e->text);
}
static void on_shard(sloop_t *s, const sloop_shard_event_t *e, void *arg) {
  (void)s;
  look(arg, e->shard);
}
static void on_closed(sloop_t *s, int status, void *arg) {
  (void)s, (void)status;
  ((run *)arg)->closed = 1;
}
static const slp_outside outside = {.getenv_fn = slp_world_keys};

static void make_stream(run *r) {
  int64_t now = slp_world_ms(r->w);
  if (!r->streams) {
    CHECK_INT(slp_box_stream(r->w->box, now, "orders", 2), 0);
    return;
  }
  CHECK_INT(slp_box_table(r->w->box, now, TABLE, 2, "NEW_AND_OLD_IMAGES"), 0);
}

static void open_consumer(run *r, slp_host *host, sloop_t **s) {
  sloop_opts_t o;
  char why[160];
  sloop_opts_init(&o);
  o.stream = r->streams ? "dynamodb:" TABLE : "orders";
  o.region = "eu-west-1";
  o.endpoint = SLP_ENDPOINT;
  o.start.kind = SLOOP_OLDEST;
  if (r->by_kin)
    o.start = (sloop_position_t){.kind = SLOOP_AT_SEQ, .shard = "shardId-000000000000", .seq = "1"};
  o.app = r->schema ? "billing" : NULL;
  o.worker = r->schema ? "w" : NULL;
  o.schema = r->schema;
  o.lease_ms = 3000;
  o.list_ms = 5000;
  o.arg = r;
  o.on_batch = on_batch;
  o.on_error = on_error;
  o.on_log = on_log;
  o.on_lease = on_lease;
  o.on_shard = on_shard;
  o.log_level = SLOOP_LOG_DEBUG;
  if (slp_open_on(host, r->mem, &outside, s, &o, why)) CHECK_FAIL("%s", why);
  CHECK_INT(sloop_start(*s), 0);
}

void slp_hostile_play(run *r) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  sloop_sandbox_opts_t so;
  sloop_t *s;
  slp_world_box_opts(&so);
  so.roll_ms = 0;
  r->w = slp_world_new(mem, 7, &so);
  slp_sim_leave_unhashed(r->w->sim);
  slp_sim_serve(r->w->sim, serve, r);
  slp_sim_measure(r->w->sim, cpu_us);
  slp_sim_network(r->w->sim)->latency_us_min = slp_sim_network(r->w->sim)->latency_us_max = 50;
  make_stream(r);
  r->mem = slp_mem_new(NULL, NULL);
  slp_sim_clock clock = {.mono_start_us = 1000000};
  slp_host *host = slp_sim_host_new(r->w->sim, r->mem, &clock);
  open_consumer(r, host, &s);
  if (r->at_ms) {
    slp_world_pass(r->w, r->at);
    r->at_ms(r);
  }
  slp_world_pass(r->w, r->seconds * UINT64_C(1000));
  r->turns = slp_sim_stats(host).turns;
  sloop_close(s, on_closed, r);
  slp_world_pass(r->w, 1000);
  r->turn_us = slp_host_turns(host)->cpu_us_max;
  CHECK(r->closed);
  slp_host_close(host, NULL, NULL);
  slp_world_pass(r->w, 60000);
  r->peak = r->mem->peak_bytes;
  CHECK_INT(r->mem->live_bytes, 0);
  slp_mem_drop(r->mem);
  slp_world_free(r->w);
  CHECK_INT(mem->live_blocks, 0);
  slp_mem_drop(mem);
}

/* ---- judging ------------------------------------------------------------------------------------------- */
static const limit *limit_of(const char *op) {
  const limit *l = limits;
  while (l->op && strcmp(l->op, op) != 0) l++;
  return l;
}

/* Leases that were made: each costs renewals. */
static uint32_t leases_of(const run *r, const char *op) {
  for (size_t i = 0; i < r->ops_n && strcmp(op, "UpdateItem") == 0; i++)
    if (strcmp(r->ops[i].name, "PutItem") == 0) return r->ops[i].all;
  return 0;
}

static int judge_calls(const run *r, sums *all, const char *name, int show) {
  int bad = 0;
  for (size_t i = 0; i < r->ops_n; i++) {
    const limit *l = limit_of(r->ops[i].name);
    uint32_t more = LEASE_CALLS * leases_of(r, r->ops[i].name);
    int over =
        r->ops[i].worst > l->burst + more || r->ops[i].all > (l->mean + more) * (r->seconds + r->waited);
    bad |= over;
    if (show || over)
      printf("%s %s: %s %u in a second, %u in %u s\n", over ? "OVER" : "    ", name, r->ops[i].name,
             r->ops[i].worst, r->ops[i].all, r->seconds);
    if (r->ops[i].worst <= all->worst) continue;
    all->worst = r->ops[i].worst;
    snprintf(all->worst_at, sizeof all->worst_at, "%s in %s", r->ops[i].name, name);
  }
  return bad;
}

int slp_hostile_judge(const run *r, sums *all, const char *name, int show) {
  int bad = judge_calls(r, all, name, show);
  if (r->peak > (size_t)LIBRARY_MB << 20) bad = 1, printf("OVER %s: %zu bytes\n", name, r->peak);
  if (r->turns > (uint64_t)TURNS_A_SECOND * (r->seconds + r->waited + r->at / 1000 + 1))
    bad = 1, printf("OVER %s: %llu turns\n", name, (unsigned long long)r->turns);
  if (r->turn_us > (r->many ? MANY_TURN_US : TURN_US) * (SANITIZED ? SANITIZED_TURNS : UINT64_C(1)))
    bad = 1, printf("OVER %s: %llu us of CPU in a turn\n", name, (unsigned long long)r->turn_us);
  if (r->unsafe[0]) bad = 1, printf("OVER %s: what moves a terminal is told: %s\n", name, r->unsafe);
  if (r->cause && r->n && !strstr(r->last, r->cause)) bad = 1, printf("OVER %s: nobody is told why\n", name);
  if (show)
    printf(
        "     %s: %llu wrong answers, peak %zu KiB, %llu turns, %llu us, %u records, %u told, %u errors, %u "
        "fatal: %s\n",
        name, (unsigned long long)r->n, r->peak >> 10, (unsigned long long)r->turns,
        (unsigned long long)r->turn_us, r->records, r->told, r->errors, r->fatal, r->last);
  if (r->turn_us > all->turn_us) {
    all->turn_us = r->turn_us;
    snprintf(all->turn_at, sizeof all->turn_at, "%s", name);
  }
  if (r->peak > all->peak) {
    all->peak = r->peak;
    snprintf(all->peak_at, sizeof all->peak_at, "%s", name);
  }
  all->n++;
  all->given += r->n > 0;
  all->broken += (uint32_t)bad;
  fflush(stdout);
  return bad;
}

int slp_hostile_sums(const sums *all) {
  printf("%u combinations, %u of them met, %u over a bound\n", all->n, all->given, all->broken);
  printf("longest turn: %llu us of CPU, %s\n", (unsigned long long)all->turn_us, all->turn_at);
  printf("most calls in a second: %u, %s; most memory: %zu KiB, %s\n", all->worst, all->worst_at,
         all->peak >> 10, all->peak_at);
  return all->broken != 0;
}
