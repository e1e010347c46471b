/* rows.c - checks conditions and applies changes to rows, as DynamoDB does. */
#include "store/rows.h"

#include "lease/store.h"
#include "store/number.h"

#define ROW_BYTES_MAX (400u * 1024) /* DynamoDB's limit for an item (developer guide, "Constraints") */

/* ---- comparing ----------------------------------------------------------------------------------------- */
/* Compares two values of the same kind, S, N or B. Returns -1, 0 or 1; 2 if such values have no order. */
static int compare_values(const slp_val *a, const slp_val *b) {
  slp_decimal x, y;
  if (a->kind != b->kind) return 2;
  if (a->kind == SLP_VAL_S || a->kind == SLP_VAL_B) return slp_str_cmp(a->s, b->s);
  if (a->kind != SLP_VAL_N || slp_decimal_parse(a->s, &x) || slp_decimal_parse(b->s, &y)) return 2;
  return slp_decimal_cmp(&x, &y);
}

int slp_val_equal(const slp_val *a, const slp_val *b) {
  if (a->kind != b->kind) return 0;
  switch (a->kind) {
    case SLP_VAL_NONE: return 0;
    case SLP_VAL_S:
    case SLP_VAL_B:
    case SLP_VAL_N: return compare_values(a, b) == 0;
    case SLP_VAL_OTHER: return slp_str_eq(a->s, b->s);
    case SLP_VAL_NULL: return 1;
    case SLP_VAL_BOOL: return !a->n == !b->n;
    case SLP_VAL_SS: break;
  }
  if (a->n != b->n) return 0;
  for (size_t i = 0; i < a->n; i++) { /* compares member by member, because both sets are sorted */
    if (!slp_str_eq(a->items[i], b->items[i])) return 0;
  }
  return 1;
}

static int atom_holds(const slp_row *row, const slp_atom *atom) {
  static const slp_row none = {NULL, 0};
  const slp_val *have = slp_row_get(row ? row : &none, atom->name);
  int order = compare_values(have, &atom->val);
  switch (atom->test) {
    case SLP_TEST_THERE: return have->kind != SLP_VAL_NONE;
    case SLP_TEST_ABSENT: return have->kind == SLP_VAL_NONE;
    case SLP_TEST_EQ: return slp_val_equal(have, &atom->val);
    case SLP_TEST_NE: return !slp_val_equal(have, &atom->val);
    case SLP_TEST_LT: return order == -1;
    case SLP_TEST_LE: return order == -1 || order == 0;
    case SLP_TEST_GT: return order == 1;
    case SLP_TEST_GE: return order == 1 || order == 0;
  }
  return 0;
}

int slp_rows_hold(const slp_row *row, const slp_atom *when, size_t when_n) {
  for (size_t i = 0; i < when_n; i++) {
    int group = atom_holds(row, &when[i]);
    while (when[i].or_next && i + 1 < when_n) {
      i++;
      group |= atom_holds(row, &when[i]);
    }
    if (!group) return 0;
  }
  return 1;
}

/* ---- changing ------------------------------------------------------------------------------------------ */
typedef struct making { /* the row that a write is building */
  slp_store_rows *to;
  slp_attr *attrs;
  size_t n;
  const char *why;
} making;

static slp_attr *find_attribute(making *m, slp_str name) {
  for (size_t i = 0; i < m->n; i++) {
    if (slp_str_eq(m->attrs[i].name, name)) return &m->attrs[i];
  }
  return NULL;
}

static int set_to(making *m, slp_str name, const slp_val *v) {
  /* m->attrs must have room for one more attribute */
  slp_attr *a = find_attribute(m, name);
  if (!a) {
    a = &m->attrs[m->n];
    a->name = slp_store_rows_text(m->to, name);
    if (!a->name.p) return SLP_ENOMEM;
    m->n++;
  }
  return slp_store_rows_val(m->to, v, &a->val);
}

static int add_number(making *m, const slp_change *c) {
  slp_decimal old = {0}, more, sum;
  char room[SLP_DECIMAL_TEXT_MAX];
  const slp_attr *a = find_attribute(m, c->name);
  m->why = "a sum needs two numbers";
  if (c->val.kind != SLP_VAL_N || slp_decimal_parse(c->val.s, &more)) return SLP_EINVAL;
  if (a && (a->val.kind != SLP_VAL_N || slp_decimal_parse(a->val.s, &old))) return SLP_EINVAL;
  m->why = "a sum has more than 38 digits";
  if (slp_decimal_add(&old, &more, &sum)) return SLP_EINVAL;
  return set_to(m, c->name, &(slp_val){.kind = SLP_VAL_N, .s = slp_decimal_text(&sum, room)});
}

/* Changes a set: adds the members of c for SLP_ADD_SS, removes them for SLP_DROP_SS. Both sets are sorted. */
static int change_set(making *m, const slp_change *c) {
  slp_attr *a = find_attribute(m, c->name);
  m->why = "a set is changed by a set";
  if (c->val.kind != SLP_VAL_SS || (a && a->val.kind != SLP_VAL_SS)) return SLP_EINVAL;
  slp_val old = a ? a->val : (slp_val){.kind = SLP_VAL_SS}, made = {.kind = SLP_VAL_SS};
  slp_str *items = slp_store_rows_get(m->to, (old.n + c->val.n + 1) * sizeof *items);
  if (!items) return SLP_ENOMEM;
  int add = c->kind == SLP_ADD_SS;
  for (size_t i = 0, k = 0; i < old.n || k < c->val.n;) {
    int order = i == old.n ? 1 : k == c->val.n ? -1 : slp_str_cmp(old.items[i], c->val.items[k]);
    slp_str next = order <= 0 ? old.items[i] : c->val.items[k];
    if (order < 0 || add) items[made.n++] = next;
    i += order <= 0;
    k += order >= 0;
  }
  made.items = items;
  if (made.n) return set_to(m, c->name, &made);
  if (a) *a = m->attrs[--m->n];
  return 0;
}

static int apply_change(making *m, const slp_change *c) {
  slp_attr *a;
  switch (c->kind) {
    case SLP_SET: return set_to(m, c->name, &c->val);
    case SLP_SET_IF_ABSENT: return find_attribute(m, c->name) ? 0 : set_to(m, c->name, &c->val);
    case SLP_ADD_N: return add_number(m, c);
    case SLP_ADD_SS:
    case SLP_DROP_SS: return change_set(m, c);
    case SLP_REMOVE:
      a = find_attribute(m, c->name);
      if (a) *a = m->attrs[--m->n];
      return 0;
  }
  return SLP_EINVAL;
}

static int is_key(const slp_table_spec *t, slp_str name) {
  return slp_str_is(name, t->hash_name) || (t->range_name && slp_str_is(name, t->range_name));
}

static int keep_old(making *m, const slp_row *row) {
  for (size_t i = 0; i < row->n; i++) {
    m->attrs[m->n].name = slp_store_rows_text(m->to, row->attrs[i].name);
    if (!m->attrs[m->n].name.p || slp_store_rows_val(m->to, &row->attrs[i].val, &m->attrs[m->n].val))
      return SLP_ENOMEM;
    m->n++;
  }
  return 0;
}

static int set_key(making *m, const slp_table_spec *t, const slp_row_key *key) {
  int r = set_to(m, slp_str_of(t->hash_name), &(slp_val){.kind = SLP_VAL_S, .s = key->hash});
  if (r || !t->range_name) return r;
  return set_to(m, slp_str_of(t->range_name), &(slp_val){.kind = SLP_VAL_S, .s = key->range});
}

size_t slp_row_size(const slp_row *row) {
  size_t size = 0;
  for (size_t i = 0; i < row->n; i++) {
    const slp_val *v = &row->attrs[i].val;
    size += row->attrs[i].name.n;
    size += v->kind == SLP_VAL_BOOL || v->kind == SLP_VAL_NULL ? 1 : v->s.n;
    for (size_t k = 0; v->kind == SLP_VAL_SS && k < v->n; k++) size += v->items[k].n;
  }
  return size;
}

int slp_rows_change(slp_store_rows *to, const slp_row *row, const slp_table_spec *table,
                    const slp_store_write *w, const char **ret_why) {
  making m = {.to = to, .why = ""};
  int whole = w->kind == SLP_WRITE_PUT;
  m.attrs = slp_store_rows_get(to, ((row ? row->n : 0) + w->changes_n + 2) * sizeof *m.attrs);
  if (!m.attrs) return SLP_ENOMEM;
  int r = row && !whole ? keep_old(&m, row) : 0;
  if (!r) r = set_key(&m, table, &w->key);
  for (size_t i = 0; i < w->changes_n && !r; i++) {
    m.why = "the key of a row can't be changed";
    r = is_key(table, w->changes[i].name) ? SLP_EINVAL : apply_change(&m, &w->changes[i]);
  }
  if (!r) {
    m.why = "a row is larger than 400 KB";
    r = slp_row_size(&(slp_row){m.attrs, m.n}) > ROW_BYTES_MAX ? SLP_EINVAL : 0;
  }
  *ret_why = m.why;
  return r ? r : slp_store_rows_add(to, m.attrs, m.n);
}
