/* protobuf_text.c - writes single values as JSON, each by the kind of its field. */
#include "cli/protobuf_text.h"

#include "base/buf.h"
#include "cli/json_number.h"
#include "cli/protobuf_schema.h"
#include "cli/protobuf_wire.h"
#include "codec/base64.h"
#include "codec/json_write.h"

#include <stdio.h>

static uint64_t decode_zigzag(uint64_t v) { return v >> 1 ^ (0 - (v & 1)); }

uint64_t slp_pb_number(const slp_pb_field *f, slp_str in, size_t *at, size_t end) {
  uint64_t v = 0;
  uint8_t wire = slp_pb_wire_of(f->kind);
  if (wire == SLP_PB_VARINT) {
    (void)slp_pb_varint(in, at, end, &v); /* can't fail: protobuf_check.c has read this number before */
  } else {
    size_t n = wire == SLP_PB_FIXED_32 ? 4 : 8;
    SLP_CHECK(end - *at >= n);
    v = slp_pb_fixed(in, *at, n);
    *at += n;
  }
  switch ((slp_pb_kind)f->kind) {
    case SLP_PB_INT32:
    case SLP_PB_ENUM:
    case SLP_PB_UINT32: return (uint32_t)v;
    case SLP_PB_SINT32: return (uint32_t)decode_zigzag((uint32_t)v);
    case SLP_PB_SINT64: return decode_zigzag(v);
    case SLP_PB_BOOL: return v != 0;
    default: return v;
  }
}

static int put_enum(slp_buf *b, const slp_pb_schema *s, const slp_pb_field *f, int32_t number) {
  if (s->enums[f->type].is_null) return slp_buf_add_z(b, "null");
  const slp_pb_symbol *symbol = slp_pb_symbol_of(s, f->type, number);
  return symbol ? slp_buf_add(b, s->labels.p + symbol->label, symbol->label_n) : slp_buf_add_i64(b, number);
}

static void put_float(slp_buf *b, uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  slp_json_put_float(b, x);
}

static void put_double(slp_buf *b, uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  slp_json_put_double(b, x);
}

/* Appends a bool or a number of at most 32 bits, without quotes. Returns 1, or 0 if the field is of another
 * kind. */
static int put_short(slp_buf *b, const slp_pb_field *f, uint64_t stored) {
  switch ((slp_pb_kind)f->kind) {
    case SLP_PB_INT32:
    case SLP_PB_SINT32:
    case SLP_PB_SFIXED32: slp_buf_add_i64(b, (int32_t)(uint32_t)stored); return 1;
    case SLP_PB_UINT32:
    case SLP_PB_FIXED32: slp_buf_add_u64(b, stored); return 1;
    case SLP_PB_BOOL: slp_buf_add_z(b, stored ? "true" : "false"); return 1;
    default: return 0;
  }
}

int slp_pb_put_number(slp_buf *b, const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored,
                      int quoted) {
  if (f->kind == SLP_PB_DOUBLE) put_double(b, stored);
  if (f->kind == SLP_PB_FLOAT) put_float(b, (uint32_t)stored);
  if (f->kind == SLP_PB_ENUM) return put_enum(b, s, f, (int32_t)(uint32_t)stored);
  if (f->kind == SLP_PB_DOUBLE || f->kind == SLP_PB_FLOAT) return slp_buf_failed(b);
  if (quoted) slp_buf_add_char(b, '"');
  if (put_short(b, f, stored)) {
    if (quoted) slp_buf_add_char(b, '"');
    return slp_buf_failed(b);
  }
  if (!quoted) slp_buf_add_char(b, '"'); /* 64-bit integers always have quotes */
  if (f->kind == SLP_PB_UINT64 || f->kind == SLP_PB_FIXED64)
    slp_buf_add_u64(b, stored);
  else
    slp_buf_add_i64(b, (int64_t)stored);
  return slp_buf_add_char(b, '"');
}

int slp_pb_put_text(slp_buf *b, const slp_pb_field *f, slp_str text, char why[SLP_PB_WHY]) {
  if (f->kind == SLP_PB_BINARY) {
    slp_buf_add_char(b, '"');
    slp_base64_encode(b, text);
    return slp_buf_add_char(b, '"');
  }
  int r = slp_json_put_line_string(b, text);
  if (r == SLP_EBADDATA)
    snprintf(why, SLP_PB_WHY, "a string is not UTF-8: it is damaged or has another schema");
  return r;
}

int slp_pb_is_unknown(const slp_pb_schema *s, const slp_pb_field *f, uint64_t stored) {
  return f->kind == SLP_PB_ENUM && s->enums[f->type].closed &&
         !slp_pb_symbol_of(s, f->type, (int32_t)(uint32_t)stored);
}

int slp_pb_is_odd(uint64_t stored) { return (stored >> 52 & 0x7ff) == 0x7ff; }
