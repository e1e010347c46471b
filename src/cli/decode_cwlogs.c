/* decode_cwlogs.c - the events in a record of a CloudWatch Logs subscription. */
#include "cli/decode.h"
#include "cli/decode_json.h"
#include "codec/gunzip.h"
#include "codec/json.h"

typedef struct visit {
  slp_log_event event;
  int is_data;
  int (*fn)(void *arg, const slp_log_event *event); /* NULL: only the members around the events are wanted */
  void *arg;
} visit;

/* Members may come in any order and the last of one name counts, as everywhere. */
static int read_event(slp_json *j, visit *v) {
  v->event.id = v->event.message = (slp_str){"", 0};
  v->event.ts_ms = -1;
  for (;;) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_OBJECT_END) return v->fn(v->arg, &v->event);
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    int r = slp_str_is(j->text, "id")          ? slp_json_string(j, &v->event.id)
            : slp_str_is(j->text, "message")   ? slp_json_string(j, &v->event.message)
            : slp_str_is(j->text, "timestamp") ? slp_json_i64(j, &v->event.ts_ms)
                                               : slp_json_skip(j);
    if (r) return r;
  }
}

static int read_events(slp_json *j, visit *v) {
  if (!v->fn) return slp_json_skip(j);
  if (slp_json_next(j) != SLP_JSON_ARRAY) return SLP_EBADDATA;
  for (;;) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_ARRAY_END) return 0;
    if (token != SLP_JSON_OBJECT) return SLP_EBADDATA;
    int r = read_event(j, v);
    if (r) return r;
  }
}

static int read_member(slp_json *j, visit *v) {
  slp_str type;
  int r;
  if (slp_str_is(j->text, "logEvents")) return read_events(j, v);
  if (v->fn) return slp_json_skip(j); /* known from the first round */
  if (slp_str_is(j->text, "logGroup")) return slp_json_string(j, &v->event.group);
  if (slp_str_is(j->text, "logStream")) return slp_json_string(j, &v->event.stream);
  if (slp_str_is(j->text, "owner")) return slp_json_string(j, &v->event.owner);
  if (!slp_str_is(j->text, "messageType")) return slp_json_skip(j);
  type = (slp_str){"", 0};
  r = slp_json_string(j, &type);
  v->is_data = slp_str_is(type, "DATA_MESSAGE") ? 1 : slp_str_is(type, "CONTROL_MESSAGE") ? 0 : -1;
  return r;
}

static int read_all(char *text, size_t n, visit *v) {
  slp_json j;
  slp_json_begin(&j, text, n);
  if (slp_json_next(&j) != SLP_JSON_OBJECT) return SLP_EBADDATA;
  for (;;) {
    int token = slp_json_next(&j);
    if (token == SLP_JSON_OBJECT_END) break;
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    int r = read_member(&j, v);
    if (r) return r;
  }
  return slp_json_next(&j) == SLP_JSON_END ? 0 : SLP_EBADDATA;
}

/* Reads in two rounds: the group may be named after the events, and no event may be handed out before the
 * whole is known to be well-formed. */
int slp_decode_cwlogs(slp_mem *mem, slp_str in, int (*fn)(void *arg, const slp_log_event *event), void *arg) {
  slp_buf text, again;
  slp_buf_init(&text, mem, SLP_DECODED_BYTES_MAX);
  slp_buf_init(&again, mem, SLP_DECODED_BYTES_MAX);
  int packed = in.n >= 2 && (unsigned char)in.p[0] == 0x1f && (unsigned char)in.p[1] == 0x8b;
  int r = packed ? slp_gunzip(&text, in) : slp_buf_add_str(&text, in);
  if (!r) r = slp_buf_reserve(&text, 1);
  if (!r) r = slp_buf_add_str(&again, slp_buf_str(&text));
  visit v = {.is_data = -1, .event = {.group = {"", 0}, .stream = {"", 0}, .owner = {"", 0}}};
  if (!r) r = read_all(text.p, text.n, &v);
  if (!r && v.is_data < 0) r = SLP_EBADDATA;
  if (!r && v.is_data) {
    v.fn = fn;
    v.arg = arg;
    r = read_all(again.p, again.n, &v);
  }
  slp_buf_free(&text);
  slp_buf_free(&again);
  return r;
}
