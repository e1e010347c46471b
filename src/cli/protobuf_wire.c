/* protobuf_wire.c - reads tags, varints and lengths. */
#include "cli/protobuf_wire.h"

int slp_pb_varint(slp_str in, size_t *at, size_t end, uint64_t *ret) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (*at >= end) return SLP_EBADDATA;
    uint8_t byte = (uint8_t)in.p[(*at)++];
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    *ret = v;
    return 0;
  }
  return SLP_EBADDATA;
}

/* Reads a tag at in[*at], and moves *at to the byte after it. Sets the field's number and wire type. Returns
 * 0 or SLP_EBADDATA. */
static int read_tag(slp_str in, size_t *at, size_t end, uint32_t *ret_number, uint8_t *ret_wire) {
  uint64_t tag = 0;
  size_t from = *at;
  if (slp_pb_varint(in, at, end, &tag) || *at - from > 5 || tag > UINT32_MAX) return SLP_EBADDATA;
  *ret_number = (uint32_t)(tag >> 3);
  *ret_wire = (uint8_t)(tag & 7);
  return *ret_number && *ret_wire <= SLP_PB_FIXED_32 ? 0 : SLP_EBADDATA;
}

uint64_t slp_pb_fixed(slp_str in, size_t at, size_t bytes) {
  uint64_t v = 0;
  for (size_t i = bytes; i-- > 0;) v = v << 8 | (uint8_t)in.p[at + i];
  return v;
}

int slp_pb_head_at(slp_str in, size_t at, size_t end, slp_pb_token *ret) {
  uint64_t n = 0;
  *ret = (slp_pb_token){.from = at};
  if (read_tag(in, &at, end, &ret->number, &ret->wire)) return SLP_EBADDATA;
  ret->value = at;
  switch (ret->wire) {
    case SLP_PB_VARINT:
      if (slp_pb_varint(in, &at, end, &n)) return SLP_EBADDATA;
      n = 0;
      break;
    case SLP_PB_FIXED_64: n = 8; break;
    case SLP_PB_FIXED_32: n = 4; break;
    case SLP_PB_BYTES:
      if (slp_pb_varint(in, &at, end, &n) || n > INT32_MAX) return SLP_EBADDATA;
      ret->value = at;
      break;
    default: break;
  }
  if (n > end - at) return SLP_EBADDATA;
  ret->end = ret->next = at + (size_t)n;
  return 0;
}

/* Skips the fields of a group, including groups inside it, up to the end tag of the group. */
static int skip_group(slp_str in, size_t end, slp_pb_token *of) {
  uint32_t open[SLP_PB_DEPTH_MAX + 1];
  size_t depth = 0, at = of->value;
  slp_pb_token t;
  open[depth++] = of->number;
  while (depth) {
    if (slp_pb_head_at(in, at, end, &t)) return SLP_EBADDATA;
    at = t.next;
    if (t.wire == SLP_PB_GROUP) {
      if (depth == SLP_COUNT(open)) return SLP_EBADDATA;
      open[depth++] = t.number;
    } else if (t.wire == SLP_PB_GROUP_END) {
      if (open[--depth] != t.number) return SLP_EBADDATA;
    }
  }
  of->end = t.from;
  of->next = at;
  return 0;
}

int slp_pb_field_at(slp_str in, size_t at, size_t end, slp_pb_token *ret) {
  if (slp_pb_head_at(in, at, end, ret) || ret->wire == SLP_PB_GROUP_END) return SLP_EBADDATA;
  return ret->wire == SLP_PB_GROUP ? skip_group(in, end, ret) : 0;
}
