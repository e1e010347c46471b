/* kcl_rows.c - see kcl_rows.h. */
#include "kcl_rows.h"

#include <stdio.h>
#include <stdlib.h>

kcl_row kcl_row_of(const slp_row *from) {
  kcl_row r = {.rate = -1};
  char rate[40];
  pr_text(from, "leaseKey", r.key, sizeof r.key);
  pr_text(from, "leaseOwner", r.owner, sizeof r.owner);
  pr_text(from, "checkpointOwner", r.by, sizeof r.by);
  pr_text(from, "checkpoint", r.checkpoint, sizeof r.checkpoint);
  r.counter = pr_number(from, "leaseCounter");
  pr_text(from, "throughputKBps", rate, sizeof rate);
  if (rate[0]) r.rate = strtod(rate, NULL);
  return r;
}

int kcl_get(fw_world *w, const char *key, kcl_row *ret) {
  slp_store_rows rows = pr_get(w, 0, key);
  int there = rows.n > 0;
  if (there) *ret = kcl_row_of(&rows.rows[0]);
  slp_store_rows_free(&rows);
  return there;
}

int kcl_is_lease(const slp_row *r) {
  slp_str entity = slp_row_text(r, slp_str_of("entityType"));
  return pr_has(r, "leaseCounter") && (!entity.n || slp_str_is(entity, "LEASE"));
}

void kcl_make_lease(fw_world *w, int shard, int entity) {
  slp_str parents[2];
  size_t n = 0;
  pr_write u;
  for (int k = 0; k < 2; k++)
    if (w->shards[shard].parents[k] >= 0)
      parents[n++] = slp_str_of(w->shards[w->shards[shard].parents[k]].id);
  pr_begin(&u, SLP_WRITE_PUT, 0, w->shards[shard].id);
  pr_when_text(&u, "leaseKey", "");
  pr_set_number(&u, "leaseCounter", 0);
  pr_set_number(&u, "ownerSwitchesSinceCheckpoint", 0);
  pr_set_text(&u, "checkpoint", "TRIM_HORIZON");
  pr_set_number(&u, "checkpointSubSequenceNumber", 0);
  if (entity) pr_set_text(&u, "entityType", "LEASE");
  if (n) pr_set_texts(&u, "parentShardId", parents, n);
  pr_do(w, &u);
}

int kcl_may_end(fw_world *w, const fw_shard *s) {
  kcl_row r;
  for (int i = 0; i < s->kids_n; i++)
    for (int p = 0; p < 2; p++) {
      int parent = w->shards[s->kids[i]].parents[p];
      if (parent >= 0 && !kcl_get(w, w->shards[parent].id, &r) && !w->shards[parent].trimmed) return 0;
    }
  return 1;
}

int kcl_parents_ended(fw_world *w, const fw_shard *s) {
  kcl_row r;
  for (int p = 0; p < 2; p++)
    if (s->parents[p] >= 0 && kcl_get(w, w->shards[s->parents[p]].id, &r) &&
        strcmp(r.checkpoint, "SHARD_END") != 0)
      return 0;
  return 1;
}

void kcl_name_kids(fw_world *w, int shard) {
  const fw_shard *s = &w->shards[shard];
  slp_str kids[2];
  pr_write u;
  for (int i = 0; i < s->kids_n; i++) kids[i] = slp_str_of(w->shards[s->kids[i]].id);
  pr_begin(&u, SLP_WRITE_UPDATE, 0, s->id);
  pr_when_text(&u, "leaseKey", s->id);
  pr_set_texts(&u, "childShardIds", kids, (size_t)s->kids_n);
  if (s->kids_n) pr_do(w, &u);
}

int kcl_may_clean(fw_world *w, const fw_shard *s) {
  kcl_row r;
  for (int i = 0; i < s->kids_n; i++)
    if (!kcl_get(w, w->shards[s->kids[i]].id, &r) || strcmp(r.checkpoint, "TRIM_HORIZON") == 0) return 0;
  for (int p = 0; p < 2; p++)
    if (s->parents[p] >= 0 && kcl_get(w, w->shards[s->parents[p]].id, &r)) return 0;
  return 1;
}
