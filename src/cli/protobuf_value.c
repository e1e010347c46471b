/* protobuf_value.c - indexes each message, then writes it as JSON. The index is a list of runs: neighbouring
 * fields with the same number (protobuf_value.h). A stack of open messages is kept instead of recursing.
 *
 * protobuf_check.c has checked all of the bytes before, so reading them can't fail here. If it did, the
 * functions here would return the error. */
#include "cli/protobuf_value.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/protobuf_check.h"
#include "cli/protobuf_known.h"
#include "cli/protobuf_map.h"
#include "cli/protobuf_schema.h"
#include "cli/protobuf_text.h"
#include "cli/protobuf_wire.h"

#include <stdio.h>

#define SLICE_BYTES 65536u
#define SLICE_WORK 16384u
enum { CHECKED_AT_ONCE = 16384 }; /* the most fields that are checked in one slice */

static int refuse_protobuf_value(char why[SLP_PB_WHY], const char *what) {
  snprintf(why, SLP_PB_WHY, "%s", what);
  return SLP_EBADDATA;
}

static slp_pb_frame *get_top_frame(slp_pb_value *v) { return &v->open[v->depth - 1]; }
static const slp_pb_field *field_at(const slp_pb_value *v, uint32_t at) { return &v->schema->fields[at]; }

/* Reads the field at in[at...end), and adds the steps that this takes to v->work: 1 for a field, and for a
 * group also the number of its bytes, because a group is read to its end. */
static int read_field(slp_pb_value *v, size_t at, size_t end, slp_pb_token *ret, char why[SLP_PB_WHY]) {
  int r = slp_pb_field_at(v->in, at, end, ret);
  v->work += 1 + (ret->wire == SLP_PB_GROUP && !r ? ret->next - ret->from : 0);
  return r ? refuse_protobuf_value(why, "it is damaged or truncated, or has another schema") : 0;
}

static slp_str text_of(const slp_pb_value *v, const slp_pb_token *t) {
  return (slp_str){v->in.p + t->value, t->end - t->value};
}

/* ---- the index ---- */

/* Returns a cursor over the fields of the run `run`, and of the runs of the same field after it. */
static slp_pb_cursor cursor_of(const slp_pb_value *v, uint32_t run) {
  return (slp_pb_cursor){run, run == SLP_PB_NONE ? 0 : v->runs[run].from};
}

/* Reads the next field of the cursor, in this run or a later run of the same field. Returns 1 if there is
 * one, 0 at the end, or SLP_EBADDATA. */
static int next_of(slp_pb_value *v, slp_pb_cursor *c, slp_pb_token *ret, char why[SLP_PB_WHY]) {
  while (c->run != SLP_PB_NONE) {
    const slp_pb_run *run = &v->runs[c->run];
    if (c->at < run->end) {
      int r = read_field(v, c->at, run->end, ret, why);
      c->at = ret->next;
      return r ? r : 1;
    }
    *c = cursor_of(v, run->next);
  }
  return 0;
}

static int is_packed(const slp_pb_field *f, const slp_pb_token *t) {
  uint8_t wire = slp_pb_wire_of(f->kind);
  return f->repeated && t->wire == SLP_PB_BYTES && wire != SLP_PB_BYTES && wire != SLP_PB_GROUP;
}

/* Returns the field that a token belongs to; NULL: the schema does not have it. */
static const slp_pb_field *known_field(const slp_pb_value *v, uint32_t type, const slp_pb_token *t) {
  const slp_pb_field *f = slp_pb_field_of(v->schema, type, t->number);
  size_t at = t->value;
  if (!f || is_packed(f, t)) return f;
  if (t->wire != slp_pb_wire_of(f->kind)) return NULL;
  if (f->kind == SLP_PB_ENUM && slp_pb_is_unknown(v->schema, f, slp_pb_number(f, v->in, &at, t->end)))
    return NULL;
  return f;
}

static int add_run(slp_pb_value *v, slp_pb_run run, char why[SLP_PB_WHY]) {
  if (v->runs_n == SLP_PB_RUNS_MAX) return refuse_protobuf_value(why, "its fields change too often");
  if (v->runs_n == v->runs_cap) {
    slp_pb_run *more = slp_doubled(v->mem, v->runs, &v->runs_cap, 64, sizeof *more);
    if (!more) return SLP_ENOMEM;
    v->runs = more;
  }
  v->runs[v->runs_n++] = run;
  return 0;
}

/* Stores that field f, whose index is `at`, is so far the last one of its oneof, so that only f is written.
 * Returns 1 if another field of the oneof was the last one before. */
static int choose_oneof_field(slp_pb_value *v, const slp_pb_frame *frame, const slp_pb_field *f,
                              uint32_t at) {
  slp_pb_slot *oneof = &v->last[v->schema->messages[frame->type].n + f->oneof];
  int other = oneof->serial == frame->serial && v->runs[oneof->run].field != at;
  if (other) v->runs[oneof->run].dead = 1;
  if (!other && oneof->serial == frame->serial) return 0;
  /* runs_n is the index of the run that index_field is about to add */
  *oneof = (slp_pb_slot){frame->serial, (uint32_t)v->runs_n};
  return other;
}

/* Adds a field to the index of its message. The field extends the last run if that run has the same number;
 * otherwise it begins a new run. */
static int index_field(slp_pb_value *v, slp_pb_frame *frame, const slp_pb_token *t, char why[SLP_PB_WHY]) {
  const slp_pb_field *f = known_field(v, frame->type, t);
  if (!f) return 0;
  uint32_t at = (uint32_t)(f - v->schema->fields);
  slp_pb_slot *last = &v->last[at - v->schema->messages[frame->type].first];
  if (f->oneof != SLP_PB_NONE && choose_oneof_field(v, frame, f, at)) last->serial = 0;
  slp_pb_run run = {at, (uint32_t)t->from, (uint32_t)t->next, 1, SLP_PB_NONE, 1, 0};
  if (last->serial == frame->serial) {
    slp_pb_run *before = &v->runs[last->run];
    if (!f->repeated && !slp_pb_has_parts(f->kind)) { /* a single value: only the last one is written */
      before->from = run.from;
      before->end = run.end;
      return 0;
    }
    if (before->end == run.from) {
      before->end = run.end;
      before->n++;
      return 0;
    }
    before->next = (uint32_t)v->runs_n;
    run.first = 0;
  }
  *last = (slp_pb_slot){frame->serial, (uint32_t)v->runs_n};
  return add_run(v, run, why);
}

/* Returns the index of the first run of fields with this number; SLP_PB_NONE: the message has no such
 * field. */
static uint32_t run_of(const slp_pb_value *v, const slp_pb_frame *frame, uint32_t number) {
  for (size_t i = frame->runs_from; i < v->runs_n; i++)
    if (v->runs[i].first && !v->runs[i].dead && field_at(v, v->runs[i].field)->number == number)
      return (uint32_t)i;
  return SLP_PB_NONE;
}

/* Finds the first value of the field with this number. The field must not be a message. Returns 1, or 0 if
 * the message does not have the field. */
static int value_of(slp_pb_value *v, const slp_pb_frame *frame, uint32_t number, slp_pb_token *ret) {
  uint32_t run = run_of(v, frame, number);
  *ret = (slp_pb_token){0};
  return run != SLP_PB_NONE && !slp_pb_field_at(v->in, v->runs[run].from, v->runs[run].end, ret);
}

/* Returns the value of a number field; 0 if the message does not have the field. */
static uint64_t number_of(slp_pb_value *v, const slp_pb_frame *frame, uint32_t number) {
  slp_pb_token t;
  const slp_pb_field *f = slp_pb_field_of(v->schema, frame->type, number);
  return value_of(v, frame, number, &t) ? slp_pb_number(f, v->in, &t.value, t.end) : 0;
}

/* ---- messages ---- */

/* Pushes a frame for a message. Its bytes are in[at...end), followed by further parts of the same message,
 * which are the fields of the cursor `more`. */
static int open_message(slp_pb_value *v, uint32_t type, size_t at, size_t end, slp_pb_cursor more,
                        char why[SLP_PB_WHY]) {
  if (v->depth == SLP_COUNT(v->open)) return refuse_protobuf_value(why, "it is nested deeper than 100");
  if (v->schema->messages[type].known == SLP_PB_MESSAGE_SET)
    return refuse_protobuf_value(why, "it has a MessageSet");
  v->open[v->depth++] = (slp_pb_frame){.type = type,
                                       .serial = ++v->serial,
                                       .state = SLP_PB_INDEX,
                                       .runs_from = (uint32_t)v->runs_n,
                                       .run = (uint32_t)v->runs_n,
                                       .at = at,
                                       .end = end,
                                       .more = more};
  return 0;
}

static int leave_message_frame(slp_pb_value *v, slp_buf *b) {
  slp_pb_frame *f = get_top_frame(v);
  slp_free(v->mem, f->slots);
  f->slots = NULL;
  v->runs_n = f->runs_from;
  v->depth--;
  return f->closes ? slp_buf_add_char(b, '}') : 0;
}

static const slp_pb_cursor no_more = {SLP_PB_NONE, 0};

/* Appends a value of a kind other than message. */
static int put_value(slp_pb_value *v, slp_buf *b, const slp_pb_field *f, slp_pb_token *t,
                     char why[SLP_PB_WHY]) {
  if (f->kind == SLP_PB_STRING || f->kind == SLP_PB_BINARY) return slp_pb_put_text(b, f, text_of(v, t), why);
  return slp_pb_put_number(b, v->schema, f, slp_pb_number(f, v->in, &t->value, t->end), 0);
}

/* Appends the default of the field f, in place of a value that is not set. */
static int put_default(const slp_pb_value *v, slp_buf *b, const slp_pb_field *f, int quoted) {
  if (f->kind == SLP_PB_STRING || f->kind == SLP_PB_BINARY) return slp_buf_add_z(b, "\"\"");
  int64_t zero = f->kind == SLP_PB_ENUM ? v->schema->enums[f->type].zero : 0;
  return slp_pb_put_number(b, v->schema, f, (uint64_t)zero, quoted);
}

/* ---- messages with a JSON form of their own ---- */

static int put_mask(slp_pb_value *v, slp_buf *b, const slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  slp_pb_cursor c = cursor_of(v, run_of(v, frame, 1));
  slp_pb_token t;
  slp_buf paths;
  int comma = 0, r;
  size_t n = 0;
  for (uint32_t i = c.run; i != SLP_PB_NONE; i = v->runs[i].next) n += v->runs[i].end - v->runs[i].from;
  if (n > SLP_PB_AT_ONCE) return refuse_protobuf_value(why, "it has a FieldMask of more than 1048576 bytes");
  slp_buf_init(&paths, v->mem, v->in.n);
  while ((r = next_of(v, &c, &t, why)) == 1) {
    if (comma++) slp_buf_add_char(&paths, ',');
    r = slp_pb_put_path(&paths, text_of(v, &t), why);
    if (r) break;
  }
  if (!r) r = slp_pb_put_text(b, slp_pb_field_of(v->schema, frame->type, 1), slp_buf_str(&paths), why);
  slp_buf_free(&paths);
  return r;
}

static int put_wrapper(slp_pb_value *v, slp_buf *b, const slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  const slp_pb_field *f = slp_pb_field_of(v->schema, frame->type, 1);
  slp_pb_token t;
  return value_of(v, frame, 1, &t) ? put_value(v, b, f, &t, why) : put_default(v, b, f, 0);
}

/* Appends a google.protobuf.Value. If it contains a Struct or a list, pushes a frame instead, so that the
 * Struct or list is written next. */
static int put_any_value(slp_pb_value *v, slp_buf *b, const slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  enum { NULL_VALUE = 1, NUMBER_VALUE, STRING_VALUE, BOOL_VALUE, STRUCT_VALUE, LIST_VALUE };
  slp_pb_token t;
  for (uint32_t i = NUMBER_VALUE; i <= LIST_VALUE; i++) {
    uint32_t run = run_of(v, frame, i);
    if (run == SLP_PB_NONE) continue;
    const slp_pb_field *f = slp_pb_field_of(v->schema, frame->type, i);
    if (i >= STRUCT_VALUE) return open_message(v, f->type, 0, 0, cursor_of(v, run), why);
    if (i == NUMBER_VALUE && slp_pb_is_odd(number_of(v, frame, i)))
      return refuse_protobuf_value(why, "a number of a Value is NaN or infinite");
    return value_of(v, frame, i, &t) ? put_value(v, b, f, &t, why) : 0;
  }
  return slp_buf_add_z(b, "null");
}

/* Returns 1 if the message inside an Any has a JSON form of its own, which is then written under the key
 * "value". Returns 0 if its members are written next to "@type". */
static int is_under_value(slp_pb_known known) { return known != SLP_PB_ORDINARY; }

/* Begins to write an Any: appends its type, opens the message inside the Any, and begins the check of that
 * message. */
static int put_any(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  slp_pb_token url, value;
  int has_url = value_of(v, frame, 1, &url), has_value = value_of(v, frame, 2, &value), r = 0;
  if ((!has_url || url.end == url.value) && (!has_value || value.end == value.value))
    return slp_buf_add_z(b, "{}");
  slp_str text = has_url ? text_of(v, &url) : SLP_STR(""), name = text;
  for (size_t i = 0; i < text.n; i++)
    if (text.p[i] == '/') name = (slp_str){text.p + i + 1, text.n - i - 1};
  uint32_t type = slp_pb_message_named(v->schema, name);
  if (type == SLP_PB_NONE) {
    snprintf(why, SLP_PB_WHY, "an Any of the type %.*s, which the descriptor set lacks",
             (int)slp_min_u64(name.n, 30), name.p);
    return SLP_EBADDATA;
  }
  slp_buf_add_z(b, "{\"@type\":");
  r = slp_pb_put_text(b, slp_pb_field_of(v->schema, frame->type, 1), text, why);
  int under = is_under_value((slp_pb_known)v->schema->messages[type].known);
  if (under) slp_buf_add_z(b, ",\"value\":");
  frame->closes = 1;
  if (!r) r = open_message(v, type, value.value, value.end, no_more, why);
  if (r) return r;
  get_top_frame(v)->bare = (uint8_t)!under;
  get_top_frame(v)->comma = 1;
  slp_pb_check_begin(&v->check, v->schema, type, v->in, value.value, value.end);
  v->checks = 1;
  return 0;
}

/* Appends a message that has a JSON form of its own, or begins to. */
static int put_known(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  frame->state = SLP_PB_LEAVE;
  switch ((slp_pb_known)v->schema->messages[frame->type].known) {
    case SLP_PB_TIMESTAMP:
      return slp_pb_put_timestamp(b, (int64_t)number_of(v, frame, 1),
                                  (int32_t)(uint32_t)number_of(v, frame, 2), why);
    case SLP_PB_DURATION:
      return slp_pb_put_duration(b, (int64_t)number_of(v, frame, 1),
                                 (int32_t)(uint32_t)number_of(v, frame, 2), why);
    case SLP_PB_FIELD_MASK: return put_mask(v, b, frame, why);
    case SLP_PB_WRAPPER: return put_wrapper(v, b, frame, why);
    case SLP_PB_VALUE: return put_any_value(v, b, frame, why);
    case SLP_PB_ANY: return put_any(v, b, frame, why);
    case SLP_PB_STRUCT:
      if (run_of(v, frame, 1) == SLP_PB_NONE) return slp_buf_add_z(b, "{}");
      break;
    case SLP_PB_LIST_VALUE:
      if (run_of(v, frame, 1) == SLP_PB_NONE) return slp_buf_add_z(b, "[]");
      break;
    case SLP_PB_ORDINARY:
    case SLP_PB_MESSAGE_SET: break;
  }
  frame->state = SLP_PB_FIELDS;
  frame->alone = 1;
  return 0;
}

/* ---- entries of maps ---- */

/* Appends the key and the value of a map's entry. The entry must be indexed. */
static int put_entry(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  const slp_pb_field *f = v->schema->fields + v->schema->messages[frame->type].first;
  slp_pb_token t;
  int r;
  frame->state = SLP_PB_LEAVE;
  if (!value_of(v, frame, 1, &t))
    r = put_default(v, b, &f[0], 1);
  else if (f[0].kind == SLP_PB_STRING)
    r = slp_pb_put_text(b, &f[0], text_of(v, &t), why);
  else
    r = slp_pb_put_number(b, v->schema, &f[0], slp_pb_number(&f[0], v->in, &t.value, t.end), 1);
  slp_buf_add_char(b, ':');
  if (r) return r;
  if (slp_pb_has_parts(f[1].kind))
    return open_message(v, f[1].type, 0, 0, cursor_of(v, run_of(v, frame, 2)), why);
  return value_of(v, frame, 2, &t) ? put_value(v, b, &f[1], &t, why) : put_default(v, b, &f[1], 0);
}

/* State KEYS: reads the key of the next entry. After the last entry, the state becomes MAP, which begins
 * again at the first entry. */
static int put_keys(slp_pb_value *v, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  slp_pb_token t;
  int r = next_of(v, &frame->cursor, &t, why);
  if (r == 1) slp_pb_map_put(v, frame, &t);
  if (r) return r < 0 ? r : 0;
  frame->cursor = cursor_of(v, frame->run);
  frame->state = SLP_PB_MAP;
  return 0;
}

/* ---- fields ---- */

/* Appends the label of the next member, and before it a comma unless it is the first member. */
static void put_label(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame) {
  const slp_pb_field *f = field_at(v, frame->field);
  if (frame->alone) return;
  if (frame->comma) slp_buf_add_char(b, ',');
  frame->comma = 1;
  slp_buf_add(b, v->schema->labels.p + f->label, f->label_n);
}

/* Ends the field that was written, and turns to the next field of the message. */
static int next_field(slp_pb_value *v, slp_pb_frame *frame) {
  slp_free(v->mem, frame->slots);
  frame->slots = NULL;
  frame->state = SLP_PB_FIELDS;
  frame->opened = 0;
  frame->run++;
  return 0;
}

/* State MAP: opens the next entry that is to be written (protobuf_map.h). After the last entry, closes the
 * map. */
static int put_map_entry(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  slp_pb_token t;
  int r = next_of(v, &frame->cursor, &t, why);
  if (r < 0) return r;
  if (!r) {
    if (frame->opened || frame->alone) slp_buf_add_z(b, frame->opened ? "}" : "{}");
    return next_field(v, frame);
  }
  if (!slp_pb_map_counts(v, frame, &t)) return 0;
  if (frame->opened) {
    slp_buf_add_char(b, ',');
  } else {
    put_label(v, b, frame);
    slp_buf_add_char(b, '{');
    frame->opened = 1;
  }
  r = open_message(v, field_at(v, frame->field)->type, t.value, t.end, no_more, why);
  if (!r) get_top_frame(v)->alone = 1; /* an entry is written as its key and value, without braces */
  return r;
}

static void begin_element(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame) {
  if (!frame->opened) put_label(v, b, frame);
  slp_buf_add_char(b, frame->opened ? ',' : '[');
  frame->opened = 1;
}

/* Appends the next number of a packed field. */
static int put_packed(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, const slp_pb_field *f) {
  uint64_t stored = slp_pb_number(f, v->in, &frame->packed_at, frame->packed_end);
  v->work++;
  if (slp_pb_is_unknown(v->schema, f, stored)) return 0;
  begin_element(v, b, frame);
  return slp_pb_put_number(b, v->schema, f, stored, 0);
}

/* State LIST: appends or opens the next element of a repeated field. After the last element, closes the
 * list. */
static int put_element(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  const slp_pb_field *f = field_at(v, frame->field);
  slp_pb_token t;
  if (frame->packed_at < frame->packed_end) return put_packed(v, b, frame, f);
  int r = next_of(v, &frame->cursor, &t, why);
  if (r < 0) return r;
  if (!r) {
    if (frame->opened) slp_buf_add_char(b, ']');
    return next_field(v, frame);
  }
  if (is_packed(f, &t)) {
    frame->packed_at = t.value;
    frame->packed_end = t.end;
    return 0;
  }
  begin_element(v, b, frame);
  if (slp_pb_has_parts(f->kind)) return open_message(v, f->type, t.value, t.end, no_more, why);
  return put_value(v, b, f, &t, why);
}

/* Appends a field that is not repeated. If the field is a message, pushes a frame for it instead. */
static int put_single(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, const slp_pb_run *run,
                      char why[SLP_PB_WHY]) {
  const slp_pb_field *f = field_at(v, run->field);
  slp_pb_token t;
  if (slp_pb_has_parts(f->kind)) {
    put_label(v, b, frame);
    slp_pb_cursor more = cursor_of(v, frame->run++);
    return open_message(v, f->type, 0, 0, more, why);
  }
  int r = read_field(v, run->from, run->end, &t, why);
  size_t value = t.value;
  frame->run++;
  if (r) return r;
  if (f->implicit && (t.wire == SLP_PB_BYTES ? t.end == t.value : !slp_pb_number(f, v->in, &value, t.end)))
    return 0;
  put_label(v, b, frame);
  return put_value(v, b, f, &t, why);
}

/* State FIELDS: begins to write the field of the next run. Skips a run that is dead (a later field of its
 * oneof replaces it) or not the first of its field. When no run is left, ends the message. */
static int put_field(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  v->work++;
  if (frame->run == v->runs_n) {
    frame->state = SLP_PB_LEAVE;
    frame->closes = !frame->bare && !frame->alone;
    return 0;
  }
  const slp_pb_run *run = &v->runs[frame->run];
  const slp_pb_field *f = field_at(v, run->field);
  if (!run->first || run->dead) {
    frame->run++;
    return 0;
  }
  frame->field = run->field;
  if (!f->repeated) return put_single(v, b, frame, run, why);
  frame->cursor = cursor_of(v, frame->run);
  frame->packed_at = frame->packed_end = 0;
  frame->state = f->is_map ? SLP_PB_KEYS : SLP_PB_LIST;
  if (!f->is_map) return 0;
  size_t n = 0;
  for (uint32_t i = frame->run; i != SLP_PB_NONE; i = v->runs[i].next) n += v->runs[i].n;
  return slp_pb_map_begin(v, frame, n);
}

/* State INDEX: indexes the next field. When no field is left, begins to write the message. */
static int put_index(slp_pb_value *v, slp_buf *b, slp_pb_frame *frame, char why[SLP_PB_WHY]) {
  slp_pb_token t;
  if (frame->at < frame->end) {
    int r = read_field(v, frame->at, frame->end, &t, why);
    frame->at = t.next;
    return r ? r : index_field(v, frame, &t, why);
  }
  int r = next_of(v, &frame->more, &t, why);
  if (r) {
    frame->at = t.value;
    frame->end = t.end;
    return r < 0 ? r : 0;
  }
  if (frame->alone) return put_entry(v, b, frame, why);
  if (v->schema->messages[frame->type].known) return put_known(v, b, frame, why);
  frame->state = SLP_PB_FIELDS;
  return frame->bare ? 0 : slp_buf_add_char(b, '{');
}

static int advance_protobuf_value(slp_pb_value *v, slp_buf *b, char why[SLP_PB_WHY]) {
  slp_pb_frame *frame = get_top_frame(v);
  switch ((slp_pb_state)frame->state) {
    case SLP_PB_INDEX: return put_index(v, b, frame, why);
    case SLP_PB_FIELDS: return put_field(v, b, frame, why);
    case SLP_PB_LIST: return put_element(v, b, frame, why);
    case SLP_PB_KEYS: return put_keys(v, frame, why);
    case SLP_PB_MAP: return put_map_entry(v, b, frame, why);
    case SLP_PB_LEAVE: return leave_message_frame(v, b);
  }
  return 0;
}

void slp_pb_value_begin(slp_pb_value *v, slp_mem *mem, const slp_pb_schema *schema, uint32_t type,
                        slp_str in) {
  v->mem = mem;
  v->schema = schema;
  v->in = in;
  v->last = NULL;
  v->runs = NULL;
  v->runs_n = v->runs_cap = 0;
  v->serial = 0;
  v->depth = 0;
  v->open[0] = (slp_pb_frame){.type = type};
  slp_pb_check_begin(&v->check, schema, type, in, 0, in.n);
  v->checks = 1;
}

void slp_pb_value_end(slp_pb_value *v) {
  if (!v->mem) return;
  for (uint32_t i = 0; i < v->depth; i++) slp_free(v->mem, v->open[i].slots);
  slp_free(v->mem, v->last);
  slp_free(v->mem, v->runs);
  v->mem = NULL;
}

/* Opens the outermost message, which is all of v->in. */
static int open_root(slp_pb_value *v, char why[SLP_PB_WHY]) {
  v->last = slp_zalloc_n(v->mem, (size_t)v->schema->slots_n + 1, sizeof *v->last);
  return v->last ? open_message(v, v->open[0].type, 0, v->in.n, no_more, why) : SLP_ENOMEM;
}

int slp_pb_value_step(slp_pb_value *v, slp_buf *ret, char why[SLP_PB_WHY]) {
  size_t from = ret->n;
  int r = 0;
  if (v->checks) {
    r = slp_pb_check_step(&v->check, CHECKED_AT_ONCE, why);
    if (r) return r;
    v->checks = 0;
    if (!v->last) r = open_root(v, why);
    return r ? r : 1;
  }
  v->work = 0;
  for (int i = 0; !r && v->depth && !v->checks; i++) {
    r = advance_protobuf_value(v, ret, why);
    if (!r) r = slp_buf_failed(ret);
    if (v->work + (size_t)i >= SLICE_WORK || ret->n - from >= SLICE_BYTES) break;
  }
  return r ? r : v->depth > 0 || v->checks;
}
