/* nd_values.c - values of JavaScript from those of C and back, and the one way into JavaScript. */
#include "bind/node/nd_native.h"

#include <string.h>

/* ---- arguments ----------------------------------------------------------------------------------- */

typedef struct nd_text {
  struct nd_text *next;
  char text[];
} nd_text;

void nd_args_begin(nd_args *a, napi_env env, napi_callback_info info) {
  void *world = NULL;
  size_t i;
  a->env = env;
  a->n = ND_ARGS_MAX;
  a->texts = NULL;
  a->world = NULL;
  for (i = 0; i < ND_ARGS_MAX; i++) a->at[i] = NULL;
  if (napi_get_cb_info(env, info, &a->n, a->at, NULL, &world) != napi_ok) a->n = 0;
  a->world = world;
}

void nd_args_end(nd_args *a) {
  nd_text *t, *next;
  for (t = a->texts; t; t = next) {
    next = t->next;
    slp_free(a->world->mem, t);
  }
  a->texts = NULL;
}

static napi_valuetype type_of(const nd_args *a, size_t i) {
  napi_valuetype type = napi_undefined;
  return i < a->n && napi_typeof(a->env, a->at[i], &type) == napi_ok ? type : napi_undefined;
}

/* Nothing is known about the objects of another add-on, and another copy of this module may have other
 * structs. The tag contains the address of the world, so it refuses both. */
static napi_type_tag tag_of(const nd_world *w, nd_kind kind) {
  napi_type_tag tag = {UINT64_C(0x9d1c5a7be04f3680) + (uint64_t)kind, (uint64_t)(uintptr_t)w};
  return tag;
}
void *nd_arg_handle(const nd_args *a, size_t i, nd_kind kind) {
  napi_type_tag tag = tag_of(a->world, kind);
  bool is_ours = false;
  void *found = NULL;
  if (type_of(a, i) == napi_object &&
      napi_check_object_type_tag(a->env, a->at[i], &tag, &is_ours) == napi_ok && is_ours &&
      napi_unwrap(a->env, a->at[i], &found) == napi_ok && found)
    return found;
  napi_throw_type_error(a->env, NULL, "sloop: a handle is needed that this module made in this thread");
  return NULL;
}

const char *nd_text_of(nd_args *a, napi_value value) {
  size_t len = 0;
  nd_text *t;
  if (napi_get_value_string_utf8(a->env, value, NULL, 0, &len) != napi_ok) return NULL;
  t = slp_alloc(a->world->mem, sizeof *t + len + 1);
  if (!t) return NULL;
  t->next = a->texts;
  a->texts = t;
  if (napi_get_value_string_utf8(a->env, value, t->text, len + 1, &len) != napi_ok) return NULL;
  return strlen(t->text) == len ? t->text : NULL;
}
const char *nd_arg_text(nd_args *a, size_t i) { return i < a->n ? nd_text_of(a, a->at[i]) : NULL; }

double nd_arg_number(const nd_args *a, size_t i) {
  double value = 0;
  if (i >= a->n || napi_get_value_double(a->env, a->at[i], &value) != napi_ok) return 0;
  return value;
}

int nd_arg_int(const nd_args *a, size_t i) {
  double value = nd_arg_number(a, i);
  return value >= INT32_MIN && value <= INT32_MAX ? (int)value : 0;
}
int nd_arg_is_function(const nd_args *a, size_t i) { return type_of(a, i) == napi_function; }
int nd_arg_is_null(const nd_args *a, size_t i) {
  napi_valuetype type = type_of(a, i);
  return type == napi_null || type == napi_undefined;
}
napi_value nd_refuse_handler(napi_env env) {
  napi_throw_type_error(env, NULL, "sloop: the handler must be a function");
  return NULL;
}

uint64_t nd_arg_whole(const nd_args *a, size_t i, uint64_t max) {
  double value = nd_arg_number(a, i);
  if (!(value >= 0)) return 0;
  return value < (double)max ? (uint64_t)value : max;
}
int nd_arg_text_or_null(nd_args *a, size_t i, const char **text) {
  *text = nd_arg_text(a, i);
  return *text || nd_arg_is_null(a, i) ? 0 : SLOOP_EOPTION;
}

void nd_arg_position(nd_args *a, size_t i, sloop_position_t *p) {
  const char *text;
  sloop_position_init(p, (sloop_position_kind_t)nd_arg_int(a, i));
  p->at_ms = nd_arg_number(a, i + 1) < 0 ? -1 : (int64_t)nd_arg_whole(a, i + 1, INT64_MAX);
  p->shard = nd_arg_text(a, i + 2);
  text = nd_arg_text(a, i + 3);
  if (p->kind == SLOOP_AT_TOKEN) {
    p->token = text;
  } else {
    p->seq = text;
  }
  p->sub = nd_arg_whole(a, i + 4, UINT64_MAX);
}

/* ---- values -------------------------------------------------------------------------------------- */

/* A function that fails leaves the value NULL, which nd_set() and nd_push() pass over: the environment
 * ends, or has no memory, and then node ends the process itself. */
napi_value nd_null(napi_env env) {
  napi_value value = NULL;
  napi_get_null(env, &value);
  return value;
}
napi_value nd_number(napi_env env, double value) {
  napi_value number = NULL;
  napi_create_double(env, value, &number);
  return number;
}
napi_value nd_truth(napi_env env, int value) {
  napi_value truth = NULL;
  napi_get_boolean(env, value != 0, &truth);
  return truth;
}
napi_value nd_string(napi_env env, const char *text) {
  napi_value value = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  return value;
}
napi_value nd_object(napi_env env) {
  napi_value value = NULL;
  napi_create_object(env, &value);
  return value;
}
napi_value nd_list(napi_env env) {
  napi_value value = NULL;
  napi_create_array(env, &value);
  return value;
}
void nd_push(napi_env env, napi_value list, napi_value value) {
  uint32_t n = 0;
  if (!list || !value || napi_get_array_length(env, list, &n) != napi_ok) return;
  napi_set_element(env, list, n, value);
}
void nd_set(napi_env env, napi_value object, const char *name, napi_value value) {
  if (object && value) napi_set_named_property(env, object, name, value);
}
void nd_set_text(napi_env env, napi_value object, const char *name, const char *text) {
  nd_set(env, object, name, nd_string(env, text ? text : ""));
}
void nd_set_number(napi_env env, napi_value object, const char *name, double value) {
  nd_set(env, object, name, nd_number(env, value));
}
void nd_set_truth(napi_env env, napi_value object, const char *name, int value) {
  nd_set(env, object, name, nd_truth(env, value));
}

void nd_camel(char *to, const char *name) {
  size_t n = 0;
  int upper = 0;
  for (; *name && n < 63; name++) {
    if (*name == '_') {
      upper = 1;
      continue;
    }
    to[n++] = upper && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
    upper = 0;
  }
  to[n] = 0;
}

napi_value nd_error_object(napi_env env, const sloop_error_t *e) {
  napi_value o;
  if (!e) return nd_null(env);
  o = nd_object(env);
  nd_set_number(env, o, "code", e->code);
  nd_set_truth(env, o, "fatal", e->fatal);
  nd_set_number(env, o, "httpStatus", e->http_status);
  nd_set_number(env, o, "attempt", e->attempt);
  nd_set(env, o, "retryInMs",
         e->retry_in_ms == UINT64_MAX ? nd_null(env) : nd_number(env, (double)e->retry_in_ms));
  nd_set_text(env, o, "awsCode", e->aws_code);
  nd_set_text(env, o, "requestId", e->request_id);
  nd_set_text(env, o, "shard", e->shard);
  nd_set_text(env, o, "message", e->message);
  return o;
}

napi_value nd_position_object(napi_env env, const sloop_position_t *p) {
  napi_value o = nd_object(env);
  nd_set_number(env, o, "kind", p->kind);
  nd_set_number(env, o, "atMs", (double)p->at_ms);
  nd_set_text(env, o, "shard", p->shard);
  nd_set_text(env, o, "sequence", p->seq);
  nd_set_number(env, o, "subSequence", (double)p->sub);
  nd_set_text(env, o, "token", p->token);
  return o;
}

napi_value nd_handle(nd_world *w, nd_kind kind, void *of, napi_finalize done) {
  napi_type_tag tag = tag_of(w, kind);
  napi_value object = nd_object(w->env);
  if (!object || napi_type_tag_object(w->env, object, &tag) != napi_ok ||
      napi_wrap(w->env, object, of, done, NULL, NULL) != napi_ok)
    return NULL;
  return object;
}

/* ---- calls --------------------------------------------------------------------------------------- */

int nd_call_begin(nd_world *w, napi_handle_scope *scope) {
  return !w->ending && napi_open_handle_scope(w->env, scope) == napi_ok;
}

void nd_call(nd_world *w, napi_ref handler, int kind, napi_value payload, napi_handle_scope scope) {
  napi_env env = w->env;
  napi_value function = NULL, global = NULL, args[2], thrown = NULL;
  bool threw = false;
  args[0] = nd_number(env, kind);
  args[1] = payload ? payload : nd_null(env);
  /* napi_make_callback() runs what was promised and is due, so a waiting loop of the user goes on here. */
  if (handler && args[0] && args[1] && napi_get_reference_value(env, handler, &function) == napi_ok &&
      function && napi_get_global(env, &global) == napi_ok)
    napi_make_callback(env, w->context, global, function, 2, args, NULL);
  /* What a listener of the user throws is the process's, as anywhere in node. Nothing is caught while the
   * thread is being ended. */
  if (napi_is_exception_pending(env, &threw) == napi_ok && threw &&
      napi_get_and_clear_last_exception(env, &thrown) == napi_ok && thrown)
    napi_fatal_exception(env, thrown);
  napi_close_handle_scope(env, scope);
}
