/* ddb_legacy.c - turns the parameters that are older than expressions (Expected, AttributeUpdates,
 * ScanFilter, KeyConditions, AttributesToGet) into the trees of expressions. */
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#define INVALID "One or more parameter values were invalid: "

static const struct comparison {
  const char *name;
  slp_x_op op;
  uint8_t least, most; /* how many values the operator takes: the least and the most */
} comparisons[] = {{"EQ", SLP_X_EQ, 1, 1},
                   {"NE", SLP_X_NE, 1, 1},
                   {"LE", SLP_X_LE, 1, 1},
                   {"LT", SLP_X_LT, 1, 1},
                   {"GE", SLP_X_GE, 1, 1},
                   {"GT", SLP_X_GT, 1, 1},
                   {"NOT_NULL", SLP_X_EXISTS, 0, 0},
                   {"NULL", SLP_X_NOT_EXISTS, 0, 0},
                   {"CONTAINS", SLP_X_CONTAINS, 1, 1},
                   {"NOT_CONTAINS", SLP_X_NOT_CONTAINS, 1, 1},
                   {"BEGINS_WITH", SLP_X_BEGINS, 1, 1},
                   {"IN", SLP_X_IN, 1, 100},
                   {"BETWEEN", SLP_X_BETWEEN, 2, 2}};

static slp_x *new_legacy_node(slp_box_call *c, slp_x_op op, slp_x *a, slp_x *b) {
  slp_x *x = SLP_ARENA_NEW(slp_call_arena(c), slp_x);
  if (!x) {
    slp_box_no_memory(c);
    return NULL;
  }
  *x = (slp_x){.op = op, .a = a, .b = b};
  return x;
}

static slp_path *path_of(slp_box_call *c, slp_str name) {
  slp_path *p = SLP_ARENA_NEW(slp_call_arena(c), slp_path);
  if (!p)
    slp_box_no_memory(c);
  else
    p->name = name;
  return p;
}

static slp_x *path_node(slp_box_call *c, slp_str name) {
  slp_x *x = new_legacy_node(c, SLP_X_PATH, NULL, NULL);
  return x && (x->path = path_of(c, name)) != NULL ? x : NULL;
}

static slp_x *value_node(slp_box_call *c, uint32_t from) {
  slp_x *x = new_legacy_node(c, SLP_X_VALUE, NULL, NULL);
  return x && (x->value = slp_av_read(c, from)) != NULL ? x : NULL;
}

/* Reads {"ComparisonOperator": "EQ", "AttributeValueList": [...]}. */
static slp_x *by_operator(slp_box_call *c, uint32_t from, slp_str attribute, slp_str name) {
  uint32_t list, n = 0;
  slp_x *first = NULL, **to = &first;
  const struct comparison *k = NULL;
  for (size_t i = 0; i < SLP_COUNT(comparisons) && !k; i++) {
    if (slp_str_is(name, comparisons[i].name)) k = &comparisons[i];
  }
  if (!k) {
    slp_refuse(
        c,
        "1 validation error detected: Value '%.*s' at 'comparisonOperator' failed to satisfy constraint: "
        "Member must satisfy enum value set",
        (int)slp_min_u64(name.n, 60), name.p);
    return NULL;
  }
  if (slp_in_list(c, from, "AttributeValueList", &list)) return NULL;
  for (uint32_t i = list ? c->in->v[list].child : 0; i; i = c->in->v[i].next, n++) {
    *to = value_node(c, i);
    if (!*to) return NULL;
    to = &(*to)->next;
  }
  const slp_value *single = slp_in_get(c, from, "Value");
  if (!list && single) {
    first = value_node(c, slp_box_tree_number(c->in, single));
    if (!first) return NULL;
    n = 1;
  }
  if (n < k->least || n > k->most) {
    slp_refuse(c, INVALID "Invalid number of argument(s) for the %s ComparisonOperator", k->name);
    return NULL;
  }
  slp_x *path = path_node(c, attribute);
  return path ? new_legacy_node(c, k->op, path, first) : NULL;
}

/* Reads the part of Expected for one attribute. */
static slp_x *read_expectation(slp_box_call *c, uint32_t from, slp_str attribute) {
  int bad = 0;
  slp_str op = slp_in_text(c, from, "ComparisonOperator", &bad);
  const slp_value *value = slp_in_get(c, from, "Value"), *exists = slp_in_get(c, from, "Exists");
  if (bad) return NULL;
  if (op.p && exists) {
    slp_refuse(c, INVALID "Exists and ComparisonOperator cannot be used together for Attribute: %.*s",
               (int)slp_min_u64(attribute.n, 100), attribute.p);
    return NULL;
  }
  if (op.p) return by_operator(c, from, attribute, op);
  int must_exist = !exists || exists->i;
  if (must_exist != (value != NULL)) {
    slp_refuse(c,
               must_exist ? INVALID "Value must be provided when Exists is %s for Attribute: %.*s"
                          : INVALID "Value cannot be used when Exists is %s for Attribute: %.*s",
               exists ? (exists->i ? "true" : "false") : "null", (int)slp_min_u64(attribute.n, 100),
               attribute.p);
    return NULL;
  }
  slp_x *path = path_node(c, attribute);
  if (!path) return NULL;
  if (!must_exist) return new_legacy_node(c, SLP_X_NOT_EXISTS, path, NULL);
  slp_x *is = value_node(c, slp_box_tree_number(c->in, value));
  return is ? new_legacy_node(c, SLP_X_EQ, path, is) : NULL;
}

/* Joins the conditions of all members of the map with AND or OR, as ConditionalOperator says. */
static int join_conditions(slp_box_call *c, uint32_t node_of, uint32_t map, int expected, slp_x **ret) {
  int bad = 0;
  slp_str how = slp_in_text(c, node_of, "ConditionalOperator", &bad);
  slp_x_op op = slp_str_is(how, "OR") ? SLP_X_OR : SLP_X_AND;
  if (bad) return -1;
  for (uint32_t i = c->in->v[map].child; i; i = c->in->v[i].next) {
    slp_str name = c->in->v[i].key, operator_name = slp_in_text(c, i, "ComparisonOperator", &bad);
    if (bad) return -1;
    if (!expected && !operator_name.p) {
      return slp_refuse(c, INVALID "ComparisonOperator must be given for attribute %.*s",
                        (int)slp_min_u64(name.n, 100), name.p);
    }
    slp_x *x = expected ? read_expectation(c, i, name) : by_operator(c, i, name, operator_name);
    if (!x) return -1;
    *ret = *ret ? new_legacy_node(c, op, *ret, x) : x;
    if (!*ret) return -1;
  }
  return 0;
}

int slp_legacy_filter(slp_box_call *c, uint32_t from, const char *member, slp_x **ret) {
  uint32_t map;
  *ret = NULL;
  if (slp_in_map(c, from, member, &map)) return -1;
  return map ? join_conditions(c, from, map, 0, ret) : 0;
}

int slp_legacy_expected(slp_box_call *c, uint32_t from, slp_x **ret) {
  uint32_t map;
  *ret = NULL;
  if (slp_in_map(c, from, "Expected", &map)) return -1;
  return map ? join_conditions(c, from, map, 1, ret) : 0;
}

int slp_legacy_updates(slp_box_call *c, uint32_t from, slp_up **ret) {
  uint32_t map;
  int bad = 0;
  slp_up **to = ret;
  *ret = NULL;
  if (slp_in_map(c, from, "AttributeUpdates", &map)) return -1;
  for (uint32_t i = map ? c->in->v[map].child : 0; i; i = c->in->v[i].next) {
    slp_str what = slp_in_text(c, i, "Action", &bad), name = c->in->v[i].key;
    const slp_value *value = slp_in_get(c, i, "Value");
    if (bad) return -1;
    slp_up *u = SLP_ARENA_NEW(slp_call_arena(c), slp_up);
    if (!u) return slp_box_no_memory(c);
    u->path = path_of(c, name);
    if (!u->path) return -1;
    if (value && !(u->value = value_node(c, slp_box_tree_number(c->in, value)))) return -1;
    if (!what.p || slp_str_is(what, "PUT"))
      u->kind = SLP_UP_SET;
    else if (slp_str_is(what, "ADD"))
      u->kind = SLP_UP_ADD;
    else if (slp_str_is(what, "DELETE"))
      u->kind = value ? SLP_UP_DELETE : SLP_UP_REMOVE;
    else
      return slp_refuse(
          c,
          "1 validation error detected: Value '%.*s' at 'action' failed to satisfy constraint: Member "
          "must satisfy enum value set: [ADD, DELETE, PUT]",
          (int)slp_min_u64(what.n, 60), what.p);
    if (u->kind != SLP_UP_REMOVE && !value) {
      return slp_refuse(c, INVALID "Only DELETE action is allowed when no attribute value is specified");
    }
    slp_av_kind kind = value ? u->value->value->kind : SLP_AV_NULL;
    if (u->kind == SLP_UP_DELETE && !slp_av_is_set(kind)) {
      return slp_refuse(c, INVALID "Action DELETE is not supported for the type %s", slp_av_kind_name(kind));
    }
    if (u->kind == SLP_UP_ADD && !slp_av_is_set(kind) && kind != SLP_AV_N && kind != SLP_AV_L) {
      return slp_refuse(c, INVALID "Action ADD is not supported for the type %s", slp_av_kind_name(kind));
    }
    *to = u;
    to = &u->next;
  }
  return 0;
}

int slp_legacy_attributes(slp_box_call *c, uint32_t from, slp_paths **ret) {
  uint32_t list;
  slp_paths **to = ret;
  *ret = NULL;
  if (slp_in_list(c, from, "AttributesToGet", &list)) return -1;
  for (uint32_t i = list ? c->in->v[list].child : 0; i; i = c->in->v[i].next) {
    if (c->in->v[i].kind != SLP_VALUE_TEXT) {
      return slp_box_fail(c, "SerializationException", "AttributesToGet holds texts only.");
    }
    for (const slp_paths *p = *ret; p; p = p->next) {
      if (slp_str_eq(p->path->name, c->in->v[i].text)) {
        return slp_refuse(c, INVALID "Duplicate value in attribute name: %.*s",
                          (int)slp_min_u64(c->in->v[i].text.n, 100), c->in->v[i].text.p);
      }
    }
    *to = SLP_ARENA_NEW(slp_call_arena(c), slp_paths);
    if (!*to) return slp_box_no_memory(c);
    (*to)->path = path_of(c, c->in->v[i].text);
    if (!(*to)->path) return -1;
    to = &(*to)->next;
  }
  return 0;
}
