/* merge_set.c - see merge_set.h. */
#include "merge_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "core/merge.h"

#define NEAR_RECORDS 8
#define ROW_BYTES 160 /* a record's text in a page: neighbours do not share a cache line */

void merge_set_make(merge_set *set, size_t shards, size_t each, int ties) {
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
      if (strlen(seq) != MERGE_SEQ_DIGITS) bench_die("%zu digits", strlen(seq));
      set->recs[s * each + i] = (merge_rec){1760000000000 + (int64_t)(arrival / per_ms), seq};
    }
  }
}

void merge_set_free(merge_set *set) {
  free(set->text);
  free(set->recs);
}

void merge_leave(merge_out *out, const merge_rec *r) {
  uint64_t tail;
  memcpy(&tail, r->seq + MERGE_SEQ_DIGITS - 8, 8);
  out->hash = bench_mix(out->hash ^ tail);
  out->n++;
}

/* As core/queue.c does: the texts of records to come are touched in time, a group at once. */
static void bring_near(const merge_rec *recs, size_t i, size_t n) {
  if (i % NEAR_RECORDS || n - i <= NEAR_RECORDS) return;
  size_t end = i + 2 * NEAR_RECORDS < n ? i + 2 * NEAR_RECORDS : n;
  for (i += NEAR_RECORDS; i < end; i++) {
    const volatile char *text = recs[i].seq;
    (void)text[0];
    (void)text[MERGE_SEQ_DIGITS - 1];
  }
}

void merge_by_heads(const merge_set *set, merge_out *out) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_merge m;
  slp_merge_node *nodes = calloc(set->shards, sizeof *nodes), *top;
  size_t *next = calloc(set->shards, sizeof *next);
  slp_merge_init(&m, mem);
  if (!mem || !nodes || !next || slp_merge_reserve(&m, (uint32_t)set->shards)) bench_die("no memory");
  for (size_t s = 0; s < set->shards; s++) {
    const merge_rec *r = &set->recs[s * set->each];
    slp_merge_put(&m, &nodes[s], &(slp_key){r->time, {r->seq, MERGE_SEQ_DIGITS}, 0}, 1);
  }
  while ((top = slp_merge_top(&m))) {
    size_t s = (size_t)(top - nodes);
    const merge_rec *r = &set->recs[s * set->each + next[s]];
    merge_leave(out, r);
    if (++next[s] == set->each) {
      slp_merge_remove(&m, top);
      continue;
    }
    bring_near(&set->recs[s * set->each], next[s], set->each);
    r++;
    slp_merge_put(&m, top, &(slp_key){r->time, {r->seq, MERGE_SEQ_DIGITS}, 0}, 1);
  }
  slp_merge_free(&m);
  slp_mem_drop(mem);
  free(nodes);
  free(next);
}
