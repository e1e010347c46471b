/* merge.c - measures the cost of putting records of many shards in one order: the heap of shard heads that
 * the library uses against a plain binary heap of all records, on real 56-digit sequence numbers, fully
 * interleaved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "merge_set.h"

static int earlier(const merge_rec *a, const merge_rec *b) {
  if (a->time != b->time) return a->time < b->time;
  return memcmp(a->seq, b->seq, MERGE_SEQ_DIGITS) < 0;
}

/* ---- the other two ways ---- */
static void by_shard(const merge_set *set, merge_out *out) {
  for (size_t i = 0; i < set->shards * set->each; i++) merge_leave(out, &set->recs[i]);
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
    merge_leave(out, &heap[1]);
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
    double at = bench_cpu_s();
    way(set, &out);
    ns[i] = (bench_cpu_s() - at) * 1e9 / (double)(set->shards * set->each);
    if (out.n != set->shards * set->each) bench_die("%zu records came out", out.n);
    *ret_hash = out.hash;
  }
  return bench_spread_of(ns, rounds);
}

int main(int argc, char **argv) {
  int small = bench_small(argc, argv, "CPU nanoseconds a record for one order across shards.");
  static const size_t shards[] = {16, 256, 4096};
  size_t rounds = small ? 1 : 7,
         total = small ? 250000 : 1000000; /* not a power of 2: shards would share cache sets */
  char a[64], b[64], c[64];
  bench_pin(bench_cpus_find().client);
  puts("CPU ns a record, median (min to max):");
  for (int ties = 0; ties < 2; ties++) {
    for (size_t i = 0; i < 3; i++) {
      merge_set set;
      uint64_t heads_hash = 0, heap_hash = 0, plain_hash = 0;
      merge_set_make(&set, shards[i], total / shards[i], ties);
      bench_spread heads = measure(&set, merge_by_heads, rounds, &heads_hash);
      bench_spread heap = measure(&set, by_record_heap, rounds, &heap_hash);
      bench_spread plain = measure(&set, by_shard, rounds, &plain_hash);
      if (heads_hash != heap_hash) bench_die("the two orders differ");
      printf("  %4zu shards, %s: heap of heads %-20s heap of all records %-22s shard by shard %s\n",
             shards[i], ties ? "ties to the last digits" : "first digits decide    ",
             bench_spread_text(a, heads, 1), bench_spread_text(b, heap, 1), bench_spread_text(c, plain, 1));
      printf("{\"bench\":\"merge\",\"shards\":%zu,\"ties\":%d,\"heads_ns\":%.2f,\"record_heap_ns\":%.2f}\n",
             shards[i], ties, heads.median, heap.median);
      merge_set_free(&set);
    }
  }
  return 0;
}
