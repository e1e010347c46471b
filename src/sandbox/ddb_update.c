/* ddb_update.c - applies the actions of an update to an item. The expressions of all actions see the item as
 * it was before the update. */
#include "sandbox/ddb.h"
#include "sandbox/model.h"

#define WRONG_TYPE "An operand in the update expression has an incorrect data type"
#define WRONG_PATH "The document path provided in the update expression is invalid for update"

/* A list element that is to be removed or appended. Removing and appending are done after all actions, so
 * that indexes into lists stay valid until then. */
typedef struct pending {
  slp_av *list, *element;
  uint32_t index;
  struct pending *next;
} pending;

typedef struct update {
  slp_box_call *c;
  slp_arena *a;
  const slp_av *was; /* the item before the update; NULL: it did not exist */
  slp_av *item;      /* the copy that the actions change */
  /* out: elements to remove. behind: elements to append. */
  pending *out, *behind;
} update;

static int refuse_update(update *u, const char *why) {
  slp_box_fail(u->c, "ValidationException", "%s", why);
  return -1;
}
static int no_memory(update *u) {
  slp_box_no_memory(u->c);
  return -1;
}

/* ---- values ---------------------------------------------------------------------------------- */
static int value_of(update *u, const slp_x *x, const slp_av **ret);

static int add_or_subtract(update *u, const slp_av *a, const slp_av *b, int subtract, const slp_av **ret) {
  slp_n38 x, y, sum;
  if (a->kind != SLP_AV_N || b->kind != SLP_AV_N) return refuse_update(u, WRONG_TYPE);
  slp_n38_parse(a->text, &x);
  slp_n38_parse(b->text, &y);
  slp_n38_fault fault = slp_n38_add(&x, &y, subtract, &sum);
  if (fault) return refuse_update(u, slp_n38_why(fault));
  *ret = slp_av_number(u->a, &sum);
  return *ret ? 0 : no_memory(u);
}

static int append_lists(update *u, const slp_av *a, const slp_av *b, const slp_av **ret) {
  if (a->kind != SLP_AV_L || b->kind != SLP_AV_L) return refuse_update(u, WRONG_TYPE);
  slp_av *list = slp_av_new(u->a, SLP_AV_L), **to = list ? &list->first : NULL;
  if (!list) return no_memory(u);
  for (int i = 0; i < 2; i++) {
    for (const slp_av *v = i ? b->first : a->first; v; v = v->next) {
      *to = slp_av_shallow(u->a, v);
      if (!*to) return no_memory(u);
      to = &(*to)->next;
      list->count++;
    }
  }
  *ret = list;
  return 0;
}

static int value_of(update *u, const slp_x *x, const slp_av **ret) {
  const slp_av *a = NULL, *b = NULL;
  switch (x->op) {
    case SLP_X_VALUE: *ret = x->value; return 0;
    case SLP_X_PATH:
      *ret = u->was ? slp_path_find(x->path, u->was) : NULL;
      return *ret ? 0
                  : refuse_update(
                        u, "The provided expression refers to an attribute that does not exist in the item");
    case SLP_X_IF_NOT_EXISTS:
      *ret = u->was ? slp_path_find(x->a->path, u->was) : NULL;
      return *ret ? 0 : value_of(u, x->b, ret);
    case SLP_X_PLUS:
    case SLP_X_MINUS:
      if (value_of(u, x->a, &a) || value_of(u, x->b, &b)) return -1;
      return add_or_subtract(u, a, b, x->op == SLP_X_MINUS, ret);
    case SLP_X_LIST_APPEND:
      if (value_of(u, x->a, &a) || value_of(u, x->b, &b)) return -1;
      return append_lists(u, a, b, ret);
    default: return refuse_update(u, WRONG_TYPE);
  }
}

/* ---- places in the item ------------------------------------------------------------------------- */
/* Finds the map or list that contains the last step of the path, in the copy that the actions change. NULL:
 * it does not exist or is of the wrong kind; the call has failed. */
static slp_av *container_of(update *u, const slp_path *p, const slp_path_step **ret_last) {
  slp_av *in = u->item;
  for (; p->next; p = p->next) {
    slp_av *v = in->kind != (p->name.p ? SLP_AV_M : SLP_AV_L) ? NULL
                : p->name.p                                   ? slp_av_member(in, p->name)
                                                              : slp_av_item(in, p->index);
    if (!v) {
      refuse_update(u, WRONG_PATH);
      return NULL;
    }
    in = v;
  }
  *ret_last = p;
  if (in->kind == (p->name.p ? SLP_AV_M : SLP_AV_L)) return in;
  refuse_update(u, WRONG_PATH);
  return NULL;
}

static int queue_for_later(update *u, pending **queue, slp_av *list, slp_av *element, uint32_t index) {
  pending *p = SLP_ARENA_NEW(u->a, pending);
  if (!p) return no_memory(u);
  *p = (pending){list, element, index, NULL};
  while (*queue && (*queue)->index <= index) queue = &(*queue)->next;
  p->next = *queue;
  *queue = p;
  return 0;
}

/* Puts a value at the path. An element beyond the end of a list is appended; several such elements are
 * appended in the order of their indexes. */
static int put_at_path(update *u, slp_av *in, const slp_path_step *last, const slp_av *value) {
  slp_av *v = slp_av_shallow(u->a, value);
  if (!v) return no_memory(u);
  v->name = last->name;
  if (last->name.p) {
    slp_av_set_member(in, v);
    return 0;
  }
  slp_av *there = slp_av_item(in, last->index);
  if (!there) return queue_for_later(u, &u->behind, in, v, last->index);
  v->next = there->next;
  *there = *v;
  return 0;
}

static int take_out(update *u, slp_av *in, const slp_path_step *last) {
  if (last->name.p) {
    slp_av_remove_member(in, last->name);
    return 0;
  }
  slp_av *there = slp_av_item(in, last->index);
  return there ? queue_for_later(u, &u->out, in, there, last->index) : 0;
}

static slp_av *find_at_path(slp_av *in, const slp_path_step *last) {
  return last->name.p ? slp_av_member(in, last->name) : slp_av_item(in, last->index);
}

/* ---- sets --------------------------------------------------------------------------------------- */
static int set_has_element(const slp_av *set, const slp_av *element) {
  for (const slp_av *v = set->first; v; v = v->next) {
    if (slp_av_equal(v, element)) return 1;
  }
  return 0;
}

/* Returns set a without the elements of b. `join` 1: returns the union of a and b. */
static slp_av *set_of(update *u, const slp_av *a, const slp_av *b, int join) {
  slp_av *set = slp_av_new(u->a, a->kind), **to = set ? &set->first : NULL;
  for (const slp_av *v = a->first; set && v; v = v->next) {
    if (set_has_element(b, v)) continue;
    *to = slp_av_shallow(u->a, v);
    if (!*to) return NULL;
    to = &(*to)->next;
    set->count++;
  }
  for (const slp_av *v = b->first; set && join && v; v = v->next) {
    *to = slp_av_shallow(u->a, v);
    if (!*to) return NULL;
    to = &(*to)->next;
    set->count++;
  }
  if (set) slp_av_sort_set(set);
  return set;
}

static int apply_add(update *u, slp_av *in, const slp_path_step *last, const slp_av *value) {
  const slp_av *is = find_at_path(in, last), *sum = NULL;
  if (!is) return put_at_path(u, in, last, value);
  if (is->kind != value->kind) return refuse_update(u, WRONG_TYPE);
  if (value->kind == SLP_AV_N) {
    if (add_or_subtract(u, is, value, 0, &sum)) return -1;
  } else if (slp_av_is_set(value->kind)) {
    sum = set_of(u, is, value, 1);
    if (!sum) return no_memory(u);
  } else {
    /* only with AttributeUpdates, the older form of updates, can ADD append to a list */
    if (append_lists(u, is, value, &sum)) return -1;
  }
  return put_at_path(u, in, last, sum);
}

static int remove_elements(update *u, slp_av *in, const slp_path_step *last, const slp_av *value) {
  const slp_av *is = find_at_path(in, last);
  if (!is) return 0;
  if (is->kind != value->kind) return refuse_update(u, WRONG_TYPE);
  const slp_av *left = set_of(u, is, value, 0);
  if (!left) return no_memory(u);
  return left->count ? put_at_path(u, in, last, left) : take_out(u, in, last);
}

/* ---- the whole update --------------------------------------------------------------------------- */
static int apply_update_action(update *u, const slp_up *up) {
  const slp_path_step *last;
  const slp_av *value = NULL;
  if (up->value && value_of(u, up->value, &value)) return -1;
  SLP_CHECK(value || up->kind == SLP_UP_REMOVE);
  slp_av *in = container_of(u, up->path, &last);
  if (!in) return -1;
  switch (up->kind) {
    case SLP_UP_SET: return put_at_path(u, in, last, value);
    case SLP_UP_REMOVE: return take_out(u, in, last);
    case SLP_UP_ADD: return apply_add(u, in, last, value);
    case SLP_UP_DELETE: return remove_elements(u, in, last, value);
  }
  return 0;
}

static void unlink_element(slp_av *list, const slp_av *element) {
  for (slp_av **at = &list->first; *at; at = &(*at)->next) {
    if (*at != element) continue;
    *at = element->next;
    list->count--;
    return;
  }
}

static void link_behind(slp_av *list, slp_av *element) {
  slp_av **at = &list->first;
  while (*at) at = &(*at)->next;
  *at = element;
  list->count++;
}

slp_av *slp_update_apply(slp_box_call *c, const slp_up *first, const slp_av *was, const slp_av *key) {
  update u = {.c = c, .a = slp_call_arena(c), .was = was};
  u.item = slp_av_copy(u.a, was ? was : key);
  if (!u.item) {
    no_memory(&u);
    return NULL;
  }
  for (const slp_up *up = first; up; up = up->next) {
    if (apply_update_action(&u, up)) return NULL;
  }
  for (pending *p = u.out; p; p = p->next) unlink_element(p->list, p->element);
  for (pending *p = u.behind; p; p = p->next) link_behind(p->list, p->element);
  return u.item;
}
