/* protobuf_map.c - a hash table of a map's entries. A slot holds the offset of an entry in the encoded
 * message. Keys are not copied: each comparison reads the key from the message again. */
#include "cli/protobuf_map.h"

#include "base/hash.h"
#include "base/mem.h"
#include "cli/protobuf_schema.h"
#include "cli/protobuf_text.h"
#include "cli/protobuf_value.h"
#include "cli/protobuf_wire.h"

typedef struct entry_key {
  /* 1: the entry counts; 0: it is ignored as a whole, like an unknown field */
  uint8_t counts;
  uint64_t number; /* the key, if it is not a string */
  slp_str text;    /* the key, if it is a string */
} entry_key;

/* Reads the key of the entry at in[at...end). An entry that contains an unknown field is ignored as a whole,
 * as upb does. A value that is an unknown number of a closed enum counts as an unknown field. */
static entry_key read_key(slp_pb_value *v, uint32_t type, size_t at, size_t end) {
  const slp_pb_schema *s = v->schema;
  entry_key k = {.counts = 1, .text = {"", 0}};
  const slp_pb_field *of = s->fields + s->messages[type].first;
  slp_pb_token t;
  while (at < end && !slp_pb_field_at(v->in, at, end, &t)) {
    const slp_pb_field *f = t.number == 1 || t.number == 2 ? &of[t.number - 1] : NULL;
    size_t value = t.value;
    v->work += 1 + (t.wire == SLP_PB_GROUP ? t.next - t.from : 0);
    at = t.next;
    if (!f || t.wire != slp_pb_wire_of(f->kind)) {
      k.counts = 0;
    } else if (f->kind == SLP_PB_ENUM) {
      if (slp_pb_is_unknown(s, f, slp_pb_number(f, v->in, &value, t.end))) k.counts = 0;
    } else if (f == &of[0] && f->kind == SLP_PB_STRING) {
      k.text = (slp_str){v->in.p + t.value, t.end - t.value};
    } else if (f == &of[0]) {
      k.number = slp_pb_number(f, v->in, &value, t.end);
    }
  }
  return k;
}

/* Reads the key of the entry whose tag begins at in[from]. */
static entry_key key_at(slp_pb_value *v, uint32_t type, size_t from) {
  slp_pb_token t = {0};
  (void)slp_pb_field_at(v->in, from, v->in.n, &t); /* can't fail: this field was read before, in full */
  return read_key(v, type, t.value, t.end);
}

static uint32_t type_of(const slp_pb_value *v, const slp_pb_frame *f) {
  return v->schema->fields[f->field].type;
}

/* Returns the slot that holds the key. If no slot holds it, returns the free slot for it. */
static uint32_t *find_slot(slp_pb_value *v, const slp_pb_frame *f, const entry_key *k) {
  slp_str bytes = k->text.n ? k->text : (slp_str){(const char *)&k->number, sizeof k->number};
  size_t i = (size_t)slp_hash(&v->mem->hash_key, bytes) & (f->slots_n - 1);
  for (;; i = (i + 1) & (f->slots_n - 1)) {
    if (!f->slots[i]) return &f->slots[i];
    entry_key other = key_at(v, type_of(v, f), f->slots[i] - 1);
    if (other.number == k->number && slp_str_eq(other.text, k->text)) return &f->slots[i];
  }
}

int slp_pb_map_begin(slp_pb_value *v, slp_pb_frame *f, size_t n) {
  size_t slots = 4;
  while (slots / 4 * 3 < n) slots *= 2;
  f->slots = slp_zalloc_n(v->mem, slots, sizeof *f->slots);
  f->slots_n = slots;
  return f->slots ? 0 : SLP_ENOMEM;
}

void slp_pb_map_put(slp_pb_value *v, slp_pb_frame *f, const slp_pb_token *entry) {
  entry_key k = read_key(v, type_of(v, f), entry->value, entry->end);
  if (k.counts) *find_slot(v, f, &k) = (uint32_t)entry->from + 1;
}

int slp_pb_map_counts(slp_pb_value *v, const slp_pb_frame *f, const slp_pb_token *entry) {
  entry_key k = read_key(v, type_of(v, f), entry->value, entry->end);
  return k.counts && *find_slot(v, f, &k) == (uint32_t)entry->from + 1;
}
