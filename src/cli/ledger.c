/* ledger.c - keeps a list of the records that a producer has put, and compares the records that a reader
 * hands out with the list. */
#include "cli/ledger.h"

#include "base/list.h"
#include "base/mem.h"
#include "cli/shard_numbers.h"

typedef struct entry {
  slp_list link;
  uint32_t phase;
  char seq[]; /* the record's sequence number, with a NUL at its end */
} entry;

void slp_ledger_init(slp_ledger *l, slp_mem *mem) {
  *l = (slp_ledger){.mem = mem, .changing = {UINT32_MAX, UINT32_MAX}, .latest_ms = INT64_MIN};
  slp_names_init(&l->names, mem);
}

void slp_ledger_free(slp_ledger *l) {
  for (uint32_t i = 0; i < l->names.n && i < l->shards_cap; i++)
    for (slp_list *it; (it = slp_list_pop(&l->shards[i].waiting));)
      slp_free(l->mem, SLP_OWNER(it, entry, link));
  slp_free(l->mem, l->shards);
  l->shards = NULL;
  l->shards_cap = 0;
  slp_names_free(&l->names);
}

/* Grows the array of shards. realloc would break the lists in the array, because the head of an empty list
 * points at itself. So the entries of each list are moved to a new list. */
static int grow_ledger_shards(slp_ledger *l) {
  uint32_t cap = l->shards_cap ? l->shards_cap * 2 : 16;
  slp_ledger_shard *to = slp_zalloc_n(l->mem, cap, sizeof *to);
  if (!to) return SLP_ENOMEM;
  for (uint32_t i = 0; i < cap; i++) {
    slp_list_init(&to[i].waiting);
    to[i].parents[0] = to[i].parents[1] = UINT32_MAX;
    if (i >= l->shards_cap) continue;
    memcpy(to[i].parents, l->shards[i].parents, sizeof to[i].parents);
    to[i].phases = l->shards[i].phases;
    to[i].read_from = l->shards[i].read_from;
    for (slp_list *it; (it = slp_list_pop(&l->shards[i].waiting));) slp_list_add_last(&to[i].waiting, it);
  }
  slp_free(l->mem, l->shards);
  l->shards = to;
  l->shards_cap = cap;
  return 0;
}

int slp_ledger_change(slp_ledger *l, const char *a, const char *b) {
  l->changing[0] = slp_names_find(&l->names, a);
  l->changing[1] = b ? slp_names_find(&l->names, b) : UINT32_MAX;
  return l->changing[0] == UINT32_MAX || (b && l->changing[1] == UINT32_MAX) ? SLP_ENOENT : 0;
}

int slp_ledger_put(slp_ledger *l, const char *shard, const char *seq, int *ret_new) {
  uint32_t before = l->names.n;
  uint32_t number = slp_names_number(&l->names, shard);
  if (number == UINT32_MAX) return SLP_ENOMEM;
  if (number >= l->shards_cap && grow_ledger_shards(l) != 0) return SLP_ENOMEM;
  slp_ledger_shard *s = &l->shards[number];
  *ret_new = number == before;
  if (*ret_new) memcpy(s->parents, l->changing, sizeof s->parents);
  size_t n = strlen(seq);
  entry *e = slp_zalloc(l->mem, sizeof *e + n + 1);
  if (!e) return SLP_ENOMEM;
  memcpy(e->seq, seq, n + 1);
  /* A new child shard got its first record. So the split or merge has taken effect, and a new phase
   * starts. */
  if (*ret_new && s->parents[0] != UINT32_MAX && l->shards[s->parents[0]].phases & 1u << l->phase &&
      l->phase + 1 < SLP_LEDGER_PHASES_MAX)
    l->phase++;
  e->phase = l->phase;
  s->phases |= 1u << l->phase;
  slp_list_add_last(&s->waiting, &e->link);
  l->put++;
  l->put_in[l->phase]++;
  return 0;
}

static int all_read(const slp_ledger *l, uint32_t shard) {
  return shard == UINT32_MAX || slp_list_empty(&l->shards[shard].waiting);
}

static entry *find_waiting_entry(slp_ledger_shard *s, const char *seq, size_t n) {
  SLP_LIST_EACH(&s->waiting, it) {
    entry *e = SLP_OWNER(it, entry, link);
    if (strlen(e->seq) == n && memcmp(e->seq, seq, n) == 0) return e;
  }
  return NULL;
}

void slp_ledger_read(slp_ledger *l, const char *shard, const char *seq, size_t seq_n, int64_t arrived_at_ms) {
  uint32_t number = slp_names_find(&l->names, shard);
  l->read++;
  if (arrived_at_ms < l->latest_ms)
    l->time_back++;
  else
    l->latest_ms = arrived_at_ms;
  entry *e = number == UINT32_MAX ? NULL : find_waiting_entry(&l->shards[number], seq, seq_n);
  if (!e) {
    l->wrong++;
    return;
  }
  slp_ledger_shard *s = &l->shards[number];
  for (slp_list *it; (it = slp_list_first(&s->waiting)) != &e->link;) {
    slp_list_remove(it);
    slp_free(l->mem, SLP_OWNER(it, entry, link));
    l->skipped++;
  }
  if (!all_read(l, s->parents[0]) || !all_read(l, s->parents[1])) l->child_early++;
  if (s->parents[0] != UINT32_MAX && !s->read_from) {
    s->read_from = 1;
    l->children++;
  }
  l->read_in[e->phase]++;
  slp_list_remove(&e->link);
  slp_free(l->mem, e);
}

uint32_t slp_ledger_width(const slp_ledger *l, uint32_t phase) {
  uint32_t width = 0;
  for (uint32_t i = 0; i < l->names.n && i < l->shards_cap; i++) width += l->shards[i].phases >> phase & 1u;
  return width;
}

uint64_t slp_ledger_missing(const slp_ledger *l) {
  uint64_t n = l->skipped;
  for (uint32_t i = 0; i < l->names.n && i < l->shards_cap; i++) SLP_LIST_EACH(&l->shards[i].waiting, it) n++;
  return n;
}

int slp_ledger_proven(const slp_ledger *l) {
  return l->put > 0 && l->read == l->put && slp_ledger_missing(l) == 0 && !l->wrong && !l->time_back &&
         !l->child_early;
}
