/* avro_schema.c - turns a schema in JSON into a table of types. A type gets its row before its parts are
 * read, because a record may contain itself. */
#include "cli/avro_schema.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/json_nodes.h"
#include "codec/json.h"
#include "codec/json_write.h"

#include <stdio.h>

#define NODES_MAX 100000u
#define PARTS_MAX 100000u
#define FIXED_MAX (1u << 30)
/* The highest precision of a decimal that is accepted. Digits are found by long division, so the precision
 * bounds the time. Java's largest decimals have 38 digits. */
#define PRECISION_MAX 300

typedef struct named { /* a type that has a name, as an entry of the map of names; `name` is the key */
  slp_str name;        /* owned; the full name with its namespace */
  uint32_t type;
} named;

typedef struct reading {
  slp_avro_schema *s;
  slp_json_nodes doc;
  slp_map names;
  char *why;
} reading;

static const char *const simple[] = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"};

static int refuse_avro_schema(reading *r, const char *what, slp_str name) {
  snprintf(r->why, SLP_AVRO_SCHEMA_WHY, "%s%s%.*s", what, name.n ? " " : "", (int)slp_min_u64(name.n, 30),
           name.n ? name.p : "");
  return SLP_EBADDATA;
}

static const slp_json_node *node(const reading *r, uint32_t at) { return &r->doc.all[at]; }

/* Returns the text of the object's member `name` if it is a string. Otherwise returns an empty text with p
 * NULL. */
static slp_str text_of(const reading *r, uint32_t object, const char *name) {
  uint32_t at = slp_json_member(&r->doc, object, name);
  return at != SLP_JSON_NO_NODE && node(r, at)->kind == SLP_JSON_STRING ? node(r, at)->text
                                                                        : (slp_str){NULL, 0};
}

/* Returns the object's member `name` if it is a whole number from 0 to `max`. Otherwise returns -1. */
static int64_t number_of(const reading *r, uint32_t object, const char *name, int64_t max) {
  uint32_t at = slp_json_member(&r->doc, object, name);
  if (at == SLP_JSON_NO_NODE || node(r, at)->kind != SLP_JSON_NUMBER) return -1;
  slp_str text = node(r, at)->text;
  int64_t v = 0;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] < '0' || text.p[i] > '9') return -1;
    v = v * 10 + (text.p[i] - '0');
    if (v > max) return -1;
  }
  return v;
}

static int add_type(reading *r, slp_avro_type type, uint32_t *ret) {
  slp_avro_schema *s = r->s;
  if (s->types_n == s->types_cap) {
    slp_avro_type *more = slp_doubled(s->mem, s->types, &s->types_cap, 16, sizeof *more);
    if (!more) return SLP_ENOMEM;
    s->types = more;
  }
  *ret = (uint32_t)s->types_n;
  s->types[s->types_n++] = type;
  return 0;
}

/* Reserves room for the n parts of a type, side by side. Must be called before the types of the parts are
 * read, because those types reserve room for parts too. */
static int add_parts(reading *r, uint32_t type, uint32_t n) {
  slp_avro_schema *s = r->s;
  if (n > PARTS_MAX - s->parts_n)
    return refuse_avro_schema(r, "the schema has too many parts", (slp_str){NULL, 0});
  while (s->parts_n + n > s->parts_cap) {
    slp_avro_part *more = slp_doubled(s->mem, s->parts, &s->parts_cap, 64, sizeof *more);
    if (!more) return SLP_ENOMEM;
    s->parts = more;
  }
  s->types[type].first = (uint32_t)s->parts_n;
  s->types[type].n = n;
  s->parts_n += n;
  return 0;
}

static uint32_t children_of(const reading *r, uint32_t at) {
  uint32_t n = 0;
  for (uint32_t i = node(r, at)->first; i != SLP_JSON_NO_NODE; i = node(r, i)->next) n++;
  return n;
}

/* Writes the label of a part exactly as it will be printed: "NAME": for a field, "NAME" for a symbol. */
static int set_label(reading *r, uint32_t part, slp_str name, int is_field) {
  slp_buf *labels = &r->s->labels;
  size_t from = labels->n;
  slp_json_put_line_string(labels, name);
  if (is_field) slp_buf_add_char(labels, ':');
  if (slp_buf_failed(labels)) return slp_buf_failed(labels);
  r->s->parts[part].label = (uint32_t)from;
  r->s->parts[part].label_n = (uint32_t)(labels->n - from);
  return 0;
}

/* ---- names ---- */

static slp_str namespace_in(slp_str full) {
  for (size_t n = full.n; n > 0; n--)
    if (full.p[n - 1] == '.') return (slp_str){full.p, n - 1};
  return (slp_str){"", 0};
}

/* Sets *ret to the full name: the namespace `space`, a dot and the name. A name that already has a namespace
 * is copied unchanged. The caller owns *ret. */
static int full_name(const reading *r, slp_str name, slp_str space, slp_str *ret) {
  slp_buf b;
  slp_buf_init(&b, r->s->mem, UINT32_MAX);
  if (space.n && !slp_str_has(name, '.')) {
    slp_buf_add_str(&b, space);
    slp_buf_add_char(&b, '.');
  }
  slp_buf_add_str(&b, name);
  *ret = slp_buf_str(&b);
  return slp_buf_failed(&b);
}

/* Adds a type to the map of names. Sets *ret_space to the namespace for names inside this type. */
static int add_name(reading *r, uint32_t at, uint32_t type, slp_str space, slp_str *ret_space) {
  slp_str name = text_of(r, at, "name"), own = text_of(r, at, "namespace");
  if (!name.n) return refuse_avro_schema(r, "a type of the schema has no name", (slp_str){NULL, 0});
  named *of = SLP_NEW(r->s->mem, named);
  if (!of) return SLP_ENOMEM;
  of->type = type;
  int bad = full_name(r, name, own.p ? own : space, &of->name);
  if (!bad && slp_map_get(&r->names, of->name))
    bad = refuse_avro_schema(r, "the schema defines twice:", name);
  if (!bad) bad = slp_map_put(&r->names, of->name, of);
  if (bad) {
    if (of->name.n) slp_free(r->s->mem, (char *)(uintptr_t)of->name.p);
    slp_free(r->s->mem, of);
    return bad;
  }
  *ret_space = namespace_in(of->name);
  return 0;
}

/* Finds a type by its name: one of the eight simple types, or a type that the schema has defined before. */
static int find_type(reading *r, slp_str name, slp_str space, uint32_t *ret) {
  slp_str full;
  for (uint32_t i = 0; i < SLP_COUNT(simple); i++)
    if (slp_str_is(name, simple[i])) return *ret = i, 0;
  if (!name.n) return refuse_avro_schema(r, "a type of the schema has an empty name", name);
  int bad = full_name(r, name, space, &full);
  const named *of = bad ? NULL : slp_map_get(&r->names, full);
  if (full.n) slp_free(r->s->mem, (char *)(uintptr_t)full.p);
  /* as Java's reader does, looks for the name without a namespace if the namespace has no such type */
  if (!of && !bad) of = slp_map_get(&r->names, name);
  if (bad) return bad;
  if (!of) return refuse_avro_schema(r, "the schema does not define", name);
  *ret = of->type;
  return 0;
}

/* ---- types ---- */

static int read_type(reading *r, uint32_t at, slp_str space, uint32_t *ret);

static int read_fields(reading *r, uint32_t at, slp_str space, uint32_t type) {
  uint32_t fields = slp_json_member(&r->doc, at, "fields");
  if (fields == SLP_JSON_NO_NODE || node(r, fields)->kind != SLP_JSON_ARRAY)
    return refuse_avro_schema(r, "no fields in the record", text_of(r, at, "name"));
  int bad = add_parts(r, type, children_of(r, fields));
  uint32_t part = r->s->types[type].first;
  for (uint32_t i = node(r, fields)->first; !bad && i != SLP_JSON_NO_NODE; i = node(r, i)->next, part++) {
    slp_str name = text_of(r, i, "name");
    uint32_t of = slp_json_member(&r->doc, i, "type"), inner = 0;
    if (!name.p || of == SLP_JSON_NO_NODE)
      return refuse_avro_schema(r, "a field has no name or no type in", text_of(r, at, "name"));
    bad = set_label(r, part, name, 1);
    if (!bad) bad = read_type(r, of, space, &inner);
    r->s->parts[part].type = inner;
  }
  return bad;
}

static int read_symbols(reading *r, uint32_t at, uint32_t type) {
  uint32_t symbols = slp_json_member(&r->doc, at, "symbols");
  if (symbols == SLP_JSON_NO_NODE || node(r, symbols)->kind != SLP_JSON_ARRAY)
    return refuse_avro_schema(r, "no symbols in the enum", text_of(r, at, "name"));
  int bad = add_parts(r, type, children_of(r, symbols));
  uint32_t part = r->s->types[type].first;
  for (uint32_t i = node(r, symbols)->first; !bad && i != SLP_JSON_NO_NODE; i = node(r, i)->next, part++) {
    if (node(r, i)->kind != SLP_JSON_STRING)
      return refuse_avro_schema(r, "a symbol is not a string in", text_of(r, at, "name"));
    bad = set_label(r, part, node(r, i)->text, 0);
  }
  return bad;
}

static int read_items(reading *r, uint32_t at, slp_str space, uint32_t type, const char *member) {
  uint32_t of = slp_json_member(&r->doc, at, member), inner = 0;
  if (of == SLP_JSON_NO_NODE)
    return refuse_avro_schema(r, "an array or map of the schema lacks", slp_str_of(member));
  int bad = add_parts(r, type, 1);
  if (!bad) bad = read_type(r, of, space, &inner);
  if (!bad) r->s->parts[r->s->types[type].first].type = inner;
  return bad;
}

static int read_union(reading *r, uint32_t at, slp_str space, uint32_t *ret) {
  int bad = add_type(r, (slp_avro_type){.kind = SLP_AVRO_UNION}, ret);
  if (!bad) bad = add_parts(r, *ret, children_of(r, at));
  uint32_t part = bad ? 0 : r->s->types[*ret].first, inner = 0;
  for (uint32_t i = node(r, at)->first; !bad && i != SLP_JSON_NO_NODE; i = node(r, i)->next, part++) {
    bad = read_type(r, i, space, &inner);
    if (!bad && r->s->types[inner].kind == SLP_AVRO_UNION)
      return refuse_avro_schema(r, "a union of the schema contains a union", (slp_str){NULL, 0});
    r->s->parts[part].type = inner;
  }
  return bad;
}

/* Sets `decimal` and `scale` if the logical type is decimal. An invalid decimal is ignored, as the
 * specification demands. */
static void note_decimal(reading *r, uint32_t at, slp_avro_type *type) {
  if (!slp_str_is(text_of(r, at, "logicalType"), "decimal")) return;
  int64_t precision = number_of(r, at, "precision", PRECISION_MAX);
  int64_t scale = number_of(r, at, "scale", PRECISION_MAX);
  if (slp_json_member(&r->doc, at, "scale") == SLP_JSON_NO_NODE) scale = 0;
  if (precision < 1 || scale < 0 || scale > precision) return;
  type->decimal = 1;
  type->scale = (uint16_t)scale;
}

static int read_named(reading *r, uint32_t at, slp_str space, slp_avro_type type, uint32_t *ret) {
  int64_t size = type.kind == SLP_AVRO_FIXED ? number_of(r, at, "size", FIXED_MAX) : 0;
  if (size < 0) return refuse_avro_schema(r, "no size in the fixed", text_of(r, at, "name"));
  type.n = (uint32_t)size;
  slp_str within = {"", 0};
  int bad = add_type(r, type, ret);
  if (!bad) bad = add_name(r, at, *ret, space, &within);
  if (!bad && type.kind == SLP_AVRO_RECORD) bad = read_fields(r, at, within, *ret);
  if (!bad && type.kind == SLP_AVRO_ENUM) bad = read_symbols(r, at, *ret);
  return bad;
}

/* Reads a type that is written as an object: {"type": ...}. */
static int read_object(reading *r, uint32_t at, slp_str space, uint32_t *ret) {
  uint32_t of = slp_json_member(&r->doc, at, "type");
  if (of == SLP_JSON_NO_NODE)
    return refuse_avro_schema(r, "a type of the schema has no \"type\"", (slp_str){NULL, 0});
  slp_str kind = node(r, of)->kind == SLP_JSON_STRING ? node(r, of)->text : (slp_str){NULL, 0};
  slp_avro_type type = {0};
  if (slp_str_is(kind, "record") || slp_str_is(kind, "error")) {
    type.kind = SLP_AVRO_RECORD;
    return read_named(r, at, space, type, ret);
  }
  if (slp_str_is(kind, "enum")) {
    type.kind = SLP_AVRO_ENUM;
    return read_named(r, at, space, type, ret);
  }
  if (slp_str_is(kind, "fixed")) {
    type.kind = SLP_AVRO_FIXED;
    note_decimal(r, at, &type);
    return read_named(r, at, space, type, ret);
  }
  if (slp_str_is(kind, "array") || slp_str_is(kind, "map")) {
    int is_map = slp_str_is(kind, "map");
    type.kind = is_map ? SLP_AVRO_MAP : SLP_AVRO_ARRAY;
    int bad = add_type(r, type, ret);
    return bad ? bad : read_items(r, at, space, *ret, is_map ? "values" : "items");
  }
  if (slp_str_is(kind, "bytes")) {
    type.kind = SLP_AVRO_BYTES;
    note_decimal(r, at, &type);
    if (type.decimal) return add_type(r, type, ret);
  }
  /* the value of "type" is a name or another type: {"type": "string"}, {"type": {"type": ...}} */
  return read_type(r, of, space, ret);
}

/* Reads any type and sets *ret to its index in `types`. It calls itself; the JSON reader bounds the depth. */
static int read_type(reading *r, uint32_t at, slp_str space, uint32_t *ret) {
  switch (node(r, at)->kind) {
    case SLP_JSON_STRING: return find_type(r, node(r, at)->text, space, ret);
    case SLP_JSON_ARRAY: return read_union(r, at, space, ret);
    case SLP_JSON_OBJECT: return read_object(r, at, space, ret);
    default: return refuse_avro_schema(r, "a type of the schema is not a type", (slp_str){NULL, 0});
  }
}

/* ---- the whole schema ---- */

static void free_reading(reading *r) {
  named *of;
  for (size_t i = 0; (of = slp_map_each(&r->names, &i));) {
    slp_map_remove(&r->names, of->name);
    slp_free(r->s->mem, (char *)(uintptr_t)of->name.p);
    slp_free(r->s->mem, of);
  }
  slp_map_free(&r->names);
  slp_json_nodes_free(&r->doc);
}

static int read_json(reading *r, char *text, size_t n) {
  uint32_t type;
  int bad = slp_json_nodes_read(&r->doc, text, n, NODES_MAX);
  if (bad == SLP_EBADDATA) return refuse_avro_schema(r, "the schema is not JSON", (slp_str){NULL, 0});
  if (bad == SLP_ELIMIT)
    return refuse_avro_schema(r, "the schema is too deep or has too many parts", (slp_str){NULL, 0});
  for (uint32_t i = 0; !bad && i < SLP_COUNT(simple); i++)
    bad = add_type(r, (slp_avro_type){.kind = (uint8_t)i}, &type);
  return bad ? bad : read_type(r, 0, (slp_str){"", 0}, &r->s->root);
}

int slp_avro_schema_read(slp_avro_schema *s, slp_mem *mem, slp_str json, char why[SLP_AVRO_SCHEMA_WHY]) {
  *s = (slp_avro_schema){.mem = mem};
  slp_buf_init(&s->labels, mem, 8 * SLP_AVRO_SCHEMA_BYTES);
  *why = 0;
  if (json.n > SLP_AVRO_SCHEMA_BYTES) {
    snprintf(why, SLP_AVRO_SCHEMA_WHY, "the schema is longer than %u bytes", SLP_AVRO_SCHEMA_BYTES);
    return SLP_EBADDATA;
  }
  reading r = {.s = s, .why = why};
  slp_json_nodes_init(&r.doc, mem);
  slp_map_init(&r.names, mem);
  char *text = slp_strdup(mem, json); /* copied, because the JSON reader changes the text in place */
  int bad = text ? read_json(&r, text, json.n) : SLP_ENOMEM;
  free_reading(&r);
  slp_free(mem, text);
  if (bad) slp_avro_schema_free(s);
  return bad;
}

void slp_avro_schema_free(slp_avro_schema *s) {
  if (!s->mem) return;
  slp_free(s->mem, s->types);
  slp_free(s->mem, s->parts);
  slp_buf_free(&s->labels);
  *s = (slp_avro_schema){.mem = NULL};
}
