/* changes_size.c - the size in bytes of a map of typed attributes, by DynamoDB's rules. */
#include "sandbox/changes.h"
#include "sandbox/value.h"

#define CONTAINER 3 /* the size of an empty list or map; each element adds its own size and one byte */

/* Returns the size of a number: one byte for every two significant digits, plus one byte, plus one for a
 * minus. */
static uint64_t number_size(slp_str text) {
  size_t first = SIZE_MAX, last = 0, digits = 0;
  for (size_t i = 0; i < text.n && text.p[i] != 'e' && text.p[i] != 'E'; i++) {
    if (text.p[i] < '0' || text.p[i] > '9') continue;
    digits++;
    if (text.p[i] == '0') continue;
    if (first == SIZE_MAX) first = digits;
    last = digits;
  }
  uint64_t significant = first == SIZE_MAX ? 0 : last - first + 1;
  return (significant + 1) / 2 + 1 + (text.n && text.p[0] == '-');
}

static uint64_t bytes_size(slp_str base64) {
  size_t n = base64.n / 4 * 3;
  for (size_t i = base64.n; i > 0 && base64.p[i - 1] == '='; i--) n--;
  return n;
}

static uint64_t scalar_size(char type, const slp_value *v) {
  return type == 'S' ? v->text.n : type == 'N' ? number_size(v->text) : bytes_size(v->text);
}

/* Returns the size of v, such as {"S":"x"}. The depth is not checked here: the parser of the tree limits
 * it. */
static uint64_t value_size(const slp_box_tree *t, const slp_value *v) {
  if (v->kind != SLP_VALUE_MAP || v->count == 0) return 0;
  const slp_value *in = &t->v[v->child];
  uint64_t n = 0;
  if (slp_str_is(in->key, "S") || slp_str_is(in->key, "N") || slp_str_is(in->key, "B"))
    return scalar_size(in->key.p[0], in);
  if (slp_str_is(in->key, "M") || slp_str_is(in->key, "L")) {
    n = CONTAINER;
    for (uint32_t i = in->child; i; i = t->v[i].next) n += 1 + t->v[i].key.n + value_size(t, &t->v[i]);
    return n;
  }
  if (in->key.n == 2) { /* a set: SS, NS or BS */
    for (uint32_t i = in->child; i; i = t->v[i].next) n += scalar_size(in->key.p[0], &t->v[i]);
    return n;
  }
  return 1; /* a BOOL or a NULL takes one byte */
}

uint64_t slp_change_size(const slp_box_tree *t, uint32_t node) {
  uint64_t n = 0;
  for (uint32_t i = t->v[node].child; i; i = t->v[i].next) n += t->v[i].key.n + value_size(t, &t->v[i]);
  return n;
}
