/* nearest.c - finds the names that are most like a name that does not exist, for "did you mean". */
#include "cli/nearest.h"

#include <stdio.h>

#include "base/clean.h"

#define NOT_LIKE UINT32_MAX

void slp_nearest_begin(slp_nearest *t, slp_str word) {
  *t = (slp_nearest){.word = word};
  if (t->word.n > SLP_NEAREST_BYTES) t->word.n = SLP_NEAREST_BYTES;
}

static char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static int is_same(char a, char b) { return lower_letter(a) == lower_letter(b); }

/* Returns how many letters must be changed, left out, added or swapped with their neighbour to make one text
 * out of the other (the "optimal string alignment" distance). Upper and lower case count as the same. */
static uint32_t edits_between(slp_str a, slp_str b) {
  /* three rows of the table of distances between the beginnings of both texts */
  uint32_t rows[3][SLP_NEAREST_BYTES + 1];
  uint32_t *above2 = rows[0], *above = rows[1], *now = rows[2];
  for (size_t j = 0; j <= b.n; j++) above[j] = (uint32_t)j;
  for (size_t i = 1; i <= a.n; i++) {
    now[0] = (uint32_t)i;
    for (size_t j = 1; j <= b.n; j++) {
      uint32_t best = above[j - 1] + !is_same(a.p[i - 1], b.p[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      int swapped = i > 1 && j > 1 && is_same(a.p[i - 1], b.p[j - 2]) && is_same(a.p[i - 2], b.p[j - 1]);
      if (swapped && above2[j - 2] + 1 < best) best = above2[j - 2] + 1;
      now[j] = best;
    }
    uint32_t *free_row = above2;
    above2 = above;
    above = now;
    now = free_row;
  }
  return above[b.n];
}

static int contains_in_any_case(slp_str text, slp_str part, size_t *ret_at) {
  for (size_t at = 0; at + part.n <= text.n; at++) {
    size_t n = 0;
    while (n < part.n && is_same(text.p[at + n], part.p[n])) n++;
    if (n < part.n) continue;
    *ret_at = at;
    return 1;
  }
  return 0;
}

/* Returns how far the name is from the word: 1 if the name begins with the word, 2 if the name contains
 * the word. Otherwise returns the number of edits, or NOT_LIKE if that is more than a third of the word's
 * length. */
static uint32_t measure_distance(slp_str word, slp_str name) {
  size_t at;
  uint32_t edits = edits_between(word, name), edits_max = (uint32_t)(word.n + 1) / 3;
  uint32_t far = edits <= edits_max && edits < word.n ? edits : NOT_LIKE;
  if (word.n >= 3 && contains_in_any_case(name, word, &at) && far > 1 + (at > 0)) far = 1 + (at > 0);
  return far;
}

void slp_nearest_offer(slp_nearest *t, const char *name) {
  slp_str s = {name, strnlen(name, SLP_NEAREST_BYTES)};
  if (!t->word.n || !s.n) return;
  uint32_t far = measure_distance(t->word, s);
  if (far == NOT_LIKE) return;
  size_t at = t->n;
  while (at && t->far[at - 1] > far) at--;
  if (at == SLP_NEAREST_MAX) return;
  if (t->n < SLP_NEAREST_MAX) t->n++;
  for (size_t i = t->n - 1; i > at; i--) {
    t->names[i] = t->names[i - 1];
    t->far[i] = t->far[i - 1];
  }
  t->names[at] = name;
  t->far[at] = far;
}

void slp_nearest_text(const slp_nearest *t, const char *before, char *out, size_t size) {
  size_t at = 0;
  out[0] = 0;
  size_t shown = 0;
  while (shown < t->n && t->far[shown] <= t->far[0] + 1)
    shown++; /* names that are much farther only distract */
  for (size_t i = 0; i < shown; i++) {
    const char *glue = i == 0 ? "; did you mean " : i + 1 < shown ? ", " : " or ";
    char name[SLP_NEAREST_BYTES + 1];
    slp_clean_copy(name, sizeof name, t->names[i]);
    int n = snprintf(out + at, size - at, "%s%s%s%s", glue, before, name, i + 1 == shown ? "?" : "");
    if (n < 0 || (size_t)n >= size - at) { /* names that do not fit are left out */
      out[at] = 0;
      if (i && at + 1 < size) memcpy(out + at, "?", 2);
      return;
    }
    at += (size_t)n;
  }
}
