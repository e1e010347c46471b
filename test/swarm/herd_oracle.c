/* herd_oracle.c - the judge itself: what it holds, its lives, and the first rule that was broken. */
#include "swarm/herd_oracle_inside.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const names[HD_RULES] = {
    [HD_NO_RULE] = "",
    [HD_S1_LOSS] = "S1 loss",
    [HD_S2_ORDER] = "S2 order",
    [HD_S3_INTEGRITY] = "S3 integrity",
    [HD_S4_LINEAGE] = "S4 lineage",
    [HD_S5_EXCLUSIVE] = "S5 exclusive",
    [HD_S6_FENCED] = "S6 fenced",
    [HD_S7_OVERLAP] = "S7 overlap",
    [HD_S8_BACKWARDS] = "S8 backwards",
    [HD_S9_REPEATS] = "S9 repeats",
    [HD_S10_RATE] = "S10 rate",
    [HD_S11_BOUNDS] = "S11 bounds",
    [HD_S12_CONTRACT] = "S12 contract",
    [HD_S13_SAME] = "S13 same",
    [HD_S14_SILENCE] = "S14 silence",
    [HD_S15_DRAINED] = "S15 drained",
    [HD_L1_ALL_READ] = "L1 all read",
    [HD_L2_BALANCED] = "L2 balanced",
    [HD_L3_NO_ZOMBIE] = "L3 no zombie",
    [HD_L4_WATCHDOG] = "L4 watchdog",
    [HD_T1_LAG] = "T1 lag",
    [HD_T2_STATE] = "T2 state",
    [HD_T3_REST] = "T3 rest",
    [HD_T4_READY] = "T4 ready",
    [HD_T5_LEASE] = "T5 lease",
    [HD_T6_COMMAND] = "T6 command",
    [HD_P1_NOT_INSIDE] = "P1 not inside a call",
    [HD_P2_CLOSED] = "P2 closed",
    [HD_P3_IN_ORDER] = "P3 in order",
    [HD_P4_PARENTS] = "P4 parents first",
    [HD_P5_BUDGET] = "P5 budget",
    [HD_P6_PAUSED] = "P6 paused",
    [HD_P8_STOPPED] = "P8 stopped",
    [HD_P10_MEMORY] = "P10 memory",
};

const char *hd_rule_name(hd_rule rule) { return rule < HD_RULES ? names[rule] : "?"; }

hd_oracle *hd_oracle_new(slp_mem *mem, const hd_terms *terms) {
  hd_oracle *o = SLP_NEW(mem, hd_oracle);
  SLP_CHECK(o);
  o->mem = mem;
  o->terms = *terms;
  o->first_row_us = HD_NEVER;
  o->last_arrived_ms = INT64_MIN;
  slp_map_init(&o->ids, mem);
  slp_map_init(&o->interned, mem);
  return o;
}

static void free_batch(hd_oracle *o, hd_held *h) {
  slp_free(o->mem, h->records);
  slp_free(o->mem, h);
}

static void free_shard(hd_oracle *o, hd_part *s) {
  for (hd_ownership *t; (t = s->ownerships);) {
    s->ownerships = t->before;
    slp_free(o->mem, t->places);
    slp_free(o->mem, t);
  }
  slp_free(o->mem, s->notes);
  slp_free(o->mem, s->texts);
  slp_free(o->mem, s->versions);
  slp_free(o->mem, s);
}

static void free_life(hd_oracle *o, hd_life *l) {
  for (hd_held *h; (h = l->held);) {
    l->held = h->next;
    free_batch(o, h);
  }
  slp_free(o->mem, l->shards);
  slp_free(o->mem, l->instances);
  slp_free(o->mem, l->table_us);
  slp_free(o->mem, l);
}

void hd_oracle_free(hd_oracle *o) {
  slp_mem *mem = o->mem;
  size_t at = 0;
  for (size_t i = 0; i < o->lives_n; i++) free_life(o, o->lives[i]);
  for (size_t i = 0; i < o->shards_n; i++) free_shard(o, o->shards[i]);
  for (hd_held *h; (h = o->spare);) {
    o->spare = h->next;
    free_batch(o, h);
  }
  for (char *text; (text = slp_map_each(&o->interned, &at));) slp_free(mem, text);
  slp_map_free(&o->interned);
  slp_map_free(&o->ids);
  slp_free(mem, o->lives);
  slp_free(mem, o->shards);
  slp_free(mem, o->told);
  slp_free(mem, o);
}

/* ---- what is broken ------------------------------------------------------------------------------------ */

void hd_break(hd_oracle *o, hd_rule rule, const char *shard, const char *fmt, ...) {
  if (o->broken) return;
  uint64_t now = hd_now(o);
  o->broken = rule;
  snprintf(o->shard, sizeof o->shard, "%s", shard ? shard : "");
  int n = snprintf(o->text, sizeof o->text, "at %" PRIu64 ".%06" PRIu64 " s: %s%s", now / 1000000,
                   now % 1000000, o->shard, o->shard[0] ? ": " : "");
  va_list args;
  va_start(args, fmt);
  vsnprintf(o->text + n, sizeof o->text - (size_t)n, fmt, args);
  va_end(args);
}

hd_rule hd_broken(const hd_oracle *o, const char **text) {
  if (text) *text = o->text;
  return o->broken;
}

const char *hd_broken_shard(const hd_oracle *o) { return o->shard; }

uint64_t hd_count(const hd_oracle *o, const char *what) {
  const struct {
    const char *name;
    uint64_t n;
  } counts[] = {{"records", o->records}, {"repeats", o->repeats},           {"again", o->again},
                {"late", o->late},       {"overlaps", o->overlaps},         {"rows", o->rows},
                {"batches", o->batches}, {"tenancies", o->ownerships},      {"acks", o->acks},
                {"losses", o->losses},   {"dead letters", o->dead_letters}, {"excuses", o->excuses}};
  for (size_t i = 0; i < SLP_COUNT(counts); i++)
    if (strcmp(counts[i].name, what) == 0) return counts[i].n;
  SLP_CHECK(strcmp(what, "a count of that name") == 0);
  return 0;
}

/* ---- lives --------------------------------------------------------------------------------------------- */

const char *hd_intern(hd_oracle *o, const char *text) {
  slp_str s = slp_str_of(text ? text : "");
  char *kept = slp_map_get(&o->interned, s);
  if (kept) return kept;
  kept = slp_strdup(o->mem, s);
  SLP_CHECK(kept && slp_map_put(&o->interned, (slp_str){kept, s.n}, kept) == 0);
  return kept;
}

void hd_room(hd_oracle *o, void *array, size_t n, size_t *cap, size_t each) {
  void **p = array;
  if (n < *cap) return;
  void *more = slp_doubled(o->mem, *p, cap, 32, each);
  SLP_CHECK(more);
  *p = more;
}

size_t hd_born(hd_oracle *o, const char *worker_id) {
  hd_life *l = SLP_NEW(o->mem, hd_life);
  SLP_CHECK(l);
  hd_room(o, &o->lives, o->lives_n, &o->lives_cap, sizeof(hd_life *));
  l->number = o->lives_n;
  l->born_us = hd_now(o);
  l->own_top.ms = INT64_MIN;
  l->top = &l->own_top;
  l->weight = 1;
  snprintf(l->id, sizeof l->id, "%s", worker_id);
  snprintf(l->what, sizeof l->what, "%s#%zu", l->id, l->number);
  o->lives[o->lives_n++] = l;
  hd_tell(o, HD_TOLD_DEED, l->number, SIZE_MAX, (hd_told){.what = "begins"});
  return l->number;
}

void hd_joins(hd_oracle *o, size_t life, const hd_oracle *first, size_t with) {
  SLP_CHECK(with < first->lives_n);
  hd_life_of(o, life)->top = first->lives[with]->top;
}

void hd_weighs(hd_oracle *o, size_t life, uint32_t weight) { hd_life_of(o, life)->weight = weight; }

hd_life *hd_life_of(hd_oracle *o, size_t life) {
  SLP_CHECK(life < o->lives_n);
  return o->lives[life];
}

hd_of_shard *hd_of(hd_oracle *o, hd_life *l, const hd_part *s) {
  while (s->number >= l->shards_cap) {
    size_t was = l->shards_cap;
    hd_room(o, &l->shards, was, &l->shards_cap, sizeof *l->shards);
    memset(l->shards + was, 0, (l->shards_cap - was) * sizeof *l->shards);
  }
  return &l->shards[s->number];
}

void hd_died(hd_oracle *o, size_t life) {
  hd_life *l = hd_life_of(o, life);
  l->died = 1;
  l->batches_out = 0;
  for (size_t i = 0; i < l->shards_cap; i++)
    if (l->shards[i].now) hd_ownership_over(o, l->shards[i].now, 0);
  for (hd_held *h; (h = l->held);) {
    l->held = h->next;
    h->next = o->spare;
    o->spare = h;
  }
  hd_tell(o, HD_TOLD_DEED, life, SIZE_MAX, (hd_told){.what = "dies"});
}

void hd_enter(hd_oracle *o, size_t life) { hd_life_of(o, life)->inside++; }

void hd_leave(hd_oracle *o, size_t life) {
  hd_life *l = hd_life_of(o, life);
  SLP_CHECK(l->inside > 0);
  l->inside--;
}

static int has_instance(const hd_life *l, const char *owner) {
  for (size_t i = 0; i < l->instances_n; i++)
    if (l->instances[i] == owner) return 1;
  return 0;
}

void hd_learn_instance(hd_oracle *o, hd_life *l, const char *owner) {
  owner = hd_intern(o, owner);
  if (!owner[0] || has_instance(l, owner)) return;
  hd_room(o, &l->instances, l->instances_n, &l->instances_cap, sizeof(const char *));
  l->instances[l->instances_n++] = owner;
}

/* By what it was told, or by its name as long as nobody else has it. */
int hd_is_instance(hd_oracle *o, const hd_life *l, const char *owner) {
  size_t n = strlen(l->id);
  owner = hd_intern(o, owner);
  if (has_instance(l, owner)) return 1;
  if (strncmp(owner, l->id, n) != 0 || (owner[n] && (owner[n] != '.' || strchr(owner + n + 1, '.'))))
    return 0;
  for (size_t i = 0; i < o->lives_n; i++)
    if (o->lives[i] != l && has_instance(o->lives[i], owner)) return 0;
  return 1;
}
