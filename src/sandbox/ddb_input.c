/* ddb_input.c - reads attribute values and items from a request, and refuses bad ones in the service's
 * words. */
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdio.h>

#define INVALID "One or more parameter values were invalid: "

static slp_av *refuse_item_input(slp_box_call *c, const char *why) {
  slp_box_fail(c, "ValidationException", "%s", why);
  return NULL;
}

static slp_av *no_memory(slp_box_call *c) {
  slp_box_no_memory(c);
  return NULL;
}

static slp_av *wrong_kind(slp_box_call *c, const char *kind) {
  slp_box_fail(c, "SerializationException", "The value of an attribute is not what type %s takes.", kind);
  return NULL;
}

static slp_av *read_at(slp_box_call *c, uint32_t node, uint32_t depth);

static slp_av *read_number(slp_box_call *c, slp_str text) {
  slp_n38 n;
  slp_n38_fault fault = slp_n38_parse(text, &n);
  if (fault == SLP_N38_TEXT && text.n > 0) {
    slp_box_fail(c, "ValidationException", "%s: %.*s", slp_n38_why(fault), (int)slp_min_u64(text.n, 200),
                 text.p);
    return NULL;
  }
  if (fault) return refuse_item_input(c, slp_n38_why(fault));
  slp_av *v = slp_av_number(slp_call_arena(c), &n);
  return v ? v : no_memory(c);
}

/* Reads the value of an S, N or B, or an element of a set of these. */
static slp_av *read_scalar(slp_box_call *c, slp_av_kind kind, uint32_t node) {
  slp_value *from = &c->in->v[node];
  if (from->kind != SLP_VALUE_TEXT && from->kind != SLP_VALUE_BYTES)
    return wrong_kind(c, slp_av_kind_name(kind));
  if (kind == SLP_AV_N) return read_number(c, from->text);
  if (kind == SLP_AV_B && slp_box_tree_blob(c->in, from)) return wrong_kind(c, "B");
  slp_av *v = slp_av_new(slp_call_arena(c), kind);
  if (!v) return no_memory(c);
  v->text = from->text.n ? from->text : (slp_str){"", 0};
  return v;
}

/* Writes the set in the form "[a, a]". A long text is cut off. */
static void set_text(const slp_av *set, char out[300]) {
  size_t at = 0;
  out[at++] = '[';
  for (const slp_av *m = set->first; m && at < 250; m = m->next) {
    int n = snprintf(out + at, 300 - at - 2, "%s%.*s", at > 1 ? ", " : "", (int)slp_min_u64(m->text.n, 40),
                     m->kind == SLP_AV_B ? "" : m->text.p);
    at = slp_min_u64(at + (size_t)n, 297);
  }
  out[at++] = ']';
  out[at] = 0;
}

static slp_av *read_set(slp_box_call *c, slp_av *set, uint32_t node) {
  char text[300];
  slp_av_kind of = set->kind == SLP_AV_SS ? SLP_AV_S : set->kind == SLP_AV_NS ? SLP_AV_N : SLP_AV_B;
  slp_av **to = &set->first;
  if (c->in->v[node].kind != SLP_VALUE_LIST) return wrong_kind(c, slp_av_kind_name(set->kind));
  for (uint32_t i = c->in->v[node].child; i; i = c->in->v[i].next) {
    *to = read_scalar(c, of, i);
    if (!*to) return NULL;
    to = &(*to)->next;
    set->count++;
  }
  if (set->count == 0) {
    return refuse_item_input(c, of == SLP_AV_S   ? INVALID "An string set  may not be empty"
                                : of == SLP_AV_N ? INVALID "An number set  may not be empty"
                                                 : INVALID "Binary sets should not be empty");
  }
  set_text(set, text);
  if (slp_av_sort_set(set)) return set;
  if (of == SLP_AV_N) return refuse_item_input(c, "Input collection contains duplicates");
  slp_box_fail(c, "ValidationException", INVALID "Input collection %s%s contains duplicates.", text,
               of == SLP_AV_B ? "of type BS" : "");
  return NULL;
}

static slp_av *read_members(slp_box_call *c, slp_av *of, uint32_t node, uint32_t depth) {
  int map = of->kind == SLP_AV_M;
  slp_av **to = &of->first;
  if (c->in->v[node].kind != (map ? SLP_VALUE_MAP : SLP_VALUE_LIST)) return wrong_kind(c, map ? "M" : "L");
  for (uint32_t i = c->in->v[node].child; i; i = c->in->v[i].next) {
    *to = read_at(c, i, depth + 1);
    if (!*to) return NULL;
    if (map) {
      if (c->in->v[i].key.n == 0)
        return refuse_item_input(c, INVALID "The name of an attribute may not be empty");
      if (c->in->v[i].key.n > UINT16_MAX)
        return refuse_item_input(c, INVALID "The name of an attribute is too long");
      (*to)->name = c->in->v[i].key;
    }
    to = &(*to)->next;
    of->count++;
  }
  if (map && !slp_av_sort_map(of)) return refuse_item_input(c, INVALID "An attribute is given twice");
  return of;
}

static slp_av *read_as(slp_box_call *c, slp_av_kind kind, uint32_t node, uint32_t depth) {
  const slp_value *from = &c->in->v[node];
  if (kind == SLP_AV_S || kind == SLP_AV_N || kind == SLP_AV_B) return read_scalar(c, kind, node);
  slp_av *v = slp_av_new(slp_call_arena(c), kind);
  if (!v) return no_memory(c);
  switch (kind) {
    case SLP_AV_BOOL: v->on = from->i != 0; return from->kind == SLP_VALUE_BOOL ? v : wrong_kind(c, "BOOL");
    case SLP_AV_NULL:
      if (from->kind != SLP_VALUE_BOOL) return wrong_kind(c, "NULL");
      return from->i ? v
                     : refuse_item_input(c, INVALID "Null attribute value types must have the value of true");
    case SLP_AV_L:
    case SLP_AV_M: return read_members(c, v, node, depth);
    default: return read_set(c, v, node);
  }
}

static slp_av *read_at(slp_box_call *c, uint32_t node, uint32_t depth) {
  uint32_t found = 0;
  if (c->in->v[node].kind != SLP_VALUE_MAP) {
    slp_box_fail(c, "SerializationException", "An attribute value must be an object with one member.");
    return NULL;
  }
  for (uint32_t i = c->in->v[node].child; i; i = c->in->v[i].next) {
    if (c->in->v[i].kind == SLP_VALUE_NULL) continue;
    if (found) {
      return refuse_item_input(
          c,
          "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
          "supported datatypes");
    }
    found = i;
  }
  if (depth > SLP_AV_DEPTH) {
    return refuse_item_input(
        c,
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
        "beyond supported limit");
  }
  for (int kind = SLP_AV_S; found && kind <= SLP_AV_BS; kind++) {
    if (!slp_str_is(c->in->v[found].key, slp_av_kind_name((slp_av_kind)kind))) continue;
    return read_as(c, (slp_av_kind)kind, found, depth);
  }
  return refuse_item_input(
      c, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
}

slp_av *slp_av_read(slp_box_call *c, uint32_t node) { return read_at(c, node, 1); }

slp_av *slp_ddb_item_read(slp_box_call *c, uint32_t node) {
  slp_av *item = slp_av_new(slp_call_arena(c), SLP_AV_M);
  return item ? read_members(c, item, node, 0) : no_memory(c);
}
