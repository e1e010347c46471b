/* merge.c - measures the cost of putting records of many shards in one order: the heap of shard heads that
 * the library uses against a plain binary heap of all records, on real 56-digit sequence numbers, fully
 * interleaved. */
#include "core/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"

#define SEQ_DIGITS 56
#define NEAR_RECORDS 8
#define ROW_BYTES 160 /* a record's text in a page: neighbours do not share a cache line */

typedef struct merge_rec {
  int64_t time;
  const char *seq;
} merge_rec;
typedef struct merge_set {
  size_t shards, each;
  char *text;
  merge_rec *recs; /* [shard * each + i], in shard order */
} merge_set;
typedef struct merge_out { /* the result: a hash that depends on the order */
  uint64_t hash;
  size_t n;
} merge_out;

/* Arrival times in ms with `per_ms` records each, as a busy stream has: within one ms the sequence numbers
 * decide. Their first 35 digits carry a counter of arrival (ties 0) or are equal in the whole ms (ties 1), so
 * that only the last 21, counter and shard, differ. */
static void make(merge_set *set, size_t shards, size_t each, int ties) {
  size_t n = shards * each, per_ms = 1000;
  set->shards = shards;
  set->each = each;
  set->text = malloc(n * ROW_BYTES);
  set->recs = malloc(n * sizeof *set->recs);
  if (!set->text || !set->recs) bench_die("no memory");
  for (size_t s = 0; s < shards; s++) {
    for (size_t i = 0; i < each; i++) {
      size_t arrival = i * shards + (s * 7919 + i) % shards; /* one of each shard, in changing order */
      size_t major = ties ? arrival / per_ms : arrival;
      char *seq = set->text + (s * each + i) * ROW_BYTES;
      snprintf(seq, ROW_BYTES, "4959033827149025660%016zu%015zu%06zu", major, arrival, s);
      if (strlen(seq) != SEQ_DIGITS) bench_die("%zu digits", strlen(seq));
      set->recs[s * each + i] = (merge_rec){1760000000000 + (int64_t)(arrival / per_ms), seq};
    }
  }
}

static void leave(merge_out *out, const merge_rec *r) {
  uint64_t tail;
  memcpy(&tail, r->seq + SEQ_DIGITS - 8, 8);
  out->hash = bench_mix(out->hash ^ tail);
  out->n++;
}

static int earlier(const merge_rec *a, const merge_rec *b) {
  if (a->time != b->time) return a->time < b->time;
  return memcmp(a->seq, b->seq, SEQ_DIGITS) < 0;
}

/* ---- the three ways ---- */
/* As core/queue.c does: the text of a record to come is touched in time. */
static void bring_near(const merge_rec *r, size_t left) {
  if (left <= NEAR_RECORDS) return;
  const volatile char *text = r[NEAR_RECORDS].seq;
  (void)text[0];
  (void)text[SEQ_DIGITS - 1];
}

static void by_shard(const merge_set *set, merge_out *out) {
  for (size_t i = 0; i < set->shards * set->each; i++) leave(out, &set->recs[i]);
}

static void by_heads(const merge_set *set, merge_out *out) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_merge m;
  slp_merge_node *nodes = calloc(set->shards, sizeof *nodes), *top;
  size_t *next = calloc(set->shards, sizeof *next);
  slp_merge_init(&m, mem);
  if (!mem || !nodes || !next || slp_merge_reserve(&m, (uint32_t)set->shards)) bench_die("no memory");
  for (size_t s = 0; s < set->shards; s++) {
    const merge_rec *r = &set->recs[s * set->each];
    slp_merge_put(&m, &nodes[s], &(slp_key){r->time, {r->seq, SEQ_DIGITS}, 0}, 1);
  }
  while ((top = slp_merge_top(&m))) {
    size_t s = (size_t)(top - nodes);
    const merge_rec *r = &set->recs[s * set->each + next[s]];
    leave(out, r);
    if (++next[s] == set->each) {
      slp_merge_remove(&m, top);
      continue;
    }
    r++;
    bring_near(r, set->each - next[s]);
    slp_merge_put(&m, top, &(slp_key){r->time, {r->seq, SEQ_DIGITS}, 0}, 1);
  }
  slp_merge_free(&m);
  slp_mem_drop(mem);
  free(nodes);
  free(next);
}

static void by_record_heap(const merge_set *set, merge_out *out) {
  size_t total = set->shards * set->each, n = 0;
  merge_rec *heap = malloc((total + 1) * sizeof *heap);
  if (!heap) bench_die("no memory");
  for (size_t k = 0; k < total; k++) {
    size_t i = ++n;
    for (; i > 1 && earlier(&set->recs[k], &heap[i / 2]); i /= 2) heap[i] = heap[i / 2];
    heap[i] = set->recs[k];
  }
  while (n) {
    leave(out, &heap[1]);
    merge_rec last = heap[n--];
    size_t i = 1, child;
    while ((child = 2 * i) <= n) {
      if (child < n && earlier(&heap[child + 1], &heap[child])) child++;
      if (!earlier(&heap[child], &last)) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = last;
  }
  free(heap);
}

static bench_spread measure(const merge_set *set, void (*way)(const merge_set *, merge_out *), size_t rounds,
                            uint64_t *ret_hash) {
  double ns[BENCH_ROUNDS_MAX];
  for (size_t i = 0; i < rounds; i++) {
    merge_out out = {0};
    double at = bench_wall_s();
    way(set, &out);
    ns[i] = (bench_wall_s() - at) * 1e9 / (double)(set->shards * set->each);
    if (out.n != set->shards * set->each) bench_die("%zu records came out", out.n);
    *ret_hash = out.hash;
  }
  return bench_spread_of(ns, rounds);
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "Nanoseconds a record for one order across shards.");
  static const size_t shards[] = {16, 256, 4096};
  size_t rounds = small ? 1 : 5,
         total = small ? 250000 : 1000000; /* not a power of 2: shards would share cache sets */
  char a[64], b[64], c[64];
  bench_pin(bench_cpus_find().client);
  puts("ns a record, median (min to max):");
  for (int ties = 0; ties < 2; ties++) {
    for (size_t i = 0; i < 3; i++) {
      merge_set set;
      uint64_t heads_hash = 0, heap_hash = 0, plain_hash = 0;
      make(&set, shards[i], total / shards[i], ties);
      bench_spread heads = measure(&set, by_heads, rounds, &heads_hash);
      bench_spread heap = measure(&set, by_record_heap, rounds, &heap_hash);
      bench_spread plain = measure(&set, by_shard, rounds, &plain_hash);
      if (heads_hash != heap_hash) bench_die("the two orders differ");
      printf("  %4zu shards, %s: heap of heads %-20s heap of all records %-22s shard by shard %s\n",
             shards[i], ties ? "ties to the last digits" : "first digits decide    ",
             bench_spread_text(a, heads, 1), bench_spread_text(b, heap, 1), bench_spread_text(c, plain, 1));
      printf("{\"bench\":\"merge\",\"shards\":%zu,\"ties\":%d,\"heads_ns\":%.2f,\"record_heap_ns\":%.2f}\n",
             shards[i], ties, heads.median, heap.median);
      free(set.text);
      free(set.recs);
    }
  }
  return 0;
}
