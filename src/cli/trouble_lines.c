/* trouble_lines.c - limits the lines about errors. In each span of five seconds, the first lines of a kind
 * are printed at once. Later lines of that kind are held (trouble_lines.h), and are printed together as one
 * line when the span is over. */
#include "cli/trouble_lines.h"

#include "base/hash.h"

#include <stdio.h>

static uint64_t hash_of(slp_str what) {
  static const slp_hash_key key = {{0x746f6c64, 0x6c696e6573}};
  return slp_hash(&key, what);
}

static int is_over(const slp_told_kind *k, uint64_t now_us) {
  return !k->at_us || now_us - k->at_us >= SLP_TOLD_AGAIN_US;
}

/* Returns the entry of `kind` in t->kinds. A new kind gets a free entry, or that of the kind whose five
 * seconds began the longest ago. */
static slp_told_kind *find_kind(slp_told *t, int kind) {
  slp_told_kind *room = &t->kinds[0];
  for (size_t i = 0; i < SLP_TOLD_KINDS; i++) {
    if (t->kinds[i].at_us && t->kinds[i].kind == kind) return &t->kinds[i];
    if (t->kinds[i].at_us < room->at_us) room = &t->kinds[i];
  }
  *room = (slp_told_kind){.kind = kind};
  return room;
}

/* ---- holding ----------------------------------------------------------------------------------------- */

static int names_have(const slp_told_held *h, slp_str shard) {
  for (const char *p = h->names; *p;) {
    const char *name = p + 2, *end = strchr(name, ',');
    size_t n = end ? (size_t)(end - name) : strlen(name);
    if (slp_str_eq((slp_str){name, n}, shard)) return 1;
    p = name + n;
  }
  return 0;
}

/* Adds a shard to the names that are printed with the held lines. If there is no room for its name,
 * increments unnamed_n. */
static void add_name(slp_told_held *h, slp_str shard) {
  size_t at = strlen(h->names);
  if (!shard.n || slp_str_eq(slp_str_of(h->shard), shard) || names_have(h, shard)) return;
  if (memchr(shard.p, ',', shard.n) || at + 2 + shard.n >= sizeof h->names) {
    h->unnamed_n++;
    return;
  }
  snprintf(h->names + at, sizeof h->names - at, ", %.*s", (int)shard.n, shard.p);
  h->names_n++;
}

static void begin_held_line(slp_told *t, slp_told_held *h, const slp_told_line *l, uint64_t said) {
  *h = (slp_told_held){.kind = l->kind, .n = 1, .said = said, .serial = ++t->serial};
  snprintf(h->line, sizeof h->line, "%s", l->text);
  if (l->shard.n) snprintf(h->shard, sizeof h->shard, "%.*s", (int)l->shard.n, l->shard.p);
}

/* Holds line l, in the first of these ways that is possible:
 *   1. counts it with held lines of the same kind and the same `what`;
 *   2. keeps it in a free entry;
 *   3. counts it with other held lines of its kind.
 * Returns 1, or 0 if none is possible; then the line must be printed now. */
static int hold_error_line(slp_told *t, const slp_told_line *l) {
  uint64_t said = hash_of(l->what);
  slp_told_held *like = NULL, *kin = NULL, *room = NULL;
  for (size_t i = 0; i < SLP_TOLD_HELD; i++) {
    slp_told_held *h = &t->held[i];
    if (!h->n) {
      room = h;
    } else if (h->kind == l->kind) {
      if (h->said == said) like = h;
      if (!kin || h->serial > kin->serial) kin = h;
    }
  }
  if (!like && room) {
    begin_held_line(t, room, l, said);
    return 1;
  }
  if (!like && kin) kin->mixed = 1;
  if (!like) like = kin;
  if (!like) return 0;
  like->n++;
  add_name(like, l->shard);
  return 1;
}

int slp_told_now(slp_told *t, const slp_told_line *l, uint64_t now_us) {
  slp_told_kind *k = find_kind(t, l->kind);
  if (is_over(k, now_us)) *k = (slp_told_kind){.kind = l->kind, .at_us = slp_max_u64(now_us, 1)};
  if (k->n >= slp_max_u64(l->at_once, 1) && hold_error_line(t, l)) return 0;
  k->n++;
  return 1;
}

/* ---- telling ----------------------------------------------------------------------------------------- */

static void write_text(const slp_told_held *h, char text[SLP_TOLD_TEXT]) {
  uint32_t more = h->n - 1;
  const char *names = h->names_n ? h->names + 2 : "";
  int n = snprintf(text, SLP_TOLD_TEXT, "%s", h->line);
  if (n < 0 || !more) return;
  char *to = text + n;
  size_t room = SLP_TOLD_TEXT - (size_t)n;
  const char *like = h->mixed ? "of its kind" : "like it";
  if (!h->names_n && !h->unnamed_n) {
    snprintf(to, room, " (and %u more %s)", more, like);
  } else if (h->names_n == more && !h->mixed) {
    snprintf(to, room, " (and %u more shard%s: %s)", more, more == 1 ? "" : "s", names);
  } else if (h->unnamed_n) {
    snprintf(to, room, " (and %u more %s, also of %s; %u of them of shards not named here)", more, like,
             names, h->unnamed_n);
  } else {
    snprintf(to, room, " (and %u more %s, also of %s)", more, like, names);
  }
}

static int is_due(const slp_told *t, const slp_told_held *h, uint64_t now_us) {
  for (size_t i = 0; i < SLP_TOLD_KINDS; i++)
    if (t->kinds[i].at_us && t->kinds[i].kind == h->kind) return is_over(&t->kinds[i], now_us);
  return 1;
}

int slp_told_next(slp_told *t, uint64_t now_us, int all, char text[SLP_TOLD_TEXT]) {
  slp_told_held *first = NULL;
  for (size_t i = 0; i < SLP_TOLD_HELD; i++) {
    slp_told_held *h = &t->held[i];
    if (h->n && (!first || h->serial < first->serial) && (all || is_due(t, h, now_us))) first = h;
  }
  if (!first) return 0;
  write_text(first, text);
  int kind = first->kind;
  first->n = 0;
  for (size_t i = 0; i < SLP_TOLD_HELD; i++)
    if (t->held[i].n && t->held[i].kind == kind) return 1;
  *find_kind(t, kind) = (slp_told_kind){.kind = kind, .n = UINT32_MAX, .at_us = slp_max_u64(now_us, 1)};
  return 1;
}

void slp_told_drop(slp_told *t, const char *end) {
  for (size_t i = 0; i < SLP_TOLD_HELD; i++) {
    slp_told_held *h = &t->held[i];
    if (h->n && !h->mixed && !h->names_n && strncmp(end, h->line, strlen(h->line)) == 0) h->n = 0;
  }
}
