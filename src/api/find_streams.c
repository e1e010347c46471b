/* find_streams.c - asks Kinesis for its streams, and DynamoDB Streams for the tables with a stream
 * (ListStreams of both). Then asks for a description of each stream. The calls follow each other.
 *
 *   WAITING --an event--> SENT --answered--> WAITING ... OVER
 *
 * The request for a page of names has the last name of the page before, which every server understands. Some
 * servers do not know the page tokens that the services introduced later. Calls stay below what an account
 * may make in a second. */
#include "api/find_streams.h"

#include "api/open.h"
#include "aws/aws.h"
#include "aws/aws_impl.h"
#include "aws/classify.h"
#include "aws/json_op.h"
#include "aws/limits.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/repeat.h"
#include "base/states.h"
#include "codec/json.h"
#include "codec/json_write.h"
#include "host/host.h"

#include <sloop.h>
#include <stdio.h>
#include <stdlib.h>

#define TRIES 4u
#define PAGES_MAX 10000u
#define BYTES_MAX (UINT64_C(64) << 20)
/* Kinesis developer guide, "Quotas and limits": ListStreams 5 a second. DynamoDB Streams API reference gives
 * no number for its ListStreams; DescribeStream has 10. */
#define LISTS_A_SECOND 5u

typedef enum { WAITING, SENT, OVER } find_state;

typedef struct entry { /* a name that a service has listed */
  slp_find_service service;
  char *name; /* owned; the stream's name with Kinesis, otherwise the table's name, without "dynamodb:" */
  char *arn;  /* owned; the ARN of a table's stream; "" with Kinesis */
  /* owned; the label of a table's stream, which is its time of creation as the service writes it; "" with
   * Kinesis */
  char *label;
} entry;

struct slp_find {
  slp_mem *mem; /* a reference is held */
  slp_aws *aws; /* a reference is held */
  slp_find_calls calls;
  void *arg;
  find_state state;
  slp_event ev;
  slp_timer timer;
  slp_json_op op;
  slp_find_service service; /* whose names are asked for; SLP_FIND_SERVICES: both services were asked */
  slp_fail fails[SLP_FIND_SERVICES];
  slp_paging pages;
  slp_buf last; /* the last name or ARN of the page before; empty: the first page */
  entry *rows;  /* owned */
  size_t n, room;
  uint64_t bytes;     /* length of all texts in `rows` */
  size_t before_n;    /* how many rows the earlier pages have added */
  size_t page_n;      /* how many rows the page that was just read has added */
  uint8_t more;       /* 1: the service has more pages than the one just read */
  const char **names; /* owned; passed to on_names */
  size_t at;          /* index of the row that is described now or next */
  slp_found_stream found;
};

static void move(slp_find *f, find_state to) {
  static const slp_set allowed[] = {
      [WAITING] = SLP_BIT(WAITING) | SLP_BIT(SENT) | SLP_BIT(OVER),
      [SENT] = SLP_BIT(WAITING) | SLP_BIT(OVER),
      [OVER] = SLP_BIT(OVER),
  };
  SLP_MOVE(allowed, f->state, to);
}

static void go_on(slp_find *f) {
  move(f, WAITING);
  slp_post(f->aws->h, &f->ev);
}

/* ---- names --------------------------------------------------------------------------------------------- */
static int add_found_name(slp_find *f, slp_str name, slp_str arn, slp_str label) {
  if (f->n == f->room) {
    size_t room = f->room ? f->room * 2 : 64;
    entry *rows = slp_realloc(f->mem, f->rows, room * sizeof *rows);
    if (!rows) return SLP_ENOMEM;
    f->rows = rows;
    f->room = room;
  }
  entry *e = &f->rows[f->n];
  *e = (entry){f->service, slp_strdup(f->mem, name), slp_strdup(f->mem, arn), slp_strdup(f->mem, label)};
  f->n++;
  f->page_n++;
  f->bytes += name.n + arn.n + label.n;
  return e->name && e->arn && e->label ? 0 : SLP_ENOMEM;
}

static void drop_rows(slp_find *f, size_t from) {
  for (; f->n > from; f->n--) {
    entry *e = &f->rows[f->n - 1];
    slp_free(f->mem, e->name);
    slp_free(f->mem, e->arn);
    slp_free(f->mem, e->label);
  }
}

/* Keeps `last`, the last name or ARN of a page, for the request for the next page. */
static int keep_last(slp_find *f, slp_str last) {
  slp_buf_clear(&f->last);
  return slp_buf_add_str(&f->last, last);
}

/* Handles one token of {"StreamNames": ["a", ...], "HasMoreStreams": true}. */
static int read_names(slp_find *f, slp_json *j, slp_str section, int token) {
  if (token == SLP_JSON_TRUE && j->depth == 1 && slp_str_is(section, "HasMoreStreams")) f->more = 1;
  if (token != SLP_JSON_STRING || j->depth != 2 || !slp_str_is(section, "StreamNames")) return 0;
  int r = keep_last(f, j->text);
  return r ? r : add_found_name(f, j->text, SLP_STR(""), SLP_STR(""));
}

typedef struct table_row { /* what was read so far of one object in {"Streams": [...]} */
  slp_str name, arn, label;
} table_row;

/* Handles one token of {"Streams": [{"StreamArn": ..., "TableName": ..., "StreamLabel": ...}],
 * "LastEvaluatedStreamArn": ...}. row: what is known of the object that the token belongs to. */
static int read_tables(slp_find *f, slp_json *j, slp_str section, slp_str name, int token, table_row *row) {
  if (token == SLP_JSON_STRING && j->depth == 1 && slp_str_is(name, "LastEvaluatedStreamArn")) {
    f->more = j->text.n > 0;
    return keep_last(f, j->text);
  }
  if (!slp_str_is(section, "Streams")) return 0;
  if (token == SLP_JSON_STRING && j->depth == 3) {
    if (slp_str_is(name, "StreamArn")) row->arn = j->text;
    if (slp_str_is(name, "TableName")) row->name = j->text;
    if (slp_str_is(name, "StreamLabel")) row->label = j->text;
  }
  if (token != SLP_JSON_OBJECT_END || j->depth != 2) return 0;
  table_row whole = *row;
  *row = (table_row){.name = {NULL, 0}};
  return whole.name.n && whole.arn.n ? add_found_name(f, whole.name, whole.arn, whole.label) : 0;
}

static int read_page(slp_json_op *op, int begin, const char **why) {
  slp_find *f = SLP_OWNER(op, slp_find, op);
  slp_json j;
  slp_str section = {NULL, 0}, name = {NULL, 0};
  table_row row = {.name = {NULL, 0}};
  (void)begin;               /* not used, because each answer is read by one call */
  drop_rows(f, f->before_n); /* an answer to the same call that could not be read may have added rows */
  f->page_n = 0;
  f->more = 0;
  slp_json_begin(&j, op->answer.p, op->answer.n);
  for (int token; (token = slp_json_next(&j)) != SLP_JSON_END;) {
    if (token < 0) {
      *why = j.why;
      return token;
    }
    if (token == SLP_JSON_KEY) {
      name = j.text;
      if (j.depth == 1) section = j.text;
      continue;
    }
    int r = f->service == SLP_FIND_KINESIS ? read_names(f, &j, section, token)
                                           : read_tables(f, &j, section, name, token, &row);
    if (r) return r;
  }
  return 0;
}

static void write_list(slp_find *f, slp_jw *w) {
  slp_str last = slp_buf_str(&f->last);
  int kinesis = f->service == SLP_FIND_KINESIS;
  if (last.n) slp_jw_str(w, kinesis ? "ExclusiveStartStreamName" : "ExclusiveStartStreamArn", last);
  if (kinesis) slp_jw_u64(w, "Limit", 100);
}

/* ---- descriptions -------------------------------------------------------------------------------------- */
static void copy_description_text(char *to, size_t size, slp_str text) {
  snprintf(to, size, "%.*s", (int)slp_min_u64(text.n, size - 1), text.p);
}

static void take_text(slp_found_stream *s, uint32_t depth, slp_str name, slp_str text) {
  if (depth == 2 && slp_str_is(name, "StreamARN")) copy_description_text(s->arn, sizeof s->arn, text);
  if (depth == 2 && slp_str_is(name, "StreamStatus"))
    copy_description_text(s->status, sizeof s->status, text);
  if (depth == 3 && slp_str_is(name, "StreamMode")) copy_description_text(s->mode, sizeof s->mode, text);
  if (depth == 2 && slp_str_is(name, "StreamViewType")) copy_description_text(s->mode, sizeof s->mode, text);
}

static void take_number(slp_found_stream *s, slp_str name, slp_str number) {
  int64_t v;
  if (slp_str_is(name, "OpenShardCount") && slp_decimal_scaled(number, 0, &v) == 0) s->open_shards = v;
  if (slp_str_is(name, "RetentionPeriodHours") && slp_decimal_scaled(number, 0, &v) == 0)
    s->retention_hours = v;
  if ((slp_str_is(name, "StreamCreationTimestamp") || slp_str_is(name, "CreationRequestDateTime")) &&
      slp_decimal_seconds_ms(number, &v) == 0)
    s->created_ms = v;
}

/* Reads {"StreamDescriptionSummary": {...}} or {"StreamDescription": {...}}. */
static int read_description(slp_json_op *op, int begin, const char **why) {
  slp_find *f = SLP_OWNER(op, slp_find, op);
  slp_json j;
  slp_str name = {NULL, 0};
  (void)begin;
  slp_json_begin(&j, op->answer.p, op->answer.n);
  for (int token; (token = slp_json_next(&j)) != SLP_JSON_END;) {
    if (token < 0) {
      *why = j.why;
      return token;
    }
    if (token == SLP_JSON_KEY)
      name = j.text;
    else if (token == SLP_JSON_STRING)
      take_text(&f->found, j.depth, name, j.text);
    else if (token == SLP_JSON_NUMBER && j.depth == 2)
      take_number(&f->found, name, j.text);
  }
  return 0;
}

/* Returns 1 if a younger stream of the same table is listed, so that "dynamodb:TABLE" does not mean this one.
 * Rows are sorted, with the youngest stream of a table first. */
static int is_older(const slp_find *f, size_t at) {
  const entry *e = &f->rows[at];
  return at > 0 && e->service == SLP_FIND_TABLES && f->rows[at - 1].service == SLP_FIND_TABLES &&
         strcmp(f->rows[at - 1].name, e->name) == 0;
}

static void write_describe(const slp_find *f, slp_jw *w) {
  const entry *e = &f->rows[f->at];
  if (e->service == SLP_FIND_KINESIS) {
    slp_jw_z(w, "StreamName", e->name);
  } else {
    slp_jw_z(w, "StreamArn", e->arn);
    slp_jw_u64(w, "Limit", 1); /* at most one shard; no shards are needed here */
  }
}

/* ---- calls --------------------------------------------------------------------------------------------- */
static void finish_find(slp_find *f) {
  move(f, OVER);
  f->calls.on_done(f, f->fails, f->arg);
}

static void fail_all(slp_find *f) {
  for (int i = f->service; i < SLP_FIND_SERVICES; i++)
    slp_fail_set(&f->fails[i], SLP_NOMEM, SLP_ENOMEM, "no memory for the names of streams");
  f->service = SLP_FIND_SERVICES;
  f->at = f->n;
  finish_find(f);
}

static void on_answer(slp_json_op *op);

static void send_find_call(slp_find *f, slp_find_service service, int describes) {
  static const char *const lists[] = {"Kinesis_20131202.ListStreams", "DynamoDBStreams_20120810.ListStreams"};
  static const char *const describe[] = {"Kinesis_20131202.DescribeStreamSummary",
                                         "DynamoDBStreams_20120810.DescribeStream"};
  int kinesis = service == SLP_FIND_KINESIS;
  slp_json_op *op = &f->op;
  slp_json_op_free(op);
  slp_json_op_init(op, f->aws, SLP_LIST_BODY_MAX);
  op->svc = kinesis ? SLP_SVC_KINESIS : SLP_SVC_STREAMS;
  op->lane = SLP_LANE_CONTROL;
  op->target = slp_str_of(describes ? describe[service] : lists[service]);
  if (kinesis) op->content_type = SLP_STR("application/x-amz-json-1.1");
  op->call.quota_a_second = !describes ? LISTS_A_SECOND
                            : kinesis  ? SLP_KINESIS_SUMMARIES_A_SECOND
                                       : SLP_STREAMS_DESCRIBES_A_SECOND;
  op->ms_max = SLP_CONTROL_MS_MAX;
  op->tries_max = TRIES;
  f->before_n = f->n;
  op->read = describes ? read_description : read_page;
  op->on_done = on_answer;
  slp_jw w = slp_jw_begin(&op->request);
  if (describes)
    write_describe(f, &w);
  else
    write_list(f, &w);
  if (slp_jw_object_end(&w)) {
    fail_all(f);
    return;
  }
  move(f, SENT);
  slp_json_op_send(op);
}

static void skip_services(slp_find *f) {
  while (f->service < SLP_FIND_SERVICES && f->calls.skips[f->service]) f->service++;
}

/* Goes on to the names of the next service or, after the last service, to the descriptions. */
static void next_service(slp_find *f) {
  f->service++;
  skip_services(f);
  slp_buf_clear(&f->last);
  slp_paging_begin(&f->pages, PAGES_MAX, BYTES_MAX);
  go_on(f);
}

static void on_due(slp_timer *t) { go_on(SLP_OWNER(t, slp_find, timer)); }

static void on_page(slp_find *f, const slp_fail *fail) {
  uint64_t wait_us = 0;
  char why[160];
  if (fail->class != SLP_FINE) {
    f->fails[f->service] = *fail;
    slp_name_right(&f->fails[f->service],
                   f->service == SLP_FIND_KINESIS ? "kinesis:" : "dynamodb:", f->op.target, SLP_STR("*"));
    next_service(f);
    return;
  }
  if (!f->more) {
    next_service(f);
    return;
  }
  int r = slp_paging_next(&f->pages, f->page_n ? slp_buf_str(&f->last) : (slp_str){NULL, 0}, f->op.answer.n,
                          f->page_n, f->bytes, &wait_us, why);
  if (r) {
    slp_fail_set(&f->fails[f->service], SLP_TRANSIENT, SLOOP_EPROTO, "the listing of streams: %s", why);
    next_service(f);
  } else if (!wait_us || slp_timer_set(f->aws->h, &f->timer, slp_after_us(slp_now_us(f->aws->h), wait_us))) {
    go_on(f);
  } else {
    move(f, WAITING);
  }
}

static void on_description(slp_find *f, const slp_fail *fail) {
  slp_found_stream *s = &f->found;
  const char *code = strstr(fail->message, fail->aws_code) ? "" : fail->aws_code;
  if (fail->class != SLP_FINE)
    snprintf(s->why, sizeof s->why, "%.60s%s%.170s", code, *code ? ": " : "", fail->message);
  f->at++;
  f->calls.on_stream(f, s, f->arg);
}

static void on_answer(slp_json_op *op) {
  slp_find *f = SLP_OWNER(op, slp_find, op);
  slp_fail fail = op->fail;
  if (f->service < SLP_FIND_SERVICES) {
    on_page(f, &fail);
    return;
  }
  move(f, WAITING);
  slp_post(f->aws->h, &f->ev);
  on_description(f, &fail); /* may free f */
}

/* ---- in order ------------------------------------------------------------------------------------------ */
static int by_name(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->service != y->service) return x->service < y->service ? -1 : 1;
  int order = strcmp(x->name, y->name);
  return order ? order : strcmp(y->label, x->label); /* the youngest stream of a table first */
}

/* Sorts the rows, and fills f->names with a value of the option `stream` for each row. Returns 0 or
 * SLP_ENOMEM. */
static int name_all(slp_find *f) {
  f->names = slp_zalloc_n(f->mem, f->n + 1, sizeof *f->names);
  if (!f->names) return SLP_ENOMEM;
  if (f->n) qsort(f->rows, f->n, sizeof *f->rows, by_name);
  for (size_t i = 0; i < f->n; i++) {
    const entry *e = &f->rows[i];
    char text[300];
    if (e->service == SLP_FIND_KINESIS) {
      f->names[i] = e->name;
      continue;
    }
    snprintf(text, sizeof text, "%s%s", is_older(f, i) ? "" : "dynamodb:", is_older(f, i) ? e->arn : e->name);
    if (!(f->names[i] = slp_strdup(f->mem, slp_str_of(text)))) return SLP_ENOMEM;
  }
  return 0;
}

static void describe_next(slp_find *f) {
  const entry *e = &f->rows[f->at];
  f->found = (slp_found_stream){
      .name = f->names[f->at],
      .created_ms = -1,
      .open_shards = -1,
      .retention_hours = e->service == SLP_FIND_TABLES ? (int64_t)SLP_STREAMS_RETENTION_HOURS : -1};
  copy_description_text(f->found.arn, sizeof f->found.arn, slp_str_of(e->arn));
  send_find_call(f, e->service, 1);
}

static void on_event(slp_event *ev) {
  slp_find *f = SLP_OWNER(ev, slp_find, ev);
  if (f->service < SLP_FIND_SERVICES) {
    send_find_call(f, f->service, 0);
    return;
  }
  if (!f->names) {
    if (name_all(f)) {
      f->service = SLP_FIND_KINESIS;
      fail_all(f);
      return;
    }
    slp_post(f->aws->h, ev);
    if (f->calls.on_names) f->calls.on_names(f, f->names, f->n, f->arg); /* may free f */
    return;
  }
  if (f->calls.on_stream && f->at < f->n)
    describe_next(f);
  else
    finish_find(f);
}

/* ---- creating and freeing ------------------------------------------------------------------------------ */
int slp_find_new(slp_find **ret, sloop_t *s, const slp_find_calls *calls, void *arg) {
  slp_find *f = SLP_NEW(s->mem, slp_find);
  if (!f) return SLP_ENOMEM;
  f->mem = slp_mem_hold(s->mem);
  f->aws = s->family->aws;
  f->calls = *calls;
  f->arg = arg;
  skip_services(f);
  f->ev.run = on_event;
  f->timer = (slp_timer){.at_us = UINT64_MAX, .run = on_due};
  slp_aws_hold(f->aws);
  slp_json_op_init(&f->op, f->aws, SLP_LIST_BODY_MAX);
  slp_buf_init(&f->last, f->mem, 4096);
  slp_paging_begin(&f->pages, PAGES_MAX, BYTES_MAX);
  slp_post(f->aws->h, &f->ev);
  *ret = f;
  return 0;
}

void slp_find_free(slp_find *f) {
  if (!f) return;
  slp_mem *mem = f->mem;
  slp_unpost(&f->ev);
  slp_timer_clear(f->aws->h, &f->timer);
  slp_json_op_cancel(&f->op);
  slp_json_op_free(&f->op);
  slp_buf_free(&f->last);
  for (size_t i = 0; f->names && i < f->n; i++)
    if (f->names[i] != f->rows[i].name) slp_free(mem, (void *)(uintptr_t)f->names[i]);
  drop_rows(f, 0);
  slp_free(mem, f->rows);
  slp_free(mem, f->names);
  slp_aws_drop(f->aws);
  slp_free(mem, f);
  slp_mem_drop(mem);
}
