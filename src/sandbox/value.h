/* value.h - a request's body as a small tree, and an answer's body written value by value. Both work for JSON
 * and for Kinesis' CBOR, so that operations need not know which encoding a client uses. */
#ifndef SLP_SANDBOX_VALUE_H
#define SLP_SANDBOX_VALUE_H

#include "base/buf.h"
#include "base/mem.h"
#include "codec/json_write.h"

typedef enum { SLP_WIRE_JSON, SLP_WIRE_CBOR } slp_wire;

typedef enum {
  SLP_VALUE_NULL,
  SLP_VALUE_BOOL,
  SLP_VALUE_INT,  /* the number is in `i` */
  SLP_VALUE_REAL, /* the number is in `text` (JSON) or in `f` (CBOR) */
  SLP_VALUE_TEXT,
  SLP_VALUE_BYTES,
  SLP_VALUE_LIST,
  SLP_VALUE_MAP
} slp_value_kind;

typedef struct slp_value {
  slp_value_kind kind;
  slp_str key;  /* the member's name, if the value is a member of a map */
  slp_str text; /* TEXT and BYTES: the value; INT and REAL: the number as it was written in JSON */
  int64_t i;
  double f;
  uint32_t child, next; /* indices in the tree of the first child and the next sibling; 0: none */
  uint32_t count;       /* of a list or map: the number of elements */
} slp_value;

/* A parsed body. Node 0 is the root. Texts point into the tree's own copy of the body. */
typedef struct slp_box_tree {
  slp_mem *mem;
  slp_wire wire;
  slp_buf body;
  slp_value *v; /* owned */
  uint32_t n, cap;
} slp_box_tree;

void slp_box_tree_init(slp_box_tree *t, slp_mem *mem);
void slp_box_tree_free(slp_box_tree *t);
/* Parses a body, whose root must be a map. Errors: SLP_EBADDATA, SLP_ELIMIT, SLP_ENOMEM. */
int slp_box_tree_read(slp_box_tree *t, slp_wire wire, slp_str body);
/* Returns the member with this name; if there are two, the last one. NULL: the member is absent or null. */
slp_value *slp_box_tree_get(slp_box_tree *t, uint32_t parent, const char *name);
static inline uint32_t slp_box_tree_number(const slp_box_tree *t, const slp_value *v) {
  return (uint32_t)(v - t->v);
}
/* Turns a text into BYTES: decodes base64, both in JSON and in texts of CBOR. Returns SLP_EBADDATA if that
 * fails. */
int slp_box_tree_blob(slp_box_tree *t, slp_value *v);
/* Converts a value to a time in ms. Returns 0, or SLP_EBADDATA if the value is no time. */
int slp_box_tree_time_ms(const slp_box_tree *t, const slp_value *v, int64_t *ret);

/* ---- answers ----------------------------------------------------------------------------------- */
#define SLP_OUT_DEPTH 8
typedef struct slp_box_out {
  slp_buf *b;
  slp_wire wire;
  uint8_t definite; /* 1: CBOR maps and lists begin with the number of their elements */
  slp_jw json;      /* writes into `b`, if the wire form is JSON */
  uint32_t depth;
  struct {
    size_t at; /* the place in the buffer where the count is written */
    uint32_t count;
    uint8_t map;
  } level[SLP_OUT_DEPTH];
} slp_box_out;

/* Starts an answer in b. `definite`: see slp_box_out. */
void slp_out_begin(slp_box_out *o, slp_buf *b, slp_wire wire, int definite);
/* Returns the first error of all writes so far, or 0. After an error, further writes do nothing. */
static inline int slp_out_failed(const slp_box_out *o) { return slp_buf_failed(o->b); }
void slp_out_map(slp_box_out *o);
void slp_out_list(slp_box_out *o);
void slp_out_end(slp_box_out *o); /* ends the innermost map or list */
void slp_out_key(slp_box_out *o, const char *key);
void slp_out_name(slp_box_out *o, slp_str key); /* writes a member's name that is not a constant */
void slp_out_text(slp_box_out *o, slp_str s);
void slp_out_i64(slp_box_out *o, int64_t v);
void slp_out_bool(slp_box_out *o, int on);
void slp_out_time(slp_box_out *o, int64_t ms);
void slp_out_blob(slp_box_out *o, slp_str s);
void slp_out_raw(slp_box_out *o, slp_str bytes); /* appends one value that is already encoded */
/* Appends members to the open map; `json` is their encoded text. Only for JSON. */
void slp_out_members(slp_box_out *o, slp_str json);
/* Writes a time as the service writes it in JSON: in seconds, in the form 1.441215410867E9. */
size_t slp_out_seconds(int64_t ms, char out[32]);

static inline void slp_out_put_z(slp_box_out *o, const char *key, const char *z) {
  slp_out_key(o, key);
  slp_out_text(o, slp_str_of(z));
}
static inline void slp_out_put_i64(slp_box_out *o, const char *key, int64_t v) {
  slp_out_key(o, key);
  slp_out_i64(o, v);
}

#endif
