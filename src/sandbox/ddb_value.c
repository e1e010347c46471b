/* ddb_value.c - attribute values: how members are found, order, size, copies, and JSON. */
#include "base/buf.h"
#include "codec/json_write.h"
#include "sandbox/ddb.h"

/* the size in bytes of an empty list or map; each element adds its own size and one byte */
#define OVERHEAD 3

const char *slp_av_kind_name(slp_av_kind kind) {
  static const char *const names[] = {"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"};
  return names[kind];
}

int slp_av_is_set(slp_av_kind kind) { return kind >= SLP_AV_SS; }

slp_av *slp_av_member(const slp_av *map, slp_str name) {
  for (slp_av *v = map->first; v; v = v->next) {
    if (slp_str_eq(v->name, name)) return v;
  }
  return NULL;
}

slp_av *slp_av_item(const slp_av *list, uint32_t index) {
  slp_av *v = list->first;
  if (index >= list->count) return NULL;
  while (index-- > 0) v = v->next;
  return v;
}

/* ---- order ------------------------------------------------------------------------------------------ */
static slp_n38 number_of(const slp_av *v) {
  slp_n38 n;
  slp_n38_parse(v->text, &n); /* can't fail: the text was checked when the request was read */
  return n;
}

int slp_av_cmp(const slp_av *a, const slp_av *b) {
  if (a->kind != SLP_AV_N) return slp_str_cmp(a->text, b->text);
  slp_n38 x = number_of(a), y = number_of(b);
  return slp_n38_cmp(&x, &y);
}

int slp_av_equal(const slp_av *a, const slp_av *b) {
  if (a->kind != b->kind) return 0;
  switch (a->kind) {
    case SLP_AV_S:
    case SLP_AV_B:
    /* equal numbers have equal texts, because numbers are stored in one form only */
    case SLP_AV_N: return slp_str_eq(a->text, b->text);
    case SLP_AV_BOOL: return a->on == b->on;
    case SLP_AV_NULL: return 1;
    default: break;
  }
  if (a->count != b->count) return 0;
  const slp_av *y = b->first; /* the elements of maps and sets are sorted, so they are compared in order */
  for (const slp_av *x = a->first; x; x = x->next, y = y->next) {
    if (a->kind == SLP_AV_M && !slp_str_eq(x->name, y->name)) return 0;
    if (!slp_av_equal(x, y)) return 0;
  }
  return 1;
}

/* ---- size ------------------------------------------------------------------------------------------- */
size_t slp_av_size(const slp_av *v) {
  size_t n = 0;
  switch (v->kind) {
    case SLP_AV_S:
    case SLP_AV_B: return v->text.n;
    case SLP_AV_N: {
      slp_n38 number = number_of(v);
      return slp_n38_size(&number);
    }
    case SLP_AV_BOOL:
    case SLP_AV_NULL: return 1;
    case SLP_AV_L:
    case SLP_AV_M:
      n = OVERHEAD + v->count;
      for (const slp_av *m = v->first; m; m = m->next) n += slp_av_named_size(m);
      return n;
    default:
      for (const slp_av *m = v->first; m; m = m->next) n += slp_av_size(m);
      return n;
  }
}

size_t slp_item_size(const slp_av *item) {
  size_t n = 0;
  for (const slp_av *m = item->first; m; m = m->next) n += slp_av_named_size(m);
  return n;
}

/* ---- creating and changing --------------------------------------------------------------------------- */
slp_av *slp_av_new(slp_arena *a, slp_av_kind kind) {
  slp_av *v = SLP_ARENA_NEW(a, slp_av);
  if (v) v->kind = kind;
  return v;
}

slp_av *slp_av_number(slp_arena *a, const slp_n38 *n) {
  char text[SLP_N38_TEXT_MAX];
  slp_av *v = slp_av_new(a, SLP_AV_N);
  if (!v) return NULL;
  v->text = slp_arena_copy(a, (slp_str){text, slp_n38_text(n, text)});
  return v->text.p ? v : NULL;
}

slp_av *slp_av_shallow(slp_arena *a, const slp_av *v) {
  slp_av *copy = slp_av_new(a, v->kind);
  if (!copy) return NULL;
  *copy = *v;
  copy->next = NULL;
  return copy;
}

slp_av *slp_av_copy(slp_arena *a, const slp_av *v) {
  slp_av *copy = slp_av_shallow(a, v);
  if (!copy) return NULL;
  if (v->name.p) copy->name = slp_arena_copy(a, v->name);
  if (v->text.p) copy->text = slp_arena_copy(a, v->text);
  if ((v->name.p && !copy->name.p) || (v->text.p && !copy->text.p)) return NULL;
  slp_av **to = &copy->first;
  *to = NULL;
  for (const slp_av *m = v->first; m; m = m->next) {
    *to = slp_av_copy(a, m);
    if (!*to) return NULL;
    to = &(*to)->next;
  }
  return copy;
}

void slp_av_set_member(slp_av *map, slp_av *member) {
  slp_av **at = &map->first;
  while (*at && slp_str_cmp((*at)->name, member->name) < 0) at = &(*at)->next;
  if (*at && slp_str_eq((*at)->name, member->name)) {
    member->next = (*at)->next;
  } else {
    member->next = *at;
    map->count++;
  }
  *at = member;
}

void slp_av_remove_member(slp_av *map, slp_str name) {
  for (slp_av **at = &map->first; *at; at = &(*at)->next) {
    if (!slp_str_eq((*at)->name, name)) continue;
    *at = (*at)->next;
    map->count--;
    return;
  }
}

/* Compares for sorting: members of maps by name, elements of sets by value. The sort below is a merge
 * sort. */
static int in_order(const slp_av *a, const slp_av *b, int by_name) {
  return by_name ? slp_str_cmp(a->name, b->name) : slp_av_cmp(a, b);
}

static slp_av *merge_sorted_members(slp_av *a, slp_av *b, int by_name) {
  slp_av head = {.next = NULL}, *last = &head;
  while (a && b) {
    slp_av **from = in_order(a, b, by_name) <= 0 ? &a : &b;
    last->next = *from;
    last = *from;
    *from = (*from)->next;
  }
  last->next = a ? a : b;
  return head.next;
}

static slp_av *sort_member_list(slp_av *first, uint32_t n, int by_name) {
  if (n < 2) return first;
  slp_av *middle = first;
  for (uint32_t i = 1; i < n / 2; i++) middle = middle->next;
  slp_av *second = middle->next;
  middle->next = NULL;
  return merge_sorted_members(sort_member_list(first, n / 2, by_name),
                              sort_member_list(second, n - n / 2, by_name), by_name);
}

static int sort_and_check_unique(slp_av *v, int by_name) {
  int unique = 1;
  v->first = sort_member_list(v->first, v->count, by_name);
  for (slp_av *m = v->first; m && m->next; m = m->next) unique &= in_order(m, m->next, by_name) != 0;
  return unique;
}

int slp_av_sort_set(slp_av *set) { return sort_and_check_unique(set, 0); }
int slp_av_sort_map(slp_av *map) { return sort_and_check_unique(map, 1); }

/* ---- JSON ---------------------------------------------------------------------------------------------- */
static void put_value(slp_jw *w, const slp_av *v);

static void put_list(slp_jw *w, const char *name, const slp_av *v) {
  slp_jw_array(w, name);
  for (const slp_av *m = v->first; m; m = m->next) {
    if (v->kind == SLP_AV_L)
      put_value(w, m);
    else if (m->kind == SLP_AV_B)
      slp_jw_base64(w, NULL, m->text);
    else
      slp_jw_str(w, NULL, m->text);
  }
  slp_jw_array_end(w);
}

static void put_map(slp_jw *w, const char *name, const slp_av *v) {
  slp_jw_object(w, name);
  for (const slp_av *m = v->first; m; m = m->next) {
    slp_jw_key(w, m->name);
    put_value(w, m);
  }
  slp_jw_object_end(w);
}

static void put_value(slp_jw *w, const slp_av *v) {
  const char *kind = slp_av_kind_name(v->kind);
  slp_jw_object(w, NULL);
  switch (v->kind) {
    case SLP_AV_S:
    case SLP_AV_N: slp_jw_str(w, kind, v->text); break;
    case SLP_AV_B: slp_jw_base64(w, kind, v->text); break;
    case SLP_AV_BOOL: slp_jw_bool(w, kind, v->on); break;
    case SLP_AV_NULL: slp_jw_bool(w, kind, 1); break;
    case SLP_AV_M: put_map(w, kind, v); break;
    default: put_list(w, kind, v); break;
  }
  slp_jw_object_end(w);
}

int slp_item_put_json(slp_buf *b, const slp_av *item) {
  put_map(&(slp_jw){.b = b}, NULL, item);
  return slp_buf_failed(b);
}
