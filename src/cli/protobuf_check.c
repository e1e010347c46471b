/* protobuf_check.c - checks every field of a message. It keeps a stack of open messages instead of
 * recursing. */
#include "cli/protobuf_check.h"

#include "cli/protobuf_schema.h"
#include "cli/protobuf_wire.h"
#include "codec/utf8.h"

#include <stdio.h>

static int refuse_damaged_message(char why[SLP_PB_WHY]) {
  snprintf(why, SLP_PB_WHY, "it is damaged or truncated, or has another schema");
  return SLP_EBADDATA;
}

void slp_pb_check_begin(slp_pb_check *c, const slp_pb_schema *schema, uint32_t type, slp_str in, size_t at,
                        size_t end) {
  c->schema = schema;
  c->in = in;
  c->at = at;
  c->open[0] = (slp_pb_check_frame){.type = type, .from = at, .end = end};
  c->depth = 1;
}

/* Pushes the frame f, so that the check continues at the beginning of f. */
static int push_check_frame(slp_pb_check *c, slp_pb_check_frame f, char why[SLP_PB_WHY]) {
  if (!f.packed && c->depth > SLP_PB_DEPTH_MAX) {
    snprintf(why, SLP_PB_WHY, "it is nested deeper than %d", SLP_PB_DEPTH_MAX);
    return SLP_EBADDATA;
  }
  c->open[c->depth++] = f;
  c->at = f.from;
  return 0;
}

static int leave_group(slp_pb_check *c, const slp_pb_token *t, char why[SLP_PB_WHY]) {
  const slp_pb_check_frame *f = &c->open[c->depth - 1];
  if (f->group != t->number) return refuse_damaged_message(why);
  if (t->from - f->from > SLP_PB_AT_ONCE) {
    snprintf(why, SLP_PB_WHY, "it has a group of more than %u bytes", SLP_PB_AT_ONCE);
    return SLP_EBADDATA;
  }
  c->depth--;
  c->at = t->next;
  return 0;
}

/* Checks a length-delimited value of a known field. If the value's content must be checked too, pushes a
 * frame for it and returns 1. Returns 0 if the value is checked completely, or SLP_EBADDATA. */
static int check_bytes(slp_pb_check *c, const slp_pb_field *f, const slp_pb_token *t, char why[SLP_PB_WHY]) {
  size_t n = t->end - t->value;
  int wire = slp_pb_wire_of(f->kind), r = 0;
  if (f->kind == SLP_PB_STRING && f->utf8 && n && slp_utf8_run(c->in.p + t->value, n, n) != n)
    return refuse_damaged_message(why);
  slp_pb_check_frame inner = {.type = f->type, .from = t->value, .end = t->end};
  if (f->kind == SLP_PB_MESSAGE) {
    r = push_check_frame(c, inner, why);
    return r ? r : 1;
  }
  if (!f->repeated || wire == SLP_PB_BYTES || wire == SLP_PB_GROUP) return 0;
  if ((wire == SLP_PB_FIXED_32 && n % 4) || (wire == SLP_PB_FIXED_64 && n % 8))
    return refuse_damaged_message(why);
  if (wire != SLP_PB_VARINT) return 0;
  inner.packed = 1;
  r = push_check_frame(c, inner, why);
  return r ? r : 1;
}

static int check_field(slp_pb_check *c, char why[SLP_PB_WHY]) {
  slp_pb_check_frame *frame = &c->open[c->depth - 1];
  slp_pb_token t;
  uint64_t v;
  if (c->at == frame->end) { /* a group ends with an end tag, so reaching the end of its bytes is damage */
    if (frame->group) return refuse_damaged_message(why);
    c->depth--;
    return 0;
  }
  if (frame->packed) return slp_pb_varint(c->in, &c->at, frame->end, &v) ? refuse_damaged_message(why) : 0;
  if (slp_pb_head_at(c->in, c->at, frame->end, &t)) return refuse_damaged_message(why);
  if (t.wire == SLP_PB_GROUP_END) return leave_group(c, &t, why);
  const slp_pb_field *f =
      frame->type == SLP_PB_NONE ? NULL : slp_pb_field_of(c->schema, frame->type, t.number);
  if (t.wire == SLP_PB_GROUP) {
    uint32_t type = f && f->kind == SLP_PB_GROUPED ? f->type : SLP_PB_NONE;
    return push_check_frame(
        c, (slp_pb_check_frame){.type = type, .group = t.number, .from = t.value, .end = frame->end}, why);
  }
  int r = f && t.wire == SLP_PB_BYTES ? check_bytes(c, f, &t, why) : 0;
  if (r) return r < 0 ? r : 0;
  c->at = t.next;
  return 0;
}

int slp_pb_check_step(slp_pb_check *c, int fields, char why[SLP_PB_WHY]) {
  int r = 0;
  while (!r && c->depth && fields-- > 0) r = check_field(c, why);
  return r ? r : c->depth > 0;
}
