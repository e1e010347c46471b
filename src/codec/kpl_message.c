/* kpl_message.c - reads one field in each call, without recursion. `level` is the message to which the field
 * belongs: the aggregate, a record or a tag. The unknown groups that are open are on a stack. */
#include "codec/kpl_message.h"

#include "base/base.h"

/* IN_: the message that a field belongs to. The other constants are the field numbers of the schema
 * (kpl_message.h). */
enum { IN_AGGREGATE, IN_RECORD, IN_TAG };
enum { AGGREGATE_KEY = 1, AGGREGATE_HASH = 2, AGGREGATE_RECORD = 3 };
enum { RECORD_KEY_INDEX = 1, RECORD_HASH_INDEX = 2, RECORD_DATA = 3, RECORD_TAG = 4 };
enum { TAG_KEY = 1 };
/* wire types of protobuf, the low three bits of a field's tag */
enum { VARINT = 0, FIXED_64 = 1, BYTES = 2, GROUP = 3, GROUP_END = 4, FIXED_32 = 5 };

void slp_kpl_message_begin(slp_kpl_message *m, const char *p, size_t at, size_t end) {
  m->p = (const uint8_t *)p;
  m->at = at;
  m->level = IN_AGGREGATE;
  m->ends[IN_AGGREGATE] = end;
  m->groups_n = 0;
}

static size_t count_bytes_left(const slp_kpl_message *m) { return m->ends[m->level] - m->at; }

/* Reads a varint. Returns 1, or 0 if the message ends inside the varint, or the varint has more than ten
 * bytes. Bits above the 64th are dropped, as protobuf's readers do. */
static int read_varint(slp_kpl_message *m, uint64_t *ret) {
  size_t end = m->ends[m->level];
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (m->at == end) return 0;
    uint8_t byte = m->p[m->at++];
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      *ret = v;
      return 1;
    }
  }
  return 0;
}

static int skip_message_bytes(slp_kpl_message *m, uint64_t n) {
  if (n > count_bytes_left(m)) return SLP_EBADDATA;
  m->at += (size_t)n;
  return SLP_KPL_NOTHING;
}

static int enter_message_level(slp_kpl_message *m, uint8_t level, size_t n) {
  m->level = level;
  m->ends[level] = m->at + n;
  if (level == IN_RECORD) m->has_key = m->has_hash = m->has_data = 0;
  if (level == IN_TAG) m->has_tag_key = 0;
  return SLP_KPL_NOTHING;
}

/* Takes the value of a field with a length: the next n bytes. */
static int take_bytes(slp_kpl_message *m, uint32_t field, size_t n) {
  if (m->level == IN_AGGREGATE && field == AGGREGATE_RECORD) return enter_message_level(m, IN_RECORD, n);
  if (m->level == IN_RECORD && field == RECORD_TAG) return enter_message_level(m, IN_TAG, n);
  if (m->level == IN_TAG && field == TAG_KEY) m->has_tag_key = 1;
  int is_data = m->level == IN_RECORD && field == RECORD_DATA;
  int is_text = m->level == IN_AGGREGATE && (field == AGGREGATE_KEY || field == AGGREGATE_HASH);
  if (is_data || is_text) {
    m->text_at = m->at;
    m->text_n = n;
  }
  if (is_data) m->has_data = 1;
  m->at += n;
  if (!is_text) return SLP_KPL_NOTHING;
  return field == AGGREGATE_KEY ? SLP_KPL_KEY : SLP_KPL_HASH;
}

static void take_number(slp_kpl_message *m, uint32_t field, uint64_t v) {
  if (m->level != IN_RECORD) return;
  if (field == RECORD_KEY_INDEX) {
    m->key_index = v;
    m->has_key = 1;
  } else if (field == RECORD_HASH_INDEX) {
    m->hash_index = v;
    m->has_hash = 1;
  }
}

/* Reads the begin or the end of a group. The schema has no groups, so everything inside one is skipped. */
static int read_group(slp_kpl_message *m, uint32_t field, int ends) {
  if (ends) return m->groups_n && m->groups[--m->groups_n] == field ? SLP_KPL_NOTHING : SLP_EBADDATA;
  if (m->groups_n == SLP_KPL_GROUPS_MAX) return SLP_EBADDATA;
  m->groups[m->groups_n++] = field;
  return SLP_KPL_NOTHING;
}

static int read_field(slp_kpl_message *m) {
  uint64_t head, v;
  if (!read_varint(m, &head) || head > UINT32_MAX || head >> 3 == 0) return SLP_EBADDATA;
  uint32_t field = (uint32_t)head >> 3;
  switch (head & 7) {
    case VARINT:
      if (!read_varint(m, &v)) return SLP_EBADDATA;
      if (!m->groups_n) take_number(m, field, v);
      return SLP_KPL_NOTHING;
    case BYTES:
      if (!read_varint(m, &v) || v > count_bytes_left(m)) return SLP_EBADDATA;
      return m->groups_n ? skip_message_bytes(m, v) : take_bytes(m, field, (size_t)v);
    case FIXED_64: return skip_message_bytes(m, 8);
    case FIXED_32: return skip_message_bytes(m, 4);
    case GROUP: return read_group(m, field, 0);
    case GROUP_END: return read_group(m, field, 1);
    default: return SLP_EBADDATA;
  }
}

static int level_done(slp_kpl_message *m) {
  if (m->groups_n) return SLP_EBADDATA;
  switch (m->level) {
    case IN_AGGREGATE: return SLP_KPL_END;
    case IN_RECORD: m->level = IN_AGGREGATE; return m->has_key && m->has_data ? SLP_KPL_RECORD : SLP_EBADDATA;
    default: m->level = IN_RECORD; return m->has_tag_key ? SLP_KPL_NOTHING : SLP_EBADDATA;
  }
}

int slp_kpl_message_next(slp_kpl_message *m) { return count_bytes_left(m) ? read_field(m) : level_done(m); }
