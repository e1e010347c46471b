/* fuzz_tree.h - writes a tree of a request again, in either form. */
#ifndef SLP_TEST_FUZZ_TREE_H
#define SLP_TEST_FUZZ_TREE_H

#include "fuzz.h"
#include "sandbox/value.h"

/* Answers hold no null and no fraction, and are not deep; their maps are small. */
static inline int fuzz_tree_can_be_put(const slp_box_tree *t, uint32_t node, uint32_t depth) {
  const slp_value *v = &t->v[node];
  if (v->kind == SLP_VALUE_NULL || v->kind == SLP_VALUE_REAL) return 0;
  if ((v->kind == SLP_VALUE_MAP && v->count > 23) || depth == SLP_OUT_DEPTH) return 0;
  for (uint32_t i = v->child; i; i = t->v[i].next)
    if (!fuzz_tree_can_be_put(t, i, depth + 1)) return 0;
  return 1;
}

static inline void fuzz_tree_put(slp_box_out *o, const slp_box_tree *t, uint32_t node) {
  const slp_value *v = &t->v[node];
  switch (v->kind) {
    case SLP_VALUE_MAP:
    case SLP_VALUE_LIST:
      if (v->kind == SLP_VALUE_MAP)
        slp_out_map(o);
      else
        slp_out_list(o);
      for (uint32_t i = v->child; i; i = t->v[i].next) {
        if (v->kind == SLP_VALUE_MAP) slp_out_name(o, t->v[i].key);
        fuzz_tree_put(o, t, i);
      }
      slp_out_end(o);
      break;
    case SLP_VALUE_BOOL: slp_out_bool(o, v->i != 0); break;
    case SLP_VALUE_INT: slp_out_i64(o, v->i); break;
    case SLP_VALUE_TEXT: slp_out_text(o, v->text); break;
    case SLP_VALUE_BYTES: slp_out_blob(o, v->text); break;
    case SLP_VALUE_NULL:
    case SLP_VALUE_REAL: break;
  }
}

#endif
