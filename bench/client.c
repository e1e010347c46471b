/* client.c - the consumer that is measured: sloop.h used as an embedding program would use it. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

typedef struct client_run {
  const bench_sloop_job *job;
  bench_read *result;
  double cpu, wall;
  int ended;
} client_run;

static uint64_t word(const char *p) {
  uint64_t w;
  memcpy(&w, p, sizeof w);
  return w;
}

/* Depends on the sequence number's end, the length, and both ends of the payload. Added up, so the order in
 * which shards come does not matter, but a lost, doubled or shifted record does. */
uint64_t bench_record_hash(const sloop_record_t *r) {
  uint64_t h = r->data.len;
  if (r->seq.len >= 8) h = bench_mix(h ^ word(r->seq.base + r->seq.len - 8));
  if (r->data.len >= 8) h = bench_mix(h ^ word(r->data.base)) ^ word(r->data.base + r->data.len - 8);
  return bench_mix(h);
}

static void creds(sloop_t *s, sloop_creds_req_t *rq, void *arg) {
  static const sloop_creds_t any = {
      .size = sizeof any, .access_key = "BENCHKEY", .secret_key = "not-a-secret", .expires_at_ms = -1};
  (void)s;
  (void)arg;
  sloop_creds_done(rq, 0, &any, NULL);
}

static void on_error(sloop_t *s, const sloop_error_t *e, void *arg) {
  (void)s;
  (void)arg;
  fprintf(stderr, "bench: %s%s%s (%s)\n", e->shard, *e->shard ? ": " : "", e->message,
          sloop_err_name(e->code));
  if (e->fatal) exit(1);
}

void bench_sloop_options(sloop_opts_t *o, const char *url, const char *stream, int cbor) {
  sloop_opts_init(o);
  o->stream = stream;
  o->endpoint = url;
  o->region = "us-east-1";
  o->start.kind = SLOOP_OLDEST;
  o->wire = cbor ? SLOOP_WIRE_CBOR : SLOOP_WIRE_JSON;
  o->creds = creds;
  o->on_error = on_error;
}

/* Each run has a consumer of its own: the service refuses a subscription for some seconds after another one of
 * the same consumer. */
void bench_sloop_push(sloop_opts_t *o) {
  static char name[32];
  snprintf(name, sizeof name, "bench-%ld", (long)getpid());
  o->retrieval = SLOOP_RETRIEVAL_PUSH;
  o->push_consumer = name;
}

sloop_t *bench_sloop_begin(struct uv_loop_s *loop, const sloop_opts_t *o) {
  sloop_t *s = NULL;
  char why[160] = "";
  int err = sloop_open(&s, loop, o, why, sizeof why);
  if (!err) err = sloop_start(s);
  if (err) bench_die("sloop: %s: %s", sloop_err_name(err), *why ? why : sloop_strerror(err));
  return s;
}

static void take_figures(sloop_t *s, client_run *run) {
  sloop_stats_t stats;
  bench_read *r = run->result;
  r->cpu_s = bench_cpu_s() - run->cpu;
  r->wall_s = bench_wall_s() - run->wall;
  r->rss_peak = bench_rss_peak_bytes();
  sloop_stats_get(s, &stats, sizeof stats);
  r->bytes = stats.page_bytes;
  r->pages = stats.pages;
  r->late = stats.late;
  r->buffered_bytes_peak = stats.buffered_bytes_peak;
  r->turn_us_p999 = stats.turn_us_p999;
  r->turn_us_max = stats.turn_us_max;
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  client_run *run = arg;
  size_t n = sloop_batch_count(b);
  uint64_t hash = 0, payload_bytes = 0;
  if (run->job->looks) {
    for (size_t i = 0; i < n; i++) hash += bench_record_hash(sloop_batch_at(b, i));
  } else {
    for (size_t i = 0; i < n; i++) payload_bytes += sloop_batch_at(b, i)->data.len;
  }
  run->result->hash += hash;
  run->result->payload_bytes += payload_bytes;
  run->result->records += n;
  for (size_t i = 0; run->job->acks && i < n; i++) sloop_batch_ack(b, i);
  sloop_batch_done(b, run->job->acks ? 0 : n);
  if (run->ended || run->result->records < run->job->records) return;
  run->ended = 1;
  take_figures(s, run);
  sloop_close(s, NULL, NULL);
}

void bench_sloop(const void *job_v, void *result_v) {
  client_run run = {.job = job_v, .result = result_v};
  uv_loop_t loop;
  sloop_opts_t o;
  if (uv_loop_init(&loop)) bench_die("uv_loop_init");
  bench_sloop_options(&o, run.job->url, run.job->stream, run.job->cbor);
  if (run.job->push) bench_sloop_push(&o);
  if (run.job->fetch_records_max) o.fetch_records_max = run.job->fetch_records_max;
  if (run.job->by_shard) o.order = SLOOP_ORDER_SHARD;
  o.ca_bundle = run.job->ca_file;
  o.on_batch = on_batch;
  o.arg = &run;
  run.cpu = bench_cpu_s();
  run.wall = bench_wall_s();
  bench_sloop_begin(&loop, &o);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (!run.ended) bench_die("the loop ended after %llu records", (unsigned long long)run.result->records);
  if (uv_loop_close(&loop)) bench_die("handles are left open after sloop_close");
}
