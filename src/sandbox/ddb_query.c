/* ddb_query.c - Query and Scan, of tables and of their secondary indexes. */
#include "base/mem.h"
#include "base/u128.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdlib.h>

#define PAGE_BYTES (1u << 20)
#define SEGMENTS_MAX 1000000

typedef struct entry { /* an item that may be read, as the table or the index has it */
  const slp_row *row;
  const slp_item *item;
  slp_key key; /* the item's key in the index that is read */
} entry;

typedef struct reading {
  slp_box_call *c;
  slp_table *t;
  slp_index *x;
  /* full 1: attributes that a local index does not have are fetched from the items */
  int query, consistent, forward, full;
  int count_only;
  int64_t moment, limit;
  slp_words w;
  slp_paths *paths;
  slp_x *filter;
  const slp_av *hash; /* value that the hash key must have, for a Query */
  const slp_x *sort;  /* Query: the condition for the sort key; NULL: all sort keys */
  uint64_t segment, segments;
  int has_start;
  entry start; /* ExclusiveStartKey, after which the page begins; `item` is not set */
  slp_row start_row;
  entry *entries;  /* secondary index: its entries, sorted; owned */
  size_t from, to; /* indices of what is left to read, in `entries` or in the table's rows */
  slp_cost *cost;
} reading;

static uint32_t get_index_number(const reading *r) { return (uint32_t)(r->x - r->t->index); }
static int of_one_key(const reading *r) { return r->query && get_index_number(r) == 0; }

/* ---- key conditions -------------------------------------------------------------------------- */
static int take_key_condition(reading *r, const slp_x *x) {
  static const char *const names[] = {[SLP_X_NE] = "<>",
                                      [SLP_X_IN] = "IN",
                                      [SLP_X_OR] = "OR",
                                      [SLP_X_NOT] = "NOT",
                                      [SLP_X_EXISTS] = "attribute_exists",
                                      [SLP_X_NOT_EXISTS] = "attribute_not_exists",
                                      [SLP_X_TYPE] = "attribute_type",
                                      [SLP_X_CONTAINS] = "contains",
                                      [SLP_X_NOT_CONTAINS] = "NOT_CONTAINS"};
  if ((size_t)x->op < SLP_COUNT(names) && names[x->op]) {
    return slp_refuse(r->c, "Invalid operator used in KeyConditionExpression: %s", names[x->op]);
  }
  if (x->a->op != SLP_X_PATH || x->a->path->next || x->b->op != SLP_X_VALUE) {
    return slp_refuse(r->c, "Query key condition not supported");
  }
  for (uint8_t i = 0; i < r->x->parts_n; i++) {
    const slp_key_part *part = &r->x->part[i];
    if (!slp_str_is(x->a->path->name, part->name)) continue;
    if (i ? r->sort != NULL : r->hash != NULL) {
      return slp_refuse(r->c, "KeyConditionExpressions must only contain one condition per key");
    }
    if (i == 0 && x->op != SLP_X_EQ) return slp_refuse(r->c, "Query key condition not supported");
    for (const slp_x *v = x->b; v; v = v->next) {
      if (v->op == SLP_X_VALUE && v->value->kind == part->kind) continue;
      return slp_refuse(r->c,
                        "One or more parameter values were invalid: Condition parameter type does not match "
                        "schema type");
    }
    if (x->b->value->kind != SLP_AV_N && x->b->value->text.n == 0 && x->op != SLP_X_BEGINS) {
      return slp_refuse(r->c,
                        "One or more parameter values are not valid. The AttributeValue for a key attribute "
                        "cannot contain an empty string value. Key: %s",
                        part->name);
    }
    if (i)
      r->sort = x;
    else
      r->hash = x->b->value;
    return 0;
  }
  return slp_refuse(r->c, "Query condition missed key schema element: %s",
                    r->hash && r->x->parts_n > 1 ? r->x->part[1].name : r->x->part[0].name);
}

static int walk_key_conditions(reading *r, const slp_x *x) {
  if (x->op != SLP_X_AND) return take_key_condition(r, x);
  return walk_key_conditions(r, x->a) || walk_key_conditions(r, x->b) ? -1 : 0;
}

static int read_conditions(reading *r, const slp_x *x) {
  SLP_CHECK(x != NULL); /* read_filter has already refused a query without conditions */
  if (walk_key_conditions(r, x)) return -1;
  if (r->hash) return 0;
  return slp_refuse(r->c, "Query condition missed key schema element: %s", r->x->part[0].name);
}

/* Checks that the FilterExpression of a query does not contain key attributes. */
static int filter_is_apart(reading *r, const slp_x *x) {
  if (!x) return 0;
  for (uint8_t i = 0; x->op == SLP_X_PATH && i < r->x->parts_n; i++) {
    if (!slp_str_is(x->path->name, r->x->part[i].name)) continue;
    return slp_refuse(
        r->c, "Filter Expression can only contain non-primary key attributes: Primary key attribute: %s",
        r->x->part[i].name);
  }
  if (filter_is_apart(r, x->a)) return -1;
  for (const slp_x *b = x->b; b; b = b->next) {
    if (filter_is_apart(r, b)) return -1;
  }
  return 0;
}

/* ---- where the page begins ------------------------------------------------------------------- */
static const slp_av *part_of(const reading *r, const slp_av *map, const slp_index *x, uint8_t i) {
  const slp_av *v = i < x->parts_n ? slp_av_member(map, slp_str_of(x->part[i].name)) : NULL;
  (void)r;
  return v && v->kind == x->part[i].kind ? v : NULL;
}

/* Returns how many attributes ExclusiveStartKey must have: those of the index's key and of the table's
 * key. */
static uint32_t names_in(const reading *r) {
  const slp_index *own = &r->t->index[0];
  uint32_t n = r->x->parts_n;
  for (uint8_t i = 0; r->x != own && i < own->parts_n; i++) {
    int both = 0;
    for (uint8_t k = 0; k < r->x->parts_n; k++) both |= strcmp(own->part[i].name, r->x->part[k].name) == 0;
    n += !both;
  }
  return n;
}

static int key_from(const reading *r, const slp_av *map, const slp_index *x, slp_key *ret) {
  *ret = (slp_key){.hash = part_of(r, map, x, 0), .sort = part_of(r, map, x, 1)};
  if (!ret->hash || (x->parts_n > 1 && !ret->sort)) return SLP_EBADDATA;
  ret->place = slp_place_of(ret->hash);
  return 0;
}

static int read_start(reading *r) {
  uint32_t node;
  if (slp_in_map(r->c, 0, "ExclusiveStartKey", &node)) return -1;
  if (!node) return 0;
  slp_av *map = slp_ddb_item_read(r->c, node);
  if (!map) return -1;
  if (map->count != names_in(r) || key_from(r, map, r->x, &r->start.key) ||
      key_from(r, map, &r->t->index[0], &r->start_row.key)) {
    return slp_refuse(
        r->c, "The provided starting key is invalid: The provided key element does not match the schema");
  }
  int outside =
      r->query && (!slp_av_equal(r->start.key.hash, r->hash) || (r->sort && !slp_x_holds(r->sort, map)));
  if (outside) {
    return slp_refuse(
        r->c, r->sort && slp_av_equal(r->start.key.hash, r->hash)
                  ? "The provided starting key does not match the range key predicate"
                  : "The provided starting key is outside query boundaries based on provided conditions");
  }
  r->start.row = &r->start_row;
  r->has_start = 1;
  return 0;
}

/* ---- which entries are read ------------------------------------------------------------------ */
static int cmp_entries(const void *a, const void *b) {
  const entry *x = a, *y = b;
  int c = slp_row_key_cmp(&x->key, &y->key);
  return c ? c : slp_row_key_cmp(&x->row->key, &y->row->key);
}

static int collect_index_entries(reading *r) {
  r->entries = slp_zalloc_n(r->c->box->mem, r->t->rows_n + 1, sizeof *r->entries);
  if (!r->entries) return slp_box_no_memory(r->c);
  for (size_t i = 0; i < r->t->rows_n; i++) {
    entry e = {.row = r->t->rows[i], .item = slp_row_at(r->t->rows[i], r->moment)};
    if (!e.item || key_from(r, e.item->value, r->x, &e.key)) continue;
    if (r->query && !slp_av_equal(e.key.hash, r->hash)) continue;
    int c = r->has_start ? cmp_entries(&e, &r->start) : r->forward ? 1 : -1;
    if (r->forward ? c > 0 : c < 0) r->entries[r->to++] = e;
  }
  qsort(r->entries, r->to, sizeof *r->entries, cmp_entries);
  return 0;
}

static int find_range(reading *r) {
  slp_key all = {.hash = r->hash};
  if (get_index_number(r) > 0) return collect_index_entries(r);
  if (r->query) {
    all.place = slp_place_of(r->hash);
    r->from = slp_row_from(r->t, &all, 0);
    r->to = slp_row_from(r->t, &all, 1);
  } else {
    r->to = r->t->rows_n;
  }
  if (!r->has_start) return 0;
  size_t at = slp_row_from(r->t, &r->start.key, r->forward);
  if (r->forward)
    r->from = at;
  else
    r->to = at;
  return 0;
}

static int take_next_entry(reading *r, entry *ret) {
  if (r->from >= r->to) return 0;
  size_t at = r->forward ? r->from++ : --r->to;
  if (r->entries) {
    *ret = r->entries[at];
    return 1;
  }
  slp_row *row = r->t->rows[at];
  *ret = (entry){.row = row, .item = slp_row_at(row, r->moment), .key = row->key};
  return 1;
}

static int in_segment(const reading *r, const entry *e) {
  return r->segments == 0 || slp_u128_product(e->key.place, r->segments).hi == r->segment;
}

/* ---- a page ------------------------------------------------------------------------------------- */
static int put_key_parts(reading *r, slp_av *map, const slp_index *x, const slp_av *item) {
  for (uint8_t i = 0; i < x->parts_n; i++) {
    slp_av *v = slp_av_shallow(slp_call_arena(r->c), slp_av_member(item, slp_str_of(x->part[i].name)));
    if (!v) return slp_box_no_memory(r->c);
    slp_av_set_member(map, v);
  }
  return 0;
}

static int put_last_key(reading *r, const entry *last) {
  slp_av *map = slp_av_new(slp_call_arena(r->c), SLP_AV_M);
  if (!map) return slp_box_no_memory(r->c);
  if (put_key_parts(r, map, r->x, last->item->value) ||
      put_key_parts(r, map, &r->t->index[0], last->item->value))
    return -1;
  slp_out_key(&r->c->out, "LastEvaluatedKey");
  slp_out_item(r->c, map);
  return 0;
}

/* Returns the item that the filter and the projection work on, and its size. NULL: no memory. */
static const slp_av *seen(reading *r, const entry *e, size_t *ret_bytes) {
  *ret_bytes = e->item->size;
  if (get_index_number(r) == 0) return e->item->value;
  slp_av *part = slp_index_part(slp_call_arena(r->c), r->t, r->x, e->item->value);
  if (!part) return NULL;
  *ret_bytes = slp_item_size(part);
  if (!r->full) return part;
  r->cost->reads[0] += slp_cost_read(e->item->size, r->consistent);
  return e->item->value;
}

static int write_result_page(reading *r) {
  slp_box_out *o = &r->c->out;
  int64_t examined = 0, given = 0;
  size_t bytes = 0, one;
  entry e, last = {NULL};
  int more = 0;
  slp_out_map(o);
  if (!r->count_only) {
    slp_out_key(o, "Items");
    slp_out_list(o);
  }
  while (!more && take_next_entry(r, &e)) {
    if (!e.item || !in_segment(r, &e) || (r->sort && !slp_x_holds(r->sort, e.item->value))) continue;
    const slp_av *item = seen(r, &e, &one);
    if (!item) return slp_box_no_memory(r->c);
    examined++;
    bytes += one;
    last = e;
    more = examined == r->limit || bytes >= PAGE_BYTES;
    if (r->filter && !slp_x_holds(r->filter, item)) continue;
    given++;
    if (r->count_only) continue;
    if (r->paths && !(item = slp_project(slp_call_arena(r->c), r->paths, item)))
      return slp_box_no_memory(r->c);
    slp_out_item(r->c, item);
  }
  if (!r->count_only) slp_out_end(o);
  slp_out_put_i64(o, "Count", given);
  slp_out_put_i64(o, "ScannedCount", examined);
  if (more && put_last_key(r, &last)) return -1;
  r->cost->reads[get_index_number(r)] += slp_cost_read(bytes, r->consistent);
  slp_cost_take_reads(r->c, r->cost);
  if (of_one_key(r)) slp_key_take_read(r->c, r->t, &(slp_key){.hash = r->hash}, r->cost->reads[0]);
  slp_cost_put(r->c, r->cost, 0, 0);
  slp_out_end(o);
  return 0;
}

/* ---- the request -------------------------------------------------------------------------------- */
static int read_index(reading *r) {
  slp_str name = slp_box_text(r->c, "IndexName");
  r->x = name.p ? slp_index_find(r->t, name) : &r->t->index[0];
  if (!r->x) {
    return slp_refuse(r->c, "The table does not have the specified index: %.*s",
                      (int)slp_min_u64(name.n, 255), name.p);
  }
  if (r->x->creating) {
    return slp_refuse(r->c, "Cannot read from backfilling global secondary index: %s", r->x->name);
  }
  if (get_index_number(r) > 0 && !r->x->local && r->consistent) {
    return slp_refuse(r->c, "Consistent reads are not supported on global secondary indexes");
  }
  return 0;
}

static int read_select(reading *r) {
  slp_str select = slp_box_text(r->c, "Select");
  if (!select.p) select = (slp_str){"", 0};
  int all = slp_str_is(select, "ALL_ATTRIBUTES"), outside = 0;
  r->count_only = slp_str_is(select, "COUNT");
  if (select.n > 0 && !slp_str_is(select, "SPECIFIC_ATTRIBUTES") && r->paths) {
    slp_str chosen = r->count_only ? SLP_STR("only the Count") : select;
    return slp_refuse(
        r->c, "Cannot specify the %s when choosing to get %.*s",
        slp_box_text(r->c, "ProjectionExpression").p ? "ProjectionExpression" : "AttributesToGet",
        (int)slp_min_u64(chosen.n, 60), chosen.p);
  }
  if (slp_str_is(select, "SPECIFIC_ATTRIBUTES") && !r->paths) {
    return slp_refuse(r->c,
                      "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
                      "SPECIFIC_ATTRIBUTES");
  }
  if (slp_str_is(select, "ALL_PROJECTED_ATTRIBUTES") && get_index_number(r) == 0) {
    return slp_refuse(r->c, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  for (const slp_paths *p = r->paths; p; p = p->next)
    outside |= !slp_index_projects(r->t, r->x, p->path->name);
  int needs_more = outside || (all && r->x->projection != SLP_PROJECT_ALL);
  if (get_index_number(r) == 0 || !needs_more) return 0;
  r->full = r->x->local;
  if (r->x->local) return 0;
  return slp_refuse(
      r->c,
      all ? "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported "
            "for global secondary index %s because its projection type is not ALL"
          : "One or more parameter values were invalid: Global secondary index %s does not project "
            "one of the attributes asked for",
      r->x->name);
}

static int read_filter(reading *r, slp_x **key) {
  slp_str text = slp_box_text(r->c, "FilterExpression"),
          conditions_text = slp_box_text(r->c, "KeyConditionExpression");
  const char *older = r->query ? "QueryFilter" : "ScanFilter";
  *key = NULL;
  if (slp_words_read(&r->w, r->c, 0)) return -1;
  if (conditions_text.p && slp_parse_condition(&r->w, "KeyConditionExpression", conditions_text, key))
    return -1;
  if (r->query && !conditions_text.p && slp_legacy_filter(r->c, 0, "KeyConditions", key)) return -1;
  if (text.p && slp_in_get(r->c, 0, older)) {
    return slp_refuse(r->c,
                      "Can not use both expression and non-expression parameters in the same request: "
                      "Non-expression parameters: {%s} Expression parameters: {FilterExpression}",
                      older);
  }
  int bad = text.p ? slp_parse_condition(&r->w, "FilterExpression", text, &r->filter)
                   : slp_legacy_filter(r->c, 0, older, &r->filter);
  if (bad || slp_read_projection(r->c, 0, &r->w, &r->paths)) return -1;
  if (slp_words_end(&r->w)) return -1;
  if (r->query && !*key) {
    return slp_refuse(r->c,
                      "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
                      "request.");
  }
  return 0;
}

static int read_segment(reading *r) {
  const slp_value *segment = slp_in_get(r->c, 0, "Segment"), *total = slp_in_get(r->c, 0, "TotalSegments");
  if (!segment && !total) return 0;
  if (!segment || !total) {
    return slp_refuse(
        r->c, segment ? "The TotalSegments parameter is required but was not present in the request when "
                        "Segment parameter is present"
                      : "The Segment parameter is required but was not present in the request when "
                        "parameter TotalSegments is present");
  }
  if (segment->i >= total->i) {
    return slp_refuse(r->c,
                      "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
                      "Segment: %lld is not less than TotalSegments: %lld",
                      (long long)segment->i, (long long)total->i);
  }
  r->segment = (uint64_t)segment->i;
  r->segments = (uint64_t)total->i;
  return 0;
}

static int run_query_or_scan(slp_box_call *c, int query) {
  slp_x *key;
  reading r = {.c = c, .query = query, .limit = slp_box_int(c, "Limit", INT64_MAX)};
  const slp_value *order = slp_in_get(c, 0, "ScanIndexForward");
  r.forward = !query || !order || order->i;
  r.consistent = slp_in_flag(c, 0, "ConsistentRead");
  if (read_filter(&r, &key)) return -1;
  r.t = slp_table_of(c);
  if (!r.t || read_index(&r) || read_select(&r)) return -1;
  if (query && (read_conditions(&r, key) || filter_is_apart(&r, r.filter))) return -1;
  if (read_segment(&r) || read_start(&r)) return -1;
  if (slp_cost_may_read(c, r.t, get_index_number(&r)) || !slp_cost_of(c, &r.cost, r.t)) return -1;
  if (of_one_key(&r) && slp_key_may_read(c, r.t, &(slp_key){.hash = r.hash})) return -1;
  r.moment = slp_read_moment(c, r.t, r.consistent);
  int bad = find_range(&r) || write_result_page(&r);
  slp_free(c->box->mem, r.entries);
  return bad ? -1 : 0;
}

int slp_read_op_query(slp_box_call *c) { return run_query_or_scan(c, 1); }
int slp_read_op_scan(slp_box_call *c) { return run_query_or_scan(c, 0); }
