/* merge_set.c - see merge_set.h. */
#include "merge_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "core/merge.h"

#define PAGE_RECORDS 1000
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
      set->recs[s * each + i] = (merge_rec){1760000000000 + (int64_t)(arrival / per_ms), seq, 0};
    }
  }
}

void merge_set_free(merge_set *set) {
  free(set->text);
  free(set->recs);
}

/* Where its text lies says which record it is. The text itself is cold by now: to look at it would wait for memory,
 * as a user's look does, and is no part of the order. */
void merge_leave(merge_out *out, const merge_rec *r) {
  out->hash = bench_mix(out->hash ^ (uint64_t)(uintptr_t)r->seq);
  out->n++;
}

/* As the reader of pages does: words for the merge are made when a page comes, by the focus of that time. Here its
 * text is cold, there it was read just before. */
static uint64_t page_comes(const slp_merge *m, merge_rec *recs, size_t n) {
  slp_focus focus = *slp_merge_focus_now(m);
  for (size_t i = 0; i < n; i++)
    recs[i].word = slp_focus_word(&focus, (slp_str){recs[i].seq, MERGE_SEQ_DIGITS});
  return focus.id;
}

static void put(slp_merge *m, slp_merge_node *node, const merge_rec *r, uint64_t focus_id) {
  slp_key key = {r->time, {r->seq, MERGE_SEQ_DIGITS}, 0};
  if (focus_id == slp_merge_focus_now(m)->id)
    slp_merge_put_word(m, node, &key, r->word, 1);
  else
    slp_merge_put(m, node, &key, 1);
}

void merge_by_heads(const merge_set *set, merge_out *out) {
  slp_mem *mem = slp_mem_new(NULL, NULL);
  slp_merge m;
  slp_merge_node *nodes = calloc(set->shards, sizeof *nodes), *top;
  size_t *next = calloc(set->shards, sizeof *next);
  uint64_t *focus_ids = calloc(set->shards, sizeof *focus_ids);
  slp_merge_init(&m, mem);
  if (!mem || !nodes || !next || !focus_ids || slp_merge_reserve(&m, (uint32_t)set->shards))
    bench_die("no memory");
  for (size_t s = 0; s < set->shards; s++) put(&m, &nodes[s], &set->recs[s * set->each], 0);
  while ((top = slp_merge_top(&m))) {
    size_t s = (size_t)(top - nodes);
    merge_rec *r = &set->recs[s * set->each + next[s]];
    merge_leave(out, r);
    if (++next[s] == set->each) {
      slp_merge_remove(&m, top);
      continue;
    }
    r++;
    if (next[s] % PAGE_RECORDS == 1) {
      size_t left = set->each - next[s];
      focus_ids[s] = page_comes(&m, r, left < PAGE_RECORDS ? left : PAGE_RECORDS);
    }
    put(&m, top, r, focus_ids[s]);
  }
  slp_merge_free(&m);
  slp_mem_drop(mem);
  free(nodes);
  free(next);
  free(focus_ids);
}
