/* told.c - of each kind of trouble one line in five seconds, and the last one that says something else. */
#include "cli/told.h"

#include "base/hash.h"

#include <stdio.h>

static uint64_t hash_of(slp_str what) {
  static const slp_hash_key key = {{0x746f6c64, 0x6c696e6573}};
  return slp_hash(&key, what);
}

/* Returns 1 if a makes room before b: a kind without a line to be told goes first, then the older one. */
static int goes_first(const slp_told_kind *a, const slp_told_kind *b) {
  if (!*a->later != !*b->later) return !*a->later;
  return a->at_us < b->at_us;
}

static slp_told_kind *find(slp_told *t, int kind) {
  slp_told_kind *room = &t->kinds[0];
  for (size_t i = 0; i < SLP_TOLD_MAX; i++) {
    if (t->kinds[i].kind == kind) return &t->kinds[i];
    if (goes_first(&t->kinds[i], room)) room = &t->kinds[i];
  }
  *room = (slp_told_kind){.kind = kind};
  return room;
}

static void told(slp_told_kind *k, uint64_t said, uint64_t now_us) {
  k->said = said;
  k->at_us = now_us;
  k->kept_back = 0;
  *k->later = 0;
}

static int is_due(const slp_told_kind *k, uint64_t now_us) {
  return !k->at_us || now_us - k->at_us >= SLP_TOLD_AGAIN_US;
}

int slp_told_now(slp_told *t, int kind, slp_str what, const char *line, uint64_t now_us,
                 uint32_t *ret_kept_back) {
  slp_told_kind *k = find(t, kind);
  uint64_t said = hash_of(what);
  if (is_due(k, now_us)) {
    *ret_kept_back = k->kept_back;
    told(k, said, now_us);
    return 1;
  }
  k->kept_back++;
  if (said == k->said) return 0;
  snprintf(k->later, sizeof k->later, "%s", line);
  k->later_said = said;
  return 0;
}

int slp_told_later(slp_told *t, uint64_t now_us, char line[SLP_TOLD_LINE], uint32_t *ret_kept_back) {
  for (size_t i = 0; i < SLP_TOLD_MAX; i++) {
    slp_told_kind *k = &t->kinds[i];
    if (!*k->later || !is_due(k, now_us)) continue;
    memcpy(line, k->later, SLP_TOLD_LINE);
    *ret_kept_back = k->kept_back - 1;
    told(k, k->later_said, now_us);
    return 1;
  }
  return 0;
}
