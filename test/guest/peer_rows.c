/* peer_rows.c - see peer_rows.h. */
#include "peer_rows.h"

#include "story/fleet_table.h"

#include <stdio.h>

#define TRIES 3 /* of the AWS SDKs */

static slp_str str(const char *z) { return slp_str_of(z); }
static void nothing(slp_store_req *rq) { (void)rq; }
static void at_once(slp_store_req *rq) {
  slp_unpost(&rq->ev);
  rq->ev.run(&rq->ev);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

slp_store_rows pr_get(fw_world *w, uint8_t table, const char *key) {
  slp_row_key k = {str(key), {NULL, 0}};
  slp_store_get g = {.rq = {.on_done = nothing, .table = table}, .keys = &k, .keys_n = 1};
  slp_store_rows_init(&g.out, w->mem);
  w->server_store->ops->get(w->server_store, &g);
  at_once(&g.rq);
  return g.out;
}

slp_store_rows pr_scan(fw_world *w, uint8_t table) {
  slp_store_list l = {.rq = {.on_done = nothing, .table = table}, .hash = {"", 0}, .prefix = {"", 0}};
  slp_store_rows_init(&l.out, w->mem);
  w->server_store->ops->list(w->server_store, &l);
  at_once(&l.rq);
  return l.out;
}

void pr_text(const slp_row *row, const char *name, char *to, size_t size) {
  slp_str s = slp_row_text(row, str(name));
  snprintf(to, size, "%.*s", (int)s.n, s.n ? s.p : "");
}
uint64_t pr_number(const slp_row *row, const char *name) { return (uint64_t)slp_row_int(row, str(name), 0); }
int pr_has(const slp_row *row, const char *name) { return slp_row_get(row, str(name))->kind != SLP_VAL_NONE; }

int pr_shard_of(const fw_world *w, const char *id) {
  for (int i = 0; i < w->shards_n; i++)
    if (strcmp(w->shards[i].id, id) == 0) return i;
  return -1;
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static slp_str kept(pr_write *u, const char *z) {
  SLP_CHECK(u->texts_n < (int)(sizeof u->texts / sizeof u->texts[0]));
  char *to = u->texts[u->texts_n++];
  snprintf(to, PR_TEXT, "%s", z);
  return str(to);
}

void pr_begin(pr_write *u, slp_write_kind kind, uint8_t table, const char *key) {
  memset(u, 0, sizeof *u);
  u->w.rq.table = table;
  u->w.kind = kind;
  u->w.key.hash = kept(u, key);
}

void pr_when(pr_write *u, const char *name, slp_test test, slp_val_kind kind, const char *z) {
  u->when[u->w.when_n++] = (slp_atom){str(name), test, {.kind = kind, .s = kept(u, z)}, 0};
}
void pr_when_text(pr_write *u, const char *name, const char *z) {
  pr_when(u, name, z[0] ? SLP_TEST_EQ : SLP_TEST_ABSENT, z[0] ? SLP_VAL_S : SLP_VAL_NONE, z);
}
static const char *decimal(uint64_t n, char out[24]) {
  snprintf(out, 24, "%llu", (unsigned long long)n);
  return out;
}
void pr_when_number(pr_write *u, const char *name, uint64_t n) {
  char text[24];
  pr_when(u, name, SLP_TEST_EQ, SLP_VAL_N, decimal(n, text));
}

static void change(pr_write *u, const char *name, slp_change_kind how, slp_val_kind kind, const char *z) {
  u->changes[u->w.changes_n++] = (slp_change){str(name), how, {.kind = kind, .s = kept(u, z)}};
}
void pr_set(pr_write *u, const char *name, slp_val_kind kind, const char *z) {
  change(u, name, SLP_SET, kind, z);
}
void pr_set_text(pr_write *u, const char *name, const char *z) { pr_set(u, name, SLP_VAL_S, z); }
void pr_set_number(pr_write *u, const char *name, uint64_t n) {
  char text[24];
  pr_set(u, name, SLP_VAL_N, decimal(n, text));
}
void pr_set_texts(pr_write *u, const char *name, const slp_str *items, size_t n) {
  u->changes[u->w.changes_n++] =
      (slp_change){str(name), SLP_SET, {.kind = SLP_VAL_SS, .items = items, .n = n}};
}
void pr_add(pr_write *u, const char *name, uint64_t n) {
  char text[24];
  change(u, name, SLP_ADD_N, SLP_VAL_N, decimal(n, text));
}
void pr_drop(pr_write *u, const char *name) { change(u, name, SLP_REMOVE, SLP_VAL_NONE, ""); }

int pr_do(fw_world *w, pr_write *u) {
  u->w.when = u->when;
  u->w.changes = u->changes;
  u->w.rq.on_done = nothing;
  slp_store_rows_init(&u->w.image, w->mem);
  w->server_store->ops->write(w->server_store, &u->w);
  at_once(&u->w.rq);
  slp_store_rows_free(&u->w.image);
  if (!u->w.rq.table) fw_judge_rows(w);
  return u->w.written == SLP_WRITTEN_YES;
}

static int chance(fw_world *w, uint32_t ppm) { return ppm && slp_sim_chance(w->sim, ppm); }

pr_result pr_send(fw_world *w, pr_write *u) {
  const fw_faults *f = &w->faults;
  for (int i = 0; i < TRIES; i++) {
    if (w->outage_until_us > fw_now(w) || w->no_writes_until_us > fw_now(w)) return PR_NO_ANSWER;
    if (chance(w, f->lost_ppm) || chance(w, f->throttle_ppm)) continue;
    int done = pr_do(w, u);
    if (!chance(w, f->unanswered_ppm)) return done ? PR_DONE : PR_REFUSED;
  }
  return PR_NO_ANSWER;
}

int pr_unreadable(fw_world *w) {
  if (w->outage_until_us > fw_now(w)) return 1;
  for (int i = 0; i < TRIES; i++)
    if (!chance(w, w->faults.lost_ppm) && !chance(w, w->faults.throttle_ppm)) return 0;
  return 1;
}
