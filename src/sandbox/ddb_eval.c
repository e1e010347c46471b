/* ddb_eval.c - decides whether a condition holds for an item, and selects the projected parts of an item. */
#include "sandbox/ddb.h"

slp_av *slp_path_find(const slp_path *p, const slp_av *item) {
  slp_av *v = NULL;
  const slp_av *in = item;
  for (; p; p = p->next) {
    if (!in || in->kind != (p->name.p ? SLP_AV_M : SLP_AV_L)) return NULL;
    v = p->name.p ? slp_av_member(in, p->name) : slp_av_item(in, p->index);
    in = v;
  }
  return v;
}

/* Returns what the function size() of expressions gives for a value. SIZE_MAX: a value of this kind has no
 * size. */
static size_t compute_expression_size(const slp_av *v) {
  switch (v->kind) {
    case SLP_AV_S:
    case SLP_AV_B: return v->text.n;
    case SLP_AV_N:
    case SLP_AV_BOOL:
    case SLP_AV_NULL: return SIZE_MAX;
    default: return v->count;
  }
}

/* Returns an operand's value. For size(), the number is built in `room` and `digits`. NULL: there is no
 * value. */
static const slp_av *value_of(const slp_x *x, const slp_av *item, slp_av *room, char digits[24]) {
  if (x->op == SLP_X_VALUE) return x->value;
  if (x->op == SLP_X_PATH) return item ? slp_path_find(x->path, item) : NULL;
  if (x->op != SLP_X_SIZE) return NULL; /* the other operators occur only in updates */
  const slp_av *of = value_of(x->a, item, room, digits);
  size_t n = of ? compute_expression_size(of) : SIZE_MAX, at = 24;
  if (n == SIZE_MAX) return NULL;
  do digits[--at] = (char)('0' + n % 10);
  while ((n /= 10) > 0);
  *room = (slp_av){.kind = SLP_AV_N, .text = {digits + at, 24 - at}};
  return room;
}

static int are_both_ordered(const slp_av *a, const slp_av *b) {
  return a->kind == b->kind && (a->kind == SLP_AV_S || a->kind == SLP_AV_N || a->kind == SLP_AV_B);
}

static int does_comparison_hold(slp_x_op op, const slp_av *a, const slp_av *b) {
  if (op == SLP_X_EQ) return slp_av_equal(a, b);
  if (op == SLP_X_NE) return !slp_av_equal(a, b);
  if (!are_both_ordered(a, b)) return 0;
  int c = slp_av_cmp(a, b);
  switch (op) {
    case SLP_X_LT: return c < 0;
    case SLP_X_LE: return c <= 0;
    case SLP_X_GT: return c > 0;
    default: return c >= 0;
  }
}

static int value_contains(const slp_av *in, const slp_av *what) {
  if (in->kind == SLP_AV_S || in->kind == SLP_AV_B) {
    if (what->kind != in->kind) return 0;
    return what->text.n == 0 ||
           (what->text.n <= in->text.n && memmem(in->text.p, in->text.n, what->text.p, what->text.n) != NULL);
  }
  if (in->kind != SLP_AV_L && !slp_av_is_set(in->kind)) return 0;
  for (const slp_av *v = in->first; v; v = v->next) {
    if (slp_av_equal(v, what)) return 1;
  }
  return 0;
}

static int value_begins_with(const slp_av *v, const slp_av *with) {
  if (v->kind != with->kind || (v->kind != SLP_AV_S && v->kind != SLP_AV_B)) return 0;
  return with->text.n <= v->text.n &&
         (with->text.n == 0 || memcmp(v->text.p, with->text.p, with->text.n) == 0);
}

static int two_operands(const slp_x *x, const slp_av *item) {
  slp_av room[2];
  char digits[2][24];
  const slp_av *a = value_of(x->a, item, &room[0], digits[0]), *b = value_of(x->b, item, &room[1], digits[1]);
  /* an absent value differs from every value that is there */
  if (!a || !b) return x->op == SLP_X_NE && a != b;
  switch (x->op) {
    case SLP_X_BEGINS: return value_begins_with(a, b);
    case SLP_X_CONTAINS: return value_contains(a, b);
    case SLP_X_NOT_CONTAINS: return !value_contains(a, b);
    case SLP_X_TYPE: return b->kind == SLP_AV_S && slp_str_is(b->text, slp_av_kind_name(a->kind));
    default: return does_comparison_hold(x->op, a, b);
  }
}

static int is_between(const slp_x *x, const slp_av *item) {
  slp_av room[3];
  char digits[3][24];
  const slp_av *a = value_of(x->a, item, &room[0], digits[0]);
  const slp_av *low = value_of(x->b, item, &room[1], digits[1]);
  const slp_av *high = value_of(x->b->next, item, &room[2], digits[2]);
  return a && low && high && does_comparison_hold(SLP_X_GE, a, low) &&
         does_comparison_hold(SLP_X_LE, a, high);
}

static int is_in(const slp_x *x, const slp_av *item) {
  slp_av room[2];
  char digits[2][24];
  const slp_av *a = value_of(x->a, item, &room[0], digits[0]);
  for (const slp_x *o = x->b; a && o; o = o->next) {
    const slp_av *b = value_of(o, item, &room[1], digits[1]);
    if (b && slp_av_equal(a, b)) return 1;
  }
  return 0;
}

int slp_x_holds(const slp_x *x, const slp_av *item) {
  switch (x->op) {
    case SLP_X_AND: return slp_x_holds(x->a, item) && slp_x_holds(x->b, item);
    case SLP_X_OR: return slp_x_holds(x->a, item) || slp_x_holds(x->b, item);
    case SLP_X_NOT: return !slp_x_holds(x->a, item);
    case SLP_X_EXISTS: return item && slp_path_find(x->a->path, item) != NULL;
    case SLP_X_NOT_EXISTS: return !item || slp_path_find(x->a->path, item) == NULL;
    case SLP_X_BETWEEN: return is_between(x, item);
    case SLP_X_IN: return is_in(x, item);
    default: return two_operands(x, item);
  }
}

/* ---- projections --------------------------------------------------------------------------------------- */
/* Finds the paths that lead through this member or element of a value. *ret gets what remains of each path
 * after this step. */
static int find_rests_of_paths(slp_arena *a, const slp_paths *paths, const slp_av *member, uint32_t index,
                               slp_paths **ret) {
  slp_paths **to = ret;
  *ret = NULL;
  for (; paths; paths = paths->next) {
    const slp_path_step *s = paths->path;
    int fits = member->name.p && s->name.p ? slp_str_eq(s->name, member->name)
                                           : !s->name.p && !member->name.p && s->index == index;
    if (!fits) continue;
    *to = SLP_ARENA_NEW(a, slp_paths);
    if (!*to) return SLP_ENOMEM;
    (*to)->path = s->next;
    to = &(*to)->next;
  }
  return 0;
}

slp_av *slp_project(slp_arena *a, const slp_paths *paths, const slp_av *v) {
  slp_av *out = slp_av_shallow(a, v), **to;
  uint32_t index = 0;
  if (!out) return NULL;
  out->first = NULL;
  out->count = 0;
  to = &out->first;
  for (const slp_av *m = v->first; m; m = m->next, index++) {
    slp_paths *on;
    if (find_rests_of_paths(a, paths, m, index, &on)) return NULL;
    if (!on) continue;
    int container = m->kind == SLP_AV_M || m->kind == SLP_AV_L;
    if (on->path && !container) continue;
    slp_av *part = on->path ? slp_project(a, on, m) : slp_av_shallow(a, m);
    if (!part) return NULL;
    if (on->path && part->count == 0) continue; /* no path leads to anything in this value */
    *to = part;
    to = &part->next;
    out->count++;
  }
  return out;
}
