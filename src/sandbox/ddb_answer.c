/* ddb_answer.c - reads members of a request about tables, and writes values into the request's answer. */
#include "base/buf.h"
#include "sandbox/ddb.h"
#include "sandbox/model.h"
#include "sandbox/value.h"

#include <stdarg.h>
#include <stdio.h>

int slp_refuse(slp_box_call *c, const char *fmt, ...) {
  char text[1000];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return slp_box_fail(c, "ValidationException", "%s", text);
}

slp_value *slp_in_get(slp_box_call *c, uint32_t node, const char *name) {
  return slp_box_tree_get(c->in, node, name);
}

static int wrong_type(slp_box_call *c, const char *name, const char *type) {
  return slp_box_fail(c, "SerializationException", "Member %s is not a %s.", name, type);
}

slp_str slp_in_text(slp_box_call *c, uint32_t node, const char *name, int *bad) {
  const slp_value *v = slp_in_get(c, node, name);
  if (!v) return (slp_str){NULL, 0};
  if (v->kind == SLP_VALUE_TEXT) return v->text.p ? v->text : (slp_str){"", 0};
  wrong_type(c, name, "text");
  *bad = 1;
  return (slp_str){NULL, 0};
}

int slp_in_flag(slp_box_call *c, uint32_t node, const char *name) {
  const slp_value *v = slp_in_get(c, node, name);
  return v && v->kind == SLP_VALUE_BOOL && v->i;
}

static int get_container_member(slp_box_call *c, uint32_t node, const char *name, slp_value_kind kind,
                                uint32_t *ret) {
  const slp_value *v = slp_in_get(c, node, name);
  *ret = v ? slp_box_tree_number(c->in, v) : 0;
  if (!v || v->kind == kind) return 0;
  return wrong_type(c, name, kind == SLP_VALUE_MAP ? "map" : "list");
}

int slp_in_map(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret) {
  return get_container_member(c, node, name, SLP_VALUE_MAP, ret);
}

int slp_in_list(slp_box_call *c, uint32_t node, const char *name, uint32_t *ret) {
  return get_container_member(c, node, name, SLP_VALUE_LIST, ret);
}

void slp_out_item(slp_box_call *c, const slp_av *item) {
  slp_out_raw(&c->out, (slp_str){"", 0}); /* writes the comma before the item */
  slp_item_put_json(c->out.b, item);
}

void slp_error_item(slp_box_call *c, const slp_av *item) {
  slp_buf json;
  slp_buf_init(&json, c->box->mem, 8u << 20);
  slp_buf_add_z(&json, "\"Item\":");
  int r = slp_item_put_json(&json, item);
  if (!r) c->error_more = slp_arena_copy(slp_call_arena(c), slp_buf_str(&json));
  if (r || !c->error_more.p) slp_box_no_memory(c);
  if (!c->error_more.p) c->error_more.n = 0;
  slp_buf_free(&json);
}
