/* counted.c - fixed inputs whose instructions are counted by callgrind; counts.py runs it and compares. The whole
 * library reads pages that the sandbox's model wrote, on a simulated host: one seed, virtual time, no network, so
 * two runs execute the same instructions. The service's own work is not collected. Without valgrind it only prints
 * what it did. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "api/open.h"
#include "bench.h"
#include "codec/base64.h"
#include "merge_set.h"
#include "sandbox/sandbox.h"
#include "swarm/served.h"

#define ENDPOINT "http://kinesis.counted:80"
#define STREAM "counted"
#define SETTLE_S 5 /* until every shard is at its tip */

typedef struct counted {
  slp_box *box;
  slp_sim *sim;
  uint64_t records, wanted, polls;
  int collecting, acks;
} counted;

typedef struct counted_way {
  int cbor;
  int by_shard; /* SLOOP_ORDER_SHARD */
  int acks;     /* record by record */
} counted_way;

static void serve(void *arg, const slp_sim_ask *ask, slp_sim_reply *reply) {
  counted *c = arg;
  if (c->collecting) CALLGRIND_TOGGLE_COLLECT;
  slp_box_request rq = slp_served_request(ask);
  slp_box_answer answer = {.cut_after = SIZE_MAX};
  slp_buf_init(&answer.body, reply->body.mem, SIZE_MAX / 2);
  slp_box_handle(c->box, slp_sim_unix_ms(c->sim), &rq, &answer);
  if (answer.status != 200) bench_die("the sandbox answered %d", answer.status);
  slp_served_reply(reply, &answer, slp_sim_unix_ms(c->sim));
  c->polls += rq.target.n > 11 && memcmp(rq.target.p + rq.target.n - 11, ".GetRecords", 11) == 0;
  if (c->collecting) CALLGRIND_TOGGLE_COLLECT;
}

static void on_batch(sloop_t *s, sloop_batch_t *b, void *arg) {
  counted *c = arg;
  (void)s;
  size_t n = sloop_batch_count(b);
  c->records += n;
  for (size_t i = 0; c->acks && i < n; i++) sloop_batch_ack(b, i);
  sloop_batch_done(b, c->acks ? 0 : n);
}

static int all_read(void *arg) {
  const counted *c = arg;
  return c->records >= c->wanted;
}

/* A consumer from its opening until `records` are read; or, when there are none, for `seconds` at the tip. */
static uint64_t consume(counted_way way, uint32_t shards, uint64_t records, uint32_t record_bytes,
                        uint64_t seconds) {
  counted c = {.wanted = records, .acks = way.acks};
  slp_mem *mem = slp_mem_new(NULL, NULL);
  sloop_sandbox_opts_t box;
  sloop_opts_t o;
  sloop_t *s = NULL;
  char why[160] = "";
  sloop_sandbox_opts_init(&box);
  box.reads_per_second = 0;
  box.read_bytes_per_second = 0;
  c.box = slp_box_new(mem, &box, 1);
  c.sim = slp_sim_new(mem, 1);
  slp_sim_net *net = slp_sim_network(c.sim);
  net->piece_bytes_min = net->piece_bytes_max = 64 << 10;
  slp_sim_serve(c.sim, serve, &c);
  int64_t now_ms = slp_sim_unix_ms(c.sim);
  if (records ? slp_box_synthetic(c.box, now_ms, STREAM, shards, records / shards, record_bytes, 0, 1)
              : slp_box_stream(c.box, now_ms, STREAM, shards))
    bench_die("no stream");
  slp_host *host = slp_sim_host_new(c.sim, mem, &(slp_sim_clock){0});
  bench_sloop_options(&o, ENDPOINT, STREAM, way.cbor);
  if (way.by_shard) o.order = SLOOP_ORDER_SHARD;
  o.fetch_records_max = 1000;
  o.on_batch = on_batch;
  o.arg = &c;
  if (records) {
    c.collecting = 1;
    CALLGRIND_TOGGLE_COLLECT;
  }
  if (slp_open_on(host, mem, NULL, &s, &o, why) || sloop_start(s)) bench_die("sloop: %s", why);
  if (records) {
    if (!slp_sim_run(c.sim, 600 * UINT64_C(1000000), all_read, &c))
      bench_die("%" PRIu64 " records were read", c.records);
  } else {
    slp_sim_run(c.sim, SETTLE_S * UINT64_C(1000000), NULL, NULL);
    c.polls = 0;
    c.collecting = 1;
    CALLGRIND_TOGGLE_COLLECT;
    slp_sim_run(c.sim, (SETTLE_S + seconds) * 1000000, NULL, NULL);
  }
  CALLGRIND_TOGGLE_COLLECT;
  c.collecting = 0;
  sloop_close(s, NULL, NULL);
  slp_sim_run(c.sim, UINT64_MAX, NULL, NULL);
  slp_host_close(host, NULL, NULL);
  slp_sim_run(c.sim, UINT64_MAX, NULL, NULL);
  slp_sim_free(c.sim);
  slp_box_free(c.box);
  slp_mem_drop(mem);
  return records ? c.records : c.polls;
}

static uint64_t merge(size_t shards, size_t records, int ties) {
  merge_set set;
  merge_out out = {0};
  merge_set_make(&set, shards, records / shards, ties);
  CALLGRIND_TOGGLE_COLLECT;
  merge_by_heads(&set, &out);
  CALLGRIND_TOGGLE_COLLECT;
  merge_set_free(&set);
  return out.n;
}

static void tell(const char *name, uint64_t units) {
  CALLGRIND_DUMP_STATS_AT(name);
  printf("%s %" PRIu64 "\n", name, units);
}

/* The figures hold for one compiler, its options and what the CPU's features choose. */
static void tell_what_it_is(void) {
#if defined __clang__
  const char *compiler = "clang";
  int version = __clang_major__;
#else
  const char *compiler = "gcc";
  int version = __GNUC__;
#endif
#if defined __x86_64__
  const char *cpu = "x86_64";
#else
  const char *cpu = "other";
#endif
#ifdef __OPTIMIZE__
  int optimized = 1;
#else
  int optimized = 0;
#endif
#ifdef SLP_MUTANTS
  const char *more = " mutants";
#else
  const char *more = "";
#endif
  printf("%s %d %s base64 %d optimized %d%s\n", compiler, version, cpu, slp_base64_level(), optimized, more);
}

int main(int argc, char **argv) {
  tell_what_it_is();
  if (argc > 1 && strcmp(argv[1], "--built") == 0) return 0;
  const counted_way cbor = {.cbor = 1}, json = {.cbor = 0};
  tell("cbor_100b", consume(cbor, 8, 32000, 100, 0));
  tell("cbor_1k", consume(cbor, 8, 16000, 1024, 0));
  tell("cbor_100b_shards", consume((counted_way){.cbor = 1, .by_shard = 1}, 8, 32000, 100, 0));
  tell("cbor_100b_acks", consume((counted_way){.cbor = 1, .acks = 1}, 8, 32000, 100, 0));
  tell("json_100b", consume(json, 8, 32000, 100, 0));
  tell("json_1k", consume(json, 8, 16000, 1024, 0));
  tell("idle_poll", consume(cbor, 64, 0, 0, 4));
  tell("merge_16", merge(16, 16000, 0));
  tell("merge_16_ties", merge(16, 16000, 1));
  tell("merge_256", merge(256, 16000, 0));
  return 0;
}
