/* buffered.c - the memory bound: a consumer whose callback never gives a batch back must stay under
 * buffered_bytes_max plus one page, measured as peak RSS above that of the same run with one small shard. */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <uv.h>

#define HELD_BYTES (64u << 20)
#define BATCHES_MAX 64
#define QUIET_MS 1500 /* no page for so long: the budget has closed the tap */

typedef struct buffered_job {
  const char *url, *stream;
  int cbor, order_shard;
} buffered_job;
typedef struct buffered_result {
  uint64_t rss_peak, buffered_peak, own_peak, pages, page_bytes, batches, live_after;
} buffered_result;
typedef struct buffered_run {
  buffered_result *result;
  sloop_t *consumer;
  uv_timer_t timer;
  bench_heap heap;
  sloop_batch_t *out[BATCHES_MAX];
  size_t out_n;
  uint64_t pages_seen;
  double changed_s;
} buffered_run;

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  buffered_run *run = arg;
  (void)s;
  if (run->out_n == BATCHES_MAX) bench_die("more than %d batches are out", BATCHES_MAX);
  run->out[run->out_n++] = b; /* and never back while it runs */
}

static void on_tick(uv_timer_t *timer) {
  buffered_run *run = timer->data;
  sloop_stats_t stats;
  sloop_stats_get(run->consumer, &stats, sizeof stats);
  double now = bench_wall_s();
  if (stats.pages != run->pages_seen) {
    run->pages_seen = stats.pages;
    run->changed_s = now;
  }
  int quiet = now - run->changed_s > QUIET_MS * 1e-3;
  if (!run->out_n || !quiet) return;
  run->result->rss_peak = bench_rss_peak_bytes();
  run->result->buffered_peak = stats.buffered_bytes_peak;
  run->result->own_peak = run->heap.peak;
  run->result->pages = stats.pages;
  run->result->page_bytes = stats.page_bytes;
  run->result->batches = run->out_n;
  uv_close((uv_handle_t *)timer, NULL);
  sloop_close(run->consumer, NULL, NULL);
}

static void buffered_client(const void *job_v, void *result_v) {
  const buffered_job *job = job_v;
  buffered_run run = {.result = result_v};
  uv_loop_t loop;
  sloop_opts_t o;
  if (uv_loop_init(&loop)) bench_die("uv_loop_init");
  bench_sloop_options(&o, job->url, job->stream, job->cbor);
  o.buffered_bytes_max = HELD_BYTES;
  o.order = job->order_shard ? SLOOP_ORDER_SHARD : SLOOP_ORDER_TIME;
  o.poll_ms = 60000; /* a shard at its tip must not look like one that is being read */
  o.on_batch = on_batch;
  o.arg = &run;
  o.alloc = bench_alloc;
  o.alloc_ctx = &run.heap;
  run.consumer = bench_sloop_begin(&loop, &o);
  run.changed_s = bench_wall_s();
  uv_timer_init(&loop, &run.timer);
  run.timer.data = &run;
  uv_timer_start(&run.timer, on_tick, 100, 100);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop)) bench_die("handles are left open after sloop_close");
  for (size_t i = 0; i < run.out_n; i++) { /* still ours after close, and still readable */
    if (!bench_record_hash(sloop_batch_at(run.out[i], sloop_batch_count(run.out[i]) - 1)))
      bench_die("hash 0");
    sloop_batch_done(run.out[i], 0);
  }
  run.result->live_after = run.heap.live;
}

typedef struct buffered_case {
  const char *what;
  bench_stream stream;
  uint64_t page_json, page_cbor; /* the largest page: what one more than the budget may cost */
} buffered_case;
/* Pages as the service caps them: 10 MiB of records or 10,000; JSON is 4/3 of the payload and about 200 bytes
 * of text a record more, CBOR about 180, and a table row is 32. */
static const buffered_case cases[] = {
    {"4 shards of 1 MiB records",
     {"buffered-huge", 4, 4000, 1u << 20, 0},
     (10u << 20) / 3 * 4 + 8192,
     (10u << 20) + 8192},
    {"16 shards of 1 KiB records", {"buffered-plain", 16, 1000000, 1024, 0}, 10000 * 1600u, 10000 * 1240u},
    {"64 shards of 100 B records", {"buffered-tiny", 64, 1000000, 100, 0}, 10000 * 380u, 10000 * 320u},
};
#define CASES (sizeof cases / sizeof cases[0])

static int report(const buffered_case *c, const buffered_job *job, const buffered_result *one,
                  const buffered_result *r) {
  uint64_t page = job->cbor ? c->page_cbor : c->page_json, bound = HELD_BYTES + page;
  uint64_t above = r->rss_peak > one->rss_peak ? r->rss_peak - one->rss_peak : 0;
  int met = above <= bound && !r->live_after;
  printf(
      "  %-27s %s, order %-5s  %6.1f MB above the small run, bound %.1f: %s  (buffered %.1f, own peak %.1f, "
      "%" PRIu64 " pages of %.2f MB, %" PRIu64 " batches, left %" PRIu64 ")\n",
      c->what, job->cbor ? "cbor" : "json", job->order_shard ? "shard" : "time", (double)above * 1e-6,
      (double)bound * 1e-6, met ? "met" : "NOT met", (double)r->buffered_peak * 1e-6,
      (double)r->own_peak * 1e-6, r->pages, (double)r->page_bytes * 1e-6 / (double)(r->pages ? r->pages : 1),
      r->batches, r->live_after);
  printf("{\"bench\":\"buffered\",\"stream\":\"%s\",\"wire\":\"%s\",\"above\":%" PRIu64 ",\"bound\":%" PRIu64
         ",\"buffered\":%" PRIu64 ",\"leaked\":%" PRIu64 "}\n",
         c->stream.name, job->cbor ? "cbor" : "json", above, bound, r->buffered_peak, r->live_after);
  return met;
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "Memory of a consumer that never gives a batch back.");
  bench_cpus cpus = bench_cpus_find();
  bench_stream streams[CASES + 2] = {{0}};
  bench_server server;
  int all_met = 1;
  for (size_t i = 0; i < CASES; i++) streams[i] = cases[i].stream;
  streams[CASES] = (bench_stream){"buffered-small", 1, 10, 100, 0};
  bench_server_start(&server, cpus.server, streams);
  printf("buffered_bytes_max %.1f MB; peak RSS above that of a run with one small shard:\n",
         HELD_BYTES * 1e-6);
  for (int cbor = 0; cbor < 2; cbor++) {
    buffered_result one = {0};
    buffered_job small_job = {server.url, "buffered-small", cbor, 0};
    bench_child(cpus.client, 60, buffered_client, &small_job, &one, sizeof one);
    for (size_t i = 0; i < CASES; i++) {
      for (int order_shard = 0; order_shard < (small ? 1 : 2); order_shard++) {
        buffered_result r = {0};
        buffered_job job = {server.url, cases[i].stream.name, cbor, order_shard};
        if (order_shard && cases[i].stream.shards * 2 > BATCHES_MAX) continue;
        if (small && cbor && i) continue;
        bench_child(cpus.client, 60, buffered_client, &job, &r, sizeof r);
        all_met &= report(&cases[i], &job, &one, &r);
      }
    }
  }
  bench_server_stop(&server);
  return all_met ? 0 : 1;
}
