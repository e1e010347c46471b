/* protobuf_schema.c - reads a descriptor set in two passes. The first pass stores the names of all messages
 * and enums. The second pass reads their fields and symbols. Two passes are needed, because a field may have
 * a type that comes later in the set. */
#include "cli/protobuf_schema.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/protobuf_known.h"
#include "cli/protobuf_wire.h"
#include "codec/json_write.h"

#include <stdio.h>
#include <stdlib.h>

enum { NESTING_MAX = 64 };

/* Field numbers in the messages of descriptor.proto, and numbers of its enums. */
enum { SET_FILE = 1 };
enum { FILE_PACKAGE = 2, FILE_MESSAGE = 4, FILE_ENUM = 5, FILE_EXTENSION = 7, FILE_OPTIONS = 8 };
enum { FILE_SYNTAX = 12, FILE_EDITION = 14, FILE_FEATURES = 50 };
enum { NAME = 1 }; /* field number of the name, in descriptors of a message, field, enum or symbol */
enum { MESSAGE_FIELD = 2, MESSAGE_NESTED = 3, MESSAGE_ENUM = 4, MESSAGE_EXTENSION = 6, MESSAGE_OPTIONS = 7 };
enum { MESSAGE_ONEOF = 8, MESSAGE_IS_SET = 1, MESSAGE_IS_ENTRY = 7, MESSAGE_FEATURES = 12 };
enum { FIELD_EXTENDEE = 2, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5, FIELD_TYPE_NAME = 6 };
enum { FIELD_OPTIONS = 8, FIELD_ONEOF = 9, FIELD_JSON_NAME = 10, FIELD_FEATURES = 21, REPEATED = 3 };
enum { ENUM_VALUE = 2, ENUM_OPTIONS = 3, ENUM_FEATURES = 7, SYMBOL_NUMBER = 2 };
enum { EDITION_PROTO2 = 998, EDITION_PROTO3 = 999, EDITION_2023 = 1000, EDITION_2024 = 1001 };

/* Features are protobuf's settings that control how bytes are decoded. These are the features that matter
 * here. The first enum has their field numbers in FeatureSet; the second has the values that matter. */
enum { PRESENCE = 1, ENUM_TYPE = 2, UTF8 = 4, ENCODING = 5, FEATURES_N = 6 };
enum { IMPLICIT = 2, CLOSED = 2, VERIFY = 2, DELIMITED = 2 };
typedef struct features {
  uint8_t of[FEATURES_N];
} features;

typedef struct slp_pb_name { /* a value of the map slp_pb_schema.names; its key is `text` */
  slp_str text;              /* owned */
  uint32_t at;               /* index in `messages` or `enums` */
  uint8_t is_enum;
} slp_pb_name;

typedef struct place { /* a message, an enum or an extension in the descriptor set that is being read */
  /* text: the descriptor. scope: only for an extension: the full name of the message or package around it */
  slp_str text, scope;
  /* the features that apply to this descriptor: from the file's edition, and from the options around it */
  features in;
  /* index of the next extension of the same message, for an extension; SLP_PB_NONE: this is the last one */
  uint32_t next;
} place;

typedef struct places {
  place *all;
  size_t n, cap;
} places;

typedef struct reading {
  slp_pb_schema *s;
  places messages, enums, extensions;
  uint32_t *first_extension; /* owned; for each message: index of its first extension */
  uint32_t file;             /* number in the set of the file that is being read */
  char *why;
} reading;

static int refuse_descriptor_set(reading *r, const char *what, slp_str name) {
  snprintf(r->why, SLP_PB_WHY, "%s%s%.*s", what, name.n ? " " : "", (int)slp_min_u64(name.n, 40),
           name.n ? name.p : "");
  return SLP_EBADDATA;
}

static int refuse_damaged_set(reading *r) {
  return refuse_descriptor_set(r, "the descriptor set is damaged", SLP_STR(""));
}

/* ---- fields of descriptors ---- */

/* An iterator over the fields of a descriptor; `t` is the present field. */
typedef struct walk {
  slp_str in;
  size_t at;
  slp_pb_token t;
} walk;

/* Goes to the next field. Returns 1 if there is a field, 0 at the end, or SLP_EBADDATA. */
static int next_field(walk *w) {
  if (w->at == w->in.n) return 0;
  if (slp_pb_field_at(w->in, w->at, w->in.n, &w->t)) return SLP_EBADDATA;
  w->at = w->t.next;
  return 1;
}

static int is_text(const walk *w, uint32_t number) {
  return w->t.number == number && w->t.wire == SLP_PB_BYTES;
}
static int is_number(const walk *w, uint32_t number) {
  return w->t.number == number && w->t.wire == SLP_PB_VARINT;
}
static slp_str text_of(const walk *w) { return (slp_str){w->in.p + w->t.value, w->t.end - w->t.value}; }
static uint64_t number_of(const walk *w) {
  uint64_t v = 0;
  size_t at = w->t.value;
  (void)slp_pb_varint(w->in, &at, w->t.end, &v); /* can't fail: next_field() has read it */
  return v;
}

/* Returns the text of the last field with this number; p is NULL if there is no such field. */
static slp_str find_text(slp_str in, uint32_t number) {
  slp_str found = {NULL, 0};
  walk w = {.in = in};
  while (next_field(&w) == 1)
    if (is_text(&w, number)) found = text_of(&w);
  return found;
}

/* Returns the value of the last field with this number, or `other` if there is no such field. */
static uint64_t find_number(slp_str in, uint32_t number, uint64_t other) {
  walk w = {.in = in};
  while (next_field(&w) == 1)
    if (is_number(&w, number)) other = number_of(&w);
  return other;
}

/* Returns 1 if `in` is a sequence of complete fields, with nothing damaged after them. */
static int is_whole(slp_str in) {
  walk w = {.in = in};
  int more;
  do more = next_field(&w);
  while (more == 1);
  return more == 0;
}

/* Sets those features in *f that `options` set explicitly. `number` is the field number of the features in
 * this kind of options. */
static void take_features(features *f, slp_str options, uint32_t number) {
  slp_str set = find_text(options, number);
  for (uint32_t i = 1; set.n && i < FEATURES_N; i++) {
    uint64_t v = find_number(set, i, 0);
    if (v && v <= UINT8_MAX) f->of[i] = (uint8_t)v;
  }
}

/* ---- names ---- */

static int full_name(const reading *r, slp_str scope, slp_str name, slp_str *ret) {
  slp_buf b;
  slp_buf_init(&b, r->s->mem, UINT32_MAX);
  slp_buf_add_str(&b, scope);
  if (scope.n) slp_buf_add_char(&b, '.');
  slp_buf_add_str(&b, name);
  *ret = slp_buf_str(&b);
  return slp_buf_failed(&b);
}

static void free_name(const reading *r, slp_str name) { slp_free(r->s->mem, (char *)(uintptr_t)name.p); }

/* Stores the full name of a message or enum in the map of names. *ret points to the name, which the map
 * owns. */
static int add_name(reading *r, slp_str scope, slp_str text, uint32_t at, int is_enum, slp_str *ret) {
  slp_str name = find_text(text, NAME);
  if (!name.n) return refuse_descriptor_set(r, "a type of the descriptor set has no name", SLP_STR(""));
  slp_pb_name *of = SLP_NEW(r->s->mem, slp_pb_name);
  if (!of) return SLP_ENOMEM;
  of->at = at;
  of->is_enum = (uint8_t)is_enum;
  int bad = full_name(r, scope, name, &of->text);
  if (!bad && slp_map_get(&r->s->names, of->text))
    bad = refuse_descriptor_set(r, "the descriptor set defines twice:", name);
  if (!bad) bad = slp_map_put(&r->s->names, of->text, of);
  if (!bad) return *ret = of->text, 0;
  if (of->text.n) free_name(r, of->text);
  slp_free(r->s->mem, of);
  return bad;
}

static const slp_pb_name *find_name(const reading *r, slp_str name) {
  if (name.n && name.p[0] == '.') name = (slp_str){name.p + 1, name.n - 1};
  return slp_map_get(&r->s->names, name);
}

static int add_place(reading *r, places *to, place p) {
  if (to->n == to->cap) {
    place *more = slp_doubled(r->s->mem, to->all, &to->cap, 16, sizeof *more);
    if (!more) return SLP_ENOMEM;
    to->all = more;
  }
  to->all[to->n++] = p;
  return 0;
}

/* Makes room for one more element of an array, and sets that element to zero. */
static int grow_schema_array(slp_mem *mem, void *table, size_t n, size_t *cap, size_t each) {
  void **at = table;
  if (n == *cap) {
    void *more = slp_doubled(mem, *at, cap, 16, each);
    if (!more) return SLP_ENOMEM;
    *at = more;
  }
  memset((char *)*at + n * each, 0, each);
  return 0;
}

static int enter_enum(reading *r, slp_str text, slp_str scope, features in) {
  slp_pb_schema *s = r->s;
  slp_str name = {NULL, 0};
  int bad = grow_schema_array(s->mem, &s->enums, s->enums_n, &s->enums_cap, sizeof *s->enums);
  if (!bad) bad = add_name(r, scope, text, (uint32_t)s->enums_n, 1, &name);
  if (bad) return bad;
  take_features(&in, find_text(text, ENUM_OPTIONS), ENUM_FEATURES);
  s->enums[s->enums_n].closed = in.of[ENUM_TYPE] == CLOSED;
  s->enums[s->enums_n++].is_null = slp_str_is(name, "google.protobuf.NullValue");
  return add_place(r, &r->enums, (place){.text = text, .in = in});
}

/* Stores the names of a message and of everything nested in it. Recursive, to a depth of NESTING_MAX. */
static int enter_message(reading *r, slp_str text, slp_str scope, features in, int depth) {
  slp_pb_schema *s = r->s;
  slp_str options = find_text(text, MESSAGE_OPTIONS), name = {NULL, 0};
  if (depth == NESTING_MAX)
    return refuse_descriptor_set(r, "the messages of the set are nested too deep", SLP_STR(""));
  int bad = grow_schema_array(s->mem, &s->messages, s->messages_n, &s->messages_cap, sizeof *s->messages);
  if (!bad) bad = add_name(r, scope, text, (uint32_t)s->messages_n, 0, &name);
  if (bad) return bad;
  take_features(&in, options, MESSAGE_FEATURES);
  slp_pb_message *m = &s->messages[s->messages_n++];
  m->name = name;
  m->file = r->file;
  m->is_entry = find_number(options, MESSAGE_IS_ENTRY, 0) != 0;
  if (find_number(options, MESSAGE_IS_SET, 0)) m->known = SLP_PB_MESSAGE_SET;
  bad = add_place(r, &r->messages, (place){.text = text, .in = in});
  walk w = {.in = text};
  for (int more = 1; !bad && (more = next_field(&w)) != 0;) {
    if (more < 0) return refuse_damaged_set(r);
    if (is_text(&w, MESSAGE_NESTED)) bad = enter_message(r, text_of(&w), name, in, depth + 1);
    if (is_text(&w, MESSAGE_ENUM)) bad = enter_enum(r, text_of(&w), name, in);
    if (is_text(&w, MESSAGE_EXTENSION))
      bad = add_place(r, &r->extensions, (place){.text = text_of(&w), .scope = name, .in = in});
  }
  return bad;
}

/* Sets *f to the defaults of the file's syntax or edition. Then applies the features that the file's own
 * options set. */
static int begin_features(reading *r, slp_str file, features *f) {
  slp_str syntax = find_text(file, FILE_SYNTAX);
  uint64_t edition = find_number(file, FILE_EDITION, 0);
  if (!slp_str_is(syntax, "editions"))
    edition = slp_str_is(syntax, "proto3") ? EDITION_PROTO3 : EDITION_PROTO2;
  if (syntax.n && edition == EDITION_PROTO2 && !slp_str_is(syntax, "proto2"))
    return refuse_descriptor_set(r, "the descriptor set has a file of the syntax", syntax);
  if (edition < EDITION_PROTO2 || edition > EDITION_2024)
    return refuse_descriptor_set(r, "the descriptor set has a file of an edition that is not known",
                                 SLP_STR(""));
  *f = (features){{0}};
  if (edition == EDITION_PROTO3) f->of[PRESENCE] = IMPLICIT;
  if (edition == EDITION_PROTO2) f->of[ENUM_TYPE] = CLOSED;
  if (edition != EDITION_PROTO2) f->of[UTF8] = VERIFY;
  take_features(f, find_text(file, FILE_OPTIONS), FILE_FEATURES);
  return 0;
}

static int enter_file(reading *r, slp_str file) {
  slp_str package = find_text(file, FILE_PACKAGE);
  features in;
  int bad = begin_features(r, file, &in);
  walk w = {.in = file};
  for (int more = 1; !bad && (more = next_field(&w)) != 0;) {
    if (more < 0) return refuse_damaged_set(r);
    if (is_text(&w, FILE_MESSAGE)) bad = enter_message(r, text_of(&w), package, in, 0);
    if (is_text(&w, FILE_ENUM)) bad = enter_enum(r, text_of(&w), package, in);
    if (is_text(&w, FILE_EXTENSION))
      bad = add_place(r, &r->extensions, (place){.text = text_of(&w), .scope = package, .in = in});
  }
  r->file++;
  return bad;
}

/* ---- fields and symbols ---- */

/* Appends the name in quotes to the labels, followed by the text `behind`, which is ":" for a field. */
static int add_label(reading *r, slp_str name, const char *behind, uint32_t *ret, uint32_t *ret_n) {
  slp_buf *labels = &r->s->labels;
  size_t from = labels->n;
  if (slp_json_put_line_string(labels, name) == SLP_EBADDATA)
    return refuse_descriptor_set(r, "a name of the descriptor set is not UTF-8", SLP_STR(""));
  slp_buf_add_z(labels, behind);
  *ret = (uint32_t)from;
  *ret_n = (uint32_t)(labels->n - from);
  return slp_buf_failed(labels);
}

/* Sets the field's label from its json_name. A field without a json_name gets its name in lowerCamelCase, as
 * protoc would write it. */
static int label_field(reading *r, slp_str text, slp_pb_field *f, slp_str name) {
  slp_str json = find_text(text, FIELD_JSON_NAME);
  slp_buf camel;
  if (json.p) return add_label(r, json, ":", &f->label, &f->label_n);
  slp_buf_init(&camel, r->s->mem, UINT32_MAX);
  for (size_t i = 0, up = 0; i < name.n; i++) {
    char c = name.p[i];
    if (c != '_') slp_buf_add_char(&camel, up && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
    up = c == '_';
  }
  int bad = slp_buf_failed(&camel);
  if (!bad) bad = add_label(r, slp_buf_str(&camel), ":", &f->label, &f->label_n);
  slp_buf_free(&camel);
  return bad;
}

static int label_extension(reading *r, slp_pb_field *f, slp_str scope, slp_str name) {
  slp_buf b;
  slp_buf_init(&b, r->s->mem, UINT32_MAX);
  slp_buf_add_char(&b, '[');
  slp_buf_add_str(&b, scope);
  if (scope.n) slp_buf_add_char(&b, '.');
  slp_buf_add_str(&b, name);
  slp_buf_add_char(&b, ']');
  int bad = slp_buf_failed(&b);
  if (!bad) bad = add_label(r, slp_buf_str(&b), ":", &f->label, &f->label_n);
  slp_buf_free(&b);
  return bad;
}

/* If the field's kind is a message, an enum or not given, finds its type by name, and sets f->type and
 * f->kind. Returns 0 or an error. */
static int find_type(reading *r, slp_str text, slp_pb_field *f, slp_str name) {
  slp_str type_name = find_text(text, FIELD_TYPE_NAME);
  int by_name = f->kind == 0 || slp_pb_has_parts(f->kind) || f->kind == SLP_PB_ENUM;
  if (!by_name)
    return f->kind > SLP_PB_SINT64 ? refuse_descriptor_set(r, "no type is known for the field", name) : 0;
  if (!type_name.n) return refuse_descriptor_set(r, "no type is known for the field", name);
  const slp_pb_name *of = find_name(r, type_name);
  if (!of) return refuse_descriptor_set(r, "the descriptor set lacks (--include_imports)", type_name);
  if (!f->kind) f->kind = of->is_enum ? SLP_PB_ENUM : SLP_PB_MESSAGE;
  if ((f->kind == SLP_PB_ENUM) != (of->is_enum != 0))
    return refuse_descriptor_set(r, "no type is known for the field", name);
  f->type = of->at;
  return 0;
}

/* Reads a field or an extension of message m, and appends it to the table of fields. */
static int read_field(reading *r, const place *p, int is_extension, slp_pb_message *m) {
  slp_pb_schema *s = r->s;
  slp_str name = find_text(p->text, NAME);
  features in = p->in;
  slp_pb_field f = {.number = (uint32_t)find_number(p->text, FIELD_NUMBER, 0),
                    .kind = (uint8_t)slp_min_u64(find_number(p->text, FIELD_TYPE, 0), UINT8_MAX)};
  if (!is_whole(p->text)) return refuse_damaged_set(r);
  take_features(&in, find_text(p->text, FIELD_OPTIONS), FIELD_FEATURES);
  f.repeated = find_number(p->text, FIELD_LABEL, 1) == REPEATED;
  f.oneof = (uint32_t)find_number(p->text, FIELD_ONEOF, SLP_PB_NONE);
  f.utf8 = in.of[UTF8] == VERIFY;
  int bad = find_type(r, p->text, &f, name);
  if (bad) return bad;
  if (f.oneof != SLP_PB_NONE && (f.oneof >= m->oneofs_n || f.repeated || is_extension))
    return refuse_descriptor_set(r, "no oneof is known for the field", name);
  f.is_map = f.repeated && f.kind == SLP_PB_MESSAGE && s->messages[f.type].is_entry;
  if (f.kind == SLP_PB_MESSAGE && in.of[ENCODING] == DELIMITED && !f.is_map && !m->is_entry)
    f.kind = SLP_PB_GROUPED;
  f.implicit = in.of[PRESENCE] == IMPLICIT && !f.repeated && f.oneof == SLP_PB_NONE && !is_extension &&
               !slp_pb_has_parts(f.kind);
  bad = is_extension ? label_extension(r, &f, p->scope, name) : label_field(r, p->text, &f, name);
  if (!bad) bad = grow_schema_array(s->mem, &s->fields, s->fields_n, &s->fields_cap, sizeof *s->fields);
  if (bad) return bad;
  s->fields[s->fields_n++] = f;
  m->n++;
  return 0;
}

static int compare_fields(const void *a, const void *b) {
  uint32_t x = ((const slp_pb_field *)a)->number, y = ((const slp_pb_field *)b)->number;
  return (x > y) - (x < y);
}

/* Returns 1 if the kind of this field is allowed for the key of a map. */
static int is_key(const slp_pb_field *f) {
  return !f->repeated && !slp_pb_has_parts(f->kind) && f->kind != SLP_PB_DOUBLE && f->kind != SLP_PB_FLOAT &&
         f->kind != SLP_PB_BINARY && f->kind != SLP_PB_ENUM;
}

/* Sorts the fields of m, checks them, and sets m->known. */
static int check_message(reading *r, slp_pb_message *m) {
  slp_pb_field *f = m->n ? r->s->fields + m->first : NULL;
  if (f) qsort(f, m->n, sizeof *f, compare_fields);
  for (uint32_t i = 0; f && i < m->n; i++)
    if (!f[i].number || f[i].number >> 29 || (i && f[i].number == f[i - 1].number))
      return refuse_descriptor_set(r, "a field's number is wrong or there twice in", m->name);
  if (m->is_entry && (!f || m->n != 2 || f[0].number != 1 || f[1].number != 2 || !is_key(f) || f[1].repeated))
    return refuse_descriptor_set(r, "this is no entry of a map:", m->name);
  if (!m->known) m->known = (uint8_t)slp_pb_known_of(m->name, f, m->n);
  if (m->n + m->oneofs_n > r->s->slots_n) r->s->slots_n = m->n + m->oneofs_n;
  return 0;
}

static int read_message(reading *r, size_t at) {
  SLP_CHECK(at < r->messages.n && r->messages.all);
  slp_pb_message *m = &r->s->messages[at];
  place p = r->messages.all[at];
  int bad = 0;
  m->first = (uint32_t)r->s->fields_n;
  walk w = {.in = p.text}; /* next_field() can't fail on this text: enter_message() has read it to its end */
  while (next_field(&w) == 1) m->oneofs_n += (uint32_t)is_text(&w, MESSAGE_ONEOF);
  w.at = 0;
  while (!bad && next_field(&w) == 1) {
    if (!is_text(&w, MESSAGE_FIELD)) continue;
    place field = {.text = text_of(&w), .in = p.in};
    bad = read_field(r, &field, 0, m);
  }
  for (uint32_t i = r->first_extension[at]; !bad && i != SLP_PB_NONE; i = r->extensions.all[i].next)
    bad = read_field(r, &r->extensions.all[i], 1, m);
  return bad ? bad : check_message(r, m);
}

static int compare_symbols(const void *a, const void *b) {
  const slp_pb_symbol *x = a, *y = b;
  if (x->number != y->number) return x->number > y->number ? 1 : -1;
  /* symbols with the same number stay in the order of the enum's definition */
  return (x->label > y->label) - (x->label < y->label);
}

static int read_enum(reading *r, size_t at) {
  slp_pb_schema *s = r->s;
  SLP_CHECK(at < r->enums.n && r->enums.all);
  slp_pb_enum *e = &s->enums[at];
  int bad = 0;
  e->first = (uint32_t)s->symbols_n;
  walk w = {.in = r->enums.all[at].text};
  for (int more = 1; !bad && (more = next_field(&w)) != 0;) {
    if (more < 0) return refuse_damaged_set(r);
    if (!is_text(&w, ENUM_VALUE)) continue;
    slp_str name = find_text(text_of(&w), NAME);
    if (!is_whole(text_of(&w))) return refuse_damaged_set(r);
    bad = grow_schema_array(s->mem, &s->symbols, s->symbols_n, &s->symbols_cap, sizeof *s->symbols);
    if (bad) break;
    slp_pb_symbol *to = &s->symbols[s->symbols_n++];
    to->number = (int32_t)(uint32_t)find_number(text_of(&w), SYMBOL_NUMBER, 0);
    if (!e->n++) e->zero = to->number;
    bad = add_label(r, name, "", &to->label, &to->label_n);
  }
  if (!bad && e->n) qsort(s->symbols + e->first, e->n, sizeof *s->symbols, compare_symbols);
  return bad;
}

/* Puts each extension into the list of the message that it extends. */
static int sort_extensions(reading *r) {
  r->first_extension = slp_zalloc_n(r->s->mem, r->s->messages_n + 1, sizeof *r->first_extension);
  if (!r->first_extension) return SLP_ENOMEM;
  for (size_t i = 0; i < r->s->messages_n; i++) r->first_extension[i] = SLP_PB_NONE;
  for (size_t i = 0; i < r->extensions.n; i++) {
    slp_str name = find_text(r->extensions.all[i].text, FIELD_EXTENDEE);
    const slp_pb_name *of = find_name(r, name);
    if (!of || of->is_enum)
      return refuse_descriptor_set(r, "the descriptor set lacks (--include_imports)", name);
    r->extensions.all[i].next = r->first_extension[of->at];
    r->first_extension[of->at] = (uint32_t)i;
  }
  return 0;
}

/* ---- the set ---- */

typedef struct by_name {
  slp_str name;
  uint32_t at;
} by_name;

static int compare_names(const void *a, const void *b) {
  return slp_str_cmp(((const by_name *)a)->name, ((const by_name *)b)->name);
}

/* Sorts the messages in the order in which Amazon's serialiser numbers them (found by running
 * schema-registry-serde 1.1.25 of Maven). It numbers all messages of the file by full name, including nested
 * messages and entries of maps. It does not number messages of imported files. */
static int order_messages(reading *r) {
  slp_pb_schema *s = r->s;
  uint32_t file = s->named != SLP_PB_NONE ? s->messages[s->named].file : r->file - 1;
  by_name *all = slp_zalloc_n(s->mem, s->messages_n + 1, sizeof *all);
  s->ordered = slp_zalloc_n(s->mem, s->messages_n + 1, sizeof *s->ordered);
  for (uint32_t i = 0; all && s->ordered && i < s->messages_n; i++)
    if (s->messages[i].file == file) all[s->ordered_n++] = (by_name){s->messages[i].name, i};
  if (all && s->ordered_n) qsort(all, s->ordered_n, sizeof *all, compare_names);
  for (size_t i = 0; all && s->ordered && i < s->ordered_n; i++) s->ordered[i] = all[i].at;
  int bad = all && s->ordered ? 0 : SLP_ENOMEM;
  slp_free(s->mem, all);
  return bad;
}

static int read_all(reading *r, slp_str set, slp_str message) {
  slp_pb_schema *s = r->s;
  walk w = {.in = set};
  int bad = 0;
  for (int more = 1; !bad && (more = next_field(&w)) != 0;) {
    if (more < 0) return refuse_damaged_set(r);
    if (is_text(&w, SET_FILE)) bad = enter_file(r, text_of(&w));
  }
  if (!bad && !s->messages_n)
    bad = refuse_descriptor_set(r, "the descriptor set has no message", SLP_STR(""));
  if (!bad) bad = sort_extensions(r);
  for (size_t i = 0; !bad && i < s->enums_n; i++) bad = read_enum(r, i);
  for (size_t i = 0; !bad && i < s->messages_n; i++) bad = read_message(r, i);
  if (bad) return bad;
  if (message.p && !message.n) return refuse_descriptor_set(r, "no message is named behind the #", message);
  s->named = message.p ? slp_pb_message_named(s, message) : SLP_PB_NONE;
  if (message.p && s->named == SLP_PB_NONE)
    return refuse_descriptor_set(r, "the descriptor set has no message", message);
  return order_messages(r);
}

int slp_pb_schema_read(slp_pb_schema *s, slp_mem *mem, slp_str set, slp_str message, char why[SLP_PB_WHY]) {
  *s = (slp_pb_schema){.mem = mem};
  slp_buf_init(&s->labels, mem, UINT32_MAX);
  slp_map_init(&s->names, mem);
  *why = 0;
  reading r = {.s = s, .why = why};
  int bad = set.n > SLP_PB_SET_BYTES
                ? refuse_descriptor_set(&r, "the descriptor set is too large", SLP_STR(""))
                : read_all(&r, set, message);
  slp_free(mem, r.messages.all);
  slp_free(mem, r.enums.all);
  slp_free(mem, r.extensions.all);
  slp_free(mem, r.first_extension);
  if (bad) slp_pb_schema_free(s);
  return bad;
}

void slp_pb_schema_free(slp_pb_schema *s) {
  if (!s->mem) return;
  slp_pb_name *of;
  for (size_t i = 0; (of = slp_map_each(&s->names, &i));) {
    slp_map_remove(&s->names, of->text);
    slp_free(s->mem, (char *)(uintptr_t)of->text.p);
    slp_free(s->mem, of);
  }
  slp_map_free(&s->names);
  slp_free(s->mem, s->messages);
  slp_free(s->mem, s->fields);
  slp_free(s->mem, s->enums);
  slp_free(s->mem, s->symbols);
  slp_free(s->mem, s->ordered);
  slp_buf_free(&s->labels);
  *s = (slp_pb_schema){.mem = NULL};
}

const slp_pb_field *slp_pb_field_of(const slp_pb_schema *s, uint32_t message, uint32_t number) {
  const slp_pb_message *m = &s->messages[message];
  if (!m->n) return NULL;
  const slp_pb_field *f = s->fields + m->first;
  if (number - 1 < m->n && f[number - 1].number == number) return &f[number - 1];
  for (uint32_t from = 0, to = m->n; from < to;) {
    uint32_t middle = from + (to - from) / 2;
    if (f[middle].number == number) return &f[middle];
    if (f[middle].number < number)
      from = middle + 1;
    else
      to = middle;
  }
  return NULL;
}

const slp_pb_symbol *slp_pb_symbol_of(const slp_pb_schema *s, uint32_t of, int32_t number) {
  const slp_pb_enum *e = &s->enums[of];
  if (!e->n) return NULL;
  const slp_pb_symbol *all = s->symbols + e->first;
  uint32_t from = 0, to = e->n;
  while (from < to) { /* binary search for the first symbol whose number is not less than `number` */
    uint32_t middle = from + (to - from) / 2;
    if (all[middle].number < number)
      from = middle + 1;
    else
      to = middle;
  }
  return from < e->n && all[from].number == number ? &all[from] : NULL;
}

uint32_t slp_pb_message_named(const slp_pb_schema *s, slp_str name) {
  const slp_pb_name *of = slp_map_get(&s->names, name);
  return of && !of->is_enum ? of->at : SLP_PB_NONE;
}

uint8_t slp_pb_wire_of(uint8_t kind) {
  switch ((slp_pb_kind)kind) {
    case SLP_PB_DOUBLE:
    case SLP_PB_FIXED64:
    case SLP_PB_SFIXED64: return SLP_PB_FIXED_64;
    case SLP_PB_FLOAT:
    case SLP_PB_FIXED32:
    case SLP_PB_SFIXED32: return SLP_PB_FIXED_32;
    case SLP_PB_STRING:
    case SLP_PB_BINARY:
    case SLP_PB_MESSAGE: return SLP_PB_BYTES;
    case SLP_PB_GROUPED: return SLP_PB_GROUP;
    default: return SLP_PB_VARINT;
  }
}
