/* decode_cwlogs.c - the events in a record of a CloudWatch Logs subscription.
 *
 * It is read in two rounds: the group may be named after the events, and no event may be handed out before
 * the whole is known to be well-formed. */
#include "cli/decode_cwlogs.h"

#include "codec/json.h"

/* Members may come in any order and the last of one name counts, as everywhere. */
static int read_event(slp_json *j, slp_log_event *e) {
  e->id = e->message = (slp_str){"", 0};
  e->ts_ms = -1;
  for (;;) {
    int token = slp_json_next(j);
    if (token == SLP_JSON_OBJECT_END) return 0;
    if (token != SLP_JSON_KEY) return SLP_EBADDATA;
    int r = slp_str_is(j->text, "id")          ? slp_json_string(j, &e->id)
            : slp_str_is(j->text, "message")   ? slp_json_string(j, &e->message)
            : slp_str_is(j->text, "timestamp") ? slp_json_i64(j, &e->ts_ms)
                                               : slp_json_skip(j);
    if (r) return r;
  }
}

/* ---- the first round: the members around the events ------------------------------------------------- */

typedef enum { NO_TYPE, DATA, CONTROL } message_type;

static int read_type(slp_json *j, message_type *ret) {
  slp_str type = {"", 0};
  int r = slp_json_string(j, &type);
  *ret = slp_str_is(type, "DATA_MESSAGE") ? DATA : slp_str_is(type, "CONTROL_MESSAGE") ? CONTROL : NO_TYPE;
  return r;
}

static int read_around(char *text, size_t n, slp_log_event *e, message_type *ret) {
  slp_json j;
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
                                                : slp_json_skip(&j);
    if (r) return r;
  }
  return slp_json_next(&j) == SLP_JSON_END ? 0 : SLP_EBADDATA;
}

/* ---- the events, one by one -------------------------------------------------------------------------- */

void slp_cwlogs_init(slp_cwlogs *l, slp_mem *mem) {
  *l = (slp_cwlogs){.mem = mem};
  slp_buf_init(&l->text, mem, 0);
  slp_buf_init(&l->again, mem, 0);
}

void slp_cwlogs_free(slp_cwlogs *l) {
  slp_gunzip_end(l->gunzip);
  l->gunzip = NULL;
  slp_buf_free(&l->text);
  slp_buf_free(&l->again);
}

static const unsigned allowed[] = {
    [SLP_CWLOGS_NONE] = 1u << SLP_CWLOGS_UNPACKS | 1u << SLP_CWLOGS_CHECKS,
    [SLP_CWLOGS_UNPACKS] = 1u << SLP_CWLOGS_CHECKS | 1u << SLP_CWLOGS_NONE,
    [SLP_CWLOGS_CHECKS] = 1u << SLP_CWLOGS_AROUND | 1u << SLP_CWLOGS_NONE,
    [SLP_CWLOGS_AROUND] = 1u << SLP_CWLOGS_EVENTS | 1u << SLP_CWLOGS_NONE,
    [SLP_CWLOGS_EVENTS] = 1u << SLP_CWLOGS_AROUND | 1u << SLP_CWLOGS_NONE,
};

static void move(slp_cwlogs *l, slp_cwlogs_state to) {
  SLP_CHECK(l->state == to || allowed[l->state] & 1u << to);
  l->state = to;
}

int slp_cwlogs_begin(slp_cwlogs *l, slp_str in, uint64_t limit) {
  slp_cwlogs_free(l);
  move(l, SLP_CWLOGS_NONE);
  l->event = (slp_log_event){.group = {"", 0}, .stream = {"", 0}, .owner = {"", 0}};
  slp_buf_init(&l->text, l->mem, limit);
  slp_buf_init(&l->again, l->mem, limit);
  int packed = in.n >= 2 && (unsigned char)in.p[0] == 0x1f && (unsigned char)in.p[1] == 0x8b;
  if (packed && !(l->gunzip = slp_gunzip_begin(l->mem, in))) return SLP_ENOMEM;
  move(l, packed ? SLP_CWLOGS_UNPACKS : SLP_CWLOGS_CHECKS);
  return packed ? 0 : slp_buf_add_str(&l->text, in);
}

static int unpack(slp_cwlogs *l) {
  int r = slp_gunzip_step(l->gunzip, &l->text);
  if (r) return r == 1 ? SLP_CWLOGS_MORE : r;
  move(l, SLP_CWLOGS_CHECKS);
  return SLP_CWLOGS_MORE;
}

/* The reader works in place, so the second round needs a text of its own. */
static int check(slp_cwlogs *l) {
  message_type type = NO_TYPE;
  int r = slp_buf_reserve(&l->text, 1);
  if (!r) r = slp_buf_add_str(&l->again, slp_buf_str(&l->text));
  if (!r) r = slp_buf_reserve(&l->again, 1);
  if (!r) r = read_around(l->text.p, l->text.n, &l->event, &type);
  if (!r && type == NO_TYPE) r = SLP_EBADDATA;
  if (r) return r;
  if (type == CONTROL) return SLP_CWLOGS_END;
  slp_json_begin(&l->json, l->again.p, l->again.n);
  if (slp_json_next(&l->json) != SLP_JSON_OBJECT) return SLP_EBADDATA;
  move(l, SLP_CWLOGS_AROUND);
  return SLP_CWLOGS_MORE;
}

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
  int r = read_event(&l->json, &l->event);
  return r ? r : SLP_CWLOGS_EVENT;
}

static int read_some(slp_cwlogs *l) {
  switch (l->state) {
    case SLP_CWLOGS_CHECKS: return check(l);
    case SLP_CWLOGS_AROUND: return look_for_events(l);
    case SLP_CWLOGS_EVENTS: return next_event(l);
    case SLP_CWLOGS_NONE:
    case SLP_CWLOGS_UNPACKS: break;
  }
  return SLP_CWLOGS_END;
}

int slp_cwlogs_step(slp_cwlogs *l) {
  if (l->state == SLP_CWLOGS_UNPACKS) return unpack(l);
  int r = read_some(l);
  return r == SLP_ELIMIT ? SLP_EBADDATA : r; /* JSON too deep; SLP_ELIMIT is about the unpacked bytes */
}

/* The printer reads the events: see slp_cwlogs_begin(). */
const slp_decoder slp_decoder_cwlogs = {.name = "cwlogs",
                                        .does = "CloudWatch Logs: a line an event",
                                        .damaged = "it is no record of a CloudWatch Logs subscription",
                                        .makes_events = 1};
