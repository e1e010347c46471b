/* value.c - parses the bodies of requests into a tree, and writes the bodies of answers value by value. */
#include "sandbox/value.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "codec/base64.h"
#include "codec/cbor.h"
#include "codec/json.h"
#include "codec/json_write.h"

#define NODES_MAX 1000000u
#define TREE_DEPTH_MAX SLP_JSON_DEPTH_MAX

void slp_box_tree_init(slp_box_tree *t, slp_mem *mem) {
  *t = (slp_box_tree){.mem = mem};
  slp_buf_init(&t->body, mem, 64u << 20);
}

void slp_box_tree_free(slp_box_tree *t) {
  slp_buf_free(&t->body);
  slp_free(t->mem, t->v);
  t->v = NULL;
  t->n = t->cap = 0;
}

/* ---- building ---------------------------------------------------------------------------------- */
typedef struct builder {
  slp_box_tree *t;
  slp_str key; /* the member's name for the next value */
  /* the containers that are open, and the last child of each */
  uint32_t open[TREE_DEPTH_MAX], last[TREE_DEPTH_MAX];
  uint32_t depth;
} builder;

static int new_node(builder *b, slp_value_kind kind, slp_value **ret) {
  slp_box_tree *t = b->t;
  if (t->n == NODES_MAX) return SLP_ELIMIT;
  if (t->n == t->cap) {
    uint32_t cap = t->cap ? t->cap * 2 : 64;
    slp_value *v = slp_realloc(t->mem, t->v, cap * sizeof *v);
    if (!v) return SLP_ENOMEM;
    t->v = v;
    t->cap = cap;
  }
  uint32_t number = t->n++;
  slp_value *v = &t->v[number];
  *v = (slp_value){.kind = kind, .key = b->key};
  b->key = (slp_str){NULL, 0};
  if (b->depth > 0) {
    uint32_t parent = b->open[b->depth - 1], *last = &b->last[b->depth - 1];
    if (*last)
      t->v[*last].next = number;
    else
      t->v[parent].child = number;
    *last = number;
    t->v[parent].count++;
  }
  *ret = v;
  return 0;
}

static int open_tree_level(builder *b, slp_value_kind kind) {
  slp_value *v;
  if (b->depth == TREE_DEPTH_MAX) return SLP_ELIMIT;
  int r = new_node(b, kind, &v);
  if (r) return r;
  b->open[b->depth] = slp_box_tree_number(b->t, v);
  b->last[b->depth++] = 0;
  return 0;
}

static int read_json(builder *b) {
  slp_json j;
  slp_value *v;
  slp_json_begin(&j, b->t->body.p, b->t->body.n);
  for (;;) {
    int r, token = slp_json_next(&j);
    if (token < 0) return token;
    switch ((slp_json_token)token) {
      case SLP_JSON_END: return 0;
      case SLP_JSON_OBJECT: r = open_tree_level(b, SLP_VALUE_MAP); break;
      case SLP_JSON_ARRAY: r = open_tree_level(b, SLP_VALUE_LIST); break;
      case SLP_JSON_OBJECT_END:
      case SLP_JSON_ARRAY_END:
        b->depth--;
        r = 0;
        break;
      case SLP_JSON_KEY:
        b->key = j.text;
        r = 0;
        break;
      case SLP_JSON_STRING:
        r = new_node(b, SLP_VALUE_TEXT, &v);
        if (!r) v->text = j.text;
        break;
      case SLP_JSON_NUMBER:
        r = new_node(b, SLP_VALUE_INT, &v);
        if (r) break;
        v->text = j.text;
        if (slp_parse_i64(j.text, &v->i)) v->kind = SLP_VALUE_REAL;
        break;
      case SLP_JSON_TRUE:
      case SLP_JSON_FALSE:
        r = new_node(b, SLP_VALUE_BOOL, &v);
        if (!r) v->i = token == SLP_JSON_TRUE;
        break;
      case SLP_JSON_NULL: r = new_node(b, SLP_VALUE_NULL, &v); break;
      default: return SLP_EBADDATA;
    }
    if (r) return r;
  }
}

static int cbor_scalar(builder *b, slp_cbor *c, int token) {
  slp_value *v;
  slp_value_kind kind = SLP_VALUE_NULL;
  switch ((slp_cbor_token)token) {
    case SLP_CBOR_UINT:
    case SLP_CBOR_NEG: kind = SLP_VALUE_INT; break;
    case SLP_CBOR_BYTES: kind = SLP_VALUE_BYTES; break;
    case SLP_CBOR_TEXT: kind = SLP_VALUE_TEXT; break;
    case SLP_CBOR_FLOAT: kind = SLP_VALUE_REAL; break;
    case SLP_CBOR_TRUE:
    case SLP_CBOR_FALSE: kind = SLP_VALUE_BOOL; break;
    case SLP_CBOR_NULL: break;
    default: return SLP_EBADDATA;
  }
  int r = new_node(b, kind, &v);
  if (r) return r;
  if (kind == SLP_VALUE_INT) {
    if (c->u > INT64_MAX) return SLP_EBADDATA;
    v->i = token == SLP_CBOR_UINT ? (int64_t)c->u : -1 - (int64_t)c->u;
  } else if (kind == SLP_VALUE_BYTES || kind == SLP_VALUE_TEXT) {
    v->text = c->text;
  } else if (kind == SLP_VALUE_REAL) {
    v->f = c->f;
  } else if (kind == SLP_VALUE_BOOL) {
    v->i = token == SLP_CBOR_TRUE;
  }
  return 0;
}

static int read_cbor(builder *b) {
  slp_cbor c;
  slp_cbor_begin(&c, b->t->body.p, b->t->body.n);
  for (;;) {
    int r = 0, token = slp_cbor_next(&c);
    if (token < 0) return token;
    switch ((slp_cbor_token)token) {
      case SLP_CBOR_END: return 0;
      case SLP_CBOR_MAP: r = open_tree_level(b, SLP_VALUE_MAP); break;
      case SLP_CBOR_ARRAY: r = open_tree_level(b, SLP_VALUE_LIST); break;
      case SLP_CBOR_MAP_END:
      case SLP_CBOR_ARRAY_END: b->depth--; break;
      /* the tag that marks a time; not needed, because the rule of the member says which members are times */
      case SLP_CBOR_TAG: break;
      case SLP_CBOR_TEXT:
        if (c.is_key)
          b->key = c.text;
        else
          r = cbor_scalar(b, &c, token);
        break;
      default: r = cbor_scalar(b, &c, token); break;
    }
    if (r) return r;
  }
}

int slp_box_tree_read(slp_box_tree *t, slp_wire wire, slp_str body) {
  builder b = {.t = t};
  t->n = 0;
  t->wire = wire;
  slp_buf_clear(&t->body);
  int r = slp_buf_add_str(&t->body, body); /* a copy, because the parsers change the body in place */
  if (r) return r;
  if (body.n == 0) return SLP_EBADDATA;
  r = wire == SLP_WIRE_JSON ? read_json(&b) : read_cbor(&b);
  if (r) return r;
  return t->n > 0 && t->v[0].kind == SLP_VALUE_MAP ? 0 : SLP_EBADDATA;
}

slp_value *slp_box_tree_get(slp_box_tree *t, uint32_t parent, const char *name) {
  slp_value *found = NULL;
  slp_str wanted = slp_str_of(name);
  for (uint32_t i = t->v[parent].child; i; i = t->v[i].next) {
    if (slp_str_eq(t->v[i].key, wanted)) found = &t->v[i];
  }
  return found && found->kind != SLP_VALUE_NULL ? found : NULL;
}

int slp_box_tree_blob(slp_box_tree *t, slp_value *v) {
  if (v->kind == SLP_VALUE_BYTES) return 0;
  if (v->kind != SLP_VALUE_TEXT) return SLP_EBADDATA;
  char *to = v->text.n ? t->body.p + (v->text.p - t->body.p) : NULL;
  int64_t n = v->text.n ? slp_base64_decode(to, v->text.p, v->text.n) : 0;
  if (n < 0) return SLP_EBADDATA;
  v->kind = SLP_VALUE_BYTES;
  v->text.n = (size_t)n;
  return 0;
}

int slp_box_tree_time_ms(const slp_box_tree *t, const slp_value *v, int64_t *ret) {
  if (v->kind != SLP_VALUE_INT && v->kind != SLP_VALUE_REAL) return SLP_EBADDATA;
  if (t->wire == SLP_WIRE_JSON) return slp_decimal_seconds_ms(v->text, ret) ? SLP_EBADDATA : 0;
  if (v->kind == SLP_VALUE_INT) { /* in CBOR, the service gives times as a count of milliseconds */
    *ret = v->i;
    return 0;
  }
  /* this check also refuses NaN, for which every comparison is false */
  if (!(v->f > -9e15 && v->f < 9e15)) return SLP_EBADDATA;
  *ret = (int64_t)(v->f * 1000 + (v->f < 0 ? -0.5 : 0.5));
  return 0;
}

/* ---- answers ------------------------------------------------------------------------------------ */
void slp_out_begin(slp_box_out *o, slp_buf *b, slp_wire wire, int definite) {
  *o = (slp_box_out){.b = b, .wire = wire, .definite = (uint8_t)(definite != 0), .json = {.b = b}};
}

/* Called before every value, to count the elements of the list around it. Returns 1 if the answer is in
 * JSON. */
static int json_comes(slp_box_out *o) {
  if (o->depth > 0 && !o->level[o->depth - 1].map) o->level[o->depth - 1].count++;
  return o->wire == SLP_WIRE_JSON;
}

static void open_container(slp_box_out *o, int map) {
  int json = json_comes(o);
  SLP_CHECK(o->depth < SLP_OUT_DEPTH);
  o->level[o->depth].at = o->b->n;
  o->level[o->depth].count = 0;
  o->level[o->depth++].map = (uint8_t)map;
  if (json && map)
    slp_jw_object(&o->json, NULL);
  else if (json)
    slp_jw_array(&o->json, NULL);
  else if (!o->definite && map)
    slp_cbor_put_map(o->b, UINT64_MAX);
  else if (!o->definite)
    slp_cbor_put_array(o->b, UINT64_MAX);
  else
    /* Room for the head with the count, which slp_out_end writes. A map needs one byte, because it never has
     * more than 23 members; a list gets five. */
    slp_buf_add(o->b, "\0\0\0\0\0", map ? 1 : 5);
}

void slp_out_map(slp_box_out *o) { open_container(o, 1); }
void slp_out_list(slp_box_out *o) { open_container(o, 0); }

void slp_out_end(slp_box_out *o) {
  SLP_CHECK(o->depth > 0);
  o->depth--;
  uint32_t count = o->level[o->depth].count;
  int map = o->level[o->depth].map;
  if (o->wire == SLP_WIRE_JSON && map) {
    slp_jw_object_end(&o->json);
  } else if (o->wire == SLP_WIRE_JSON) {
    slp_jw_array_end(&o->json);
  } else if (!o->definite) {
    slp_cbor_put_break(o->b);
  } else if (!slp_out_failed(o)) {
    uint8_t *head = (uint8_t *)o->b->p + o->level[o->depth].at;
    SLP_CHECK(!map || count < 24);
    head[0] = map ? (uint8_t)(0xa0 | count) : 0x9a;
    for (int i = 0; !map && i < 4; i++) head[1 + i] = (uint8_t)(count >> (24 - 8 * i));
  }
}

void slp_out_key(slp_box_out *o, const char *key) { slp_out_name(o, slp_str_of(key)); }

void slp_out_name(slp_box_out *o, slp_str key) {
  SLP_CHECK(o->depth > 0 && o->level[o->depth - 1].map);
  o->level[o->depth - 1].count++;
  if (o->wire == SLP_WIRE_JSON)
    slp_jw_key(&o->json, key);
  else
    slp_cbor_put_text(o->b, key);
}

void slp_out_text(slp_box_out *o, slp_str s) {
  if (json_comes(o))
    slp_jw_str(&o->json, NULL, s);
  else
    slp_cbor_put_text(o->b, s);
}

void slp_out_i64(slp_box_out *o, int64_t v) {
  if (json_comes(o))
    slp_jw_i64(&o->json, NULL, v);
  else
    slp_cbor_put_i64(o->b, v);
}

void slp_out_bool(slp_box_out *o, int on) {
  if (json_comes(o))
    slp_jw_bool(&o->json, NULL, on);
  else
    slp_cbor_put_bool(o->b, on);
}

size_t slp_out_seconds(int64_t ms, char out[32]) {
  uint64_t v = ms < 0 ? 0 : (uint64_t)ms;
  size_t n = 0;
  char digits[20];
  for (; v; v /= 10) digits[n++] = (char)('0' + v % 10);
  if (n != 13) {
    /* the time is not from 2001 to 2286: it is written with leading zeros, and without an exponent */
    while (n < 4) digits[n++] = '0';
    for (size_t i = 0; i < n - 3; i++) out[i] = digits[n - 1 - i];
    out[n - 3] = '.';
    for (size_t i = 0; i < 3; i++) out[n - 2 + i] = digits[2 - i];
    return n + 1;
  }
  out[0] = digits[12];
  out[1] = '.';
  for (size_t i = 0; i < 12; i++) out[2 + i] = digits[11 - i];
  out[14] = 'E';
  out[15] = '9';
  return 16;
}

void slp_out_time(slp_box_out *o, int64_t ms) {
  char text[32];
  if (json_comes(o))
    slp_jw_raw(&o->json, NULL, (slp_str){text, slp_out_seconds(ms, text)});
  else
    slp_cbor_put_time_ms(o->b, ms);
}

void slp_out_blob(slp_box_out *o, slp_str s) {
  if (json_comes(o))
    slp_jw_base64(&o->json, NULL, s);
  else
    slp_cbor_put_bytes(o->b, s);
}

void slp_out_raw(slp_box_out *o, slp_str bytes) {
  if (json_comes(o))
    slp_jw_raw(&o->json, NULL, bytes);
  else
    slp_buf_add_str(o->b, bytes);
}

void slp_out_members(slp_box_out *o, slp_str json) {
  SLP_CHECK(o->wire == SLP_WIRE_JSON && o->depth > 0 && o->level[o->depth - 1].map);
  slp_jw_raw(&o->json, NULL, json);
}
