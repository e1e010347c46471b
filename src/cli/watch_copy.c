/* watch_copy.c - copies the structs of a poll's result, and then every text that they point to into one
 * block. The same function goes through the texts twice: first to count their bytes, then to copy them. */
#include "cli/watch_copy.h"

#include "base/mem.h"

#include <sloop_admin.h>

typedef struct texts {
  char *to; /* where the next text is copied to; NULL: texts are only counted */
  size_t n; /* how many bytes were counted or copied so far */
} texts;

static void count_or_copy_text(texts *t, const char **text) {
  if (!*text) return;
  size_t n = strlen(*text) + 1;
  if (t->to) {
    memcpy(t->to + t->n, *text, n);
    *text = t->to + t->n;
  }
  t->n += n;
}

static void take_lease(texts *t, sloop_lease_t *l) {
  count_or_copy_text(t, &l->shard);
  count_or_copy_text(t, &l->owner);
  count_or_copy_text(t, &l->claim);
  count_or_copy_text(t, &l->position.shard);
  count_or_copy_text(t, &l->position.seq);
  count_or_copy_text(t, &l->position.token);
  count_or_copy_text(t, &l->parents[0]);
  count_or_copy_text(t, &l->parents[1]);
  count_or_copy_text(t, &l->avoid);
  count_or_copy_text(t, &l->lag_error);
}

static void take_worker(texts *t, sloop_worker_t *w) {
  count_or_copy_text(t, &w->worker);
  count_or_copy_text(t, &w->host);
  count_or_copy_text(t, &w->evicted_by);
}

static void take_all(texts *t, sloop_leases_t *all, sloop_lease_t *leases, sloop_worker_t *workers,
                     const char **bad_rows) {
  for (size_t i = 0; i < all->leases_n; i++) take_lease(t, &leases[i]);
  for (size_t i = 0; i < all->workers_n; i++) take_worker(t, &workers[i]);
  for (size_t i = 0; i < all->bad_rows_n; i++) count_or_copy_text(t, &bad_rows[i]);
  count_or_copy_text(t, &all->passed_over);
  count_or_copy_text(t, &all->unlisted);
  count_or_copy_text(t, &all->drained_by);
}

void slp_watch_copy_free(slp_watch_copy *c) {
  for (size_t i = 0; i < SLP_COUNT(c->blocks); i++) slp_free(c->mem, c->blocks[i]);
  *c = (slp_watch_copy){.mem = c->mem};
}

int slp_watch_copy_make(slp_watch_copy *c, slp_mem *mem, const sloop_leases_t *from) {
  size_t leases_n = from->leases_n, workers_n = from->workers_n, bad_n = from->bad_rows_n;
  *c = (slp_watch_copy){.mem = mem, .all = *from};
  sloop_lease_t *leases = c->blocks[0] = slp_zalloc_n(mem, leases_n + 1, sizeof *leases);
  const sloop_lease_t **lease_at = c->blocks[1] = slp_zalloc_n(mem, leases_n + 1, sizeof(sloop_lease_t *));
  sloop_worker_t *workers = c->blocks[2] = slp_zalloc_n(mem, workers_n + 1, sizeof *workers);
  const sloop_worker_t **worker_at = c->blocks[3] =
      slp_zalloc_n(mem, workers_n + 1, sizeof(sloop_worker_t *));
  const char **bad_rows = c->blocks[4] = slp_zalloc_n(mem, bad_n + 1, sizeof *bad_rows);
  if (!leases || !lease_at || !workers || !worker_at || !bad_rows) {
    slp_watch_copy_free(c);
    return SLP_ENOMEM;
  }
  for (size_t i = 0; i < leases_n; i++) {
    leases[i] = *from->leases[i];
    lease_at[i] = &leases[i];
  }
  for (size_t i = 0; i < workers_n; i++) {
    workers[i] = *from->workers[i];
    worker_at[i] = &workers[i];
  }
  for (size_t i = 0; i < bad_n; i++) bad_rows[i] = from->bad_rows[i];
  texts t = {0};
  take_all(&t, &c->all, leases, workers, bad_rows);
  c->blocks[5] = slp_alloc(mem, t.n + 1);
  if (!c->blocks[5]) {
    slp_watch_copy_free(c);
    return SLP_ENOMEM;
  }
  t = (texts){.to = c->blocks[5]};
  take_all(&t, &c->all, leases, workers, bad_rows);
  c->all.leases = lease_at;
  c->all.workers = worker_at;
  c->all.bad_rows = bad_rows;
  c->all.unleased = NULL; /* only sloop_admin_lag() sets this member */
  c->all.unleased_n = 0;
  return 0;
}
