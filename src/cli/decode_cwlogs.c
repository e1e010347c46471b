/* decode_cwlogs.c - reads the events in a record of a CloudWatch Logs subscription.
 *
 * The record is read twice, for two reasons:
 *  1. The name of the log group may come after the events in the JSON.
 *  2. No event may be handed out before the whole record is known to be well-formed. */
#include "cli/decode_cwlogs.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/states.h"
#include "cli/decode_json.h"
#include "cli/decoder_table.h"
#include "codec/gunzip.h"
#include "codec/json.h"
#include "codec/json_write.h"

slp_str slp_log_line(slp_str message) {
  while (message.n && (message.p[message.n - 1] == '\n' || message.p[message.n - 1] == '\r')) message.n--;
  return message;
}

/* Appends to w a member that has no field in slp_log_event. The reader j has just read the key of the member.
 * `before` is put before that key. */
static int keep_member(slp_jw *w, slp_json *j, const char *before) {
  slp_buf name;
  slp_buf_init(&name, w->b->mem, 0);
  if (*before) {
    slp_buf_init(&name, w->b->mem, j->text.n + 16);
    slp_buf_add_z(&name, before);
    slp_buf_add_str(&name, j->text);
  }
  slp_jw_key(w, *before ? slp_buf_str(&name) : j->text);
  int r = slp_buf_failed(&name);
  slp_buf_free(&name);
  if (!r) r = slp_decode_put_value(w, j, slp_json_next(j));
  return slp_buf_failed(w->b) ? slp_buf_failed(w->b) : r;
}

/* Returns 1 if -J itself writes a member with this name. */
static int is_taken(slp_str name) {
  static const char *const taken[] = {"group", "stream", "owner", "ts", "record"};
  for (size_t i = 0; i < SLP_COUNT(taken); i++)
    if (slp_str_is(name, taken[i])) return 1;
  return 0;
}

/* Reads an event. Its members may come in any order. If two members have the same name, the last one wins, as
 * in all readers of this command. */
static int read_event(slp_json *j, slp_log_event *e, slp_buf *more) {
  slp_jw w = {.b = more, .one_line = 1};
  e->id = e->message = (slp_str){"", 0};
  e->ts_ms = -1;
  slp_buf_clear(more);
  for (;;) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_OBJECT_END) break;
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    int r = slp_str_is(j->text, "id")          ? slp_json_string(j, &e->id)
            : slp_str_is(j->text, "message")   ? slp_json_string(j, &e->message)
            : slp_str_is(j->text, "timestamp") ? slp_json_i64(j, &e->ts_ms)
                                               : keep_member(&w, j, is_taken(j->text) ? "event." : "");
    if (r) return r;
  }
  e->more = slp_buf_str(more);
  return 0;
}

/* ---- first round: everything in the record except the events ------------------------------------------ */

typedef enum { NO_TYPE, DATA, CONTROL } message_type;

static int read_type(slp_json *j, message_type *ret) {
  slp_str type = {"", 0};
  int r = slp_json_string(j, &type);
  *ret = slp_str_is(type, "DATA_MESSAGE") ? DATA : slp_str_is(type, "CONTROL_MESSAGE") ? CONTROL : NO_TYPE;
  return r;
}

static int read_around(char *text, size_t n, slp_log_event *e, slp_buf *record, message_type *ret) {
  slp_json j;
  slp_jw w = {.b = record, .one_line = 1};
  slp_json_begin(&j, text, n);
  if (slp_json_next(&j) != SLP_JSON_OBJECT) return SLP_EBADDATA;
  for (;;) {
    int token = slp_json_next(&j);
    if (token == SLP_JSON_OBJECT_END) break;
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    int r = slp_str_is(j.text, "logGroup")      ? slp_json_string(&j, &e->group)
            : slp_str_is(j.text, "logStream")   ? slp_json_string(&j, &e->stream)
            : slp_str_is(j.text, "owner")       ? slp_json_string(&j, &e->owner)
            : slp_str_is(j.text, "messageType") ? read_type(&j, ret)
            : slp_str_is(j.text, "logEvents")   ? slp_json_skip(&j)
                                                : keep_member(&w, &j, "");
    if (r) return r;
  }
  e->record = slp_buf_str(record);
  return slp_json_next(&j) == SLP_JSON_END ? 0 : SLP_EBADDATA;
}

/* ---- second round: the events, one by one
 * ---------------------------------------------------------------- */

void slp_cwlogs_init(slp_cwlogs *l, slp_mem *mem) {
  *l = (slp_cwlogs){.mem = mem};
  slp_buf_init(&l->text, mem, 0);
  slp_buf_init(&l->again, mem, 0);
  slp_buf_init(&l->more, mem, 0);
  slp_buf_init(&l->record, mem, 0);
}

void slp_cwlogs_free(slp_cwlogs *l) {
  slp_gunzip_end(l->gunzip);
  l->gunzip = NULL;
  slp_buf_free(&l->text);
  slp_buf_free(&l->again);
  slp_buf_free(&l->more);
  slp_buf_free(&l->record);
}

static const slp_set allowed[] = {
    [SLP_CWLOGS_NONE] = SLP_BIT(SLP_CWLOGS_UNPACKS) | SLP_BIT(SLP_CWLOGS_CHECKS),
    [SLP_CWLOGS_UNPACKS] = SLP_BIT(SLP_CWLOGS_CHECKS) | SLP_BIT(SLP_CWLOGS_NONE),
    [SLP_CWLOGS_CHECKS] = SLP_BIT(SLP_CWLOGS_AROUND) | SLP_BIT(SLP_CWLOGS_NONE),
    [SLP_CWLOGS_AROUND] = SLP_BIT(SLP_CWLOGS_EVENTS) | SLP_BIT(SLP_CWLOGS_NONE),
    [SLP_CWLOGS_EVENTS] = SLP_BIT(SLP_CWLOGS_AROUND) | SLP_BIT(SLP_CWLOGS_NONE),
};

static void move(slp_cwlogs *l, slp_cwlogs_state to) {
  if (l->state == to) return;
  SLP_MOVE(allowed, l->state, to);
}

int slp_cwlogs_begin(slp_cwlogs *l, slp_str in, uint64_t limit) {
  slp_cwlogs_free(l);
  move(l, SLP_CWLOGS_NONE);
  l->event = (slp_log_event){.group = {"", 0}, .stream = {"", 0}, .owner = {"", 0}};
  slp_buf_init(&l->text, l->mem, limit);
  slp_buf_init(&l->again, l->mem, limit);
  slp_buf_init(&l->more, l->mem, limit);
  slp_buf_init(&l->record, l->mem, limit);
  l->control = 0;
  int packed = in.n >= 2 && (unsigned char)in.p[0] == 0x1f && (unsigned char)in.p[1] == 0x8b;
  if (packed && !(l->gunzip = slp_gunzip_begin(l->mem, in))) return SLP_ENOMEM;
  move(l, packed ? SLP_CWLOGS_UNPACKS : SLP_CWLOGS_CHECKS);
  return packed ? 0 : slp_buf_add_str(&l->text, in);
}

static int unpack_cwlogs(slp_cwlogs *l) {
  int r = slp_gunzip_step(l->gunzip, &l->text);
  if (r) return r == 1 ? SLP_CWLOGS_MORE : r;
  move(l, SLP_CWLOGS_CHECKS);
  return SLP_CWLOGS_MORE;
}

/* First round: checks the whole record and reads everything except the events. The JSON reader changes the
 * text in place, so the second round gets a copy of the text. */
static int check_cwlogs_record(slp_cwlogs *l) {
  message_type type = NO_TYPE;
  int r = slp_buf_reserve(&l->text, 1);
  if (!r) r = slp_buf_add_str(&l->again, slp_buf_str(&l->text));
  if (!r) r = slp_buf_reserve(&l->again, 1);
  if (!r) r = read_around(l->text.p, l->text.n, &l->event, &l->record, &type);
  if (!r && type == NO_TYPE) r = SLP_EBADDATA;
  if (r) return r;
  l->control = type == CONTROL;
  if (l->control) return SLP_CWLOGS_END;
  slp_json_begin(&l->json, l->again.p, l->again.n);
  if (slp_json_next(&l->json) != SLP_JSON_OBJECT) return SLP_EBADDATA;
  move(l, SLP_CWLOGS_AROUND);
  return SLP_CWLOGS_MORE;
}

/* Second round: moves to the next array of events. */
static int look_for_events(slp_cwlogs *l) {
  int token;
  while ((token = slp_json_next(&l->json)) == SLP_JSON_KEY) {
    if (slp_str_is(l->json.text, "logEvents")) {
      if (slp_json_next(&l->json) != SLP_JSON_ARRAY) return SLP_EBADDATA;
      move(l, SLP_CWLOGS_EVENTS);
      return SLP_CWLOGS_MORE;
    }
    int r = slp_json_skip(&l->json);
    if (r) return r;
  }
  return token == SLP_JSON_OBJECT_END ? SLP_CWLOGS_END : SLP_EBADDATA;
}

static int next_event(slp_cwlogs *l) {
  int token = slp_json_next(&l->json);
  if (token == SLP_JSON_ARRAY_END) {
    move(l, SLP_CWLOGS_AROUND);
    return SLP_CWLOGS_MORE;
  }
  if (token != SLP_JSON_OBJECT) return SLP_EBADDATA;
  int r = read_event(&l->json, &l->event, &l->more);
  return r ? r : SLP_CWLOGS_EVENT;
}

static int read_some(slp_cwlogs *l) {
  switch (l->state) {
    case SLP_CWLOGS_CHECKS: return check_cwlogs_record(l);
    case SLP_CWLOGS_AROUND: return look_for_events(l);
    case SLP_CWLOGS_EVENTS: return next_event(l);
    case SLP_CWLOGS_NONE:
    case SLP_CWLOGS_UNPACKS: break;
  }
  return SLP_CWLOGS_END;
}

int slp_cwlogs_step(slp_cwlogs *l) {
  if (l->state == SLP_CWLOGS_UNPACKS) return unpack_cwlogs(l);
  int r = read_some(l);
  if (r != SLP_ELIMIT || slp_buf_failed(&l->more) || slp_buf_failed(&l->record)) return r;
  /* Here SLP_ELIMIT means that the JSON is nested too deep, so the record is bad data. The caller takes
   * SLP_ELIMIT to mean that the record unpacks to too many bytes. */
  return SLP_EBADDATA;
}

/* This row of the decoder table has no functions. The printer itself calls slp_cwlogs_begin() and reads the
 * events. */
const slp_decoder slp_decoder_cwlogs = {.name = "cwlogs",
                                        .does = "CloudWatch Logs: a line an event",
                                        .damaged = "it is not a record of a CloudWatch Logs subscription",
                                        .unpacks = "gzip",
                                        .makes_events = 1};
